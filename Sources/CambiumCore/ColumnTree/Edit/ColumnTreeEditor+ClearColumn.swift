extension ColumnTreeEditor {
  /// Gives back what the values of column `id` occupy outside of leaves, before the column leaves the
  /// layout.
  func clearColumn(_ id: UInt16) throws(StoreError) {
    guard let index = layout.index(of: id), layout.columns[index].type == .bytes else { return }
    var keys: [Int64] = []
    var cursor = tree.leafCursor()
    var isValid = try cursor.first()
    while isValid {
      let leaf = cursor.leaf
      for row in 0..<leaf.rowCount where Self.overflowCell(leaf, row: row, column: id) != nil {
        keys.append(leaf.key(at: row))
      }
      isValid = try cursor.next()
    }
    let empty = layout.columns[index].defaultValue
    for key in keys {
      try update(key: key, column: id, value: empty)
      if unsafe context.dirty.byteCount > Self.spillByteCount { _ = try flush() }
    }
  }
}
