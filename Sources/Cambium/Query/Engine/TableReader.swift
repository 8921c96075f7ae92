import CambiumCore

/// One class's table in one version, with what point reads found last.
///
/// Belongs to one run of a query.
///
/// Pointers: a cell's bytes lie on the leaf that it was found on, which is kept while they are lent, or
/// in a copy that lasts for the length of the call.
final class TableReader {
  let storedClass: StoredClass
  /// The table; nil while the class has none.
  let table: Table?
  private var places: [Place]
  private let interruption: Interruption?

  /// Where the last row of a column group was found.
  private struct Place {
    var key: Int64 = 0
    var leaf: ColumnLeaf?
    var row = 0
  }

  init(_ storedClass: StoredClass, _ table: Table?, _ interruption: Interruption?) {
    self.storedClass = storedClass
    self.table = table
    self.interruption = interruption
    places = Array(repeating: Place(), count: table?.groups.count ?? 0)
  }

  /// The number of rows.
  var count: Int { table?.count ?? 0 }

  /// All positions.
  ///
  /// Throws when there are many and the last row is not there: what a bit is kept for must not only be claimed.
  func everything() throws(StoreError) -> Range<Int> {
    if count > Self.unquestionedCount { _ = try table?.groups[0].select(count - 1) }
    return 0..<count
  }

  private static let unquestionedCount = 1 << 24

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
    try interruption?.check()
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
    if let value = cells.fixedValue(row) { return try body(value) }
    return try Self.withBytes(cells.bytes(row), table.groups[group], body)
  }

  /// Calls `body` with the bytes of a cell in one piece, or with the tree that it is.
  static func withBytes<Result>(
    _ cell: BytesCell, _ tree: ColumnTree, _ body: (ColumnValue) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    if let bytes = unsafe cell.contiguous { return try unsafe body(.bytes(bytes)) }
    switch cell.form {
    case .null: return try body(.null)
    case .tree:
      guard let root = cell.tree else {
        throw .damaged(Damage(.encoding, "a list's own tree cannot be found"))
      }
      return try body(.tree(root))
    case .inline:
      return try withCopy(of: cell, body)
    case .overflow:
      guard let bytes = try tree.bytes(of: cell) else { return try body(.null) }
      return try unsafe bytes.withBytes { bytes throws(StoreError) in try unsafe body(.bytes(bytes))
      }
    }
  }

  /// Puts the pieces of an inline value together on the stack.
  private static func withCopy<Result>(
    of cell: BytesCell, _ body: (ColumnValue) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let result = unsafe withUnsafeTemporaryAllocation(byteCount: max(cell.count, 1), alignment: 8) {
      buffer -> Swift.Result<Result, StoreError> in
      guard let base = buffer.baseAddress else { preconditionFailure("an allocation has a start") }
      unsafe cell.copy(to: base)
      do throws(StoreError) {
        return unsafe .success(
          try body(.bytes(UnsafeRawBufferPointer(start: base, count: cell.count))))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
