/// A condition or a value as the typed front end builds it: knows which steps of a path are
/// collections, which its text needs.
indirect enum TypedNode {
  case constant(QueryConstant)
  case path(TypedPath)
  case comparison(QueryOperator, TypedNode, TypedNode, StringOptions)
  case and(TypedNode, TypedNode)
  case or(TypedNode, TypedNode)
  case not(TypedNode)
  /// The number of elements of a collection that satisfy the condition on them.
  case subqueryCount(TypedNode)

  /// The path, if the node is one.
  var path: TypedPath? { if case .path(let path) = self { path } else { nil } }

  /// A comparison with one constant.
  static func compare(
    _ left: TypedNode, _ operation: QueryOperator, _ value: Any?, _ options: StringOptions = []
  ) -> TypedNode {
    .comparison(operation, left, .constant(QueryConstant(value)), options)
  }

  /// A comparison of two paths.
  static func compare(
    _ left: TypedNode, _ operation: QueryOperator, column right: TypedNode,
    _ options: StringOptions = []
  ) -> TypedNode {
    if left.path?.isAny == true, right.path?.isAny == true {
      fatalError("Comparing two collection columns is not permitted.")
    }
    return .comparison(operation, left, right, options)
  }
}

/// A path of the typed front end.
struct TypedPath {
  struct Step {
    var step: QueryPath.Step
    var isCollection = false
  }

  /// The variable of the subquery that the path starts from.
  var variable: String?
  var steps: [Step] = []
  /// What is computed from the first collection on the path.
  var aggregate: QueryPath.Aggregate?

  /// Whether the path stands for any element of a collection.
  var isAny: Bool { aggregate == nil && steps.contains(where: \.isCollection) }

  func appending(_ name: String, isCollection: Bool) -> TypedPath {
    var path = self
    // A key path may lead through several properties; only the last can be the collection.
    let names = name.split(separator: ".").map(String.init)
    for (index, name) in names.enumerated() {
      path.steps.append(
        Step(step: .property(name), isCollection: isCollection && index == names.count - 1))
    }
    return path
  }

  func computing(_ aggregate: QueryPath.Aggregate) -> TypedPath {
    var path = self
    path.aggregate = aggregate
    return path
  }

  /// The path in the tree that both front ends share: the aggregate stands behind the collection.
  var queryPath: QueryPath {
    var steps = self.steps.map(\.step)
    if let aggregate {
      let place = self.steps.firstIndex(where: \.isCollection) ?? steps.count - 1
      steps.insert(
        .aggregate(aggregate), at: aggregate == .count ? steps.count : place + 1)
    }
    return QueryPath(variable: variable, steps)
  }
}
