import CambiumCore

extension WriteSession {
  /// Stores a property's cell, keeping index and backlinks true.
  ///
  /// With `skippingEqual` nothing is written when the stored cell is the same.
  func update(
    _ key: Int64, _ access: ClassAccess, _ index: Int, _ cell: ColumnValue,
    skippingEqual: Bool = false
  ) {
    attempt { () throws(StoreError) in
      let editor = try editor(access)
      let effect = editor.effect(index)
      if skippingEqual, unsafe realm.cellEquals(access, key, index, cell) { return }
      if effect.isIndexed { try updateIndex(key, access, editor, index, cell) }
      if effect.isLink {
        try updateBacklink(key, access, editor, index, cell)
      } else if effect.isAny {
        try updateAnyLinks(key, access, index, cell)
      }
      try editor.table.update(key: key, column: effect.column, value: cell)
      if effect.isNone {
        access.noteAssignment(effect.column)
      } else {
        access.noteChange(.column(effect.column))
      }
      touch(access.stored.tableID) { $0.assign(effect.column, key) }
    }
    deleteOrphans()
  }

  private func updateIndex(
    _ key: Int64, _ access: ClassAccess, _ editor: ClassEditor, _ index: Int, _ cell: ColumnValue
  ) throws(StoreError) {
    if unsafe realm.cellEquals(access, key, index, cell) { return }
    let isRemoved = unsafe realm.withCell(access, key, index) { old in
      catching { () throws(StoreError) in try editor.removeEntry(index, old, key) }
    }
    try isRemoved.get()
    try editor.insertEntry(index, cell, key)
  }

  func updateBacklink(
    _ key: Int64, _ access: ClassAccess, _ editor: ClassEditor, _ index: Int, _ cell: ColumnValue
  ) throws(StoreError) {
    guard let targetClass = access.targets[index] else { return }
    let old = unsafe realm.withCell(access, key, index) { $0.link }
    let new = cell.link
    if old == new { return }
    let column = access.stored.columns[index]
    if let old {
      try removeLink(
        Backlink(target: old, table: access.stored.tableID, column: column, source: key),
        to: targetClass)
    }
    if let new {
      try backlinks(to: targetClass).add(
        Backlink(target: new, table: access.stored.tableID, column: column, source: key))
    }
  }
}
