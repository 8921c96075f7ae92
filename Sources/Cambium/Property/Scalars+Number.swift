import CambiumCore
import Foundation

extension Bool: StoredScalar, _PrimaryKey, _Indexable {
  public typealias PersistedType = Bool

  @inlinable public static var scalarType: PropertyType { .bool }
  @inlinable public static var scalarColumnType: ColumnType { .bool }

  @inlinable public init?(scalarIn column: LeafColumn, row: Int) { self = column.bool(row) }

  @inlinable public init(scalarIn cell: ColumnValue) {
    guard case .bool(let value) = cell else { preconditionFailure("The cell is no truth value.") }
    self = value
  }

  @inlinable public func withScalarCell<Result>(
    _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    try body(.bool(self))
  }

  /// Accepts the integers 0 and 1.
  public init?(converting value: Any) {
    guard let integer = StoredNumber.integer(value), integer == 0 || integer == 1 else {
      return nil
    }
    self = integer == 1
  }
}

extension Float: StoredScalar, MinMaxType, AddableType, SortableType {
  public typealias PersistedType = Float

  @inlinable public static var scalarType: PropertyType { .float }
  @inlinable public static var scalarColumnType: ColumnType { .float }

  @inlinable public init?(scalarIn column: LeafColumn, row: Int) { self = column.float(row) }

  @inlinable public init(scalarIn cell: ColumnValue) {
    guard case .float(let value) = cell else { preconditionFailure("The cell is no float.") }
    self = value
  }

  @inlinable public func withScalarCell<Result>(
    _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    try body(.float(self))
  }

  /// Accepts integers, and doubles in range.
  public init?(converting value: Any) {
    guard let number = StoredNumber.double(value) else { return nil }
    let result = Float(number)
    guard result.isFinite || !number.isFinite else { return nil }
    self = result
  }
}

extension Double: StoredScalar, MinMaxType, AddableType, SortableType {
  public typealias PersistedType = Double

  @inlinable public static var scalarType: PropertyType { .double }
  @inlinable public static var scalarColumnType: ColumnType { .double }

  @inlinable public init?(scalarIn column: LeafColumn, row: Int) { self = column.double(row) }

  @inlinable public init(scalarIn cell: ColumnValue) {
    guard case .double(let value) = cell else { preconditionFailure("The cell is no double.") }
    self = value
  }

  @inlinable public func withScalarCell<Result>(
    _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    try body(.double(self))
  }

  /// Accepts every number.
  public init?(converting value: Any) {
    guard let number = StoredNumber.double(value) else { return nil }
    self = number
  }
}
