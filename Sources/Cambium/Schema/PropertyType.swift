/// What kind of value a property holds; for collections, what kind its elements have.
///
/// Raw values are part of the file format.
@frozen public enum PropertyType: Int32, Sendable {
  /// A signed integer of any width, stored in 64 bits.
  case int = 0
  /// A truth value.
  case bool = 1
  /// A text in UTF-8.
  case string = 2
  /// Bytes.
  case data = 3
  /// A point in time: 64-bit seconds and nanoseconds since 1970.
  case date = 4
  /// A 32-bit floating-point number.
  case float = 5
  /// A 64-bit floating-point number.
  case double = 6
  /// A link to an object of another class, or of the same.
  case object = 7
  /// The objects that link here; derived, never stored.
  case linkingObjects = 8
  /// A value of any type.
  case any = 9
  /// A 12-byte object identifier.
  case objectId = 10
  /// A decimal number of 34 digits.
  case decimal128 = 11
  /// A 16-byte identifier.
  case UUID = 12
}

extension PropertyType: CustomStringConvertible {
  /// The name that messages and schema descriptions use.
  public var description: String {
    switch self {
    case .int: "int"
    case .bool: "bool"
    case .string: "string"
    case .data: "data"
    case .date: "date"
    case .float: "float"
    case .double: "double"
    case .object: "object"
    case .linkingObjects: "linking objects"
    case .any: "mixed"
    case .objectId: "object id"
    case .decimal128: "decimal128"
    case .UUID: "uuid"
    }
  }
}
