import CambiumCore

extension RealmInstance {
  /// Calls `body` with a property's cell of the object under `key`; with null when it is gone.
  func withCell<Result>(
    _ access: ClassAccess, _ key: Int64, _ index: Int, _ body: (ColumnValue) -> Result
  ) -> Result {
    let property = access.description.properties[index].property
    let column = access.stored.columns[index]
    if let editor = unsafe session?.editor(ifOpen: access) {
      return reading { () throws(StoreError) in
        guard let cell = try editor.table.editor(of: column).value(key: key, column: column) else {
          return body(.null)
        }
        return body(cell)
      }
    }
    return reading { () throws(StoreError) in
      guard let tree = access.currentTable()?.tree(of: column), let position = try tree.seek(key)
      else { return body(.null) }
      return try position.leaf.withCell(
        column, property.columnType, position.row, tree, isNullable: property.isColumnNullable,
        body)
    }
  }

  /// Whether a property's cell holds `cell`.
  func cellEquals(
    _ access: ClassAccess, _ key: Int64, _ index: Int, _ cell: ColumnValue
  ) -> Bool {
    let type = access.description.properties[index].property.type
    return withCell(access, key, index) { StoredAny.isSame($0, cell, type) }
  }

  /// The keys of all objects of a class.
  func keys(of access: ClassAccess) -> [Int64] {
    unsafe session?.settle()
    guard let tree = access.currentTable()?.groups.first else { return [] }
    return reading { () throws(StoreError) in
      var keys: [Int64] = []
      // The count is a claim of the root until the leaves were read.
      keys.reserveCapacity(min(tree.count, 1 << 16))
      var cursor = tree.leafCursor()
      var isValid = try cursor.first()
      while isValid {
        let leaf = cursor.leaf
        for row in 0..<leaf.rowCount { keys.append(leaf.key(at: row)) }
        isValid = try cursor.next()
      }
      return keys
    }
  }
}
