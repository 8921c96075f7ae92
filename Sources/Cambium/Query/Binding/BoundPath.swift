import CambiumCore

/// A path whose names are looked up: steps from object to object, and what is at the end.
struct BoundPath {
  enum Hop {
    case link(BoundLink)
    case collection(BoundCollection)
  }

  enum End {
    /// A scalar property of the class.
    case value(BoundColumn, owner: StoredClass)
    /// A list of scalars.
    case elements(BoundColumn)
    /// The object, or nil, that a map has for a key, or those that it has.
    case values(BoundColumn, source: StoredClass, target: StoredClass)
    /// A to-one link itself.
    case link(BoundLink)
    /// The object or the collection's element itself.
    case object(StoredClass)
    /// Something computed from a collection.
    case number(BoundNumber)
  }

  /// The object around the subquery from which it starts; nil for the one that the condition is about.
  var origin: BoundOrigin?
  var hops: [Hop] = []
  var end: End

  /// Whether the path has several values.
  var hasCollection: Bool {
    switch end {
    case .elements(let column), .values(let column, _, _): if !column.isEntry { return true }
    default: break
    }
    return hops.contains { hop in
      if case .collection(let collection) = hop { !collection.isEntry } else { false }
    }
  }

  /// The same path to the objects of a map alone, where it ends with that.
  var toObjects: BoundPath {
    guard case .values(let column, let source, let target) = end, !column.isEntry else {
      return self
    }
    var path = self
    path.hops.append(.collection(.list(column, source: source, target: target)))
    path.end = .object(target)
    return path
  }

  /// The condition on objects where the path starts, given one on what is at its end.
  func wrapped(_ leaf: BoundPredicate) -> BoundPredicate {
    let wrapped = hops.reversed().reduce(leaf) { inner, hop in
      switch hop {
      case .link(let link): .link(link, inner)
      case .collection(let collection): collection.any(inner)
      }
    }
    return origin.map { .outer($0, wrapped) } ?? wrapped
  }

  /// The values at the path's end.
  var source: BoundSource {
    let last: BoundSource =
      switch end {
      case .value(let column, _): .column(column)
      case .elements(let column): .anyElement(column)
      case .values(let column, _, _): .anyElement(column)
      case .link(let link): .column(link.column)
      case .object: .key
      case .number(let number): .number(number)
      }
    let source = hops.reversed().reduce(last) { inner, hop in
      switch hop {
      case .link(let link): .link(link, inner)
      case .collection(let collection): .any(collection, inner)
      }
    }
    return origin.map { .outer($0, source) } ?? source
  }

  /// The type of the values.
  var valueType: PropertyType {
    switch end {
    case .value(let column, _), .elements(let column): return column.property
    case .link, .object, .values: return .object
    case .number(let number): return number.resultType
    }
  }

  /// The class of linked objects, if that is what the values are.
  var targetName: String? {
    switch end {
    case .link(let link): link.target.name
    case .object(let target), .values(_, _, let target): target.name
    default: nil
    }
  }
}
