import CambiumCore

/// A collection's own tree in a write transaction: rows by position, in one column or, with the keys of a
/// map, in two.
///
/// Pointers: owns and frees the two cells of a row; what they borrow from the caller is read in the
/// same call.
@safe final class CollectionTreeEditor {
  private let editor: ColumnTreeEditor
  /// Where a row is put together.
  private let row = UnsafeMutableBufferPointer<ColumnValue>.allocate(capacity: 2)
  /// What the elements are stored as.
  let type: ColumnType
  /// Whether it differs from what its owner's row says.
  private(set) var isChanged = false

  init(root: TreeRoot, type: ColumnType, hasKeys: Bool, context: WriteContext) {
    var columns = [ColumnSpec(id: StoredList.elementColumn, type: type, isNullable: true)]
    if hasKeys {
      columns.append(ColumnSpec(id: StoredList.keyColumn, type: .bytes, isNullable: false))
    }
    self.type = type
    unsafe row.initialize(repeating: .null)
    editor = ColumnTreeEditor(root: root, layout: ColumnLayout(columns), context: context)
  }

  deinit { unsafe row.deallocate() }

  /// The tree as changed so far, whose leaves are packed to be read.
  var tree: ColumnTree { editor.tree }
  var count: Int { editor.count }

  /// The element, or of a map the key, at `position`; its bytes are borrowed until the next call.
  func cell(at position: Int, isKey: Bool) throws(StoreError) -> ColumnValue {
    try editor.value(
      at: position, column: isKey ? StoredList.keyColumn : StoredList.elementColumn)
  }

  /// The positions of the elements that share a leaf with the one at `position`.
  func leafRows(at position: Int) throws(StoreError) -> Range<Int> {
    try editor.leafRows(at: position)
  }

  /// Puts elements, of a map with as many keys, in the place of those of `range`.
  func replace(
    _ range: Range<Int>, with elements: [ColumnValue], keys: [ColumnValue]?
  ) throws(StoreError) {
    isChanged = true
    let common = min(range.count, elements.count)
    for offset in 0..<common {
      let position = range.lowerBound + offset
      try editor.update(
        at: position, column: StoredList.elementColumn, value: elements[offset])
      guard let keys else { continue }
      try editor.update(at: position, column: StoredList.keyColumn, value: keys[offset])
    }
    for position in range.dropFirst(common).reversed() { try editor.remove(at: position) }
    for offset in common..<elements.count {
      try insert(elements[offset], key: keys?[offset], at: range.lowerBound + offset)
    }
  }

  /// Assigns the element at `position`, whose key stays.
  func assign(_ element: ColumnValue, at position: Int) throws(StoreError) {
    isChanged = true
    try editor.update(at: position, column: StoredList.elementColumn, value: element)
  }

  /// Puts an element in, of a map with its key.
  func insert(_ element: ColumnValue, key: ColumnValue?, at position: Int) throws(StoreError) {
    isChanged = true
    unsafe row[0] = element
    if let key { unsafe row[1] = key }
    let values = unsafe UnsafeBufferPointer(start: row.baseAddress, count: key == nil ? 1 : 2)
    try unsafe editor.insert(at: position, values: values)
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
  ///
  /// Pointers: the form is an array that lasts for the length of the call.
  static func withCell(
    of elements: [ColumnValue], keys: [ColumnValue]? = nil, _ type: ColumnType,
    in context: WriteContext, _ body: (ColumnValue) throws(StoreError) -> Void
  ) throws(StoreError) {
    if let form = form(elements, keys: keys, type) {
      return try unsafe form.withBytes { bytes throws(StoreError) in try unsafe body(.bytes(bytes))
      }
    }
    let tree = CollectionTreeEditor(
      root: .empty(.position), type: type, hasKeys: keys != nil, context: context)
    try tree.replace(0..<0, with: elements, keys: keys)
    try body(.tree(try tree.flush()))
  }
}
