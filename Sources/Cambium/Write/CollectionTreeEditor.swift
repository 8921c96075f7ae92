import CambiumCore

/// A collection's own tree in a write transaction: one column, rows by position.
final class CollectionTreeEditor {
  private let editor: ColumnTreeEditor
  /// Whether it differs from what its owner's row says.
  private(set) var isChanged = false

  init(root: TreeRoot, type: ColumnType, context: WriteContext) {
    let elements = ColumnSpec(id: StoredList.elementColumn, type: type, isNullable: true)
    editor = ColumnTreeEditor(root: root, layout: ColumnLayout([elements]), context: context)
  }

  /// The tree as changed so far.
  var tree: ColumnTree { editor.tree }
  var count: Int { editor.count }

  /// Puts elements in the place of those of `range`.
  func replace(_ range: Range<Int>, with elements: [ColumnValue]) throws(StoreError) {
    isChanged = true
    let common = min(range.count, elements.count)
    for offset in 0..<common {
      try editor.update(
        at: range.lowerBound + offset, column: StoredList.elementColumn, value: elements[offset])
    }
    for position in range.dropFirst(common).reversed() { try editor.remove(at: position) }
    for offset in common..<elements.count {
      try insert(elements[offset], at: range.lowerBound + offset)
    }
  }

  private func insert(_ element: ColumnValue, at position: Int) throws(StoreError) {
    let result = withUnsafePointer(to: element) { pointer in
      catching { () throws(StoreError) in
        try editor.insert(at: position, values: UnsafeBufferPointer(start: pointer, count: 1))
      }
    }
    try result.get()
  }

  /// Writes the tree's pages; the owner's row has to get the root.
  func flush() throws(StoreError) -> TreeRoot {
    isChanged = false
    return try editor.flush()
  }
}

extension StoredList {
  /// Calls `body` with the cell that holds `elements` in a new row: their small form, or the root of a
  /// tree made for them.
  static func withCell(
    of elements: [ColumnValue], _ type: ColumnType, in context: WriteContext,
    _ body: (ColumnValue) throws(StoreError) -> Void
  ) throws(StoreError) {
    if let form = form(elements, type) {
      return try form.withBytes { bytes throws(StoreError) in try body(.bytes(bytes)) }
    }
    let tree = CollectionTreeEditor(root: .empty(.position), type: type, context: context)
    try tree.replace(0..<0, with: elements)
    try body(.tree(try tree.flush()))
  }
}
