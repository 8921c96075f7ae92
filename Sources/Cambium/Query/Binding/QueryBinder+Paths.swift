import CambiumCore

/// Following paths through the schema.
extension QueryBinder {
  /// Looks up a path's names from where it starts: in the scope, or around it.
  func bind(_ path: QueryPath, _ scope: BindingScope) throws(QueryError) -> BoundPath {
    guard let origin = scope.origin(of: path) else {
      throw QueryError("Unknown variable '$\(path.variable ?? "")'.")
    }
    var path = path
    if origin.isValue, path.steps.isEmpty {
      path.steps = [.property(origin.start.objectSchema.allProperties[0].name)]
    }
    var walk = PathWalk(binder: self, path: path, at: origin.start)
    var bound = try walk.run()
    if origin !== scope {
      bound.origin = BoundOrigin(level: origin.level, storedClass: origin.start)
    }
    return bound
  }

  func linkedClass(_ property: Property) throws(QueryError) -> StoredClass {
    guard let name = property.objectClassName, let target = schema[name] else {
      throw QueryError(
        "Object type '\(property.objectClassName ?? "")' is not managed by the Realm.")
    }
    return target
  }
}

extension StoredClass {
  /// The column of the property at `index` as queries see it.
  func boundColumn(_ index: Int) -> BoundColumn {
    let property = objectSchema.allProperties[index]
    let target = property.type == .object ? property.objectClassName : nil
    return BoundColumn(
      id: columns[index], type: property.elementColumnType, property: property.type,
      isNullable: property.isCollection ? property.isOptional : property.isColumnNullable,
      index: indexName(index),
      isKey: isKeyPrimaryKey && index == primaryKeyIndex,
      backlinks: target.map {
        BoundBacklinks(tree: StoredName.backlinks($0), table: tableID)
      })
  }
}

/// One walk along a path.
private struct PathWalk {
  let binder: QueryBinder
  let path: QueryPath
  var place: StoredClass
  var hops: [BoundPath.Hop] = []
  var next = 0

  init(binder: QueryBinder, path: QueryPath, at place: StoredClass) {
    self.binder = binder
    self.path = path
    self.place = place
  }

  mutating func run() throws(QueryError) -> BoundPath {
    while next < path.steps.count {
      let step = path.steps[next]
      next += 1
      switch step {
      case .property(let name):
        if let end = try take(name) { return BoundPath(hops: hops, end: end) }
      case .aggregate(let aggregate):
        return BoundPath(hops: try hopsBeforeCollection(), end: try number(aggregate))
      case .key, .index, .anyElement, .allKeys, .allValues:
        throw failure("a property that is not a dictionary has no keys")
      }
    }
    return BoundPath(hops: hops, end: .object(place))
  }

  private var isLast: Bool { next == path.steps.count }

  private func failure(_ reason: String) -> QueryError {
    QueryError("Invalid keypath '\(path.text)': \(reason)")
  }

  private func propertyIndex(_ name: String, of owner: StoredClass) throws(QueryError) -> Int {
    guard let index = owner.propertyIndex(name) else {
      throw failure("Property '\(name)' not found in object of type '\(owner.name)'")
    }
    return index
  }

  /// Follows a property; returns the path's end when it is one.
  private mutating func take(_ name: String) throws(QueryError) -> BoundPath.End? {
    let owner = place
    let index = try propertyIndex(name, of: owner)
    let property = owner.objectSchema.allProperties[index]
    if property.isComputed {
      let collection = try backlinks(property)
      hops.append(.collection(collection))
      place = collection.elementClass
      return nil
    }
    let column = owner.boundColumn(index)
    if property.type == .object {
      let target = try binder.linkedClass(property)
      if property.isCollection {
        var column = column
        if property.isMap {
          try takePart(of: &column)
          if case .keys = column.part { return .elements(try keys(column)) }
        }
        // A map has values that are no objects, which count where the path ends with them.
        if property.isMap, isLast { return .values(column, source: owner, target: target) }
        hops.append(.collection(.list(column, source: owner, target: target)))
        place = target
        return nil
      }
      let link = BoundLink(column: column, source: owner, target: target)
      if isLast { return .link(link) }
      hops.append(.link(link))
      place = target
      return nil
    }
    if property.isCollection {
      var column = column
      if property.isMap {
        try takePart(of: &column)
        if case .keys = column.part { column = try keys(column) }
        if case .entry = column.part, property.type == .any { takeInside(of: &column) }
        if column.part != .elements {
          guard isLast else { throw failure("a value of a dictionary must end the keypath.") }
        }
      }
      guard !isLast else { return .elements(column) }
      if case .aggregate(let aggregate) = path.steps[next] {
        next += 1
        return .number(try scalarNumber(aggregate, column))
      }
    }
    if property.type == .any, !isLast {
      var column = column
      takeInside(of: &column)
      if property.isCollection, !column.inside.isEmpty {
        throw failure(
          "Only a value of any type can be subscripted; '\(property.name)' has many of them.")
      }
      if !column.inside.isEmpty, isLast {
        column.isSingleValue = true
        return .elements(column)
      }
    }
    guard isLast else {
      throw failure(
        "Property '\(owner.name).\(property.name)' is not a link or collection and can only appear "
          + "at the end of a keypath.")
    }
    return .value(column, owner: owner)
  }

  /// Takes the step that says what of a map is meant, if there is one.
  private mutating func takePart(of column: inout BoundColumn) throws(QueryError) {
    guard !isLast else { return }
    switch path.steps[next] {
    case .key(let key): column.part = .entry(key)
    case .allKeys: column.part = .keys
    case .allValues: break
    case .index, .anyElement: throw failure("a dictionary has keys that are texts.")
    case .property, .aggregate: return
    }
    next += 1
  }

  /// Takes the steps that lead inside of a value of any type.
  private mutating func takeInside(of column: inout BoundColumn) {
    while !isLast {
      switch path.steps[next] {
      case .key, .index, .anyElement: column.inside.append(path.steps[next])
      case .property, .aggregate, .allKeys, .allValues: return
      }
      next += 1
    }
  }

  /// The keys of a map as elements, at which the path ends.
  private func keys(_ column: BoundColumn) throws(QueryError) -> BoundColumn {
    guard isLast else { throw failure("@allKeys can only appear at the end of a keypath.") }
    var column = column
    column.property = .string
    column.backlinks = nil
    column.isNullable = false
    return column
  }

  private func backlinks(_ property: Property) throws(QueryError) -> BoundCollection {
    let origin = try binder.linkedClass(property)
    let name = property.originPropertyName ?? ""
    let index = try propertyIndex(name, of: origin)
    return .backlinks(
      origin: origin, column: origin.boundColumn(index),
      isList: origin.objectSchema.allProperties[index].isCollection, target: place)
  }

  // MARK: Aggregates

  private func hopsBeforeCollection() throws(QueryError) -> [BoundPath.Hop] {
    guard case .collection? = hops.last else {
      throw QueryError(
        "Aggregate operations can only be used on key paths that include an collection property")
    }
    return Array(hops.dropLast())
  }

  private mutating func number(
    _ aggregate: QueryPath.Aggregate
  ) throws(QueryError) -> BoundPath.End {
    guard case .collection(let collection)? = hops.last else {
      throw failure("'\(aggregate.rawValue)' needs a collection before it")
    }
    if aggregate == .count {
      guard isLast else { throw failure("@count can only appear at the end of a keypath.") }
      return .number(
        BoundNumber(aggregate: .count, source: .objects(collection, nil, filter: nil)))
    }
    guard next + 1 == path.steps.count, case .property(let name) = path.steps[next] else {
      throw failure(
        "'\(aggregate.rawValue)' on a collection of objects must be followed by one property.")
    }
    next += 1
    let owner = collection.elementClass
    let index = try propertyIndex(name, of: owner)
    let property = owner.objectSchema.allProperties[index]
    guard !property.isCollection, !property.isComputed, !property.isLink else {
      throw unsupported(aggregate, property.type)
    }
    try check(aggregate, property.type)
    return .number(
      BoundNumber(
        aggregate: aggregate,
        source: .objects(collection, owner.boundColumn(index), filter: nil)))
  }

  private func scalarNumber(
    _ aggregate: QueryPath.Aggregate, _ column: BoundColumn
  ) throws(QueryError) -> BoundNumber {
    guard isLast else {
      throw failure("'\(aggregate.rawValue)' on a list of values must end the keypath.")
    }
    if aggregate != .count { try check(aggregate, column.property) }
    return BoundNumber(aggregate: aggregate, source: .elements(column))
  }

  private func unsupported(
    _ aggregate: QueryPath.Aggregate, _ type: PropertyType
  ) -> QueryError {
    QueryError("Operator '\(aggregate.rawValue)' not supported for type '\(type)'")
  }

  private func check(
    _ aggregate: QueryPath.Aggregate, _ type: PropertyType
  ) throws(QueryError) {
    switch type {
    case .int, .float, .double, .decimal128, .any: return
    case .date where aggregate == .minimum || aggregate == .maximum: return
    default: throw unsupported(aggregate, type)
    }
  }
}
