import CambiumCore

/// A type of the program's own that is stored as another one: a number, a text, data, a date, an
/// identifier, or an enumeration.
///
/// ```swift
/// struct Money: CustomPersistable {
///   var cents: Int
///   init(persistedValue: Int) { cents = persistedValue }
///   var persistableValue: Int { cents }
/// }
/// ```
///
/// A property declared without a value begins with what the stored type begins with. Both members are
/// called whenever a value is read or stored, on the thread that does so, and must not use a Realm.
public protocol CustomPersistable: _CustomPersistable {
  /// The type that is stored.
  associatedtype PersistedType
  /// The value that is stored as `persistedValue`.
  init(persistedValue: PersistedType)
}

/// A type like ``CustomPersistable`` that cannot be made of every stored value.
///
/// Reading a value of which none can be made stops the program, from an optional property it is nil.
public protocol FailableCustomPersistable: _CustomPersistable {
  /// The type that is stored.
  associatedtype PersistedType
  /// The value that is stored as `persistedValue`; nil when there is none.
  init?(persistedValue: PersistedType)
}

/// What ``CustomPersistable`` and ``FailableCustomPersistable`` have in common.
public protocol _CustomPersistable: _StoredScalar where PersistedType: _StoredScalar {
  /// The type that is stored.
  associatedtype PersistedType
  /// What is stored.
  var persistableValue: PersistedType { get }
  /// The value that is stored as `value`; nil when there is none.
  static func _rlmCustomValue(_ value: PersistedType) -> Self?
}

extension CustomPersistable {
  /// The value that is stored as `value`.
  public static func _rlmCustomValue(_ value: PersistedType) -> Self? {
    Self(persistedValue: value)
  }
}

extension FailableCustomPersistable {
  /// The value that is stored as `value`; nil when there is none.
  public static func _rlmCustomValue(_ value: PersistedType) -> Self? {
    Self(persistedValue: value)
  }
}

extension _CustomPersistable {
  /// Made of the stored type's own default.
  public init() { self = Self.defaultValue }

  /// Feeds what is stored.
  public func hash(into hasher: inout Hasher) { hasher.combine(persistableValue) }

  /// What the stored type is.
  public static var _rlmScalarType: PropertyType { PersistedType._rlmScalarType }
  /// What the stored type's cells are.
  public static var _rlmScalarColumnType: ColumnType { PersistedType._rlmScalarColumnType }

  /// Reads what is stored; nil, too, when no value can be made of it.
  public init?(_rlmCell cell: LeafCell) {
    guard let stored = PersistedType(_rlmCell: cell), let value = Self._rlmCustomValue(stored)
    else {
      return nil
    }
    self = value
  }

  /// Reads what is stored; stops when no value can be made of it.
  public init(_rlmCell cell: ColumnValue) { self = Self.value(of: PersistedType(_rlmCell: cell)) }

  private static func value(of stored: PersistedType) -> Self {
    if let value = _rlmCustomValue(stored) { return value }
    fatalError(
      "Failed to convert persisted value '\(stored)' to type '\(Self.self)' in a non-optional "
        + "context.")
  }

  /// Made of the stored type's own default.
  public static func _rlmDefaultPersistedValue() -> Self { defaultValue }

  private static var defaultValue: Self {
    // A type may have an initializer without parameters of its own, which means something else.
    guard let value = _rlmCustomValue(PersistedType._rlmDefaultPersistedValue()) else {
      fatalError(
        "Failed to default construct a \(Self.self) using the default value for persisted type "
          + "\(PersistedType.self). This conversion must either succeed, the property must be "
          + "optional, or you must explicitly specify a default value for the property.")
    }
    return value
  }

  /// Reads what is stored, and then makes the value: the program's code runs when nothing is borrowed.
  public static func _rlmPersistedValue(of object: ObjectBase, _ head: _PersistedHead) -> Self {
    let stored = PersistedType._rlmPersistedValue(of: object, head)
    if let value = _rlmCustomValue(stored) { return value }
    object.stopAtUnknownCase(head, "\(stored)", "\(Self.self)")
  }

  /// Reads what is stored; nil for null, and when no value can be made of it.
  public static func _rlmOptionalPersistedValue(
    of object: ObjectBase, _ head: _PersistedHead
  ) -> Self? {
    PersistedType._rlmOptionalPersistedValue(of: object, head).flatMap { _rlmCustomValue($0) }
  }

  /// Calls `body` with the cell of what is stored.
  public func _rlmWithScalarCell<Result>(
    _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    try persistableValue._rlmWithScalarCell(body)
  }

  /// The stored type's.
  public static var _rlmStoredForm: (any _StoredScalar.Type)? {
    PersistedType._rlmStoredForm ?? PersistedType.self
  }

  /// Stops: no value can be made of what is stored.
  public static func _rlmValue(ofUnfit stored: any _StoredScalar) -> Self {
    fatalError(
      "Failed to convert persisted value '\(stored)' to type '\(Self.self)' in a non-optional "
        + "context.")
  }

  /// What is stored.
  public static func _rlmDynamicValue(_ value: Self) -> Any? {
    PersistedType._rlmDynamicValue(value.persistableValue)
  }

  /// What is stored.
  public static func _rlmDynamicElement(_ element: Self) -> Any? { _rlmDynamicValue(element) }

  /// Accepts what the stored type accepts.
  public init?(_rlmConverting value: Any) {
    guard let stored = value as? PersistedType ?? PersistedType(_rlmConverting: value),
      let value = Self._rlmCustomValue(stored)
    else { return nil }
    self = value
  }

  /// Made of the stored type's own default.
  public static func _rlmDefaultValue() -> Self { defaultValue }

  /// The element; stops when no value can be made of what is stored.
  public static func _rlmElement(in cell: ColumnValue, _ realm: Realm) -> Self {
    value(of: PersistedType._rlmElement(in: cell, realm))
  }

  /// The element; nil when no value can be made of what is stored.
  public static func _rlmOptionalElement(in cell: ColumnValue, _ realm: Realm) -> Self? {
    _rlmCustomValue(PersistedType._rlmElement(in: cell, realm))
  }
}
