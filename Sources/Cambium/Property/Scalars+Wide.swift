import CambiumCore
import Foundation

/// A type stored in 128 bits.
public protocol _StoredWide: _StoredScalar {
  /// Reads the two words.
  init(_rlmLow low: UInt64, high: UInt64)
  /// The two words.
  var _rlmWords: (low: UInt64, high: UInt64) { get }
}

extension _StoredWide {
  /// 128 bits.
  @inlinable public static var _rlmScalarColumnType: ColumnType { .wide }

  /// Reads a cell.
  @inlinable public init?(_rlmCell cell: LeafCell) {
    let words = cell.wide
    self.init(_rlmLow: words.low, high: words.high)
  }

  /// Reads a cell.
  @inlinable public init(_rlmCell cell: ColumnValue) {
    guard case .wide(let low, let high) = cell else {
      preconditionFailure("The cell does not hold 128 bits.")
    }
    self.init(_rlmLow: low, high: high)
  }

  /// Calls `body` with the value's cell.
  @inlinable public func _rlmWithScalarCell<Result>(
    _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    let words = _rlmWords
    return try body(.wide(low: words.low, high: words.high))
  }
}

extension Date: _StoredWide, _Indexable, MinMaxType, SortableType {
  /// Stored as itself.
  public typealias PersistedType = Date
  /// A date property.
  public static var _rlmScalarType: PropertyType { .date }

  /// The date `high` seconds and `low` nanoseconds from 1970.
  public init(_rlmLow low: UInt64, high: UInt64) { self = StoredDate(low: low, high: high).date }

  /// Whole seconds from 1970, rounded down, in `high`, and the nanoseconds of that second in `low`.
  public var _rlmWords: (low: UInt64, high: UInt64) { StoredDate(self).wide }

  /// Accepts Foundation's object form.
  public init?(_rlmConverting value: Any) {
    guard let date = value as? NSDate else { return nil }
    self.init(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate)
  }
}

extension UUID: _StoredWide, _PrimaryKey, _Indexable {
  /// Stored as itself.
  public typealias PersistedType = UUID
  /// A property of UUIDs.
  public static var _rlmScalarType: PropertyType { .UUID }

  /// The identifier whose first eight bytes are `high`, most significant byte first.
  public init(_rlmLow low: UInt64, high: UInt64) { self = StoredUUID.value(low: low, high: high) }

  /// The 16 bytes, most significant first: comparing the words compares the bytes.
  public var _rlmWords: (low: UInt64, high: UInt64) { StoredUUID.wide(self) }

  /// Accepts the textual form.
  public init?(_rlmConverting value: Any) {
    guard let text = value as? String, let result = UUID(uuidString: text) else { return nil }
    self = result
  }
}

extension ObjectId: _StoredWide, _PrimaryKey, _Indexable {
  /// Stored as itself.
  public typealias PersistedType = ObjectId
  /// A property of object identifiers.
  public static var _rlmScalarType: PropertyType { .objectId }

  /// A new identifier: an object that names none must not share one.
  public static func _rlmDefaultPersistedValue() -> Self { generated() }

  /// The identifier whose first eight bytes are `high` and whose last four lead `low`.
  public convenience init(_rlmLow low: UInt64, high: UInt64) { self.init(low: low, high: high) }

  /// The 12 bytes, most significant first, and four zeros.
  public var _rlmWords: (low: UInt64, high: UInt64) { wide }

  /// Nothing else means an identifier.
  public convenience init?(_rlmConverting value: Any) { return nil }

  private static func generated() -> Self {
    let words = generate().wide
    return Self(_rlmLow: words.low, high: words.high)
  }
}

extension Decimal128: _StoredWide, MinMaxType, AddableType, SortableType {
  /// Stored as itself.
  public typealias PersistedType = Decimal128
  /// A property of decimal numbers.
  public static var _rlmScalarType: PropertyType { .decimal128 }

  /// The number with these bits (IEEE 754 decimal128).
  public convenience init(_rlmLow low: UInt64, high: UInt64) {
    self.init(bits: DecimalBits(low: low, high: high))
  }

  /// The bits of IEEE 754 decimal128.
  public var _rlmWords: (low: UInt64, high: UInt64) { (bits.low, bits.high) }

  /// Accepts every number, and text that is one.
  public convenience init?(_rlmConverting value: Any) {
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
