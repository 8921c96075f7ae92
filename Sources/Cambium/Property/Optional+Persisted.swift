import CambiumCore

extension Optional: _RealmSchemaDiscoverable where Wrapped: _RealmSchemaDiscoverable {
  /// What the wrapped type describes, optional.
  public static func _rlmDescribeProperty(_ property: inout Property) {
    Wrapped._rlmDescribeProperty(&property)
    property.isOptional = true
  }
}

extension Optional: _HasPersistedType where Wrapped: _HasPersistedType {
  /// The stored form of the wrapped type, or null.
  public typealias PersistedType = Wrapped.PersistedType?
}

// Pointers: `storage` is where a `Persisted<Self>` lies in an object that the caller has.
extension Optional: _Persistable where Wrapped: _PersistableInsideOptional {
  /// Nil.
  @inlinable public static func _rlmDefaultPersistedValue() -> Wrapped? { nil }

  /// The stored value, nil for null.
  @inlinable
  public static func _rlmPersistedValue(of object: ObjectBase, _ head: _PersistedHead) -> Wrapped? {
    Wrapped._rlmOptionalPersistedValue(of: object, head)
  }

  /// Stores the value or null.
  @inlinable
  public static func _rlmSetPersistedValue(
    _ value: Wrapped?, of object: ObjectBase, _ head: _PersistedHead
  ) {
    Wrapped._rlmSetOptionalPersistedValue(value, of: object, head)
  }

  /// Stores the value or null in a new row.
  public static func _rlmWritePersistedValue(_ value: Wrapped?, to row: _RowWriter) {
    if let value { Wrapped._rlmWritePersistedValue(value, to: row) } else { row.append(.null) }
  }

  /// Moves the value or null.
  public static func _rlmTakePersistedValue(
    _ storage: UnsafeMutableRawPointer, to row: _RowWriter
  ) {
    unsafe Wrapped._rlmTakeOptionalPersistedValue(storage, to: row)
  }

  /// The value or nil.
  public static func _rlmDynamicValue(_ value: Wrapped?) -> Any? {
    value.flatMap { Wrapped._rlmDynamicValue($0) }
  }

  /// Accepts nil and whatever the wrapped type accepts.
  public static func _rlmConvertedValue(
    _ value: Any?, _ conversion: _ValueConversion
  ) -> Wrapped?? {
    guard let value else { return .some(nil) }
    guard let converted = Wrapped._rlmConvertedValue(value, conversion) else { return nil }
    return .some(converted)
  }

  /// The trace of a link leads on.
  public static func _rlmTracedValue(of object: ObjectBase, _ head: _PersistedHead) -> Wrapped? {
    Wrapped._rlmOptionalTracedValue(of: object, head)
  }

  /// The wrapped type's.
  @inlinable public static var _rlmStoredForm: (any _StoredScalar.Type)? { Wrapped._rlmStoredForm }

  /// The wrapped type's.
  @inlinable public static var _rlmStoredClass: ObjectBase.Type? { Wrapped._rlmStoredClass }

  /// Nil for enumerations and types of the program's own; stops otherwise.
  public static func _rlmValue(ofUnfit stored: any _StoredScalar) -> Wrapped? {
    if Wrapped.self is any RealmEnum.Type || Wrapped.self is any _CustomPersistable.Type {
      return nil
    }
    return .some(Wrapped._rlmValue(ofUnfit: stored))
  }
}

extension Optional: RealmCollectionValue where Wrapped: _RealmCollectionValueInsideOptional {
  /// Nil.
  public static func _rlmDefaultValue() -> Wrapped? { nil }

  /// What the wrapped type describes, optional.
  public static func _rlmDescribeElement(_ property: inout Property) {
    Wrapped._rlmDescribeElement(&property)
    property.isOptional = true
  }

  /// What an element's cell is.
  public static var _rlmElementColumnType: ColumnType { Wrapped._rlmElementColumnType }

  /// The element, nil for null.
  public static func _rlmElement(in cell: ColumnValue, _ realm: Realm) -> Wrapped? {
    if case .null = cell { return nil }
    return Wrapped._rlmOptionalElement(in: cell, realm)
  }

  /// Calls `body` with the element's cell, or with null.
  public func _rlmWithElementCell<Result>(
    in realm: Realm, _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    guard let self else { return try body(.null) }
    return try self._rlmWithElementCell(in: realm, body)
  }

  /// Accepts nil and whatever the wrapped type accepts.
  public static func _rlmConvertedElement(
    _ value: Any?, _ conversion: _ValueConversion
  ) -> Wrapped?? {
    guard let value else { return .some(nil) }
    guard let converted = Wrapped._rlmConvertedElement(value, conversion) else { return nil }
    return .some(converted)
  }

  /// The wrapped type's.
  @inlinable public static var _rlmIsProjection: Bool { Wrapped._rlmIsProjection }

  /// The element that stands for an object.
  public static func _rlmElement(of object: ObjectBase) -> Wrapped? {
    .some(Wrapped._rlmElement(of: object))
  }

  /// The element or nil.
  public static func _rlmDynamicElement(_ element: Wrapped?) -> Any? {
    element.flatMap { Wrapped._rlmDynamicElement($0) }
  }
}

extension Optional: _PrimaryKey where Wrapped: _PrimaryKey {}
extension Optional: _Indexable where Wrapped: _Indexable {}
extension Optional: MinMaxType where Wrapped: MinMaxType {}
extension Optional: AddableType where Wrapped: AddableType {}
extension Optional: SortableType where Wrapped: SortableType {}
