import Foundation

/// A value of any type that a property, or an element of a collection, may have.
///
/// ```swift
/// class Setting: Object {
///   @Persisted(primaryKey: true) var name = ""
///   @Persisted var value: AnyRealmValue
/// }
/// setting.value = .int(5)
/// setting.value = .fromDictionary(["size": .fromArray([.int(2), .string("m")])])
/// ```
///
/// Null is ``none``. A list or a dictionary inside is stored with the value: assigning it copies what it
/// holds, and reading the value of a managed object gives a live one, through which the value is changed.
/// Each change writes the whole value anew, so keep what is large in a `List` or a `Map` of its own. When
/// something else takes its place it is no longer valid.
public enum AnyRealmValue: Hashable {
  // Exclusivity is not checked: fields of an object, the Realm and its transaction are loaded in one
  // context, and each access ends before the next.

  /// Nothing.
  case none
  /// An integer.
  case int(Int)
  /// A truth value.
  case bool(Bool)
  /// A 32-bit floating-point number.
  case float(Float)
  /// A 64-bit floating-point number.
  case double(Double)
  /// A text.
  case string(String)
  /// Bytes.
  case data(Data)
  /// A point in time.
  case date(Date)
  /// An object of any class of the Realm but embedded ones.
  case object(Object)
  /// A 12-byte identifier.
  case objectId(ObjectId)
  /// A decimal number.
  case decimal128(Decimal128)
  /// A 16-byte identifier.
  case uuid(UUID)
  /// Values by keys.
  case dictionary(Map<String, AnyRealmValue>)
  /// Values in an order.
  case list(List<AnyRealmValue>)

  /// Nothing.
  public init() { self = .none }

  /// A dictionary of these entries.
  public static func fromDictionary(_ dictionary: [String: AnyRealmValue]) -> AnyRealmValue {
    let map = Map<String, AnyRealmValue>()
    for (key, value) in dictionary { map[key] = value }
    return .dictionary(map)
  }

  /// A list of these values.
  public static func fromArray(_ array: [AnyRealmValue]) -> AnyRealmValue {
    let list = List<AnyRealmValue>()
    list.append(objectsIn: array)
    return .list(list)
  }

  /// The integer; nil for other values.
  public var intValue: Int? { if case .int(let value) = self { value } else { nil } }
  /// The truth value; nil for other values.
  public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The 32-bit number; nil for other values.
  public var floatValue: Float? { if case .float(let value) = self { value } else { nil } }
  /// The 64-bit number; nil for other values.
  public var doubleValue: Double? { if case .double(let value) = self { value } else { nil } }
  /// The text; nil for other values.
  public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
  /// The bytes; nil for other values.
  public var dataValue: Data? { if case .data(let value) = self { value } else { nil } }
  /// The point in time; nil for other values.
  public var dateValue: Date? { if case .date(let value) = self { value } else { nil } }
  /// The identifier; nil for other values.
  public var objectIdValue: ObjectId? { if case .objectId(let value) = self { value } else { nil } }
  /// The decimal number; nil for other values.
  public var decimal128Value: Decimal128? {
    if case .decimal128(let value) = self { value } else { nil }
  }
  /// The identifier; nil for other values.
  public var uuidValue: UUID? { if case .uuid(let value) = self { value } else { nil } }
  /// The dictionary; nil for other values.
  public var dictionaryValue: Map<String, AnyRealmValue>? {
    if case .dictionary(let value) = self { value } else { nil }
  }
  /// The list; nil for other values.
  public var listValue: List<AnyRealmValue>? {
    if case .list(let value) = self { value } else { nil }
  }

  /// The object, if it is one of that class; nil otherwise.
  public func object<T: Object>(_ objectType: T.Type) -> T? {
    if case .object(let object) = self { object as? T } else { nil }
  }

  /// The object with properties that are named by strings; nil for other values, and for an unmanaged one.
  public var dynamicObject: DynamicObject? {
    guard case .object(let object) = self, object.isManaged else { return nil }
    if let object = object as? DynamicObject { return object }
    let access = object.classAccess
    return unsafe access.object(forKey: object.key, as: access.layout.dynamicLayout)
      as? DynamicObject
  }

  /// Feeds what distinguishes the value; lists and dictionaries are not told apart.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .none: hasher.combine(0)
    case .int(let value): hasher.combine(value)
    case .bool(let value): hasher.combine(value)
    case .float(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value)
    case .string(let value): hasher.combine(value)
    case .data(let value): hasher.combine(value)
    case .date(let value): hasher.combine(value)
    case .object(let value): hasher.combine(value)
    case .objectId(let value): hasher.combine(value)
    case .decimal128(let value): hasher.combine(value)
    case .uuid(let value): hasher.combine(value)
    case .dictionary: hasher.combine(12)
    case .list: hasher.combine(13)
    }
  }
}

extension AnyRealmValue: MinMaxType, AddableType, SortableType {}
extension AnyRealmValue: _DefaultConstructible {}
