import CambiumCore
import Foundation

extension Bool: _StoredScalar, _PrimaryKey, _Indexable {
  /// Stored as itself.
  public typealias PersistedType = Bool

  /// A property of truth values.
  @inlinable public static var _rlmScalarType: PropertyType { .bool }
  /// Truth values have a column type of their own.
  @inlinable public static var _rlmScalarColumnType: ColumnType { .bool }

  /// Reads a cell of a leaf; never nil.
  @inlinable public init?(_rlmCell cell: LeafCell) { self = cell.bool }

  /// Reads a cell; stops when it is of another type.
  @inlinable public init(_rlmCell cell: ColumnValue) {
    guard case .bool(let value) = cell else { preconditionFailure("The cell is no truth value.") }
    self = value
  }

  /// Calls `body` with the value's cell.
  @inlinable public func _rlmWithScalarCell<Result>(
    _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    try body(.bool(self))
  }

  /// Accepts the integers 0 and 1.
  public init?(_rlmConverting value: Any) {
    guard let integer = StoredNumber.integer(value), integer == 0 || integer == 1 else {
      return nil
    }
    self = integer == 1
  }
}

extension Float: _StoredScalar, MinMaxType, AddableType, SortableType {
  /// Stored as itself.
  public typealias PersistedType = Float

  /// A property of 32-bit floating-point numbers.
  @inlinable public static var _rlmScalarType: PropertyType { .float }
  /// The number as it is in memory, 4 bytes.
  @inlinable public static var _rlmScalarColumnType: ColumnType { .float }

  /// Reads a cell of a leaf; never nil.
  @inlinable public init?(_rlmCell cell: LeafCell) { self = cell.float }

  /// Reads a cell; stops when it is of another type.
  @inlinable public init(_rlmCell cell: ColumnValue) {
    guard case .float(let value) = cell else { preconditionFailure("The cell is no float.") }
    self = value
  }

  /// Calls `body` with the value's cell.
  @inlinable public func _rlmWithScalarCell<Result>(
    _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    try body(.float(self))
  }

  /// Accepts integers, and doubles in range.
  public init?(_rlmConverting value: Any) {
    guard let number = StoredNumber.double(value) else { return nil }
    let result = Float(number)
    guard result.isFinite || !number.isFinite else { return nil }
    self = result
  }
}

extension Double: _StoredScalar, MinMaxType, AddableType, SortableType {
  /// Stored as itself.
  public typealias PersistedType = Double

  /// A property of 64-bit floating-point numbers.
  @inlinable public static var _rlmScalarType: PropertyType { .double }
  /// The number as it is in memory, 8 bytes.
  @inlinable public static var _rlmScalarColumnType: ColumnType { .double }

  /// Reads a cell of a leaf; never nil.
  @inlinable public init?(_rlmCell cell: LeafCell) { self = cell.double }

  /// Reads a cell; stops when it is of another type.
  @inlinable public init(_rlmCell cell: ColumnValue) {
    guard case .double(let value) = cell else { preconditionFailure("The cell is no double.") }
    self = value
  }

  /// Calls `body` with the value's cell.
  @inlinable public func _rlmWithScalarCell<Result>(
    _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    try body(.double(self))
  }

  /// Accepts every number.
  public init?(_rlmConverting value: Any) {
    guard let number = StoredNumber.double(value) else { return nil }
    self = number
  }
}
