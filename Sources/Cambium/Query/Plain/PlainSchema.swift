import Synchronization

/// The classes of objects without a Realm, as predicates are bound to them: the column of a property
/// is its place in the class, counted from 1.
enum PlainSchema {
  private static let schemas = Mutex<[ObjectIdentifier: StoredSchema]>([:])

  /// The class and all that its properties lead to.
  static func schema(from type: ObjectBase.Type) -> StoredSchema {
    let identifier = ObjectIdentifier(type)
    if let known = schemas.withLock({ $0[identifier] }) { return known }
    let schema = StoredSchema(
      ClassRegistry.classes(reachable(from: type)).descriptions.map { stored($0.objectSchema) })
    schemas.withLock { $0[identifier] = schema }
    return schema
  }

  /// A class whose only property stands for the elements of a list of values.
  static func valueClass(_ property: Property, named name: String) -> StoredClass {
    stored(ObjectSchema(className: name, objectClass: ObjectBase.self, properties: [property]))
  }

  /// The place of a property in its class.
  static func propertyIndex(_ column: BoundColumn) -> Int { Int(column.id) - 1 }

  private static func stored(_ objectSchema: ObjectSchema) -> StoredClass {
    StoredClass(
      objectSchema: objectSchema, tableID: 0,
      columns: objectSchema.allProperties.indices.map { UInt16($0 + 1) },
      createdColumn: StoredClass.noColumn)
  }

  private static func reachable(from type: ObjectBase.Type) -> [ObjectBase.Type] {
    var types = [type]
    var found = Set(types.map { ObjectIdentifier($0) })
    var next = 0
    while next < types.count {
      for property in ClassRegistry.description(of: types[next]).properties {
        guard let linked = property.wrapper.linkedClass,
          found.insert(ObjectIdentifier(linked)).inserted
        else { continue }
        types.append(linked)
      }
      next += 1
    }
    return types
  }
}
