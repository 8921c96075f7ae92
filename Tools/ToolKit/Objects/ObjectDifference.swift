import Cambium

/// What has to happen to the objects of one database to become those of another.
package struct ObjectDifference {
  /// What differs in one object.
  package enum Change {
    case added(JSONValue)
    case removed(JSONValue)
    case changed([Property])

    /// A property whose value differs.
    package struct Property {
      package var name: String
      package var old, new: JSONValue
    }
  }

  /// What classes there are: those that only one of both has, and properties that are not the same.
  package struct Schemas {
    package var removedClasses: [String] = []
    package var addedClasses: [String] = []
    /// `Person.age`, and what it is on each side; nil where it is not there.
    package var properties: [(path: String, old: String?, new: String?)] = []
    package var isEmpty: Bool {
      removedClasses.isEmpty && addedClasses.isEmpty && properties.isEmpty
    }

    /// The differences of some classes.
    package func limited(to names: [String]) -> Schemas {
      var schemas = self
      schemas.removedClasses.removeAll { !names.contains($0) }
      schemas.addedClasses.removeAll { !names.contains($0) }
      schemas.properties.removeAll { property in
        !names.contains { property.path.hasPrefix("\($0).") }
      }
      return schemas
    }
  }

  private let old, new: Realm
  private let encoders: (old: ObjectEncoder, new: ObjectEncoder)
  /// Whether both are copies of one database, so that what is common need not be read.
  package let isOfOneOrigin: Bool

  /// Compares two frozen Realms that were opened with the classes that they describe.
  package init(old: Realm, new: Realm) {
    (self.old, self.new) = (old, new)
    encoders = (ObjectEncoder(old), ObjectEncoder(new))
    isOfOneOrigin = old.databaseNumber == new.databaseNumber
  }

  /// What differs in the classes.
  package var schemas: Schemas {
    var schemas = Schemas()
    for type in old.schema.objectSchema {
      guard let other = new.schema[type.className] else {
        schemas.removedClasses.append(type.className)
        continue
      }
      let names = (type.properties + other.properties).map(\.name)
      var seen: Set<String> = []
      for name in names where seen.insert(name).inserted {
        let (before, after) = (type[name].map(Self.text), other[name].map(Self.text))
        guard before != after else { continue }
        schemas.properties.append(("\(type.className).\(name)", before, after))
      }
    }
    for type in new.schema.objectSchema where old.schema[type.className] == nil {
      schemas.addedClasses.append(type.className)
    }
    return schemas
  }

  private static func text(of property: Property) -> String {
    SwiftModels.typeName(of: property)
      + (property.isPrimaryKey ? ", primary key" : property.isIndexed ? ", indexed" : "")
  }

  /// The classes whose objects can be compared, by name.
  package var classNames: [String] {
    old.schema.objectSchema.filter { type in
      new.schema[type.className].map { $0.isEmbedded == type.isEmbedded } ?? false
        && !type.isEmbedded
    }.map(\.className)
  }

  /// Calls `visit` with each object of a class that differs, by its primary key or the number of its row.
  ///
  /// Embedded objects count as parts of those that hold them.
  package func forEachChange(
    of className: String, _ visit: (_ key: JSONValue, Change) throws -> Void
  ) throws {
    guard let before = old.schema[className], let after = new.schema[className] else { return }
    let properties = before.allProperties.enumerated().compactMap {
      index, property -> (old: Int, new: Int, Property)? in
      guard !property.isComputed,
        let other = after.allProperties.firstIndex(where: { $0.name == property.name })
      else { return nil }
      return (index, other, property)
    }
    let key = before.primaryKeyProperty.flatMap { key in
      after.primaryKeyProperty.map { $0.name == key.name && $0.type == key.type } ?? false
        ? key : nil
    }
    func counterpart(of object: DynamicObject, in realm: Realm) -> DynamicObject? {
      key.map { realm.dynamicObject(ofType: className, primaryKey: object[$0.name]) }
        ?? realm.dynamicObject(ofType: className, rowKey: object.rowKey)
    }
    let candidates = isOfOneOrigin ? try candidates(of: className) : nil
    var compared: Set<Int64> = []
    try forEach(candidates?.old, in: old, className) { object in
      let name = encoders.old.reference(object)
      guard let other = counterpart(of: object, in: new) else {
        return try visit(name, .removed(encoders.old.document(object)))
      }
      if candidates != nil { compared.insert(other.rowKey) }
      let changes = changes(object, other, properties, before, after)
      if !changes.isEmpty { try visit(name, .changed(changes)) }
    }
    try forEach(candidates?.new, in: new, className) { object in
      guard !compared.contains(object.rowKey) else { return }
      guard let other = counterpart(of: object, in: old) else {
        return try visit(encoders.new.reference(object), .added(encoders.new.document(object)))
      }
      // Of all objects, those that are there were met before.
      guard candidates != nil else { return }
      let changes = changes(other, object, properties, before, after)
      if !changes.isEmpty { try visit(encoders.old.reference(other), .changed(changes)) }
    }
  }

  private func changes(
    _ old: DynamicObject, _ new: DynamicObject, _ properties: [(old: Int, new: Int, Property)],
    _ before: ObjectSchema, _ after: ObjectSchema
  ) -> [Change.Property] {
    properties.compactMap { oldIndex, newIndex, property in
      let was = encoders.old.value(of: old, oldIndex, property)
      let value = encoders.new.value(of: new, newIndex, after.allProperties[newIndex])
      return was == value ? nil : Change.Property(name: property.name, old: was, new: value)
    }
  }

  /// Calls `body` with the objects with these rows, or with all.
  private func forEach(
    _ rows: [Int64]?, in realm: Realm, _ className: String, _ body: (DynamicObject) throws -> Void
  ) throws {
    guard let rows else {
      for object in realm.dynamicObjects(className) { try body(object) }
      return
    }
    for row in rows {
      if let object = realm.dynamicObject(ofType: className, rowKey: row) { try body(object) }
    }
  }

  /// The rows that may differ, of the class and of those that hold embedded objects which do.
  private func candidates(of className: String) throws -> (old: [Int64], new: [Int64]) {
    let rows = try new.differingRows(from: old, ofType: className)
    var (before, after) = (Set(rows.old), Set(rows.new))
    for type in old.schema.objectSchema
    where type.isEmbedded && new.schema[type.className]?.isEmbedded == true {
      let embedded = try new.differingRows(from: old, ofType: type.className)
      before.formUnion(owners(embedded.old, type.className, className, in: old))
      after.formUnion(owners(embedded.new, type.className, className, in: new))
    }
    return (before.sorted(), after.sorted())
  }

  private func owners(
    _ rows: [Int64], _ type: String, _ className: String, in realm: Realm
  ) -> [Int64] {
    rows.compactMap { row in
      guard let object = realm.dynamicObject(ofType: type, rowKey: row),
        let owner = realm.owner(ofEmbedded: object), owner.className == className
      else { return nil }
      return owner.rowKey
    }
  }
}
