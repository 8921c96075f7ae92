extension TableRecord {
  /// Adds a column to the last group that has room, and returns its number.
  @discardableResult
  mutating func append(_ column: ColumnDescriptor) -> UInt16 {
    precondition(nextColumn < .max, "A table can have at most 65,535 columns in its life.")
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
