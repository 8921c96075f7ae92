extension ColumnTreeEditor {
  /// Removes the rows with `keys`, which ascend; returns how many there were.
  ///
  /// Goes through the leaves concerned once: what is left of each is moved together with what is left
  /// of its neighbours. A key may occur twice and need not exist.
  @discardableResult
  public func remove(keys: UnsafeBufferPointer<Int64>) throws(StoreError) -> Int {
    precondition(!isPositional, "This tree has positions, not keys; remove at one.")
    precondition(
      zip(keys, keys.dropFirst()).allSatisfy { $0 <= $1 },
      "The keys of rows to remove ascend; sort them first.")
    let count = root.count
    let removal = RowRemoval(self, keys)
    try rewriteLeaves(removal)
    assert(removal.removedCount == count &- root.count, "What was removed is gone.")
    return removal.removedCount
  }
}

/// Removes rows by their keys, filling leaves across neighbours.
private final class RowRemoval: LeafWork {
  private let editor: ColumnTreeEditor
  private let keys: UnsafeBufferPointer<Int64>
  /// The first key that is not dealt with.
  private var next = 0
  private(set) var removedCount = 0
  /// What is left of the leaves before, until it fills a leaf.
  private var builder: LeafBuilder?
  private var sieve = RowSieve()

  init(_ editor: ColumnTreeEditor, _ keys: UnsafeBufferPointer<Int64>) {
    self.editor = editor
    self.keys = keys
  }

  func concerns(_ high: Int64) -> Bool { next < keys.count && keys[next] <= high }

  func rewrite(
    _ leaf: ColumnLeaf, into children: inout [Child]
  ) throws(StoreError) -> Bool {
    next = sieve.sift(leaf, keys, from: next)
    let kept = sieve.kept
    if kept.count == leaf.rowCount { return false }
    removedCount += leaf.rowCount - kept.count
    try releaseRemoved(leaf)
    try editor.releaseDroppedColumns(leaf)
    if kept.isEmpty { return true }
    let builder = builder ?? editor.makeBuilder(capacity: leaf.rowCount * 2)
    self.builder = builder
    let first = builder.rowCount
    builder.load(leaf, removed: sieve.removed)
    builder.keep(kept, from: first)
    // Only rows of a second leaf are moved on, so that there are never more leaves than before.
    if first > 0, let end = fullRowCount(builder) {
      let rest = editor.makeBuilder(capacity: builder.rowCount)
      rest.append(builder, end..<builder.rowCount)
      builder.truncate(to: end)
      try close(into: &children)
      self.builder = rest
    }
    return true
  }

  /// How many rows fill a leaf, if there are more.
  private func fullRowCount(_ builder: LeafBuilder) -> Int? {
    let rows = builder.rowCount
    let options = editor.options
    let estimate = Int(Double(builder.estimatedByteCount) * editor.packedRatio)
    let fitting = rows * options.leafByteCount / max(1, estimate)
    let end = min(max(fitting, options.minimumRowCount), options.maximumRowCount)
    return end < rows ? end : nil
  }

  func close(into children: inout [Child]) throws(StoreError) {
    guard let builder else { return }
    self.builder = nil
    let leaf = editor.spareLeaf ?? DirtyLeaf(builder: builder, scratch: editor.scratch)
    editor.spareLeaf = nil
    leaf.builder = builder
    editor.packNow(leaf)
    let rows = builder.rowCount
    let first = builder.keys.map { $0[0] } ?? 0
    leaf.builder = nil
    editor.recycle(builder)
    let reference: PageReference
    if editor.writesFinishedLeaves, !editor.isOver(leaf), !editor.isUnder(leaf.byteCount, rows) {
      reference = try editor.context.write(leaf)
      editor.spareLeaf = leaf
    } else {
      reference = editor.context.dirty.insert(leaf)
    }
    children.append(Child(separator: first, reference: reference, rowCount: UInt64(rows)))
  }

  /// Gives back what the rows that go keep outside of the leaf.
  private func releaseRemoved(_ leaf: ColumnLeaf) throws(StoreError) {
    for spec in editor.layout.columns where spec.type == .bytes {
      guard let column = leaf.column(spec.id), column.type == .bytes, column.outboard != nil else {
        continue
      }
      for row in 0..<leaf.rowCount where sieve.removed[row] != 0 {
        if let cell = ColumnTreeEditor.outboardCell(leaf, row: row, column: spec.id) {
          try editor.release(cell)
        }
      }
    }
  }
}

/// Which rows of a leaf stay when those with certain keys go.
private struct RowSieve: ~Copyable {
  private var capacity = 512
  private var rowKeys: UnsafeMutablePointer<Int64>
  /// For each row 1 if it goes, otherwise 0.
  private(set) var removed: UnsafeMutablePointer<UInt8>
  private var rows: UnsafeMutablePointer<Int32>
  private var keptCount = 0

  init() {
    rowKeys = .allocate(capacity: capacity)
    removed = .allocate(capacity: capacity)
    rows = .allocate(capacity: capacity)
  }

  deinit {
    rowKeys.deallocate()
    removed.deallocate()
    rows.deallocate()
  }

  /// The rows that stay, ascending; valid until the next leaf.
  var kept: UnsafeBufferPointer<Int32> { UnsafeBufferPointer(start: rows, count: keptCount) }

  /// Looks for `keys` from place `next` on in `leaf`; returns the place of the first key above all
  /// of the leaf's.
  mutating func sift(
    _ leaf: ColumnLeaf, _ keys: UnsafeBufferPointer<Int64>, from next: Int
  ) -> Int {
    let count = leaf.rowCount
    if count > capacity { grow(to: count) }
    removed.update(repeating: 0, count: count)
    let next = leaf.isDense ? markDense(leaf, keys, next) : mark(leaf, keys, next)
    var kept = 0
    for row in 0..<count {
      rows[kept] = Int32(truncatingIfNeeded: row)
      kept &+= 1 &- Int(removed[row])
    }
    keptCount = kept
    return next
  }

  /// Marks the rows with `keys` from place `next` on; the place of the first key above all rows'.
  private func mark(
    _ leaf: ColumnLeaf, _ keys: UnsafeBufferPointer<Int64>, _ next: Int
  ) -> Int {
    leaf.copyKeys(into: rowKeys)
    let last = rowKeys[leaf.rowCount - 1]
    var next = next
    var row = 0
    while next < keys.count, keys[next] <= last {
      let key = keys[next]
      while rowKeys[row] < key { row &+= 1 }
      if rowKeys[row] == key { removed[row] = 1 }
      next &+= 1
    }
    return next
  }

  /// The same where the keys are those from the first one on, one after another.
  private func markDense(
    _ leaf: ColumnLeaf, _ keys: UnsafeBufferPointer<Int64>, _ next: Int
  ) -> Int {
    let first = leaf.key(at: 0)
    let last = leaf.key(at: leaf.rowCount - 1)
    var next = next
    while next < keys.count, keys[next] <= last {
      let row = keys[next] &- first
      if row >= 0 { removed[Int(row)] = 1 }
      next &+= 1
    }
    return next
  }

  private mutating func grow(to count: Int) {
    rowKeys.deallocate()
    removed.deallocate()
    rows.deallocate()
    capacity = count
    rowKeys = .allocate(capacity: count)
    removed = .allocate(capacity: count)
    rows = .allocate(capacity: count)
  }
}
