/// Which rows of a leaf stay when those with certain keys go.
///
/// Pointers: the arrays are its own, freed in the deinit, and have room for the rows of the leaf at hand.
/// Keys are copied from the page before they are compared, and no key above the last row's is looked for.
@safe struct RowFilter: ~Copyable {
  private var capacity = 512
  private var rowKeys: UnsafeMutablePointer<Int64>
  /// For each row 1 if it goes, otherwise 0.
  private(set) var removed: UnsafeMutablePointer<UInt8>
  private var rows: UnsafeMutablePointer<Int32>
  private var keptCount = 0

  init() {
    unsafe rowKeys = .allocate(capacity: capacity)
    unsafe removed = .allocate(capacity: capacity)
    unsafe rows = .allocate(capacity: capacity)
  }

  deinit {
    unsafe rowKeys.deallocate()
    unsafe removed.deallocate()
    unsafe rows.deallocate()
  }

  /// The rows that stay, ascending; valid until the next leaf.
  var kept: UnsafeBufferPointer<Int32> { unsafe UnsafeBufferPointer(start: rows, count: keptCount) }

  /// Looks for `keys` from place `next` on in `leaf`; returns the place of the first key above all
  /// of the leaf's.
  mutating func select(
    _ leaf: ColumnLeaf, _ keys: UnsafeBufferPointer<Int64>, from next: Int
  ) -> Int {
    let count = leaf.rowCount
    if count > capacity { grow(to: count) }
    unsafe removed.update(repeating: 0, count: count)
    let next = unsafe leaf.isDense ? markDense(leaf, keys, next) : mark(leaf, keys, next)
    var kept = 0
    for row in 0..<count {
      unsafe rows[kept] = Int32(truncatingIfNeeded: row)
      unsafe kept &+= 1 &- Int(removed[row])
    }
    keptCount = kept
    return next
  }

  /// Marks the rows with `keys` from place `next` on; the place of the first key above all rows'.
  private func mark(
    _ leaf: ColumnLeaf, _ keys: UnsafeBufferPointer<Int64>, _ next: Int
  ) -> Int {
    unsafe leaf.copyKeys(into: rowKeys)
    let last = unsafe rowKeys[leaf.rowCount - 1]
    var next = next
    var row = 0
    while next < keys.count, unsafe keys[next] <= last {
      let key = unsafe keys[next]
      while unsafe rowKeys[row] < key { row &+= 1 }
      if unsafe rowKeys[row] == key { unsafe removed[row] = 1 }
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
    while next < keys.count, unsafe keys[next] <= last {
      if unsafe keys[next] >= first { unsafe removed[Int(keys[next] &- first)] = 1 }
      next &+= 1
    }
    return next
  }

  private mutating func grow(to count: Int) {
    unsafe rowKeys.deallocate()
    unsafe removed.deallocate()
    unsafe rows.deallocate()
    capacity = count
    unsafe rowKeys = .allocate(capacity: count)
    unsafe removed = .allocate(capacity: count)
    unsafe rows = .allocate(capacity: count)
  }
}
