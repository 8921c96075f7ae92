/// What decides which objects a plan gives, and in which order: classes, whose objects come and go, and
/// the columns of theirs that it reads.
struct QueryDependencies {
  /// The columns that matter, by the names of classes; also classes of which none does.
  private(set) var columns: [String: Set<UInt16>] = [:]
  /// Whether values of other objects matter, behind links, in collections or that link here.
  fileprivate(set) var followsLinks = false

  /// Adds a class whose objects matter as such.
  mutating func insert(_ storedClass: StoredClass) {
    columns[storedClass.name, default: []].formUnion([])
  }

  /// Adds a column of a class.
  mutating func insert(_ column: UInt16, of storedClass: StoredClass) {
    columns[storedClass.name, default: []].insert(column)
  }
}

extension QueryPlan {
  /// Adds what decides which objects the plan gives.
  func insertDependencies(into all: inout QueryDependencies) {
    all.insert(start)
    predicate.insertDependencies(of: start, into: &all)
    for step in steps {
      switch step {
      case .sort(let keys), .distinct(let keys):
        for key in keys { key.insertDependencies(of: start, into: &all) }
      }
    }
  }
}

extension SortKey {
  fileprivate func insertDependencies(
    of start: StoredClass, into all: inout QueryDependencies
  ) {
    for link in links { link.insertDependencies(into: &all) }
    all.insert(column.id, of: links.last?.target ?? start)
  }
}

extension BoundPredicate {
  /// Adds what a condition on objects of `owner` looks at.
  fileprivate func insertDependencies(
    of owner: StoredClass, into all: inout QueryDependencies
  ) {
    switch self {
    case .always, .keys: break
    case .value(let column, _), .anyElement(let column, _): all.insert(column.id, of: owner)
    case .within(let place, _):
      all.insert(place.type.id, of: owner)
      all.insert(place.coordinates.id, of: owner)
    case .and(let parts), .or(let parts):
      for part in parts { part.insertDependencies(of: owner, into: &all) }
    case .not(let part), .named(_, let part): part.insertDependencies(of: owner, into: &all)
    case .outer(let origin, let part):
      part.insertDependencies(of: origin.storedClass, into: &all)
    case .link(let link, let inner):
      link.insertDependencies(into: &all)
      inner.insertDependencies(of: link.target, into: &all)
    case .any(let collection, let inner):
      collection.insertDependencies(into: &all)
      inner.insertDependencies(of: collection.elementClass, into: &all)
    case .number(let number, _): number.insertDependencies(of: owner, into: &all)
    case .pair(let pair):
      pair.left.insertDependencies(of: owner, into: &all)
      pair.right.insertDependencies(of: owner, into: &all)
    }
  }
}

extension BoundLink {
  fileprivate func insertDependencies(into all: inout QueryDependencies) {
    all.followsLinks = true
    all.insert(column.id, of: source)
    all.insert(target)
  }
}

extension BoundCollection {
  fileprivate func insertDependencies(into all: inout QueryDependencies) {
    all.followsLinks = true
    all.insert(elementClass)
    switch self {
    case .list(let column, let source, _): all.insert(column.id, of: source)
    case .backlinks(let origin, let column, _, _): all.insert(column.id, of: origin)
    }
  }
}

extension BoundNumber {
  fileprivate func insertDependencies(
    of owner: StoredClass, into all: inout QueryDependencies
  ) {
    switch source {
    case .elements(let column): all.insert(column.id, of: owner)
    case .objects(let collection, let column, let filter):
      collection.insertDependencies(into: &all)
      if let column { all.insert(column.id, of: collection.elementClass) }
      filter?.insertDependencies(of: collection.elementClass, into: &all)
    }
  }
}

extension BoundSource {
  fileprivate func insertDependencies(
    of owner: StoredClass, into all: inout QueryDependencies
  ) {
    switch self {
    case .key: break
    case .column(let column), .anyElement(let column): all.insert(column.id, of: owner)
    case .number(let number): number.insertDependencies(of: owner, into: &all)
    case .outer(let origin, let inner):
      inner.insertDependencies(of: origin.storedClass, into: &all)
    case .link(let link, let inner):
      link.insertDependencies(into: &all)
      inner.insertDependencies(of: link.target, into: &all)
    case .any(let collection, let inner):
      collection.insertDependencies(into: &all)
      inner.insertDependencies(of: collection.elementClass, into: &all)
    }
  }
}
