extension ColumnTree {
  /// Gives back what hangs from the top page of a stored tree, but not the page itself.
  ///
  /// Returns the subtrees of a branch, or the trees that the rows of a leaf own: their pages are
  /// still to be freed. The pages of a leaf's large values are freed.
  func dismantle(_ context: WriteContext) throws(StoreError) -> [TreeRoot] {
    if root.height > 1 {
      let branch = ColumnBranch(try source.page(root.reference, .columnBranch))
      return (0..<branch.count).map { index in
        TreeRoot(
          reference: branch.reference(index), height: root.height - 1, kind: root.kind,
          rowCount: branch.rowCount(index))
      }
    }
    let leaf = ColumnLeaf(try source.page(root.reference, .columnLeaf))
    var owned: [TreeRoot] = []
    var values: [OverflowValue] = []
    try leaf.forEachOutboardCell { cell throws(StoreError) in
      if let root = cell.root { owned.append(root) }
      if let value = cell.overflow { values.append(value) }
    }
    try OverflowValue.free(values, in: context)
    return owned
  }
}

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
      for row in 0..<leaf.rowCount where Self.outboardCell(leaf, row: row, column: id) != nil {
        keys.append(leaf.key(at: row))
      }
      isValid = try cursor.next()
    }
    let empty = layout.columns[index].defaultValue
    for key in keys { try update(key: key, column: id, value: empty) }
  }
}

extension ColumnSpec {
  /// What a column holds where a leaf lacks it.
  public var defaultValue: ColumnValue { ColumnTreeEditor.defaultValue(self) }
}
