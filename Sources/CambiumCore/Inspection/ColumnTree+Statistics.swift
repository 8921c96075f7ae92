/// What a column takes and how its leaves store it.
public struct ColumnStatistics: Sendable {
  /// The column's number.
  public var id: UInt16
  /// What its cells are.
  public var type: ColumnType
  /// How many leaves use each encoding; leaves where all cells are the default are not among them.
  public var leafCounts: [ColumnEncoding: Int] = [:]
  /// The bytes it takes in leaves, without its share of headers.
  public var byteCount = 0
  /// The bytes of its values in overflow pages.
  public var overflowByteCount = 0
}

/// What a tree takes, by page kind and by column.
public struct ColumnTreeStatistics: Sendable {
  /// How many leaves there are.
  public var leafCount = 0
  /// The stored bytes of all leaves.
  public var leafByteCount = 0
  /// The columns that any leaf stores, by id.
  public var columns: [UInt16: ColumnStatistics] = [:]

  /// The statistics of no leaves: all zero.
  public init() {}
}

extension ColumnTree {
  /// Reads all leaves and sums up what they take.
  public func statistics() throws(StoreError) -> ColumnTreeStatistics {
    var result = ColumnTreeStatistics()
    var found: Damage?
    try TreeWalk(root, source).runOnce(
      visit: { page, part in
        guard part.isLeaf else { return }
        result.leafCount += 1
        result.leafByteCount += part.reference.isDirty ? page.byteCount : part.reference.byteCount
        add(ColumnLeaf(page), to: &result)
      }, lost: { found = found ?? $1 })
    if let found { throw .damaged(found) }
    return result
  }

  private func add(_ leaf: ColumnLeaf, to result: inout ColumnTreeStatistics) {
    let bitmapByteCount = (leaf.rowCount + 7) / 8
    for id in leaf.columnIDs {
      guard let column = leaf.column(id) else { continue }
      var entry = result.columns[id] ?? ColumnStatistics(id: id, type: column.type)
      entry.leafCounts[column.encoding, default: 0] += 1
      entry.byteCount += column.dataByteCount + (column.hasNulls ? bitmapByteCount : 0)
      if unsafe column.overflow != nil, let parts = column.bytesColumn {
        entry.byteCount += bitmapByteCount
        for row in 0..<leaf.rowCount where parts.isOverflow(row) {
          let cell = parts.cell(row)
          // Crafted lengths may be any.
          entry.overflowByteCount =
            min(entry.overflowByteCount, .max - cell.count) + cell.count
        }
      }
      result.columns[id] = entry
    }
  }
}
