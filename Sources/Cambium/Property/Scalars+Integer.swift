import CambiumCore
import Foundation

/// An integer that a property can have; all widths are stored in 64 bits.
public protocol _StoredInteger: _StoredScalar, FixedWidthInteger {}

extension _StoredInteger {
  /// Integers of all widths are the same in the file.
  @inlinable public static var _rlmScalarType: PropertyType { .int }
  /// Integers of all widths are the same in the file.
  @inlinable public static var _rlmScalarColumnType: ColumnType { .int }

  /// Reads a cell; stops when a dynamic write stored a number that does not fit.
  @inlinable public init?(_rlmCell cell: LeafCell) {
    self = Self.narrowed(cell.int)
  }

  /// Reads a cell; stops when a dynamic write stored a number that does not fit.
  @inlinable public init(_rlmCell cell: ColumnValue) {
    guard case .int(let value) = cell else { preconditionFailure("The cell is not an integer.") }
    self = Self.narrowed(value)
  }

  @inlinable static func narrowed(_ value: Int64) -> Self {
    guard let result = Self(exactly: value) else {
      fatalError("Could not convert value '\(value)' to type '\(Self.self)'.")
    }
    return result
  }

  /// Calls `body` with the integer's cell.
  @inlinable public func _rlmWithScalarCell<Result>(
    _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    try body(.int(Int64(self)))
  }

  /// The stored width, for narrower ones.
  @inlinable public static var _rlmStoredForm: (any _StoredScalar.Type)? {
    bitWidth < Int64.bitWidth ? Int64.self : nil
  }

  /// Accepts integers of every width and truth values.
  public init?(_rlmConverting value: Any) {
    guard let integer = StoredNumber.integer(value), let result = Self(exactly: integer) else {
      return nil
    }
    self = result
  }
}

extension Int: _StoredInteger, _PrimaryKey, _Indexable, MinMaxType, AddableType, SortableType {
  /// Stored as itself.
  public typealias PersistedType = Int
}
extension Int8: _StoredInteger, _PrimaryKey, _Indexable, MinMaxType, AddableType, SortableType {
  /// Stored as itself, widened to 64 bits.
  public typealias PersistedType = Int8
}
extension Int16: _StoredInteger, _PrimaryKey, _Indexable, MinMaxType, AddableType, SortableType {
  /// Stored as itself, widened to 64 bits.
  public typealias PersistedType = Int16
}
extension Int32: _StoredInteger, _PrimaryKey, _Indexable, MinMaxType, AddableType, SortableType {
  /// Stored as itself, widened to 64 bits.
  public typealias PersistedType = Int32
}
extension Int64: _StoredInteger, _PrimaryKey, _Indexable, MinMaxType, AddableType, SortableType {
  /// Stored as itself.
  public typealias PersistedType = Int64
}

/// Numbers that arrive as `Any`.
enum StoredNumber {
  /// The integer that `value` is, if it is one; truth values count as 0 and 1.
  static func integer(_ value: Any) -> Int64? {
    switch value {
    case let value as Int: Int64(value)
    case let value as Bool: value ? 1 : 0
    case let value as any BinaryInteger: Int64(exactly: value)
    case let value as any RawRepresentable: integer(ofRaw: value)
    default: nil
    }
  }

  /// The floating-point number nearest to `value`, if it is a number; truth values are none.
  static func double(_ value: Any) -> Double? {
    switch value {
    case let value as Double: value
    case let value as Float: Double(value)
    case let value as any BinaryInteger: Double(value)
    case let value as Decimal: NSDecimalNumber(decimal: value).doubleValue
    case let value as any RawRepresentable: double(ofRaw: value)
    default: nil
    }
  }

  private static func integer(ofRaw value: some RawRepresentable) -> Int64? {
    integer(value.rawValue)
  }

  private static func double(ofRaw value: some RawRepresentable) -> Double? {
    double(value.rawValue)
  }
}
