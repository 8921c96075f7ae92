import CambiumCore

extension Optional: _RealmSchemaDiscoverable where Wrapped: _RealmSchemaDiscoverable {
  /// What the wrapped type describes, optional.
  public static func describeProperty(_ property: inout Property) {
    Wrapped.describeProperty(&property)
    property.isOptional = true
  }
}

extension Optional: _HasPersistedType where Wrapped: _HasPersistedType {
  /// The stored form of the wrapped type, or null.
  public typealias PersistedType = Wrapped.PersistedType?
}

extension Optional: _Persistable where Wrapped: _PersistableInsideOptional {
  /// Nil.
  @inlinable public static func defaultPersistedValue() -> Wrapped? { nil }

  /// The stored value, nil for null.
  @inlinable
  public static func persistedValue(of object: ObjectBase, _ head: PersistedHead) -> Wrapped? {
    Wrapped.optionalPersistedValue(of: object, head)
  }

  /// Stores the value or null.
  @inlinable
  public static func setPersistedValue(
    _ value: Wrapped?, of object: ObjectBase, _ head: PersistedHead
  ) {
    Wrapped.setOptionalPersistedValue(value, of: object, head)
  }

  /// Stores the value or null in a new row.
  public static func writePersistedValue(_ value: Wrapped?, to row: RowWriter) {
    if let value { Wrapped.writePersistedValue(value, to: row) } else { row.append(.null) }
  }

  /// Moves the value or null.
  public static func takePersistedValue(
    _ storage: UnsafeMutableRawPointer, to row: RowWriter
  ) {
    Wrapped.takeOptionalPersistedValue(storage, to: row)
  }

  /// The value or nil.
  public static func dynamicValue(_ value: Wrapped?) -> Any? {
    value.flatMap { Wrapped.dynamicValue($0) }
  }

  /// Accepts nil and whatever the wrapped type accepts.
  public static func convertedValue(
    _ value: Any?, _ conversion: ValueConversion
  ) -> Wrapped?? {
    guard let value else { return .some(nil) }
    guard let converted = Wrapped.convertedValue(value, conversion) else { return nil }
    return .some(converted)
  }

  /// The trace of a link leads on.
  public static func tracedValue(of object: ObjectBase, _ head: PersistedHead) -> Wrapped? {
    Wrapped.optionalTracedValue(of: object, head)
  }

  /// The wrapped type's.
  @inlinable public static var storedForm: (any StoredScalar.Type)? { Wrapped.storedForm }

  /// Nil for enumerations; stops otherwise.
  public static func value(ofUnfit stored: any StoredScalar) -> Wrapped? {
    if Wrapped.self is any RealmEnum.Type { return nil }
    return .some(Wrapped.value(ofUnfit: stored))
  }
}

extension Optional: RealmCollectionValue where Wrapped: _RealmCollectionValueInsideOptional {
  /// Nil.
  public static func defaultElement() -> Wrapped? { nil }

  /// What the wrapped type describes, optional.
  public static func describeElement(_ property: inout Property) {
    Wrapped.describeElement(&property)
    property.isOptional = true
  }

  /// What an element's cell is.
  public static var elementColumnType: ColumnType { Wrapped.elementColumnType }

  /// The element, nil for null.
  public static func element(in cell: ColumnValue, _ realm: RealmInstance?) -> Wrapped? {
    if case .null = cell { return nil }
    return Wrapped.element(in: cell, realm)
  }

  /// Calls `body` with the element's cell, or with null.
  public func withElementCell<Result>(
    in realm: RealmInstance, _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    guard let self else { return try body(.null) }
    return try self.withElementCell(in: realm, body)
  }

  /// Accepts nil and whatever the wrapped type accepts.
  public static func convertedElement(
    _ value: Any?, _ conversion: ValueConversion
  ) -> Wrapped?? {
    guard let value else { return .some(nil) }
    guard let converted = Wrapped.convertedElement(value, conversion) else { return nil }
    return .some(converted)
  }

  /// The element or nil.
  public static func dynamicElement(_ element: Wrapped?) -> Any? {
    element.flatMap { Wrapped.dynamicElement($0) }
  }
}

extension Optional: _PrimaryKey where Wrapped: _PrimaryKey {}
extension Optional: _Indexable where Wrapped: _Indexable {}
extension Optional: MinMaxType where Wrapped: MinMaxType {}
extension Optional: AddableType where Wrapped: AddableType {}
extension Optional: SortableType where Wrapped: SortableType {}
