import CambiumCore

extension WriteSession {
  /// How many objects change at once: what was written for them is written ahead in between.
  private static let changeBatchCount = 1 << 16

  /// Stores one cell in a property of many objects, whose keys ascend.
  ///
  /// The cell's bytes must not be those of a row.
  func update(
    _ keys: ArraySlice<Int64>, _ access: ClassAccess, _ index: Int, _ cell: ColumnValue
  ) {
    let found = attempt(nil as ClassEditor?) { () throws(StoreError) in try self.editor(access) }
    guard let editor = found else { return }
    let effect = editor.effect(index)
    guard effect.isNone, unsafe !skipsEqualValues else {
      for key in keys {
        unsafe update(key, access, index, cell, skippingEqual: skipsEqualValues)
        spillIfNeeded()
      }
      return
    }
    hold(keys)
    defer { release(keys) }
    let property = access.description.properties[index].property
    // Integers change leaf by leaf, which are written ahead as they are done.
    let isLeafwise = property.columnType == .int && !property.isColumnNullable
    var rest = keys
    while !rest.isEmpty {
      let batch = rest.prefix(isLeafwise ? rest.count : Self.changeBatchCount)
      rest = rest.dropFirst(batch.count)
      attempt { () throws(StoreError) in
        try editor.table.update(keys: batch, column: effect.column, value: cell)
      }
      touch(access.stored.tableID) { rows in
        for key in batch { rows.assign(effect.column, key) }
      }
      spillIfNeeded()
    }
    access.noteChange(.column(effect.column))
  }

  /// Counts keys that whoever changes objects has in memory meanwhile.
  func hold(_ keys: some Collection<Int64>) {
    transaction.heldByteCount += keys.count * MemoryLayout<Int64>.stride
  }

  /// Counts them no longer.
  func release(_ keys: some Collection<Int64>) {
    transaction.heldByteCount -= keys.count * MemoryLayout<Int64>.stride
  }
}
