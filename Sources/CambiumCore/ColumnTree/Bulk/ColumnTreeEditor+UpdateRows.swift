extension ColumnTreeEditor {
  /// Gives the rows with `keys`, which ascend, one value in a column; keys that do not exist are passed over.
  ///
  /// Where that changes a good part of all integers of a column, it goes leaf by leaf and leaves all other
  /// columns packed.
  public func update(
    keys: ArraySlice<Int64>, column id: UInt16, value: ColumnValue
  ) throws(StoreError) {
    guard case .int(let value) = value, let index = layout.index(of: id),
      !layout.columns[index].isNullable, keys.count >= count / Self.leafwiseShare
    else {
      for key in keys { try update(key: key, column: id, value: value) }
      return
    }
    var rest = keys
    try unsafe updateInts(of: id) { leaf, cells throws(StoreError) in
      guard let last = cells.indices.last, let first = rest.first, first <= leaf.key(at: last)
      else {
        return
      }
      var row = leaf.lowerBound(first)
      while let key = rest.first, row <= last {
        let found = leaf.key(at: row)
        if found == key { unsafe cells[row] = value }
        if found <= key { row += 1 }
        if found >= key { rest.removeFirst() }
      }
    }
  }

  /// Updates of at least one in so many rows go leaf by leaf.
  private static let leafwiseShare = 8
}
