import CambiumCore

/// One class's table in one version, with what point reads found last.
///
/// Belongs to one run of a query.
final class TableReader {
  let storedClass: StoredClass
  /// The table; nil while the class has none.
  let table: Table?
  private var places: [Place]

  /// Where the last row of a column group was found.
  private struct Place {
    var key: Int64 = 0
    var leaf: ColumnLeaf?
    var row = 0
  }

  init(_ storedClass: StoredClass, _ table: Table?) {
    self.storedClass = storedClass
    self.table = table
    places = Array(repeating: Place(), count: table?.groups.count ?? 0)
  }

  /// The number of rows.
  var count: Int { table?.count ?? 0 }

  /// All positions.
  var everything: Range<Int> { 0..<count }

  /// The tree with a column; nil when the table or the column does not exist.
  func tree(of column: UInt16) -> ColumnTree? { table?.tree(of: column) }

  /// Whether there is an object with that key.
  func contains(_ key: Int64) throws(StoreError) -> Bool { try find(key, group: 0) != nil }

  /// The leaf and the row of an object; looks into the leaf it read last first.
  private func find(
    _ key: Int64, group: Int
  ) throws(StoreError) -> (leaf: ColumnLeaf, row: Int)? {
    guard let table, group < places.count else { return nil }
    if let leaf = places[group].leaf {
      if places[group].key == key { return (leaf, places[group].row) }
      if let row = leaf.find(key) {
        places[group].key = key
        places[group].row = row
        return (leaf, row)
      }
    }
    guard let position = try table.groups[group].seek(key) else { return nil }
    places[group] = Place(key: key, leaf: position.leaf, row: position.row)
    return (position.leaf, position.row)
  }

  /// Calls `body` with the value of an object's column; null when there is no such object.
  func withValue<Result>(
    _ column: BoundColumn, _ key: Int64,
    _ body: (ColumnValue) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    if column.isKey { return try body(.int(key)) }
    guard let table, let group = table.record.group(of: column.id),
      let (leaf, row) = try find(key, group: group)
    else { return try body(.null) }
    guard let cells = leaf.column(column.id) else { return try body(column.defaultValue) }
    return try cells.withCell(row, table.groups[group], body)
  }
}
