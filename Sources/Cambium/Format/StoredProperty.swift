import CambiumCore

/// What a column's attributes in the catalog say of the property it stores.
///
///      0      1      2       4           5
///     | role | type | flags | byte count | class name in UTF-8 | fields …
///
/// `role` is 2 for a property and 1 for the hidden column with the objects' creation, which has no
/// further bytes that matter. Flags: 1 list, 2 set, 4 map, 8 optional, 16 indexed, 32 primary key; those
/// that nobody knows yet are zero. A primary key is not said to be indexed: whether it has an index
/// follows from its type. What is added later goes into fields, see ``StoredFields``.
///
/// Files of the first releases have role 0, one byte of flags, and the class name up to the end.
package struct StoredProperty: Hashable, Sendable {
  package var type: PropertyType
  package var isArray = false
  package var isSet = false
  package var isMap = false
  package var isOptional = false
  package var isIndexed = false
  package var isPrimaryKey = false
  package var objectClassName: String?

  private static let role: UInt8 = 2

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
    guard attributes.count >= 3, let type = PropertyType(rawValue: Int32(attributes[1])) else {
      return nil
    }
    self.type = type
    let className: ArraySlice<UInt8>
    switch attributes[0] {
    case 0: className = attributes[3...]
    case Self.role:
      guard attributes.count >= 5, attributes[3] == 0, attributes[2] & ~0x3f == 0 else {
        return nil
      }
      let end = 5 + Int(attributes[4])
      guard end <= attributes.count, StoredFields.areSound(attributes[end...]) else { return nil }
      className = attributes[5..<end]
    default: return nil
    }
    // A name that no class can have would not fit where it is written anew.
    guard className.count <= Int(UInt8.max),
      let name = String(validating: className, as: UTF8.self)
    else { return nil }
    let flags = attributes[2]
    isArray = flags & 1 != 0
    isSet = flags & 2 != 0
    isMap = flags & 4 != 0
    isOptional = flags & 8 != 0
    isIndexed = flags & 16 != 0
    isPrimaryKey = flags & 32 != 0
    if !name.isEmpty { objectClassName = name }
  }

  /// The property's type as messages name it, and what else marks it: `string?, indexed`.
  package var text: String {
    property(named: "").typeText
      + (isPrimaryKey ? ", primary key" : isIndexed ? ", indexed" : "")
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
    let className = Array((objectClassName ?? "").utf8)
    return [Self.role, UInt8(type.rawValue), flags, 0, UInt8(className.count)] + className
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
  package var isColumnNullable: Bool {
    !isCollection && (isOptional || type == .object || type == .any)
  }
}
