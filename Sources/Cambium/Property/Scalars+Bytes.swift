import CambiumCore
import Foundation

// Pointers: the caller lends a cell's bytes, which are copied; a text lends its own for the length of a
// call.
extension String: _StoredScalar, _PrimaryKey, _Indexable, SortableType, _MapKey {
  /// Stored as itself.
  public typealias PersistedType = String

  /// A text property.
  @inlinable public static var _rlmScalarType: PropertyType { .string }
  /// Text lies in a column of bytes, as UTF-8.
  @inlinable public static var _rlmScalarColumnType: ColumnType { .bytes }

  /// Reads a cell of a leaf; nil when the text is too long to lie in it.
  @inlinable public init?(_rlmCell cell: LeafCell) {
    guard let text = cell.text else { return nil }
    self = text
  }

  /// Reads a cell; bytes that are no UTF-8 are replaced.
  @inlinable public init(_rlmCell cell: ColumnValue) {
    guard case .bytes(let bytes) = cell else { preconditionFailure("The cell is no text.") }
    self = unsafe String(decoding: bytes, as: UTF8.self)
  }

  /// Calls `body` with the text's UTF-8 bytes, which are valid during the call.
  @inlinable public func _rlmWithScalarCell<Result>(
    _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    var text = self
    return try text.withUTF8 { try unsafe body(.bytes(UnsafeRawBufferPointer($0))) }
  }

  /// Accepts other forms of text, and cases whose raw value is one.
  public init?(_rlmConverting value: Any) {
    switch value {
    case let value as Substring: self = String(value)
    case let value as NSString: self = String(describing: value)
    case let value as any RawRepresentable:
      guard let raw = value.rawValue as? String else { return nil }
      self = raw
    default: return nil
    }
  }
}

extension String {
  /// The text itself.
  public init(_rlmText text: String) { self = text }
  /// The text itself.
  public var _rlmText: String { self }
}

// Pointers: the caller lends a cell's bytes, which are copied; data lend their own for the length of a
// call.
extension Data: _StoredScalar, SortableType {
  /// Stored as itself.
  public typealias PersistedType = Data

  /// A data property.
  @inlinable public static var _rlmScalarType: PropertyType { .data }
  /// Data lies in a column of bytes.
  @inlinable public static var _rlmScalarColumnType: ColumnType { .bytes }

  /// Reads a cell of a leaf; nil when the data is too long to lie in it.
  @inlinable public init?(_rlmCell cell: LeafCell) {
    let cell = cell.bytes
    guard cell.form == .inline else { return nil }
    self = unsafe cell.withBytes { unsafe Data($0) }
  }

  /// Copies the bytes of a cell.
  @inlinable public init(_rlmCell cell: ColumnValue) {
    guard case .bytes(let bytes) = cell else { preconditionFailure("The cell holds no data.") }
    self = unsafe Data(bytes)
  }

  /// Calls `body` with the bytes themselves, which are valid during the call.
  @inlinable public func _rlmWithScalarCell<Result>(
    _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    try unsafe withUnsafeBytes { try unsafe body(.bytes($0)) }
  }

  /// Accepts arrays of bytes.
  public init?(_rlmConverting value: Any) {
    switch value {
    case let value as [UInt8]: self = Data(value)
    case let value as NSData: self = Data(referencing: value)
    default: return nil
    }
  }
}
