import CambiumCore

/// A condition on the elements of a list without a Realm.
///
/// It is bound as a condition on rows is, and tests the same cells by the same conditions: those of
/// the values that properties hold.
struct PlainQuery {
  private let predicate: BoundPredicate
  private let numbers = ObjectNumbers()
  private let names = Names()

  /// What a condition is about.
  private enum Subject {
    case object(ObjectBase)
    case value(Any?)
  }

  /// The objects around the subquery that is being evaluated.
  private final class Names {
    var named = NamedElements<Subject>()
  }

  /// Stops when the predicate does not fit the elements.
  init<Element: RealmCollectionValue>(_ predicate: QueryPredicate, on element: Element.Type) {
    do throws(QueryError) {
      self.predicate = try Self.bound(predicate, on: element, numbers)
    } catch {
      error.stop()
    }
  }

  private static func bound<Element: RealmCollectionValue>(
    _ predicate: QueryPredicate, on element: Element.Type, _ numbers: ObjectNumbers
  ) throws(QueryError) -> BoundPredicate {
    let lookup: QueryBinder.ObjectLookup = { object throws(QueryError) in
      (object as? ObjectBase).map { numbers.reference(to: $0) }
    }
    guard let type = linkedClass(of: element) else {
      var property = Property(name: "self", type: .int)
      Element._rlmDescribeElement(&property)
      return try QueryBinder(schema: StoredSchema([]), object: lookup).bind(
        predicate, toValuesOf: PlainSchema.valueClass(property, named: "\(element)"))
    }
    guard type != DynamicObject.self else {
      throw QueryError("An unmanaged list of dynamic objects has no class to be queried by.")
    }
    let schema = PlainSchema.schema(from: type)
    let name = ClassRegistry.description(of: type).name
    guard let start = schema[name] else {
      throw QueryError("Object type '\(name)' is not known.")
    }
    return try QueryBinder(schema: schema, object: lookup).bind(predicate, to: start)
  }

  /// The place of the first element that satisfies the condition; nil when none does.
  func firstIndex<Element: RealmCollectionValue>(in elements: [Element]) -> Int? {
    elements.firstIndex { element in
      let subject: Subject =
        if let object = storedObject(of: element) {
          .object(object)
        } else {
          .value(Element._rlmDynamicElement(element))
        }
      return holds(predicate, subject)
    }
  }

  private func holds(_ predicate: BoundPredicate, _ subject: Subject) -> Bool {
    switch predicate {
    case .always(let result): return result
    case .and(let parts): return parts.allSatisfy { holds($0, subject) }
    case .or(let parts): return parts.contains { holds($0, subject) }
    case .not(let part): return !holds(part, subject)
    case .value(let column, let condition):
      return withCell(value(column, subject), column.property) { condition.matches($0) }
    case .keys(let keys): return withCell(of: subject) { $0.link.map(keys.contains) ?? false }
    case .link(let link, let inner):
      guard let next = object(link, subject) else { return inner.matchesMissing }
      return holds(inner, next)
    case .any(let collection, let inner):
      return !forEachObject(of: collection, subject) { !holds(inner, $0) }
    case .anyElement(let column, let condition):
      return !forEachElement(of: column, subject) { !condition.matches($0) }
    case .number(let number, let condition):
      return fold(number, subject).withOperand { condition.matches($0) }
    case .pair(let pair):
      return !forEachValue(of: pair.left, subject) { left in
        forEachValue(of: pair.right, subject) { right in !pair.comparison.holds(left, right) }
      }
    case .within(let place, let region):
      var coordinates: [Double] = []
      _ = forEachElement(of: place.coordinates, subject) { cell in
        if case .double(let value) = cell { coordinates.append(value) }
        return coordinates.count < 2
      }
      return place.isWithin(region, value(place.type, subject) as? String ?? "", coordinates)
    case .named(let level, let inner):
      names.named.set(subject, at: level)
      return holds(inner, subject)
    case .outer(let origin, let inner): return holds(inner, names.named[origin.level])
    }
  }

  // MARK: Values

  private func value(_ column: BoundColumn, _ subject: Subject) -> Any? {
    switch subject {
    case .object(let object): object.value(at: PlainSchema.propertyIndex(column))
    case .value(let value): value
    }
  }

  private func withCell<Result>(
    _ value: Any?, _ type: PropertyType, _ body: (ColumnValue) -> Result
  ) -> Result {
    guard type == .any else { return withCell(value, body) }
    // Which class it is does not matter: objects are told apart by their numbers.
    return StoredAny(plain: value) { .link(StoredAnyLink(table: 0, key: numbers[$0])) }
      .withCell(body)
  }

  private func withCell<Result>(_ value: Any?, _ body: (ColumnValue) -> Result) -> Result {
    switch flattened(value) {
    case nil: body(.null)
    case let object as ObjectBase: body(.int(numbers[object]))
    case let value as any _StoredScalar: value._rlmWithScalarCell(body)
    case let value?: fatalError("A query cannot compare '\(value)' of type '\(type(of: value))'.")
    }
  }

  private func withCell<Result>(of subject: Subject, _ body: (ColumnValue) -> Result) -> Result {
    switch subject {
    case .object(let object): body(.int(numbers[object]))
    case .value(let value): withCell(value, body)
    }
  }

  private func object(_ link: BoundLink, _ subject: Subject) -> Subject? {
    (flattened(value(link.column, subject)) as? ObjectBase).map(Subject.object)
  }

  private func fold(_ number: BoundNumber, _ subject: Subject) -> NumberFold {
    var fold = NumberFold(number.aggregate, number.column?.property ?? .int)
    switch number.source {
    case .elements(let list):
      _ = forEachElement(of: list, subject) { cell in
        fold.add(cell)
        return true
      }
    case .objects(let collection, let column, let filter):
      _ = forEachObject(of: collection, subject) { object in
        if let filter, !holds(filter, object) { return true }
        guard let column else {
          fold.add(.int(0))
          return true
        }
        withCell(value(column, object), column.property) { fold.add($0) }
        return true
      }
    }
    return fold
  }

  // MARK: Walking
  // Each walk goes on while its body returns true, and returns whether it came to the end.

  private func forEachObject(
    of collection: BoundCollection, _ subject: Subject, _ body: (Subject) -> Bool
  ) -> Bool {
    guard case .object(let object) = subject, let index = collection.plainIndex,
      let elements = object.value(at: index)
    else { return true }
    return forEach(of: collection.part, elements) {
      ($0 as? ObjectBase).map { body(.object($0)) } ?? true
    }
  }

  private func forEachElement(
    of column: BoundColumn, _ subject: Subject, _ body: (ColumnValue) -> Bool
  ) -> Bool {
    guard let elements = value(column, subject) else {
      return column.isEntry ? withCell(nil, column.property, body) : true
    }
    let type = column.property
    guard !column.inside.isEmpty else {
      return forEach(of: column.part, elements) { withCell($0, type, body) }
    }
    if column.isSingleValue {
      return Self.values(elements, at: column.inside[...]).allSatisfy { withCell($0, type, body) }
    }
    return forEach(of: column.part, elements) { value in
      Self.values(value, at: column.inside[...]).allSatisfy { withCell($0, type, body) }
    }
  }

  /// What lies behind keys and indices inside of a value of any type.
  private static func values(_ value: Any?, at steps: ArraySlice<QueryPath.Step>) -> [Any?] {
    guard let step = steps.first else { return [value] }
    let rest = steps.dropFirst()
    switch (step, value) {
    case (.key(let key), let map as any DynamicMap):
      return values(map.dynamicValue(forKey: key), at: rest)
    case (.index(let index), let list as List<AnyRealmValue>):
      let element = index >= 0 && index < list.count ? list[index] : .none
      return values(AnyRealmValue._rlmDynamicValue(element), at: rest)
    case (.anyElement, let map as any DynamicMap):
      return map.dynamicEntries.flatMap { values($0.1, at: rest) }
    case (.anyElement, let list as List<AnyRealmValue>):
      return list.flatMap { values(AnyRealmValue._rlmDynamicValue($0), at: rest) }
    case (.anyElement, _): return []
    default: return values(nil, at: rest)
    }
  }

  /// Walks a collection's elements, or what of a map is meant.
  private func forEach(
    of part: BoundColumn.Part, _ elements: Any, _ body: (Any?) -> Bool
  ) -> Bool {
    guard let map = elements as? any DynamicMap else {
      return (elements as? any RealmCollection)?.forEachValue(body) ?? true
    }
    switch part {
    case .elements: return map.dynamicEntries.allSatisfy { body($0.1) }
    case .keys: return map.dynamicEntries.allSatisfy { body($0.0) }
    case .entry(let key): return body(map.dynamicValue(forKey: key))
    }
  }

  private func forEachValue(
    of source: BoundSource, _ subject: Subject, _ body: (ColumnValue) -> Bool
  ) -> Bool {
    switch source {
    case .column(let column): return withCell(value(column, subject), column.property, body)
    case .number(let number): return fold(number, subject).withOperand(body)
    case .key: return withCell(of: subject, body)
    case .link(let link, let inner):
      if let next = object(link, subject) { return forEachValue(of: inner, next, body) }
      return inner.isMultiple ? true : body(inner.valueOfMissing)
    case .any(let collection, let inner):
      return forEachObject(of: collection, subject) { forEachValue(of: inner, $0, body) }
    case .anyElement(let column): return forEachElement(of: column, subject, body)
    case .outer(let origin, let inner):
      return forEachValue(of: inner, names.named[origin.level], body)
    }
  }
}

extension BoundCollection {
  /// What of a map is meant.
  fileprivate var part: BoundColumn.Part {
    if case .list(let column, _, _) = self { column.part } else { .elements }
  }

  /// The place of the property in an unmanaged object's class.
  fileprivate var plainIndex: Int? {
    switch self {
    case .list(let column, _, _): PlainSchema.propertyIndex(column)
    case .backlinks(let origin, let column, _, let target):
      target.objectSchema.allProperties.firstIndex { property in
        property.isComputed && property.objectClassName == origin.name
          && property.originPropertyName.flatMap(origin.propertyIndex)
            == PlainSchema.propertyIndex(column)
      }
    }
  }
}

/// Numbers for objects, which stand for them as keys stand for rows.
///
/// Belongs to one run of a query.
private final class ObjectNumbers {
  private var numbers: [SameObject: Int64] = [:]

  subscript(object: ObjectBase) -> Int64 {
    let key = SameObject(object: object)
    if let number = numbers[key] { return number }
    let number = Int64(numbers.count)
    numbers[key] = number
    return number
  }

  /// An object that a query names; a deleted one equals none.
  func reference(to object: ObjectBase) -> QueryObject {
    QueryObject(
      className: object.classDescription.name, key: object.isGone ? nil : self[object])
  }
}
