import CambiumCore

/// An enumeration whose cases are stored as their raw values.
///
/// ```swift
/// enum Breed: String, PersistableEnum { case poodle, terrier }
/// ```
///
/// A property declared without a value starts with the first case. A stored raw value that matches
/// no case reads as nil from an optional property and stops the program otherwise.
public protocol PersistableEnum: StoredScalar, RawRepresentable, CaseIterable, RealmEnum,
  MinMaxType, Comparable
where RawValue: StoredScalar & Comparable, PersistedType == RawValue.PersistedType {}

extension PersistableEnum {
  /// The first case.
  @inlinable public init() {
    guard let first = Self.allCases.first else {
      fatalError("Enumeration '\(Self.self)' has no cases and cannot be stored; give it one.")
    }
    self = first
  }

  /// What the raw value is.
  @inlinable public static var scalarType: PropertyType { RawValue.scalarType }
  /// What the raw value's cells are.
  @inlinable public static var scalarColumnType: ColumnType { RawValue.scalarColumnType }

  /// Reads a raw value.
  @inlinable public init?(scalarIn cell: LeafCell) {
    guard let raw = RawValue(scalarIn: cell) else { return nil }
    // An unknown raw value is left to the slow path, which knows the property's name.
    self.init(rawValue: raw)
  }

  /// Reads a raw value.
  public init(scalarIn cell: ColumnValue) {
    let raw = RawValue(scalarIn: cell)
    guard let value = Self(rawValue: raw) else {
      fatalError(
        "Failed to convert persisted value '\(raw)' to type '\(Self.self)' in a non-optional "
          + "context.")
    }
    self = value
  }

  /// The value stored for a managed object; nil for null and for unknown raw values.
  public static func optionalPersistedValue(
    of object: ObjectBase, _ head: PersistedHead
  ) -> Self? {
    if let form = RawValue.storedForm {
      return form.storedValue(of: object, head).flatMap { Self(converting: $0) }
    }
    return RawValue.optionalPersistedValue(of: object, head).flatMap { Self(rawValue: $0) }
  }

  /// What raw values are stored in.
  public static var storedForm: (any StoredScalar.Type)? { RawValue.storedForm ?? RawValue.self }

  /// Stops: no case has this raw value.
  public static func value(ofUnfit stored: any StoredScalar) -> Self {
    fatalError(
      "Failed to convert persisted value '\(stored)' to type '\(Self.self)' in a non-optional "
        + "context.")
  }

  /// The value stored for a managed object; stops at an unknown raw value, naming the property.
  @inlinable
  public static func persistedValue(of object: ObjectBase, _ head: PersistedHead) -> Self {
    let raw = RawValue.persistedValue(of: object, head)
    if let value = Self(rawValue: raw) { return value }
    object.stopAtUnknownCase(head, "\(raw)", "\(Self.self)")
  }

  /// Calls `body` with the raw value's cell.
  @inlinable public func withScalarCell<Result>(
    _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    try rawValue.withScalarCell(body)
  }

  /// The raw value.
  public static func dynamicValue(_ value: Self) -> Any? { RawValue.dynamicValue(value.rawValue) }

  /// The raw value.
  public static func dynamicElement(_ element: Self) -> Any? { dynamicValue(element) }

  /// Accepts raw values.
  public init?(converting value: Any) {
    // A case of another enumeration is none, whatever its raw value.
    if value is any RealmEnum { return nil }
    guard let raw = value as? RawValue ?? RawValue(converting: value) else { return nil }
    self.init(rawValue: raw)
  }

  /// Orders cases by their raw values.
  @inlinable public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}
