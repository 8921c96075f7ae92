import CambiumCore

extension TableEditor {
  /// The keys of all rows, ascending.
  func allKeys() throws(StoreError) -> [Int64] {
    var keys: [Int64] = []
    var cursor = table.groups[0].leafCursor()
    var isValid = try cursor.first()
    while isValid {
      for row in 0..<cursor.leaf.rowCount { keys.append(cursor.leaf.key(at: row)) }
      isValid = try cursor.next()
    }
    return keys
  }

  /// Fills `tree`, which is empty, with an index of `column` over the rows with `keys`.
  func buildIndex(
    of column: UInt16, isSigned: Bool, keys: [Int64], into tree: KeyTreeEditor
  ) throws(StoreError) {
    let editor = editor(of: column)
    let sorter = KeySorter(capacity: keys.count, byteCount: keys.count * 24)
    for key in keys {
      if let value = try editor.value(key: key, column: column) {
        IndexKey.add(value, isSigned: isSigned, key, to: sorter)
      }
    }
    sorter.sort()
    try tree.build { builder throws(StoreError) in
      try unsafe sorter.forEach { bytes, _ throws(StoreError) in try unsafe builder.append(bytes) }
    }
  }
}
