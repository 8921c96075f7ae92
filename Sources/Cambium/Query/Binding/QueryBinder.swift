import CambiumCore

/// The row that an object mentioned in a query has.
package struct QueryObject: Sendable {
  /// The object's class.
  package var className: String
  /// The object's key; nil when the object has been deleted.
  package var key: Int64?
  /// The number of the class's table, as links from values of any type name it; 0 in memory.
  package var table: UInt32

  package init(className: String, key: Int64?, table: UInt32 = 0) {
    self.className = className
    self.key = key
    self.table = table
  }
}

/// Looks up the names of a predicate in a schema and converts its constants.
package struct QueryBinder {
  package typealias ObjectLookup = (AnyObject) throws(QueryError) -> QueryObject?

  let schema: StoredSchema
  /// Finds the row of an object; nil for what is no object of a Realm.
  ///
  /// Throws when the object is unmanaged or of another Realm.
  let object: ObjectLookup

  /// Binds predicates for one schema.
  package init(schema: StoredSchema, object: @escaping ObjectLookup) {
    self.schema = schema
    self.object = object
  }

  /// Binds a predicate on objects of `start`.
  ///
  /// - Throws: `QueryError` with the documented message when the predicate does not fit the schema.
  package func bind(
    _ predicate: QueryPredicate, to start: StoredClass
  ) throws(QueryError) -> BoundPredicate {
    try bind(predicate, BindingScope(start))
  }

  /// Binds a predicate on values, for which the only property of `valueClass` stands.
  func bind(
    _ predicate: QueryPredicate, toValuesOf valueClass: StoredClass
  ) throws(QueryError) -> BoundPredicate {
    try bind(predicate, BindingScope(valueClass, isValue: true))
  }

  func bind(_ predicate: QueryPredicate, _ scope: BindingScope) throws(QueryError) -> BoundPredicate
  {
    switch predicate {
    case .always(let result): return .always(result)
    case .and(let parts): return .and(try bind(parts, scope))
    case .or(let parts): return .or(try bind(parts, scope))
    case .not(let part): return .not(try bind(part, scope))
    case .comparison(let comparison): return try bind(comparison, scope)
    }
  }

  private func bind(
    _ parts: [QueryPredicate], _ scope: BindingScope
  ) throws(QueryError) -> [BoundPredicate] {
    var bound: [BoundPredicate] = []
    for part in parts { bound.append(try bind(part, scope)) }
    return bound
  }

  // MARK: Comparisons

  private func bind(
    _ comparison: QueryComparison, _ scope: BindingScope
  ) throws(QueryError) -> BoundPredicate {
    switch (comparison.left, comparison.right) {
    case (.constant, .constant):
      throw QueryError(
        "Predicate expressions must compare a keypath and another keypath or a constant value")
    case (.constant(let constant), .path(let path)) where comparison.operation == .in:
      return try bindMembership(of: constant, in: path, comparison, scope)
    case (.constant, _):
      guard let operation = comparison.operation.exchanged else {
        throw QueryError(
          "Operator '\(comparison.operation.rawValue)' requires a keypath on the left side.")
      }
      return try bind(
        QueryComparison(
          comparison.right, operation, comparison.left, isAny: comparison.isAny,
          options: comparison.options), scope)
    case (.path(let path), .constant(let constant)):
      return try bind(path, comparison, constant, scope)
    case (.subqueryCount(let collection, let variable, let predicate), .constant(let constant)):
      return try bindSubquery(collection, variable, predicate, comparison, constant, scope)
    case (.path(let left), .path(let right)):
      return try bindPair(left, right, comparison, scope)
    default:
      throw QueryError(
        "SUBQUERY is only supported when immediately followed by .@count that is compared with a "
          + "constant number.")
    }
  }

  /// `constant IN collection` asks for an element that equals the constant.
  private func bindMembership(
    of constant: QueryConstant, in path: QueryPath, _ comparison: QueryComparison,
    _ scope: BindingScope
  ) throws(QueryError) -> BoundPredicate {
    let bound = try bind(path, scope)
    guard bound.hasCollection else { throw QueryError("IN clause requires an array of items") }
    let equality = QueryComparison(
      .path(path), .equal, .constant(constant), isAny: true, options: comparison.options)
    return try bind(path, equality, constant, scope)
  }

  private func bind(
    _ path: QueryPath, _ comparison: QueryComparison, _ constant: QueryConstant,
    _ scope: BindingScope
  ) throws(QueryError) -> BoundPredicate {
    let bound = try bind(path, scope)
    if comparison.operation == .in, case .object(let object) = constant,
      let region = object as? any RLMGeospatial
    {
      return try bindRegion(region, bound, comparison)
    }
    try checkQuantifier(comparison, bound)
    return bound.wrapped(try leaf(bound, path, comparison, constant))
  }

  /// The condition on the path's last part.
  private func leaf(
    _ bound: BoundPath, _ path: QueryPath, _ comparison: QueryComparison,
    _ constant: QueryConstant
  ) throws(QueryError) -> BoundPredicate {
    let operation = comparison.operation
    switch bound.end {
    case .value(let column, _) where column.property == .any:
      return .value(column, try anyCondition(path, comparison, constant))
    case .elements(let column) where column.property == .any:
      return .anyElement(column, try anyCondition(path, comparison, constant))
    case .value(let column, _):
      let subject = ValueCondition.Subject(type: column.property, path: path.text)
      return .value(
        column,
        try ValueCondition.make(subject, operation, constant, options: comparison.options))
    case .elements(let column):
      let subject = ValueCondition.Subject(type: column.property, path: path.text)
      return .anyElement(
        column,
        try ValueCondition.make(subject, operation, constant, options: comparison.options))
    case .values(let column, let source, let target):
      let condition = try linkCondition(target, path, operation, constant)
      if column.isEntry || condition.matchesNull { return .anyElement(column, condition) }
      return BoundCollection.list(column, source: source, target: target)
        .any(.objectCondition(condition))
    case .link(let link):
      return .value(
        link.column, try linkCondition(link.target, path, operation, constant))
    case .object(let target):
      let condition = try linkCondition(target, path, operation, constant)
      return .objectCondition(condition)
    case .number(let number):
      if number.resultType == .any {
        return .number(number, try anyCondition(path, comparison, constant))
      }
      return .number(number, try numberCondition(number, path, operation, constant))
    }
  }

  func checkQuantifier(
    _ comparison: QueryComparison, _ bound: BoundPath
  ) throws(QueryError) {
    if comparison.isAny, !bound.hasCollection {
      throw QueryError(
        "Aggregate operations can only be used on key paths that include an collection property")
    }
    if !comparison.isAny, bound.hasCollection {
      throw QueryError(
        "Key paths that include a collection property must use aggregate operations")
    }
  }

  // MARK: Links

  /// The condition on an object's key.
  private func linkCondition(
    _ target: StoredClass, _ path: QueryPath, _ operation: QueryOperator,
    _ constant: QueryConstant
  ) throws(QueryError) -> ValueCondition {
    let subject = ValueCondition.Subject(type: .object, path: path.text)
    switch operation {
    case .equal, .notEqual:
      guard case .object = constant else {
        return try ValueCondition.make(subject, operation, try linkConstant(constant, target, path))
      }
      guard let key = try key(of: constant, target, path) else {
        // A deleted object equals nothing.
        return operation == .equal ? ValueCondition(.none) : ValueCondition(.all, matchesNull: true)
      }
      return try ValueCondition.make(subject, operation, .int(key))
    case .in:
      guard case .array(let elements) = constant else {
        throw QueryError("IN clause requires an array of items")
      }
      var keys: [QueryConstant] = []
      for element in elements {
        if case .null = element {
          keys.append(.null)
        } else if let key = try key(of: element, target, path) {
          keys.append(.int(key))
        }
      }
      return try ValueCondition.make(subject, .in, .array(keys))
    default:
      throw QueryError("Operator '\(operation.rawValue)' not supported for type 'object'")
    }
  }

  private func linkConstant(
    _ constant: QueryConstant, _ target: StoredClass, _ path: QueryPath
  ) throws(QueryError) -> QueryConstant {
    if case .null = constant { return .null }
    throw linkMismatch(constant, target, path)
  }

  private func linkMismatch(
    _ constant: QueryConstant, _ target: StoredClass, _ path: QueryPath
  ) -> QueryError {
    QueryError(
      "Cannot compare value '\(constant.text)' of type '\(constant.typeName)' to property "
        + "'\(path.text)' of type '\(target.name)'")
  }

  private func key(
    of constant: QueryConstant, _ target: StoredClass, _ path: QueryPath
  ) throws(QueryError) -> Int64? {
    guard case .object(let instance) = constant, let row = try object(instance),
      row.className == target.name
    else { throw linkMismatch(constant, target, path) }
    return row.key
  }

  // MARK: Numbers

  private func numberCondition(
    _ number: BoundNumber, _ path: QueryPath, _ operation: QueryOperator,
    _ constant: QueryConstant
  ) throws(QueryError) -> ValueCondition {
    var type = number.resultType
    if number.aggregate == .count {
      try checkCount(operation, constant)
      switch constant {
      case .double, .float: type = .double
      default: break
      }
    }
    return try ValueCondition.make(
      ValueCondition.Subject(type: type, path: path.text), operation, constant)
  }

  private func checkCount(
    _ operation: QueryOperator, _ constant: QueryConstant
  ) throws(QueryError) {
    func isNumber(_ constant: QueryConstant) -> Bool {
      switch constant {
      case .int, .float, .double: true
      default: false
      }
    }
    if case .array(let elements) = constant, elements.allSatisfy(isNumber) { return }
    guard isNumber(constant) else {
      throw QueryError("@count can only be compared with a numeric value.")
    }
  }

  private func bindSubquery(
    _ collection: QueryPath, _ variable: String, _ predicate: QueryPredicate,
    _ comparison: QueryComparison, _ constant: QueryConstant, _ scope: BindingScope
  ) throws(QueryError) -> BoundPredicate {
    let bound = try bind(collection, scope).toObjects
    guard case .object(let element) = bound.end, case .collection(let last)? = bound.hops.last
    else {
      throw QueryError("Subqueries must contain a keypath starting with a collection.")
    }
    var path = bound
    path.hops.removeLast()
    guard !path.hasCollection else {
      throw QueryError(
        "Key paths that include a collection property must use aggregate operations")
    }
    let filter = try bind(predicate, BindingScope(element, named: variable, in: scope))
    let number = BoundNumber(aggregate: .count, source: .objects(last, nil, filter: filter))
    let condition = path.wrapped(
      .number(number, try numberCondition(number, collection, comparison.operation, constant)))
    return scope.isNamedInside ? .named(level: scope.level, condition) : condition
  }

  // MARK: Pairs

  private func bindPair(
    _ leftPath: QueryPath, _ rightPath: QueryPath, _ comparison: QueryComparison,
    _ scope: BindingScope
  ) throws(QueryError) -> BoundPredicate {
    let left = try bind(leftPath, scope)
    let right = try bind(rightPath, scope)
    if left.hasCollection, right.hasCollection {
      throw QueryError("Comparing two collection columns is not permitted.")
    }
    let isMembership = comparison.operation == .in
    if isMembership {
      guard right.hasCollection else { throw QueryError("IN clause requires an array of items") }
    } else if comparison.isAny != (left.hasCollection || right.hasCollection) {
      try checkQuantifier(comparison, left.hasCollection ? left : right)
    }
    let operation = isMembership ? QueryOperator.equal : comparison.operation
    guard operation != .between else {
      throw QueryError("NSArray object must contain exactly two objects for BETWEEN operations")
    }
    let type = try pairType(left, right)
    let subject = ValueCondition.Subject(type: type, path: leftPath.text)
    try ValueCondition.check(subject, operation, comparison.options)
    return .pair(
      BoundPair(
        left: left.source, right: right.source,
        comparison: ValueComparison(
          operation: operation, property: type, options: comparison.options)))
  }

  /// The type that both sides have.
  private func pairType(
    _ left: BoundPath, _ right: BoundPath
  ) throws(QueryError) -> PropertyType {
    if case .number = left.end, case .number = right.end {
      throw QueryError("Only one side of a comparison can be an aggregate.")
    }
    let (first, second) = (left.valueType, right.valueType)
    let isComputed =
      switch (left.end, right.end) {
      case (.number, _), (_, .number): true
      default: false
      }
    if isComputed, Self.isNumeric(first), Self.isNumeric(second) {
      return first == .decimal128 || second == .decimal128 ? .decimal128 : .double
    }
    guard first == second, left.targetName == right.targetName else {
      throw QueryError(
        "Property type mismatch between \(left.targetName ?? first.description) and "
          + "\(right.targetName ?? second.description)")
    }
    return first
  }

  private static func isNumeric(_ type: PropertyType) -> Bool {
    switch type {
    case .int, .float, .double, .decimal128: true
    default: false
    }
  }
}

extension BoundPredicate {
  /// A condition on the object's own key.
  fileprivate static func objectCondition(_ condition: ValueCondition) -> BoundPredicate {
    switch condition.kind {
    case .none: return .always(false)
    case .integer(.range(let range)): return .keys(IntegerSet([range.lowerBound]))
    case .integer(.outside(let range)): return .not(.keys(IntegerSet([range.lowerBound])))
    case .integer(.set(let set)): return .keys(set)
    default: return .always(true)
    }
  }
}
