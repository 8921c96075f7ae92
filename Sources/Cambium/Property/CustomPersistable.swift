import CambiumCore

/// A type of the program's own that is stored as another one: a number, a text, data, a date, an
/// identifier, an enumeration, or an embedded object.
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
///
/// A type that is stored as an `EmbeddedObject` has its class in the schema. Storing a value makes a new
/// object, which takes the place of the old one. A property that is not optional reads null, which only
/// others can have stored, as what a new object gives.
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
public protocol _CustomPersistable: _PersistableInsideOptional, _RealmCollectionValueInsideOptional,
  _DefaultConstructible
where PersistedType: _PersistableInsideOptional & _RealmCollectionValueInsideOptional {
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

  private static func value(of stored: PersistedType) -> Self {
    if let value = _rlmCustomValue(stored) { return value }
    fatalError(
      "Failed to convert persisted value '\(stored)' to type '\(Self.self)' in a non-optional "
        + "context.")
  }

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

  // MARK: Properties

  /// What the stored type describes; an object is always optional.
  public static func _rlmDescribeProperty(_ property: inout Property) {
    PersistedType._rlmDescribeProperty(&property)
    if property.type == .object { property.isOptional = true }
  }

  /// Made of the stored type's own default.
  public static func _rlmDefaultPersistedValue() -> Self { defaultValue }

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

  /// Stores the stored form; needs a write transaction.
  public static func _rlmSetPersistedValue(
    _ value: Self, of object: ObjectBase, _ head: _PersistedHead
  ) {
    PersistedType._rlmSetPersistedValue(value.persistableValue, of: object, head)
  }

  /// Stores the stored form or null; needs a write transaction.
  public static func _rlmSetOptionalPersistedValue(
    _ value: Self?, of object: ObjectBase, _ head: _PersistedHead
  ) {
    PersistedType._rlmSetOptionalPersistedValue(value?.persistableValue, of: object, head)
  }

  /// Stores the stored form in a new row.
  public static func _rlmWritePersistedValue(_ value: Self, to row: _RowWriter) {
    PersistedType._rlmWritePersistedValue(value.persistableValue, to: row)
  }

  /// The stored type's; nil where that is an object.
  public static var _rlmStoredForm: (any _StoredScalar.Type)? {
    PersistedType._rlmStoredForm ?? PersistedType.self as? any _StoredScalar.Type
  }

  /// The stored type, if it is a class.
  public static var _rlmStoredClass: ObjectBase.Type? { PersistedType.self as? ObjectBase.Type }

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

  /// Accepts values of this type, and what the stored type accepts.
  public static func _rlmConvertedValue(_ value: Any?, _ conversion: _ValueConversion) -> Self? {
    if let value = value as? Self { return value }
    // A link to no object is read as the default, too.
    guard let value else { return _rlmStoredClass == nil ? nil : defaultValue }
    return PersistedType._rlmConvertedValue(value, conversion).flatMap { _rlmCustomValue($0) }
  }

  // MARK: Elements

  /// Made of the stored type's own default.
  public static func _rlmDefaultValue() -> Self { defaultValue }

  /// What the stored type describes.
  public static func _rlmDescribeElement(_ property: inout Property) {
    PersistedType._rlmDescribeElement(&property)
  }

  /// The stored type's.
  public static var _rlmElementColumnType: ColumnType { PersistedType._rlmElementColumnType }

  /// The element, of null the default; stops when no value can be made of what is stored.
  public static func _rlmElement(in cell: ColumnValue, _ realm: Realm) -> Self {
    if case .null = cell { return defaultValue }
    return value(of: PersistedType._rlmElement(in: cell, realm))
  }

  /// The element; nil when no value can be made of what is stored.
  public static func _rlmOptionalElement(in cell: ColumnValue, _ realm: Realm) -> Self? {
    PersistedType._rlmOptionalElement(in: cell, realm).flatMap { _rlmCustomValue($0) }
  }

  /// Calls `body` with the cell of the stored form, which an object gets by being added.
  public func _rlmWithElementCell<Result>(
    in realm: Realm, _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    try persistableValue._rlmWithElementCell(in: realm, body)
  }

  /// Accepts what a property accepts.
  public static func _rlmConvertedElement(_ value: Any?, _ conversion: _ValueConversion) -> Self? {
    _rlmConvertedValue(value, conversion)
  }

  /// What is stored.
  public static func _rlmDynamicElement(_ element: Self) -> Any? { _rlmDynamicValue(element) }

  /// Whether an object is stored.
  public static var _rlmIsProjection: Bool { PersistedType.self is ObjectBase.Type }

  /// The value that is stored as an object.
  public static func _rlmElement(of object: ObjectBase) -> Self {
    value(of: PersistedType._rlmElement(of: object))
  }
}

/// The object that `element` is, or is stored as; nil when it is none.
///
/// A value of a type of the program's own gives a new one each time.
func storedObject(of element: Any) -> ObjectBase? {
  func stored(_ value: some _CustomPersistable) -> ObjectBase? {
    type(of: value)._rlmIsProjection ? value.persistableValue as? ObjectBase : nil
  }
  if let object = element as? ObjectBase { return object }
  return (flattened(element) as? any _CustomPersistable).flatMap { stored($0) }
}
