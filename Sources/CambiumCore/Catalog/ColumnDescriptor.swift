/// A column as the catalog describes it.
public struct ColumnDescriptor: Hashable, Sendable {
  /// The column's number within its table; never used again after the column is removed.
  public var id: UInt16
  /// How its values are stored.
  public var type: ColumnType
  /// Whether a row may have no value there.
  public var isNullable: Bool
  /// Its name, as people know it.
  public var name: String
  /// What a layer above the engine wants to remember of it; not looked at here.
  public var attributes: [UInt8]

  /// Describes a column; a table that takes it in gives it its own `id`.
  public init(
    id: UInt16 = 0, type: ColumnType, isNullable: Bool, name: String, attributes: [UInt8] = []
  ) {
    self.id = id
    self.type = type
    self.isNullable = isNullable
    self.name = name
    self.attributes = attributes
  }

  /// What the tree needs to know of it.
  public var spec: ColumnSpec { ColumnSpec(id: id, type: type, isNullable: isNullable) }
}
