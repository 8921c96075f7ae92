extension QueryPlan {
  /// The classes whose objects decide what the plan gives.
  var classNames: Set<String> {
    var names: Set = [start.name]
    predicate.insertClasses(into: &names)
    for step in steps {
      switch step {
      case .sort(let keys), .distinct(let keys):
        for key in keys { names.formUnion(key.links.map(\.target.name)) }
      }
    }
    return names
  }
}

extension BoundPredicate {
  /// Adds the classes that the condition looks at besides the one whose objects it is about.
  func insertClasses(into names: inout Set<String>) {
    switch self {
    case .always, .value, .keys, .anyElement: break
    case .and(let parts), .or(let parts):
      for part in parts { part.insertClasses(into: &names) }
    case .not(let part), .named(_, let part), .outer(_, let part):
      part.insertClasses(into: &names)
    case .link(let link, let inner):
      names.insert(link.target.name)
      inner.insertClasses(into: &names)
    case .any(let collection, let inner):
      names.insert(collection.elementClass.name)
      inner.insertClasses(into: &names)
    case .number(let number, _): number.insertClasses(into: &names)
    case .pair(let pair):
      pair.left.insertClasses(into: &names)
      pair.right.insertClasses(into: &names)
    }
  }
}

extension BoundNumber {
  func insertClasses(into names: inout Set<String>) {
    guard case .objects(let collection, _, let filter) = source else { return }
    names.insert(collection.elementClass.name)
    filter?.insertClasses(into: &names)
  }
}

extension BoundSource {
  func insertClasses(into names: inout Set<String>) {
    switch self {
    case .column, .key, .anyElement: break
    case .number(let number): number.insertClasses(into: &names)
    case .outer(_, let inner): inner.insertClasses(into: &names)
    case .link(let link, let inner):
      names.insert(link.target.name)
      inner.insertClasses(into: &names)
    case .any(let collection, let inner):
      names.insert(collection.elementClass.name)
      inner.insertClasses(into: &names)
    }
  }
}
