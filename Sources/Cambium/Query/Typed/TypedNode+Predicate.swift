/// From the typed form to the tree that both front ends share.
extension TypedNode {
  /// The condition as a predicate.
  var predicate: QueryPredicate {
    var counter = 0
    return predicate(&counter)
  }

  private func predicate(_ counter: inout Int) -> QueryPredicate {
    switch self {
    case .path(let path): return Self.truth(path, true)
    case .not(.path(let path)): return Self.truth(path, false)
    case .constant(.bool(let result)): return .always(result)
    case .constant, .subqueryCount:
      fatalError("A condition must compare something.")
    case .and(let left, let right):
      return .and([left.predicate(&counter), right.predicate(&counter)])
    case .or(let left, let right):
      return .or([left.predicate(&counter), right.predicate(&counter)])
    case .not(let part): return .not(part.predicate(&counter))
    case .comparison(let operation, let left, let right, let options):
      return .comparison(
        QueryComparison(
          left.operand(&counter), operation, right.operand(&counter),
          isAny: Self.needsQuantifier(operation, left, right), options: options))
    }
  }

  private static func truth(_ path: TypedPath, _ value: Bool) -> QueryPredicate {
    .comparison(
      QueryComparison(
        .path(path.queryPath), .equal, .constant(.bool(value)), isAny: path.isAny))
  }

  /// Whether the text says `ANY`; `%@ IN list` does without.
  static func needsQuantifier(
    _ operation: QueryOperator, _ left: TypedNode, _ right: TypedNode
  ) -> Bool {
    if left.path?.isAny == true { return true }
    return right.path?.isAny == true && operation != .in
  }

  private func operand(_ counter: inout Int) -> QueryOperand {
    switch self {
    case .constant(let constant): return .constant(constant)
    case .path(let path): return .path(path.queryPath)
    case .subqueryCount(let condition):
      let (collection, variable, inner) = condition.subquery(&counter)
      return .subqueryCount(
        collection: collection.queryPath, variable: variable, inner.predicate(&counter))
    case .and, .or, .not, .comparison:
      fatalError("A condition cannot be compared.")
    }
  }

  // MARK: Subqueries

  /// The collection that a condition is about, and the condition on its elements.
  func subquery(_ counter: inout Int) -> (TypedPath, variable: String, TypedNode) {
    counter += 1
    let variable = "col\(counter)"
    guard let collection = firstCollection else { Self.stopWithoutCollection() }
    return (collection, variable, moved(into: collection, variable))
  }

  private static func stopWithoutCollection() -> Never {
    fatalError("Subqueries must contain a keypath starting with a collection.")
  }

  private var firstCollection: TypedPath? {
    switch self {
    case .constant: return nil
    case .path(let path):
      guard let end = path.steps.firstIndex(where: \.isCollection) else { return nil }
      return TypedPath(variable: path.variable, steps: Array(path.steps[...end]))
    case .comparison(_, let left, let right, _), .and(let left, let right),
      .or(let left, let right):
      return left.firstCollection ?? right.firstCollection
    case .not(let part), .subqueryCount(let part): return part.firstCollection
    }
  }

  /// The same condition with paths that start at the collection's element.
  private func moved(into collection: TypedPath, _ variable: String) -> TypedNode {
    switch self {
    case .constant: return self
    case .path(var path):
      guard path.variable == collection.variable,
        path.steps.prefix(collection.steps.count).map(\.step) == collection.steps.map(\.step)
      else { Self.stopWithoutCollection() }
      path.steps.removeFirst(collection.steps.count)
      path.variable = variable
      return .path(path)
    case .comparison(let operation, let left, let right, let options):
      return .comparison(
        operation, left.moved(into: collection, variable),
        right.moved(into: collection, variable), options)
    case .and(let left, let right):
      return .and(left.moved(into: collection, variable), right.moved(into: collection, variable))
    case .or(let left, let right):
      return .or(left.moved(into: collection, variable), right.moved(into: collection, variable))
    case .not(let part): return .not(part.moved(into: collection, variable))
    case .subqueryCount(let part): return .subqueryCount(part.moved(into: collection, variable))
    }
  }
}
