import CambiumCore

/// How a class of a schema is stored in one database.
///
/// Every class is a table of its own, `class/NAME`. A property's column never changes its number; a
/// hidden column ``createdColumn`` holds the version that created an object, because an object's
/// identity is its key and its creation.
package final class StoredClass: Sendable {
  /// The class as the program declares it.
  package let objectSchema: ObjectSchema
  /// The number by which indexes and backlinks name the class.
  package let tableID: UInt32
  /// The column of each property, in order of declaration; ``noColumn`` for linking objects.
  package let columns: [UInt16]
  /// The column with the objects' creation.
  package let createdColumn: UInt16
  /// Which property is the primary key, if one is.
  package let primaryKeyIndex: Int?
  private let indexByName: [String: Int]

  /// Stands for a column that does not exist; real ones count from 1.
  package static let noColumn: UInt16 = 0

  package init(
    objectSchema: ObjectSchema, tableID: UInt32, columns: [UInt16], createdColumn: UInt16
  ) {
    self.objectSchema = objectSchema
    self.tableID = tableID
    self.columns = columns
    self.createdColumn = createdColumn
    primaryKeyIndex = objectSchema.allProperties.firstIndex(where: \.isPrimaryKey)
    var names: [String: Int] = [:]
    for (index, property) in objectSchema.allProperties.enumerated() {
      names[property.columnName] = index
    }
    for (index, property) in objectSchema.allProperties.enumerated() {
      names[property.name] = index
    }
    indexByName = names
  }

  /// Whether its objects live inside of others.
  package var isEmbedded: Bool { objectSchema.isEmbedded }

  /// The class's name.
  package var name: String { objectSchema.className }

  /// Whether there is a table; a file that is only read may lack it.
  package var isStored: Bool { tableID != 0 }

  /// The name of the class's table.
  package var tableName: String { StoredName.table(name) }

  /// Whether an object's key is its primary key: so it is for non-optional integers.
  package var isKeyPrimaryKey: Bool {
    guard let primaryKeyIndex else { return false }
    let property = objectSchema.allProperties[primaryKeyIndex]
    return property.type == .int && !property.isOptional
  }

  /// The place of the property with that Swift name, or else that column name; nil if there is none.
  package func propertyIndex(_ name: String) -> Int? { indexByName[name] }

  /// The name of the property's index, in versions where it has one.
  package func indexName(_ propertyIndex: Int) -> String {
    StoredName.index(name, columns[propertyIndex])
  }
}

extension StoredClass {
  /// The class in its table; one without objects when a file that is only read lacks it.
  convenience init(_ objectSchema: ObjectSchema, storedIn record: TableRecord?) {
    self.init(
      objectSchema: objectSchema, tableID: record?.id ?? 0,
      columns: objectSchema.allProperties.map { property in
        record?.column(named: property.columnName)?.id ?? Self.noColumn
      }, createdColumn: record?.column(named: StoredProperty.createdName)?.id ?? Self.noColumn)
  }
}

/// A class is the one of its schema, which all Realms of a schema version share.
extension StoredClass: Hashable {
  package static func == (left: StoredClass, right: StoredClass) -> Bool { left === right }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The classes of an open Realm and how they are stored.
///
/// True of every version that the Realm moves to: others may add to what is here, but whatever would
/// change it keeps the Realm where it is (``SchemaDrift``).
package final class StoredSchema: Sendable {
  /// The classes, sorted by name.
  package let classes: [StoredClass]
  /// The layout of tables from which they were read, or with which they were compared.
  package let layoutGeneration: UInt64
  private let classByName: [String: StoredClass]

  package init(_ classes: [StoredClass], layoutGeneration: UInt64 = 0) {
    self.classes = classes
    self.layoutGeneration = layoutGeneration
    classByName = Dictionary(classes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The class with that name, or nil.
  package subscript(name: String) -> StoredClass? { classByName[name] }
}

/// The names under which a Realm's trees and values hang in the catalog.
package enum StoredName {
  /// The objects of a class.
  package static func table(_ className: String) -> String { "class/\(className)" }
  /// The index of a column.
  package static func index(_ className: String, _ column: UInt16) -> String {
    "index/\(className)/\(column)"
  }
  /// The links that lead to objects of a class.
  package static func backlinks(_ className: String) -> String { "backlinks/\(className)" }
  /// The user's schema version, 8 bytes, little-endian.
  package static let schemaVersion = "schema/version"
  /// What readers must know, see ``StoredFeatures``.
  package static let features = "schema/features"
  /// What the names of all classes begin with.
  package static let tablePrefix = "class/"
}

/// What a table's attributes in the catalog say of the class that it stores.
///
///      0      1       2
///     | role | flags | fields …
///
/// `role` is 1, flags: 1 embedded. No attributes are those of a class without flags and fields; so are
/// those of files of the first releases. See ``StoredFields``.
package struct StoredClassAttributes: Hashable, Sendable {
  /// Whether the class's objects live inside of others.
  package var isEmbedded = false

  package init(isEmbedded: Bool = false) { self.isEmbedded = isEmbedded }

  /// Reads a table's attributes; nil when they are not those of a class.
  package init?(attributes: [UInt8]) {
    if attributes.isEmpty { return }
    guard attributes.count >= 2, attributes[0] == 1, attributes[1] & ~1 == 0,
      StoredFields.areSound(attributes[2...])
    else { return nil }
    isEmbedded = attributes[1] & 1 != 0
  }

  /// The stored form.
  package var attributes: [UInt8] { isEmbedded ? [1, 1] : [] }
}
