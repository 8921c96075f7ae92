extension TableRecord {
  /// Adds a column to the last group, or to a new one when that is full, and returns its number.
  ///
  /// When it throws nothing has changed.
  @discardableResult
  mutating func append(_ column: ColumnDescriptor) throws(StoreError) -> UInt16 {
    guard nextColumn < .max else {
      throw .exhausted(
        what: "columns that a table can have in its life", limit: Int(UInt16.max) - 1)
    }
    guard
      groups.count < Self.maximumGroupCount
        || groups[groups.count - 1].count < Self.maximumGroupWidth
    else {
      throw .exhausted(
        what: "columns of a table", limit: Self.maximumGroupCount * Self.maximumGroupWidth)
    }
    let longest = max(column.name.utf8.count, column.attributes.count)
    guard longest <= Self.maximumNameByteCount else {
      throw .tooLarge(
        what: "The name or attributes of a column", byteCount: longest,
        limit: Self.maximumNameByteCount)
    }
    var column = column
    column.id = nextColumn
    nextColumn += 1
    if groups[groups.count - 1].count >= Self.maximumGroupWidth { groups.append([]) }
    groups[groups.count - 1].append(column)
    return column.id
  }

  /// Calls `body` with the column of number `id`, to change its name or attributes.
  mutating func withColumn(_ id: UInt16, _ body: (inout ColumnDescriptor) -> Void) {
    for group in groups.indices {
      if let index = groups[group].firstIndex(where: { $0.id == id }) {
        body(&groups[group][index])
        return
      }
    }
    preconditionFailure("The table has no column \(id).")
  }

  /// Removes the column of number `id`, and its group when that was the last column of a group that
  /// is not the only one.
  ///
  /// Returns the emptied group's index.
  mutating func remove(_ id: UInt16) -> Int? {
    guard let group = group(of: id) else {
      preconditionFailure("The table has no column \(id).")
    }
    groups[group].removeAll { $0.id == id }
    guard groups[group].isEmpty, groups.count > 1 else { return nil }
    groups.remove(at: group)
    return group
  }
}
