import CambiumCore

/// What a column's attributes in the catalog say of the property it stores.
///
///      0      1      2       3
///     | role | type | flags | class name in UTF-8 …
///
/// `role` is 0 for a property and 1 for the hidden column with the objects' creation, which has no
/// further bytes that matter. Flags: 1 list, 2 set, 4 map, 8 optional, 16 indexed, 32 primary key. A
/// primary key is not said to be indexed: whether it has an index follows from its type.
package struct StoredProperty: Hashable, Sendable {
  package var type: PropertyType
  package var isArray = false
  package var isSet = false
  package var isMap = false
  package var isOptional = false
  package var isIndexed = false
  package var isPrimaryKey = false
  package var objectClassName: String?

  /// The attributes of the hidden column.
  package static let created: [UInt8] = [1, 0, 0]
  /// The hidden column's name; no property can have it.
  package static let createdName = "$created"

  package init(_ property: Property) {
    type = property.type
    isArray = property.isArray
    isSet = property.isSet
    isMap = property.isMap
    isOptional = property.isOptional
    isIndexed = property.isIndexed && !property.isPrimaryKey
    isPrimaryKey = property.isPrimaryKey
    objectClassName = property.objectClassName
  }

  /// Reads a column's attributes; nil when they are not those of a property.
  package init?(attributes: [UInt8]) {
    guard attributes.count >= 3, attributes[0] == 0,
      let type = PropertyType(rawValue: Int32(attributes[1]))
    else { return nil }
    self.type = type
    let flags = attributes[2]
    isArray = flags & 1 != 0
    isSet = flags & 2 != 0
    isMap = flags & 4 != 0
    isOptional = flags & 8 != 0
    isIndexed = flags & 16 != 0
    isPrimaryKey = flags & 32 != 0
    if attributes.count > 3 {
      objectClassName = String(decoding: attributes[3...], as: UTF8.self)
    }
  }

  /// Whether an index serves the property: those marked, and primary keys that are not object keys.
  package var hasIndex: Bool {
    isPrimaryKey ? type != .int || isOptional : isIndexed
  }

  /// The stored form.
  package var attributes: [UInt8] {
    var flags: UInt8 = 0
    for (bit, isSet) in [isArray, isSet, isMap, isOptional, isIndexed, isPrimaryKey].enumerated()
    where isSet {
      flags |= 1 << UInt8(bit)
    }
    return [0, UInt8(type.rawValue), flags] + Array((objectClassName ?? "").utf8)
  }

  /// The property as the schema describes it.
  package func property(named name: String) -> Property {
    var property = Property(name: name, type: type)
    property.isArray = isArray
    property.isSet = isSet
    property.isMap = isMap
    property.isOptional = isOptional
    property.isIndexed = isIndexed || isPrimaryKey
    property.isPrimaryKey = isPrimaryKey
    property.objectClassName = objectClassName
    return property
  }
}

extension Property {
  /// The column type of the property's elements, or of its value when it is no collection.
  package var elementColumnType: ColumnType {
    switch type {
    case .int, .object, .linkingObjects: .int
    case .bool: .bool
    case .float: .float
    case .double: .double
    case .date, .objectId, .decimal128, .UUID: .wide
    case .string, .data, .any: .bytes
    }
  }

  /// The type of the property's column.
  package var columnType: ColumnType { isCollection ? .bytes : elementColumnType }

  /// Whether the property's column can hold null.
  package var isColumnNullable: Bool { !isCollection && (isOptional || type == .object) }
}
