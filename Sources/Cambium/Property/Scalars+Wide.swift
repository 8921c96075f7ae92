import CambiumCore
import Foundation

/// A type stored in 128 bits.
public protocol StoredWide: StoredScalar {
  /// Reads the two words.
  init(wideLow low: UInt64, high: UInt64)
  /// The two words.
  var wideWords: (low: UInt64, high: UInt64) { get }
}

extension StoredWide {
  /// 128 bits.
  @inlinable public static var scalarColumnType: ColumnType { .wide }

  /// Reads a cell.
  @inlinable public init?(scalarIn cell: LeafCell) {
    let words = cell.wide
    self.init(wideLow: words.low, high: words.high)
  }

  /// Reads a cell.
  @inlinable public init(scalarIn cell: ColumnValue) {
    guard case .wide(let low, let high) = cell else {
      preconditionFailure("The cell does not hold 128 bits.")
    }
    self.init(wideLow: low, high: high)
  }

  /// Calls `body` with the value's cell.
  @inlinable public func withScalarCell<Result>(
    _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    let words = wideWords
    return try body(.wide(low: words.low, high: words.high))
  }
}

extension Date: StoredWide, _Indexable, MinMaxType, SortableType {
  /// Stored as itself.
  public typealias PersistedType = Date
  /// A date property.
  public static var scalarType: PropertyType { .date }

  /// The date `high` seconds and `low` nanoseconds from 1970.
  public init(wideLow low: UInt64, high: UInt64) { self = StoredDate(low: low, high: high).date }

  /// Whole seconds from 1970, rounded down, in `high`, and the nanoseconds of that second in `low`.
  public var wideWords: (low: UInt64, high: UInt64) { StoredDate(self).wide }

  /// Accepts Foundation's object form.
  public init?(converting value: Any) {
    guard let date = value as? NSDate else { return nil }
    self.init(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate)
  }
}

extension UUID: StoredWide, _PrimaryKey, _Indexable {
  /// Stored as itself.
  public typealias PersistedType = UUID
  /// A property of UUIDs.
  public static var scalarType: PropertyType { .UUID }

  /// The identifier whose first eight bytes are `high`, most significant byte first.
  public init(wideLow low: UInt64, high: UInt64) { self = StoredUUID.value(low: low, high: high) }

  /// The 16 bytes, most significant first: comparing the words compares the bytes.
  public var wideWords: (low: UInt64, high: UInt64) { StoredUUID.wide(self) }

  /// Accepts the textual form.
  public init?(converting value: Any) {
    guard let text = value as? String, let result = UUID(uuidString: text) else { return nil }
    self = result
  }
}

extension ObjectId: StoredWide, _PrimaryKey, _Indexable {
  /// Stored as itself.
  public typealias PersistedType = ObjectId
  /// A property of object identifiers.
  public static var scalarType: PropertyType { .objectId }

  /// A new identifier: an object that names none must not share one.
  public static func defaultPersistedValue() -> Self { generated() }

  /// The identifier whose first eight bytes are `high` and whose last four lead `low`.
  public convenience init(wideLow low: UInt64, high: UInt64) { self.init(low: low, high: high) }

  /// The 12 bytes, most significant first, and four zeros.
  public var wideWords: (low: UInt64, high: UInt64) { wide }

  /// Nothing else means an identifier.
  public convenience init?(converting value: Any) { return nil }

  private static func generated() -> Self {
    let words = generate().wide
    return Self(wideLow: words.low, high: words.high)
  }
}

extension Decimal128: StoredWide, MinMaxType, AddableType, SortableType {
  /// Stored as itself.
  public typealias PersistedType = Decimal128
  /// A property of decimal numbers.
  public static var scalarType: PropertyType { .decimal128 }

  /// The number with these bits (IEEE 754 decimal128).
  public convenience init(wideLow low: UInt64, high: UInt64) {
    self.init(bits: DecimalBits(low: low, high: high))
  }

  /// The bits of IEEE 754 decimal128.
  public var wideWords: (low: UInt64, high: UInt64) { (bits.low, bits.high) }

  /// Accepts every number, and text that is one.
  public convenience init?(converting value: Any) {
    switch value {
    case let text as String:
      guard let bits = DecimalBits(text: text) else { return nil }
      self.init(bits: bits)
    case is any BinaryInteger, is Double, is Float, is Decimal, is NSNumber:
      self.init(value: value)
    default: return nil
    }
  }
}
