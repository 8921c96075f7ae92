import CambiumCore
import Foundation

/// Makes objects of classes that are known by name only.
struct DynamicCreation {
  let migration: Migration

  /// A new object of `access` with the properties that `value` gives, and defaults for the rest.
  func object(of access: ClassAccess, _ value: Any) -> DynamicObject {
    let values = values(value, access)
    let session = migration.session
    var primaryKey: (key: Int64?, cell: ColumnValue)?
    let writer = _RowWriter(realm: migration.new)
    if let index = access.stored.primaryKeyIndex {
      primaryKey = primaryKeyCell(values[index], access, index, writer)
    }
    let key = session.attempt(0) { () throws(StoreError) in
      try session.insertBlank(access, key: primaryKey?.key, primaryKey: primaryKey?.cell)
    }
    // The store may have failed; opening throws that when the block has returned.
    let object = access.dynamicObject(forKey: key)
    if object.isInvalidated { return object }
    for index in values.indices where index != access.stored.primaryKeyIndex {
      if access.description.properties[index].property.isComputed { continue }
      object.setValue(values[index], at: index)
    }
    return object
  }

  /// The values that are given by property, and the class's defaults where none is.
  private func values(_ value: Any, _ access: ClassAccess) -> [Any?] {
    var values = [Any?](repeating: nil, count: access.description.properties.count)
    var isGiven = values.map { _ in false }
    InitialValue(value, for: access.description).forEachProperty(of: access.description) {
      values[$0] = $1
      isGiven[$0] = true
    }
    guard isGiven.contains(false), let place = migration.declared.index(named: access.stored.name)
    else { return values }
    let description = migration.declared.descriptions[place]
    let sample = Sampling.instance(of: description.type)
    for (index, property) in description.properties.enumerated()
    where !isGiven[index] && !property.property.isComputed {
      values[index] = property.dynamicValue(of: sample)
    }
    return values
  }

  private func primaryKeyCell(
    _ value: Any?, _ access: ClassAccess, _ index: Int, _ writer: _RowWriter
  ) -> (key: Int64?, cell: ColumnValue) {
    if access.key(forPrimaryKey: value, index) != nil {
      fatalError(
        "Attempting to create an object of type '\(access.stored.name)' with an existing primary key "
          + "value '\(value.map { "\($0)" } ?? "(null)")'.")
    }
    writer.begin([.null])
    // Writing cannot fail: looking for the key has converted the value before.
    _ = access.description.properties[index].wrapper.writeConverted(value, to: writer)
    let cell = writer.cells[0]
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
    func elements(_ values: some Sequence) -> [Any?] { values.map { element($0, target) } }
    return elements(values)
  }

  /// A value of any type, or a collection of them, with the new Realm's objects for those of the old one;
  /// nil where one is gone, which lists and sets leave out.
  private func anyValue(_ value: Any?) -> Any? {
    switch flattened(value) {
    case let object as DynamicObject where object.instance === migration.old:
      return migration.new.classSet.index(named: object.classAccess.stored.name)
        .flatMap { element(object, $0) }
    case let value as AnyRealmValue:
      return anyValue(AnyRealmValue._rlmDynamicValue(value))
    case let map as Map<String, AnyRealmValue>:
      return Dictionary(
        map.entries().map { ($0.key, anyValue($0.value) as Any) }, uniquingKeysWith: { $1 })
    case let dictionary as [String: Any]: return dictionary.mapValues { anyValue($0) as Any }
    case let list as List<AnyRealmValue>: return anyElements(list)
    case let set as MutableSet<AnyRealmValue>: return anyElements(set)
    case let array as [Any]: return anyElements(array)
    default: return value
    }
  }

  private func anyElements(_ values: some Sequence) -> [Any?] {
    values.compactMap { value -> Any?? in
      let element = anyValue(value)
      // What was an object and is none now has no place.
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
    let access = migration.new.classes[target]
    switch flattened(value) {
    case nil: return nil
    case let object as DynamicObject:
      guard object.instance === migration.old else { return object }
      let name = object.classAccess.stored.name
      if name != access.stored.name { migration.session.stopAtWrongClass(name, access) }
      guard access.creation(of: object.key) == object.created else { return nil }
      return access.object(forKey: object.key)
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
    return unsafeDowncast(object, to: DynamicObject.self)
  }
}
