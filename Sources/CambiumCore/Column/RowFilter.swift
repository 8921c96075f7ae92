/// Which rows of a leaf stay when those with certain keys go.
struct RowFilter: ~Copyable {
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
  mutating func select(
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
      if keys[next] >= first { removed[Int(keys[next] &- first)] = 1 }
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
