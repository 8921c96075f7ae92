/// A table of one version: rows under `Int64` keys, by column.
public struct Table {
  /// Columns and numbers.
  public let record: TableRecord
  /// One tree per column group, all over the same keys; never empty.
  public let groups: [ColumnTree]

  /// A table of which everything is known: `groups` are the trees of `record`'s groups.
  public init(record: TableRecord, groups: [ColumnTree]) {
    self.record = record
    self.groups = groups
  }

  /// The number of rows.
  public var count: Int { groups[0].count }

  /// The tree that holds the column with number `id`; nil when there is no such column.
  public func tree(of id: UInt16) -> ColumnTree? { record.group(of: id).map { groups[$0] } }

  /// The row with that key, in the first group; nil when there is none.
  public func seek(_ key: Int64) throws(StoreError) -> RowPosition? { try groups[0].seek(key) }
}
