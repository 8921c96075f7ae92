import Foundation

/// A value that a query names.
package enum QueryConstant {
  case null
  case bool(Bool)
  case int(Int64)
  case float(Float)
  case double(Double)
  case string(String)
  case data(Data)
  case date(Date)
  case objectId(ObjectId)
  case uuid(UUID)
  case decimal(Decimal128)
  /// An object; which row it is gets looked up when the query is bound to a Realm.
  case object(AnyObject)
  /// Several values, for `IN` and `BETWEEN`.
  case array([QueryConstant])
  /// A value that no property can have, with its description for the message.
  case unsupported(String, type: String)
}

extension QueryConstant: Hashable {
  package static func == (left: QueryConstant, right: QueryConstant) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.int(let left), .int(let right)): left == right
    case (.float(let left), .float(let right)): left.bitPattern == right.bitPattern
    case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
    case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
    case (.data(let left), .data(let right)): left == right
    case (.date(let left), .date(let right)): left == right
    case (.objectId(let left), .objectId(let right)): left == right
    case (.uuid(let left), .uuid(let right)): left == right
    case (.decimal(let left), .decimal(let right)): left == right
    case (.object(let left), .object(let right)): left === right
    case (.array(let left), .array(let right)): left == right
    case (.unsupported(let left, _), .unsupported(let right, _)): left == right
    default: false
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .int(let value): hasher.combine(value)
    case .float(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value)
    case .string(let value): for byte in value.utf8 { hasher.combine(byte) }
    case .data(let value): hasher.combine(value)
    case .date(let value): hasher.combine(value)
    case .objectId(let value): hasher.combine(value)
    case .uuid(let value): hasher.combine(value)
    case .decimal(let value): hasher.combine(value)
    case .object(let value): hasher.combine(ObjectIdentifier(value))
    case .array(let values): hasher.combine(values)
    case .unsupported(let text, _): hasher.combine(text)
    }
  }
}

extension QueryConstant {
  /// Takes a Swift value: nil, a number, text, data, a date, an identifier, an object, an
  /// enumeration case (its raw value), a custom type (its stored form) or a sequence of these.
  package init(_ value: Any?) {
    guard let value = flattened(value) else {
      self = .null
      return
    }
    switch value {
    case let value as QueryConstant: self = value
    case let value as AnyRealmValue: self = QueryConstant(AnyRealmValue._rlmDynamicValue(value))
    case let value as Bool: self = .bool(value)
    case let value as Int: self = .int(Int64(value))
    case let value as any BinaryInteger:
      if let integer = Int64(exactly: value) {
        self = .int(integer)
      } else {
        self = .double(Double(value))
      }
    case let value as Double: self = .double(value)
    case let value as Float: self = .float(value)
    case let value as String: self = .string(value)
    case let value as Substring: self = .string(String(value))
    case let value as Data: self = .data(value)
    case let value as Date: self = .date(value)
    case let value as ObjectId: self = .objectId(value)
    case let value as UUID: self = .uuid(value)
    case let value as Decimal128: self = .decimal(value)
    case let value as Decimal: self = .decimal(Decimal128(value: value))
    default: self = Self.composite(value)
    }
  }

  private static func composite(_ value: Any) -> QueryConstant {
    if let value = value as? any _CustomPersistable { return QueryConstant(stored(of: value)) }
    if let values = value as? any Sequence { return .array(elements(of: values)) }
    if let value = value as? any RawRepresentable { return QueryConstant(rawValue(of: value)) }
    if type(of: value) is AnyClass { return .object(value as AnyObject) }
    return .unsupported("\(value)", type: "\(type(of: value))")
  }

  private static func elements(of values: some Sequence) -> [QueryConstant] {
    values.map { QueryConstant($0 as Any) }
  }

  private static func stored(of value: some _CustomPersistable) -> Any { value.persistableValue }

  private static func rawValue(of value: some RawRepresentable) -> Any { value.rawValue }

  /// The value as Swift code would write it; null is `NSNull`, and what is unsupported stays so.
  package var swiftValue: Any {
    switch self {
    case .null: NSNull()
    case .bool(let value): value
    case .int(let value): Int(value)
    case .float(let value): value
    case .double(let value): value
    case .string(let value): value
    case .data(let value): value
    case .date(let value): value
    case .objectId(let value): value
    case .uuid(let value): value
    case .decimal(let value): value
    case .object(let value): value
    case .array(let values): values.map(\.swiftValue)
    case .unsupported: self
    }
  }
}
