extension ColumnTreeEditor {
  /// Removes the rows with `keys`, which ascend; returns how many there were.
  ///
  /// Goes through the leaves concerned once: what is left of each is moved together with what is left
  /// of its neighbours. A key may occur twice and need not exist.
  @discardableResult
  package func remove(keys: UnsafeBufferPointer<Int64>) throws(StoreError) -> Int {
    precondition(!isPositional, "This tree has positions, not keys; remove at one.")
    unsafe precondition(
      zip(keys, keys.dropFirst()).allSatisfy { $0 <= $1 },
      "The keys of rows to remove ascend; sort them first.")
    let count = unsafe root.count
    let removal = unsafe RowRemoval(self, keys)
    try context.change { () throws(StoreError) in try rewriteLeaves(removal) }
    unsafe assert(removal.removedCount == count &- root.count, "What was removed is gone.")
    return removal.removedCount
  }
}

/// Removes rows by their keys, filling leaves across neighbours.
///
/// Pointers: the keys are those of the caller, whose call this does not outlive. What the filter gives has an
/// entry for each row of the leaf it was asked about last, and is copied before the next one.
@safe private final class RowRemoval: LeafWork {
  private let editor: ColumnTreeEditor
  private let keys: UnsafeBufferPointer<Int64>
  /// The first key that is not dealt with.
  private var next = 0
  private(set) var removedCount = 0
  /// What is left of the leaves before, until it fills a leaf.
  private let repack = LeafRepack()
  private var filter = RowFilter()

  init(_ editor: ColumnTreeEditor, _ keys: UnsafeBufferPointer<Int64>) {
    self.editor = editor
    unsafe self.keys = unsafe keys
  }

  func concerns(_ high: Int64) -> Bool { unsafe next < keys.count && keys[next] <= high }

  func rewrite(
    _ leaf: ColumnLeaf, into children: inout [Child]
  ) throws(StoreError) -> Bool {
    next = unsafe filter.select(leaf, keys, from: next)
    let kept = unsafe filter.kept
    if kept.count == leaf.rowCount { return false }
    removedCount += leaf.rowCount - kept.count
    try releaseRemoved(leaf)
    try editor.releaseDroppedColumns(leaf)
    if kept.isEmpty { return true }
    unsafe repack.add(leaf, kept, removed: filter.removed)
    // Only rows of a second leaf are moved on, so that there are never more leaves than before.
    if repack.leafCount > 1, let end = fullRowCount { try close(rows: end, into: &children) }
    // A crafted leaf has rows for many.
    let byteCount = unsafe repack.estimatedByteCount(columnCount: editor.columnCount)
    if byteCount > Self.byteLimit || repack.rowCount > 2 * editor.options.maximumRowCount {
      try close(into: &children)
    }
    return true
  }

  /// No more bytes of values, written out, wait for a leaf.
  private static let byteLimit = 16 << 20

  /// How many rows fill a leaf, if there are more.
  private var fullRowCount: Int? {
    let rows = repack.rowCount
    let options = editor.options
    let estimate = unsafe repack.estimatedByteCount(columnCount: editor.columnCount)
    let fitting = rows * options.leafByteCount / max(1, estimate)
    let end = min(max(fitting, options.minimumRowCount), options.maximumRowCount)
    return end < rows ? end : nil
  }

  func close(into children: inout [Child]) throws(StoreError) {
    if repack.rowCount > 0 { try close(rows: repack.rowCount, into: &children) }
  }

  /// Makes a leaf of the first rows that are left.
  private func close(rows: Int, into children: inout [Child]) throws(StoreError) {
    let builder = editor.makeBuilder()
    let leaf = unsafe editor.spareLeaf ?? DirtyLeaf(builder: builder, scratch: editor.scratch)
    unsafe editor.spareLeaf = nil
    repack.pack(rows, into: leaf, builder, editor.scratch)
    let first = unsafe builder.keys.map { unsafe $0[0] } ?? 0
    unsafe leaf.builder = nil
    editor.recycle(builder)
    let reference: PageReference
    if editor.writesFinishedLeaves, !editor.isOver(leaf),
      unsafe !editor.isUnder(leaf.byteCount, rows)
    {
      reference = try editor.context.write(leaf)
      unsafe editor.spareLeaf = leaf
    } else {
      reference = editor.context.dirty.insert(leaf)
    }
    children.append(Child(separator: first, reference: reference, rowCount: UInt64(rows)))
  }

  /// Gives back what the rows that go keep outside of the leaf.
  private func releaseRemoved(_ leaf: ColumnLeaf) throws(StoreError) {
    for spec in editor.layout.columns where spec.type == .bytes {
      guard let column = leaf.column(spec.id), column.type == .bytes, unsafe column.overflow != nil
      else {
        continue
      }
      for row in 0..<leaf.rowCount where unsafe filter.removed[row] != 0 {
        if let cell = ColumnTreeEditor.overflowCell(leaf, row: row, column: spec.id) {
          try editor.release(cell)
        }
      }
    }
  }
}
