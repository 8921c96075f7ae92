import CambiumCore
import Foundation

extension String: StoredScalar, _PrimaryKey, _Indexable, SortableType, _MapKey {
  public typealias PersistedType = String

  @inlinable public static var scalarType: PropertyType { .string }
  @inlinable public static var scalarColumnType: ColumnType { .bytes }

  @inlinable public init?(scalarIn column: LeafColumn, row: Int) {
    let cell = column.bytes(row)
    guard cell.form == .inline else { return nil }
    self = cell.string
  }

  @inlinable public init(scalarIn cell: ColumnValue) {
    guard case .bytes(let bytes) = cell else { preconditionFailure("The cell is no text.") }
    self = String(decoding: bytes, as: UTF8.self)
  }

  @inlinable public func withScalarCell<Result>(
    _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    var text = self
    return try text.withUTF8 { try body(.bytes(UnsafeRawBufferPointer($0))) }
  }

  /// Accepts other forms of text.
  public init?(converting value: Any) {
    switch value {
    case let value as Substring: self = String(value)
    case let value as NSString: self = String(describing: value)
    default: return nil
    }
  }
}

extension Data: StoredScalar, SortableType {
  public typealias PersistedType = Data

  @inlinable public static var scalarType: PropertyType { .data }
  @inlinable public static var scalarColumnType: ColumnType { .bytes }

  @inlinable public init?(scalarIn column: LeafColumn, row: Int) {
    let cell = column.bytes(row)
    guard cell.form == .inline else { return nil }
    self = cell.withBytes { Data($0) }
  }

  @inlinable public init(scalarIn cell: ColumnValue) {
    guard case .bytes(let bytes) = cell else { preconditionFailure("The cell holds no data.") }
    self = Data(bytes)
  }

  @inlinable public func withScalarCell<Result>(
    _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    try withUnsafeBytes { try body(.bytes($0)) }
  }

  /// Accepts arrays of bytes.
  public init?(converting value: Any) {
    switch value {
    case let value as [UInt8]: self = Data(value)
    case let value as NSData: self = Data(referencing: value)
    default: return nil
    }
  }
}
