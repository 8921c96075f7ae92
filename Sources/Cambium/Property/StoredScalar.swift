import CambiumCore

/// A type whose values fill one cell: numbers, texts, data, dates and identifiers.
///
/// Plumbing; client code meets such types as `_Persistable` and ``RealmCollectionValue``.
public protocol _StoredScalar: _PersistableInsideOptional, _RealmCollectionValueInsideOptional,
  _DefaultConstructible
{
  /// What a property of this type is.
  static var _rlmScalarType: PropertyType { get }
  /// What the cells of its column are.
  static var _rlmScalarColumnType: ColumnType { get }
  /// Reads a cell of a leaf that is not null; nil when the value is kept elsewhere.
  init?(_rlmCell cell: LeafCell)
  /// Reads a cell that is not null.
  init(_rlmCell cell: ColumnValue)
  /// Calls `body` with the value's cell.
  func _rlmWithScalarCell<Result>(_ body: (ColumnValue) throws -> Result) rethrows -> Result
  /// Accepts a value of another type that means the same.
  init?(_rlmConverting value: Any)
}

extension _StoredScalar {
  /// An enumeration's cell is its raw value's; everything else stands for itself.
  public static func _rlmDescribeProperty(_ property: inout Property) {
    property.type = _rlmScalarType
  }

  /// The type's own default.
  @inlinable public static func _rlmDefaultPersistedValue() -> Self { Self() }

  /// Reads the row that the accessor has found, or finds it.
  @inlinable
  public static func _rlmPersistedValue(of object: ObjectBase, _ head: _PersistedHead) -> Self {
    if head.flags == 0, object.isRowCurrent {
      let value = withExtendedLifetime(object) {
        object.cell(head).map { Self(_rlmCell: $0) }
          ?? Self(
            _rlmCell: ColumnSpec(id: 0, type: _rlmScalarColumnType, isNullable: false).defaultValue)
      }
      if let value { return value }
    }
    var result: Self?
    object.readCell(head) { result = Self(_rlmCell: $0) }
    // Unchecked: the block was called, or the program has stopped.
    return unsafe result.unsafelyUnwrapped
  }

  /// Stores the value; needs a write transaction.
  public static func _rlmSetPersistedValue(
    _ value: Self, of object: ObjectBase, _ head: _PersistedHead
  ) {
    value._rlmWithScalarCell { object.writeCell(head, $0) }
  }

  /// Reads the row that the accessor has found, or finds it.
  @inlinable
  public static func _rlmOptionalPersistedValue(
    of object: ObjectBase, _ head: _PersistedHead
  ) -> Self? {
    if head.flags == 0, object.isRowCurrent {
      let value = withExtendedLifetime(object) { () -> Self?? in
        guard let cell = object.cell(head), !cell.isNull else { return .some(nil) }
        return Self(_rlmCell: cell).map { .some($0) }
      }
      if let value { return value }
    }
    var result: Self?
    object.readCell(head) { cell in
      if case .null = cell { return }
      result = Self(_rlmCell: cell)
    }
    return result
  }

  /// Stores the value or null; needs a write transaction.
  public static func _rlmSetOptionalPersistedValue(
    _ value: Self?, of object: ObjectBase, _ head: _PersistedHead
  ) {
    guard let value else {
      object.writeCell(head, .null)
      return
    }
    value._rlmWithScalarCell { object.writeCell(head, $0) }
  }

  /// Stores the value in a new row.
  public static func _rlmWritePersistedValue(_ value: Self, to row: _RowWriter) {
    value._rlmWithScalarCell { row.append($0) }
  }

  /// The value itself.
  public static func _rlmDynamicValue(_ value: Self) -> Any? { value }

  /// Accepts values of this type and those that mean the same.
  public static func _rlmConvertedValue(_ value: Any?, _ conversion: _ValueConversion) -> Self? {
    guard let value else { return nil }
    return value as? Self ?? Self(_rlmConverting: value)
  }

  /// The type's own default.
  public static func _rlmDefaultValue() -> Self { Self() }

  /// What a collection of this type holds.
  public static func _rlmDescribeElement(_ property: inout Property) {
    property.type = _rlmScalarType
  }

  /// What an element's cell is.
  public static var _rlmElementColumnType: ColumnType { _rlmScalarColumnType }

  /// The element of a cell that is not null.
  public static func _rlmElement(in cell: ColumnValue, _ realm: Realm) -> Self {
    if case .null = cell { return Self() }
    return Self(_rlmCell: cell)
  }

  /// Calls `body` with the element's cell.
  public func _rlmWithElementCell<Result>(
    in realm: Realm, _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    try _rlmWithScalarCell(body)
  }

  /// Accepts values of this type and those that mean the same.
  public static func _rlmConvertedElement(_ value: Any?, _ conversion: _ValueConversion) -> Self? {
    _rlmConvertedValue(value, conversion)
  }

  /// The element itself.
  public static func _rlmDynamicElement(_ element: Self) -> Any? { element }
}
