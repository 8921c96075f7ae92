import CambiumCore
import Foundation

/// Makes objects of classes that are known by name only.
struct DynamicCreation {
  let migration: Migration

  /// A new object of `access` with the properties that `value` gives, and defaults for the rest.
  func object(of access: ClassAccess, _ value: Any) -> DynamicObject {
    let values = completed(given(value, access), access)
    let session = migration.session
    var primaryKey: (key: Int64?, cell: ColumnValue)?
    let writer = RowWriter(realm: migration.new)
    if let index = access.stored.primaryKeyIndex {
      primaryKey = primaryKeyCell(values[index], access, index, writer)
    }
    let key = session.attempt(0) { () throws(StoreError) in
      try session.insertBlank(access, key: primaryKey?.key, primaryKey: primaryKey?.cell)
    }
    guard let object = access.object(forKey: key) as? DynamicObject else {
      // The store failed; opening throws that when the block has returned.
      return access.goneDynamicObject(key)
    }
    for index in values.indices where index != access.stored.primaryKeyIndex {
      if access.description.properties[index].property.isComputed { continue }
      object.setValue(values[index], at: index)
    }
    return object
  }

  /// The values that are given by property; nil for those that are not.
  private func given(_ value: Any, _ access: ClassAccess) -> [Any??] {
    let properties = access.description.properties
    switch flattened(value) {
    case nil: fatalError("Must provide a non-nil value.")
    case let values as [String: Any]: return properties.map { values[$0.property.name].map { $0 } }
    case let source as ObjectBase:
      let description = source.classDescription
      return properties.map { property in
        if property.property.isComputed { return nil }
        guard let index = description.propertyIndex(property.property.name) else {
          fatalError(
            "Invalid value '\(source)' to initialize object of type '\(access.stored.name)': missing "
              + "key '\(property.property.name)'")
        }
        return .some(source.value(at: index))
      }
    case let values as [Any]:
      let count = properties.count { !$0.property.isComputed }
      guard values.count <= count else {
        fatalError(
          "Invalid array input: more values (\(values.count)) than properties (\(count)).")
      }
      var rest = values[...]
      return properties.map { $0.property.isComputed ? nil : rest.popFirst().map { .some($0) } }
    case let other?:
      fatalError(
        "Invalid value '\(other)' to initialize object of type '\(access.stored.name)': it is neither "
          + "a dictionary, an array nor an object")
    }
  }

  /// The same with the class's defaults where nothing is given.
  private func completed(_ given: [Any??], _ access: ClassAccess) -> [Any?] {
    if !given.contains(where: { $0 == nil }) { return given.map { flattened($0 as Any) } }
    guard let place = migration.declared.index(named: access.stored.name) else {
      return given.map { flattened($0 as Any) }
    }
    let description = migration.declared.descriptions[place]
    let sample = Sampling.instance(of: description.type)
    return given.enumerated().map { index, value in
      if let value { return flattened(value as Any) }
      if description.properties[index].property.isComputed { return nil }
      return stored(description.properties[index].dynamicValue(of: sample))
    }
  }

  // Enumerations as what they are stored as.
  private func stored(_ value: Any?) -> Any? {
    guard let raw = value as? any RawRepresentable else { return value }
    func rawValue(_ value: some RawRepresentable) -> Any { value.rawValue }
    return rawValue(raw)
  }

  private func primaryKeyCell(
    _ value: Any?, _ access: ClassAccess, _ index: Int, _ writer: RowWriter
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
    guard property.type == .object, let target = access.targets[index] else { return value }
    guard property.isCollection else { return value.flatMap { element($0, target) } }
    guard let values = flattened(value) as? any Sequence else { return value }
    func elements(_ values: some Sequence) -> [Any?] { values.map { element($0, target) } }
    return elements(values)
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
  /// An accessor of an object that could not be made.
  func goneDynamicObject(_ key: Int64) -> DynamicObject {
    let object = DynamicObject()
    bind(object, key: key, created: ObjectBase.deletedCreation)
    return object
  }
}
