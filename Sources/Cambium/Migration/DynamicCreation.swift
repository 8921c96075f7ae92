import CambiumCore
import Foundation

/// Makes objects of classes that are known by name only.
struct DynamicCreation {
  // Exclusivity is not checked: objects, the Realm and its transaction have one user, and each access
  // to their fields ends before anything else is called.

  /// Where they are made.
  let realm: RealmInstance
  let session: WriteSession
  /// In a migration, the Realm as it was.
  var old: RealmInstance?
  /// In a migration, the program's classes, which have the defaults.
  var declared: ClassSet?
  /// What happens to objects whose primary key is there already.
  var policy = Realm.UpdatePolicy.error

  /// Runs `body`, while dictionaries and arrays that are assigned to links make objects.
  func substituting<Result>(_ body: () throws -> Result) rethrows -> Result {
    let outer = unsafe session.substitute
    unsafe session.substitute = { value, access, index in linked(value, access, index) }
    defer { unsafe session.substitute = outer }
    return try body()
  }

  /// A new object of `access` with the properties that `value` gives, and defaults for the rest; or the one
  /// that is there already with that primary key, changed.
  ///
  /// One without a primary key gets the row `rowKey`, if that and all behind it were never used.
  func object(of access: ClassAccess, _ value: Any, rowKey: Int64? = nil) -> DynamicObject {
    var primaryKey: (key: Int64?, cell: ColumnValue)?
    let writer = _RowWriter(realm: realm)
    let (values, isGiven) = values(value, access)
    if let index = access.stored.primaryKeyIndex {
      if let key = access.key(forPrimaryKey: values[index], index) {
        return changed(access.dynamicObject(forKey: key), values, isGiven, access, index)
      }
      primaryKey = primaryKeyCell(values[index], access, index, writer)
    }
    // What is not given has its default from the new row.
    let given = values.indices.filter {
      $0 != access.stored.primaryKeyIndex && (isGiven[$0] || values[$0] != nil)
        && !access.description.properties[$0].property.isComputed
    }
    let key = session.attempt(0) { () throws(StoreError) -> Int64 in
      var newKey = primaryKey?.key
      if primaryKey == nil, let rowKey, try session.editor(access).table.isUnused(rowKey) {
        newKey = rowKey
      }
      return try session.insertRow(access, key: newKey, primaryKey: primaryKey?.cell) {
        row, positions in
        for index in given where isPlain(index, access) {
          unsafe row.position = positions[index]
          if !access.description.properties[index].wrapper.writeConverted(values[index], to: row) {
            access.description.stopAtInvalidValue(values[index], index)
          }
        }
      }
    }
    // The store may have failed; opening throws that when the block has returned.
    let object = access.dynamicObject(forKey: key)
    if object.isInvalidated { return object }
    for index in given where !isPlain(index, access) { object.setValue(values[index], at: index) }
    return object
  }

  /// Whether a property holds one value that leads nowhere, so that it can be written with its row.
  private func isPlain(_ index: Int, _ access: ClassAccess) -> Bool {
    let property = access.description.properties[index].property
    return !property.isCollection && property.type != .object && property.type != .any
  }

  /// `object`, which was there before, with the values that are given.
  private func changed(
    _ object: DynamicObject, _ values: [Any?], _ isGiven: [Bool], _ access: ClassAccess,
    _ primaryKey: Int
  ) -> DynamicObject {
    guard policy != .error else {
      fatalError(
        "Attempting to create an object of type '\(access.stored.name)' with an existing primary key "
          + "value '\(values[primaryKey].map { "\($0)" } ?? "(null)")'.")
    }
    let outer = unsafe session.skipsEqualValues
    unsafe session.skipsEqualValues = policy == .modified
    defer { unsafe session.skipsEqualValues = outer }
    for index in values.indices where index != primaryKey && isGiven[index] {
      if access.description.properties[index].property.isComputed { continue }
      object.setValue(values[index], at: index)
    }
    return object
  }

  /// The values that are given by property, and the class's defaults where none is; and which were given.
  private func values(_ value: Any, _ access: ClassAccess) -> (values: [Any?], isGiven: [Bool]) {
    var values = [Any?](repeating: nil, count: access.description.properties.count)
    var isGiven = values.map { _ in false }
    InitialValue(value, for: access.description).forEachProperty(of: access.description) {
      values[$0] = $1
      isGiven[$0] = true
    }
    guard isGiven.contains(false), let declared,
      let place = declared.index(named: access.stored.name)
    else { return (values, isGiven) }
    let description = declared.descriptions[place]
    let sample = Sampling.instance(of: description.type)
    for (index, property) in description.properties.enumerated()
    where !isGiven[index] && !property.property.isComputed {
      values[index] = property.dynamicValue(of: sample)
    }
    return (values, isGiven)
  }

  private func primaryKeyCell(
    _ value: Any?, _ access: ClassAccess, _ index: Int, _ writer: _RowWriter
  ) -> (key: Int64?, cell: ColumnValue) {
    writer.begin([.null])
    // Writing cannot fail: looking for the key has converted the value before.
    _ = access.description.properties[index].wrapper.writeConverted(value, to: writer)
    let cell = unsafe writer.cells[0]
    if access.stored.isKeyPrimaryKey, case .int(let key) = cell { return (key, cell) }
    return (nil, cell)
  }

  /// `value` with objects of the new Realm for what stands for them: dictionaries, arrays, old objects.
  func linked(_ value: Any?, _ access: ClassAccess, _ index: Int) -> Any? {
    let property = access.description.properties[index].property
    if property.type == .any { return anyValue(value) }
    guard property.type == .object, let target = access.targets[index] else { return value }
    guard property.isCollection else { return value.flatMap { element($0, target) } }
    if property.isMap {
      let entries: [(String, Any?)]
      switch flattened(value) {
      case let dictionary as [String: Any]: entries = dictionary.map { ($0.key, $0.value) }
      case let map as any DynamicMap: entries = map.dynamicEntries
      default: return value
      }
      return Dictionary(
        entries.map { ($0.0, $0.1.flatMap { element($0, target) } as Any) },
        uniquingKeysWith: { first, _ in first })
    }
    guard let values = flattened(value) as? any Sequence else { return value }
    return elements(values) { element($0, target) }
  }

  /// A value of any type, or a collection of them, with the new Realm's objects for those of the old one;
  /// nil where one is gone, which lists and sets leave out.
  private func anyValue(_ value: Any?) -> Any? {
    switch flattened(value) {
    case let object as DynamicObject where unsafe old != nil && object.instance === old:
      return realm.classSet.index(named: object.classAccess.stored.name)
        .flatMap { element(object, $0) }
    case let value as AnyRealmValue:
      return anyValue(AnyRealmValue._rlmDynamicValue(value))
    case let map as Map<String, AnyRealmValue>:
      return Dictionary(
        map.entries().map { ($0.key, anyValue($0.value) as Any) }, uniquingKeysWith: { $1 })
    case let dictionary as [String: Any]: return dictionary.mapValues { anyValue($0) as Any }
    case let list as List<AnyRealmValue>: return elements(list, anyValue)
    case let set as MutableSet<AnyRealmValue>: return elements(set, anyValue)
    case let array as [Any]: return elements(array, anyValue)
    default: return value
    }
  }

  /// What `convert` makes of elements; what was an object and is none now has no place.
  private func elements(_ values: some Sequence, _ convert: (Any) -> Any?) -> [Any?] {
    values.compactMap { value -> Any?? in
      let element = convert(value)
      return element == nil && isObject(value) ? nil : .some(element)
    }
  }

  private func isObject(_ value: Any) -> Bool {
    switch flattened(value) {
    case is ObjectBase: true
    case AnyRealmValue.object?: true
    default: false
    }
  }

  private func element(_ value: Any, _ target: Int) -> Any? {
    let access = unsafe realm.classes[target]
    switch flattened(value) {
    case nil: return nil
    case let object as DynamicObject:
      guard old != nil, unsafe object.instance === old else { return object }
      let name = object.classAccess.stored.name
      if name != access.stored.name { session.stopAtWrongClass(name, access) }
      guard unsafe access.creation(of: object.key) == object.created else { return nil }
      return unsafe access.object(forKey: object.key)
    case let value?:
      if value is [String: Any] || value is [Any] || value is ObjectBase {
        return self.object(of: access, value)
      }
      return value
    }
  }
}

extension ClassAccess {
  /// A dynamic accessor of the object with that key, of one that is gone when there is none.
  func dynamicObject(forKey key: Int64) -> DynamicObject {
    let layout = layout.dynamicLayout
    let object = object(forKey: key, as: layout) ?? goneObject(key, as: layout)
    return unsafe unsafeDowncast(object, to: DynamicObject.self)
  }
}
