// A condition of the typed front end names all its paths from the object. Where the number of a
// collection's elements is asked for, which collection that is follows from the paths: the first one
// that they lead through. Only when the whole condition is known do they start at its elements; paths
// that do not lead through a collection are about the object around the subquery.
extension QueryPredicate {
  /// The predicate as the other front end would read it: `ANY` where paths lead through collections,
  /// and subqueries with numbered variables.
  func withSubqueries() -> QueryPredicate {
    var count = 0
    return finished(&count)
  }

  fileprivate func finished(_ count: inout Int) -> QueryPredicate {
    switch self {
    case .always: return self
    case .and(let parts): return .and(parts.map { $0.finished(&count) })
    case .or(let parts): return .or(parts.map { $0.finished(&count) })
    case .not(let part): return .not(part.finished(&count))
    case .comparison(var comparison):
      let isMembership = comparison.operation == .in
      comparison.isAny = comparison.left.isAny || comparison.right.isAny && !isMembership
      comparison.left = comparison.left.finished(&count)
      comparison.right = comparison.right.finished(&count)
      return .comparison(comparison)
    }
  }

  /// The first collection on the condition's paths.
  fileprivate var firstCollection: QueryPath? {
    switch self {
    case .always: nil
    case .and(let parts), .or(let parts): parts.lazy.compactMap(\.firstCollection).first
    case .not(let part): part.firstCollection
    case .comparison(let comparison):
      comparison.left.firstCollection ?? comparison.right.firstCollection
    }
  }

  /// The same condition on paths that start at an element of the collection.
  fileprivate func moved(into collection: QueryPath, _ variable: String) -> QueryPredicate {
    switch self {
    case .always: return self
    case .and(let parts): return .and(parts.map { $0.moved(into: collection, variable) })
    case .or(let parts): return .or(parts.map { $0.moved(into: collection, variable) })
    case .not(let part): return .not(part.moved(into: collection, variable))
    case .comparison(var comparison):
      comparison.left = comparison.left.moved(into: collection, variable)
      comparison.right = comparison.right.moved(into: collection, variable)
      return .comparison(comparison)
    }
  }
}

extension QueryOperand {
  fileprivate var isAny: Bool { if case .path(let path) = self { path.isAny } else { false } }

  fileprivate func finished(_ count: inout Int) -> QueryOperand {
    switch self {
    case .constant: return self
    case .path(var path):
      path.collectionEnds = []
      return .path(path)
    case .subqueryCount(_, _, let condition):
      count += 1
      let variable = "col\(count)"
      guard var collection = condition.firstCollection else { Self.stopWithoutCollection() }
      let inner = condition.moved(into: collection, variable).finished(&count)
      collection.collectionEnds = []
      return .subqueryCount(collection: collection, variable: variable, inner)
    }
  }

  fileprivate var firstCollection: QueryPath? {
    switch self {
    case .constant: return nil
    case .path(let path): return path.firstCollection
    case .subqueryCount(_, _, let condition): return condition.firstCollection
    }
  }

  fileprivate func moved(into collection: QueryPath, _ variable: String) -> QueryOperand {
    switch self {
    case .constant: return self
    case .path(let path):
      let end = collection.steps.count
      guard path.leads(into: collection) else {
        if path.isAny { Self.stopWithoutCollection() }
        return self
      }
      var inner = QueryPath(variable: variable, Array(path.steps[end...]))
      inner.collectionEnds = path.collectionEnds.compactMap { $0 > end ? $0 - end : nil }
      return .path(inner)
    case .subqueryCount(let empty, let name, let condition):
      return .subqueryCount(
        collection: empty, variable: name, condition.moved(into: collection, variable))
    }
  }

  private static func stopWithoutCollection() -> Never {
    fatalError("Subqueries must contain a keypath starting with a collection.")
  }
}
