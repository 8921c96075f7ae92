import CambiumCore

/// A list's own tree in a write transaction: one column, rows by position.
final class ListTreeEditor {
  private let editor: ColumnTreeEditor
  /// Whether it differs from what its owner's row says.
  private(set) var isChanged = false

  static func layout(_ type: ColumnType) -> ColumnLayout {
    ColumnLayout([ColumnSpec(id: StoredList.elementColumn, type: type, isNullable: true)])
  }

  init(root: TreeRoot, type: ColumnType, context: WriteContext) {
    editor = ColumnTreeEditor(root: root, layout: Self.layout(type), context: context)
  }

  /// The list as changed so far.
  var tree: ColumnTree { editor.tree }
  var count: Int { editor.count }

  func insert(_ element: ColumnValue, at index: Int) throws(StoreError) {
    isChanged = true
    let result = withUnsafePointer(to: element) { pointer in
      catching { () throws(StoreError) in
        try editor.insert(at: index, values: UnsafeBufferPointer(start: pointer, count: 1))
      }
    }
    try result.get()
  }

  func update(_ element: ColumnValue, at index: Int) throws(StoreError) {
    isChanged = true
    try editor.update(at: index, column: StoredList.elementColumn, value: element)
  }

  func remove(at index: Int) throws(StoreError) {
    isChanged = true
    try editor.remove(at: index)
  }

  /// Writes the list's pages; the owner's row has to get the root.
  func flush() throws(StoreError) -> TreeRoot {
    isChanged = false
    return try editor.flush()
  }
}
