/// What the catalog says of a table that is being edited, and whether it has to hear of what has become of it.
///
/// Of a tree whose top page lies in memory that page says how many rows there are, and the last row moves on the next
/// key (``CatalogEntry/upToDate(_:)``), as long as it is there. So the catalog need not hear of rows that were only
/// added.
struct WrittenTable {
  /// The roots that were written last, or kept; others may edit the trees behind the table's editor.
  var roots: [TreeRoot]
  /// The next key then.
  private var nextKey: Int64
  /// How many rows were added since.
  private var addedCount: UInt64 = 0
  /// Whether the last row of them has the key before the next one.
  private var isNextKeyBehindRow = false

  init(roots: [TreeRoot], nextKey: Int64) {
    self.roots = roots
    self.nextKey = nextKey
  }

  /// Notes that a row was added, behind which the next key comes or not.
  @inline(__always) mutating func noteAdded(movesNextKey: Bool) {
    addedCount &+= 1
    if movesNextKey { isNextKeyBehindRow = true }
  }

  /// Notes that a key was taken for a row that may never come.
  mutating func noteKeyTaken() { isNextKeyBehindRow = false }

  /// Whether nobody has to hear that the table has these roots and this next key.
  func says(_ current: [TreeRoot], nextKey next: Int64) -> Bool {
    guard current.elementsEqual(roots, by: { $0.isNamed(by: $1) }) else { return false }
    if next != nextKey {
      guard isNextKeyBehindRow, current[0].reference.isDirty else { return false }
    }
    // Each row that was removed is missing in the sum.
    return current[0].rowCount &- roots[0].rowCount == addedCount
  }

  /// Notes that the catalog says so.
  mutating func noteWritten(nextKey: Int64) {
    self = WrittenTable(roots: roots, nextKey: nextKey)
  }
}
