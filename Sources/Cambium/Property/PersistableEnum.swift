import CambiumCore

/// An enumeration whose cases are stored as their raw values.
///
/// ```swift
/// enum Breed: String, PersistableEnum { case poodle, terrier }
/// ```
///
/// A property declared without a value starts with the first case. A stored raw value that matches
/// no case reads as nil from an optional property and stops the program otherwise.
public protocol PersistableEnum: _StoredScalar, RawRepresentable, CaseIterable, RealmEnum,
  MinMaxType, Comparable
where RawValue: _StoredScalar & Comparable, PersistedType == RawValue.PersistedType {}

extension PersistableEnum {
  /// The first case.
  @inlinable public init() {
    guard let first = Self.allCases.first else {
      fatalError("Enumeration '\(Self.self)' has no cases and cannot be stored; give it one.")
    }
    self = first
  }

  /// What the raw value is.
  @inlinable public static var _rlmScalarType: PropertyType { RawValue._rlmScalarType }
  /// What the raw value's cells are.
  @inlinable public static var _rlmScalarColumnType: ColumnType { RawValue._rlmScalarColumnType }

  /// Reads a raw value.
  @inlinable public init?(_rlmCell cell: LeafCell) {
    guard let raw = RawValue(_rlmCell: cell) else { return nil }
    // An unknown raw value is left to the slow path, which knows the property's name.
    self.init(rawValue: raw)
  }

  /// Reads a raw value.
  public init(_rlmCell cell: ColumnValue) {
    let raw = RawValue(_rlmCell: cell)
    guard let value = Self(rawValue: raw) else {
      fatalError(
        "Failed to convert persisted value '\(raw)' to type '\(Self.self)' in a non-optional "
          + "context.")
    }
    self = value
  }

  /// The element; nil for unknown raw values.
  public static func _rlmOptionalElement(in cell: ColumnValue, _ realm: Realm) -> Self? {
    Self(rawValue: RawValue(_rlmCell: cell))
  }

  /// The value stored for a managed object; nil for null and for unknown raw values.
  public static func _rlmOptionalPersistedValue(
    of object: ObjectBase, _ head: _PersistedHead
  ) -> Self? {
    if let form = RawValue._rlmStoredForm {
      return form.storedValue(of: object, head).flatMap { Self(_rlmConverting: $0) }
    }
    return RawValue._rlmOptionalPersistedValue(of: object, head).flatMap { Self(rawValue: $0) }
  }

  /// What raw values are stored in.
  public static var _rlmStoredForm: (any _StoredScalar.Type)? {
    RawValue._rlmStoredForm ?? RawValue.self
  }

  /// Stops: no case has this raw value.
  public static func _rlmValue(ofUnfit stored: any _StoredScalar) -> Self {
    fatalError(
      "Failed to convert persisted value '\(stored)' to type '\(Self.self)' in a non-optional "
        + "context.")
  }

  /// The value stored for a managed object; stops at an unknown raw value, naming the property.
  @inlinable
  public static func _rlmPersistedValue(of object: ObjectBase, _ head: _PersistedHead) -> Self {
    let raw = RawValue._rlmPersistedValue(of: object, head)
    if let value = Self(rawValue: raw) { return value }
    object.stopAtUnknownCase(head, "\(raw)", "\(Self.self)")
  }

  /// Calls `body` with the raw value's cell.
  @inlinable public func _rlmWithScalarCell<Result>(
    _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    try rawValue._rlmWithScalarCell(body)
  }

  /// The raw value.
  public static func _rlmDynamicValue(_ value: Self) -> Any? {
    RawValue._rlmDynamicValue(value.rawValue)
  }

  /// The raw value.
  public static func _rlmDynamicElement(_ element: Self) -> Any? { _rlmDynamicValue(element) }

  /// Accepts raw values.
  public init?(_rlmConverting value: Any) {
    // A case of another enumeration is none, whatever its raw value.
    if value is any RealmEnum { return nil }
    guard let raw = value as? RawValue ?? RawValue(_rlmConverting: value) else { return nil }
    self.init(rawValue: raw)
  }

  /// Orders cases by their raw values.
  @inlinable public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}
