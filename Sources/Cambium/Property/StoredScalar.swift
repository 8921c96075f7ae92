import CambiumCore

/// A type whose values fill one cell: numbers, texts, data, dates and identifiers.
///
/// Plumbing; client code meets such types as `_Persistable` and ``RealmCollectionValue``.
public protocol StoredScalar: _PersistableInsideOptional, _RealmCollectionValueInsideOptional,
  _DefaultConstructible
{
  /// What a property of this type is.
  static var scalarType: PropertyType { get }
  /// What the cells of its column are.
  static var scalarColumnType: ColumnType { get }
  /// Reads a cell of a leaf that is not null; nil when the value is kept elsewhere.
  init?(scalarIn cell: LeafCell)
  /// Reads a cell that is not null.
  init(scalarIn cell: ColumnValue)
  /// Calls `body` with the value's cell.
  func withScalarCell<Result>(_ body: (ColumnValue) throws -> Result) rethrows -> Result
  /// Accepts a value of another type that means the same.
  init?(converting value: Any)
}

extension StoredScalar {
  /// An enumeration's cell is its raw value's; everything else stands for itself.
  public static func describeProperty(_ property: inout Property) { property.type = scalarType }

  /// The type's own default.
  @inlinable public static func defaultPersistedValue() -> Self { Self() }

  /// Reads the row that the accessor has found, or finds it.
  @inlinable
  public static func persistedValue(of object: ObjectBase, _ head: PersistedHead) -> Self {
    if object.isRowCurrent, head.flags == 0 {
      let value = withExtendedLifetime(object) {
        object.cell(head).map { Self(scalarIn: $0) } ?? Self(scalarIn: .zero(scalarColumnType))
      }
      if let value { return value }
    }
    var result: Self?
    object.readCell(head) { result = Self(scalarIn: $0) }
    return result.unsafelyUnwrapped
  }

  /// Stores the value; needs a write transaction.
  public static func setPersistedValue(
    _ value: Self, of object: ObjectBase, _ head: PersistedHead
  ) {
    value.withScalarCell { object.writeCell(head, $0) }
  }

  /// Reads the row that the accessor has found, or finds it.
  @inlinable
  public static func optionalPersistedValue(
    of object: ObjectBase, _ head: PersistedHead
  ) -> Self? {
    if object.isRowCurrent, head.flags == 0 {
      let value = withExtendedLifetime(object) { () -> Self?? in
        guard let cell = object.cell(head), !cell.isNull else { return .some(nil) }
        return Self(scalarIn: cell).map { .some($0) }
      }
      if let value { return value }
    }
    var result: Self?
    object.readCell(head) { cell in
      if case .null = cell { return }
      result = Self(scalarIn: cell)
    }
    return result
  }

  /// Stores the value or null; needs a write transaction.
  public static func setOptionalPersistedValue(
    _ value: Self?, of object: ObjectBase, _ head: PersistedHead
  ) {
    guard let value else {
      object.writeCell(head, .null)
      return
    }
    value.withScalarCell { object.writeCell(head, $0) }
  }

  /// Stores the value in a new row.
  public static func writePersistedValue(_ value: Self, to row: RowWriter) {
    value.withScalarCell { row.append($0) }
  }

  /// The value itself.
  public static func dynamicValue(_ value: Self) -> Any? { value }

  /// Accepts values of this type and those that mean the same.
  public static func convertedValue(_ value: Any?, _ conversion: ValueConversion) -> Self? {
    guard let value else { return nil }
    return value as? Self ?? Self(converting: value)
  }

  /// The type's own default.
  public static func defaultElement() -> Self { Self() }

  /// What a collection of this type holds.
  public static func describeElement(_ property: inout Property) { property.type = scalarType }

  /// What an element's cell is.
  public static var elementColumnType: ColumnType { scalarColumnType }

  /// The element of a cell that is not null.
  public static func element(in cell: ColumnValue, _ realm: RealmInstance?) -> Self {
    if case .null = cell { return Self() }
    return Self(scalarIn: cell)
  }

  /// Calls `body` with the element's cell.
  public func withElementCell<Result>(
    in realm: RealmInstance, _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    try withScalarCell(body)
  }

  /// Accepts values of this type and those that mean the same.
  public static func convertedElement(_ value: Any?, _ conversion: ValueConversion) -> Self? {
    convertedValue(value, conversion)
  }

  /// The element itself.
  public static func dynamicElement(_ element: Self) -> Any? { element }
}
