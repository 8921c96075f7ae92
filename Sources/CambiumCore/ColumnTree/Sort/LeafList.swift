/// The leaves of a tree that were read, in their order, and which row is in which of them: with all that
/// prefixes do not tell, see ``LeafCopies``.
///
/// One user at a time may add leaves; as long as nobody does, any number may read.
final class LeafList {
  // Exclusivity is not checked: no access to these calls out.
  @exclusivity(unchecked) private(set) final var leaves: [ColumnLeaf] = []
  /// The place of the first row of each leaf.
  @exclusivity(unchecked) private final var firsts = GrowingMemory<Int>()
  /// The texts of each leaf in the column that was named.
  @exclusivity(unchecked) private(set) final var texts = GrowingMemory<PlainTexts>()
  /// The row behind the last one.
  @exclusivity(unchecked) private final var end = 0
  /// How many leaves there are to a row.
  @exclusivity(unchecked) private final var leavesPerRow = 0.0
  private let textColumn: UInt16?
  private let textSkip: Int
  private let copies: LeafCopies

  /// An empty list that knows the texts that prefixes do not tell apart, if there are some.
  init(_ plan: SortPlan) {
    (textColumn, textSkip) = (plan.textColumn, plan.textSkip)
    copies = LeafCopies(columns: plan.openTerms.map(\.column.id))
  }

  /// Adds a leaf whose first row is at `first` of about `count` in all; leaves come in their order.
  func append(_ leaf: ColumnLeaf, at first: Int, of count: Int = 0) {
    // Counts of a branch are claims until all leaves were read.
    let leaf = copies.kept(leaf)
    if unsafe leaves.isEmpty { reserve(min(1 << 16, count / max(1, leaf.rowCount) * 5 / 4 + 16)) }
    unsafe leaves.append(leaf)
    unsafe firsts.append(first)
    if let textColumn { unsafe texts.append(PlainTexts(leaf, textColumn, skipping: textSkip)) }
    reach(first + leaf.rowCount)
  }

  /// Adds the leaves of `other`, which come behind.
  func append(_ other: LeafList) {
    if unsafe other.leaves.isEmpty { return }
    unsafe leaves += other.leaves
    unsafe firsts.append(other.firsts.elements)
    unsafe texts.append(other.texts.elements)
    unsafe reach(other.end)
  }

  private func reserve(_ count: Int) {
    unsafe leaves.reserveCapacity(count)
    unsafe firsts.reserve(count)
    if textColumn != nil { unsafe texts.reserve(count) }
  }

  private func reach(_ end: Int) {
    unsafe self.end = end
    unsafe leavesPerRow = unsafe Double(leaves.count) / Double(max(1, end))
  }

  /// The leaf at `index`.
  @inline(__always) subscript(index: Int) -> ColumnLeaf { unsafe leaves[index] }

  /// The leaf of a row and the row within it.
  @inline(__always) func find(_ place: Int) -> (leaf: Int, row: Int) {
    // Leaves have about as many rows each.
    var leaf = unsafe min(firsts.count &- 1, Int(Double(place) * leavesPerRow))
    for _ in 0..<Self.nearLeafCount {
      if unsafe firsts[leaf] > place {
        leaf &-= 1
      } else if unsafe leaf &+ 1 < firsts.count, unsafe firsts[leaf &+ 1] <= place {
        leaf &+= 1
      } else {
        return unsafe (leaf, place &- firsts[leaf])
      }
    }
    return search(place)
  }

  /// So many leaves are looked at one after the other.
  private static let nearLeafCount = 8

  /// The leaf of a row by halves.
  private func search(_ place: Int) -> (leaf: Int, row: Int) {
    var (low, high) = unsafe (0, firsts.count)
    while low &+ 1 < high {
      let middle = (low &+ high) / 2
      if unsafe firsts[middle] <= place { low = middle } else { high = middle }
    }
    return unsafe (low, place &- firsts[low])
  }

  /// The key of the row at `place`, in a tree by position that place.
  func key(_ place: Int) -> Int64 {
    let (leaf, row) = find(place)
    return unsafe leaves[leaf].isPositional ? Int64(place) : leaves[leaf].key(at: row)
  }

  /// The first key if all keys follow each other without gaps, the leaves being those of a whole tree.
  var denseBase: Int64? {
    guard let first = unsafe leaves.first, let last = unsafe leaves.last, last.rowCount > 0 else {
      return nil
    }
    if first.isPositional { return 0 }
    let low = first.key(at: 0)
    return unsafe last.key(at: last.rowCount - 1) &- low == Int64(end - 1) ? low : nil
  }

  /// The keys of all rows, the leaves being those of a whole tree.
  func copyKeys() -> LargeMemory<Int64> {
    let keys = unsafe LargeMemory<Int64>(capacity: end)
    for (index, leaf) in unsafe leaves.enumerated() {
      unsafe leaf.copyKeys(into: keys.start + firsts[index])
    }
    return keys
  }
}
