/// Which rows of a leaf stay when those with certain keys go.
///
/// Pointers: scratch with room for the rows of the leaf at hand. Keys are copied from the page before they are
/// compared, and no key above the last row's is looked for.
@safe struct RowFilter: ~Copyable {
  private var keyScratch = RowScratch<Int64>()
  private var removedScratch = RowScratch<UInt8>()
  private var rowScratch = RowScratch<Int32>()
  /// For each row 1 if it goes, otherwise 0; valid until the next leaf.
  private(set) var removed: UnsafeMutablePointer<UInt8>
  /// The rows that stay, ascending; valid until the next leaf.
  private(set) var kept: UnsafeBufferPointer<Int32>

  init() {
    unsafe removed = removedScratch.room(0)
    unsafe kept = UnsafeBufferPointer(start: nil, count: 0)
  }

  /// Looks for `keys` from place `next` on in `leaf`; returns the place of the first key above all
  /// of the leaf's.
  mutating func select(
    _ leaf: ColumnLeaf, _ keys: UnsafeBufferPointer<Int64>, from next: Int
  ) -> Int {
    let count = leaf.rowCount
    unsafe removed = removedScratch.room(count)
    unsafe removed.update(repeating: 0, count: count)
    let next = unsafe leaf.isDense ? markDense(leaf, keys, next) : mark(leaf, keys, next)
    let rows = unsafe rowScratch.room(count)
    var keptCount = 0
    for row in 0..<count {
      unsafe rows[keptCount] = Int32(truncatingIfNeeded: row)
      unsafe keptCount &+= 1 &- Int(removed[row])
    }
    unsafe kept = UnsafeBufferPointer(start: rows, count: keptCount)
    return next
  }

  /// Marks the rows with `keys` from place `next` on; the place of the first key above all rows'.
  private mutating func mark(
    _ leaf: ColumnLeaf, _ keys: UnsafeBufferPointer<Int64>, _ next: Int
  ) -> Int {
    let rowKeys = unsafe keyScratch.room(leaf.rowCount)
    unsafe leaf.copyKeys(into: rowKeys)
    let last = unsafe rowKeys[leaf.rowCount - 1]
    var (next, row) = (next, 0)
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
}
