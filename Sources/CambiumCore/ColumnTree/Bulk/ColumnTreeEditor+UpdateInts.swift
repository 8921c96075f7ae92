extension ColumnTreeEditor {
  /// Changes integers of a column leaf by leaf, in the order of rows.
  ///
  /// `change` gets a leaf and the integers of its rows, to overwrite as it likes. What it writes where
  /// the cell is null is ignored: null stays null, and leaves with nothing else are passed over. Leaves
  /// whose integers stay what they were are not written. All other columns keep their bytes, so that
  /// this costs a tenth of as many calls of ``update(key:column:value:)``.
  public func updateInts(
    of id: UInt16,
    _ change: (ColumnLeaf, UnsafeMutableBufferPointer<Int64>) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let index = layout.index(of: id), layout.columns[index].type == .int else {
      preconditionFailure("Column \(id) is no column of integers of this tree.")
    }
    let spec = layout.columns[index]
    try unsafe withoutActuallyEscapingTyped(change) { change throws(StoreError) in
      try context.change { () throws(StoreError) in
        try unsafe rewriteLeaves(IntegerUpdate(self, spec, change))
      }
    }
  }

  private func withoutActuallyEscapingTyped(
    _ change: (ColumnLeaf, UnsafeMutableBufferPointer<Int64>) throws(StoreError) -> Void,
    _ body: (@escaping IntegerUpdate.Change) throws(StoreError) -> Void
  ) throws(StoreError) {
    let result = unsafe withoutActuallyEscaping(change) { change in
      Result<Void, StoreError> { () throws(StoreError) in try unsafe body(change) }
    }
    try result.get()
  }
}

/// Replaces the integers of one column.
///
/// Pointers: scratch with room for the rows of the leaf at hand. The change gets a buffer of just these rows, to be used during its call.
@safe private final class IntegerUpdate: LeafWork {
  typealias Change = (ColumnLeaf, UnsafeMutableBufferPointer<Int64>) throws(StoreError) -> Void

  private let editor: ColumnTreeEditor
  private let spec: ColumnSpec
  private let change: Change
  /// The integers before and after.
  private var oldIntegers = RowScratch<Int64>()
  private var newIntegers = RowScratch<Int64>()

  init(_ editor: ColumnTreeEditor, _ spec: ColumnSpec, _ change: @escaping Change) {
    self.editor = editor
    self.spec = spec
    unsafe self.change = unsafe change
  }

  func rewrite(
    _ leaf: ColumnLeaf, into children: inout [Child]
  ) throws(StoreError) -> Bool {
    let rows = leaf.rowCount
    let (old, new) = unsafe (oldIntegers.room(rows), newIntegers.room(rows))
    let column = leaf.column(spec.id)
    if let column, column.type == .int {
      unsafe column.copyInts(into: old)
    } else if column == nil, !spec.isNullable {
      unsafe old.update(repeating: 0, count: rows)
    } else {
      return false
    }
    unsafe new.update(from: old, count: rows)
    try unsafe change(leaf, UnsafeMutableBufferPointer(start: new, count: rows))
    if let column, column.hasNulls {
      for row in 0..<rows where column.isNull(row) { unsafe new[row] = unsafe old[row] }
    }
    if unsafe equalBytes(new, old, count: rows * 8) { return false }
    let packed = try unsafe LeafIntegerColumn(leaf, spec, new).replace(editor.scratch)
    let first = leaf.isPositional ? 0 : leaf.key(at: 0)
    let reference: PageReference
    if editor.writesFinishedLeaves,
      !editor.options.isOver(byteCount: packed.page.byteCount, rowCount: rows)
    {
      reference = try unsafe editor.context.write(packed.page.buffer, kind: .columnLeaf)
    } else {
      reference = editor.context.dirty.insert(
        DirtyLeaf(copying: packed, scratch: editor.scratch))
    }
    children.append(Child(separator: first, reference: reference, rowCount: UInt64(rows)))
    return true
  }
}
