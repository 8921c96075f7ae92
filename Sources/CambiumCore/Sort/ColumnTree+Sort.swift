extension ColumnTree {
  /// The keys of all rows, in a tree by position their places, in the order of `terms`; rows that agree
  /// in all of them keep the order of the tree.
  ///
  /// `limit` rows at most, if it is given: a few first rows of many are found without sorting the
  /// others.
  ///
  /// Takes 32 bytes a row meanwhile. Throws ``StoreError/exhausted(what:limit:)`` for more than
  /// 2,147,483,647 rows.
  public func keys(
    sortedBy terms: [SortTerm], limit: Int? = nil
  ) throws(StoreError) -> [Int64] {
    guard count <= Int32.max else {
      throw .exhausted(what: "rows to sort", limit: Int(Int32.max))
    }
    let limit = min(limit ?? count, count)
    if limit <= 0 { return [] }
    if limit < count / 8 {
      let plan = try SortPlan(terms, of: self, looksForBounds: false)
      var first = FirstRows(self, plan, limit: limit)
      return try first.keys()
    }
    let plan = try SortPlan(terms, of: self, looksForBounds: true)
    return try RowSorter(self, plan).keys(limit: limit)
  }
}

/// Sorts all rows of a tree.
private final class RowSorter {
  private let tree: ColumnTree
  private let plan: SortPlan
  private let comparison: RowComparison
  private let items: LargeMemory<SortItem>
  private var integers = RowScratch<Int64>()
  private var leafItems = RowScratch<SortItem>()
  /// How many bits tell the values of the first term apart; none unless there are few.
  private let digitWidth: Int
  /// More values are not told apart while rows are read.
  private static let digitLimit = 11

  init(_ tree: ColumnTree, _ plan: SortPlan) {
    self.tree = tree
    self.plan = plan
    comparison = RowComparison(plan, tree.source)
    items = LargeMemory(capacity: tree.count)
    let first = plan.parts.first
    digitWidth = first.map { $0.width <= Self.digitLimit ? $0.width : 0 } ?? 0
  }

  /// The keys of all rows in order, or of the first `limit`.
  func keys(limit: Int) throws(StoreError) -> [Int64] {
    var ends = [tree.count]
    if digitWidth > 0 {
      ends = try readByDigit()
    } else {
      try forEachLeaf(plan.parts) { leaf, place throws(StoreError) in
        comparison.note(leaf, at: place, of: tree.count)
        let integers = integers.room(leaf.rowCount)
        try plan.read(plan.parts, leaf, at: place, into: items.start + place, integers, tree.source)
      }
    }
    // The items of each value by themselves: they stay in the processor's cache.
    let sorter = ItemSorter()
    var start = 0
    for end in ends where end > start && start < limit {
      sorter.sort(items.start + start, end - start, squeezes: true)
      try comparison.sortTies(items.start + start, end - start)
      start = end
    }
    return comparison.keys(items.start, limit)
  }

  /// Reads all items, those of each value of the first term together; where each value's end.
  private func readByDigit() throws(StoreError) -> [Int] {
    let shift = UInt64(64 - digitWidth)
    let counts = LargeMemory<Int>(capacity: 1 << digitWidth)
    counts.start.initialize(repeating: 0, count: counts.capacity)
    try forEachLeaf(plan.parts[..<1]) { leaf, place throws(StoreError) in
      Self.count(
        try read(plan.parts[..<1], leaf, place), leaf.rowCount, shift, counts.start)
    }
    var start = 0
    for digit in 0..<counts.capacity {
      (counts.start[digit], start) = (start, start + counts.start[digit])
    }
    let starts = Array(UnsafeBufferPointer(start: counts.start, count: counts.capacity))
    try forEachLeaf(plan.parts) { leaf, place throws(StoreError) in
      comparison.note(leaf, at: place, of: tree.count)
      Self.distribute(
        try read(plan.parts, leaf, place), leaf.rowCount, shift, counts.start, to: items.start,
        tree.count)
    }
    let ends = Array(UnsafeBufferPointer(start: counts.start, count: counts.capacity))
    // Only storage that rots under a mapping counts differently a second time.
    guard ends.dropLast().elementsEqual(starts.dropFirst()), ends.last == tree.count else {
      throw ColumnTree.wrongCount(tree.root.reference)
    }
    return ends
  }

  private static func count(
    _ items: UnsafeMutablePointer<SortItem>, _ count: Int, _ shift: UInt64,
    _ counts: UnsafeMutablePointer<Int>
  ) {
    for row in 0..<count { counts[Int(truncatingIfNeeded: items[row].high &>> shift)] &+= 1 }
  }

  private static func distribute(
    _ items: UnsafeMutablePointer<SortItem>, _ count: Int, _ shift: UInt64,
    _ ends: UnsafeMutablePointer<Int>, to target: UnsafeMutablePointer<SortItem>, _ limit: Int
  ) {
    for row in 0..<count {
      let digit = Int(truncatingIfNeeded: items[row].high &>> shift)
      let end = ends[digit]
      target[min(end, limit &- 1)] = items[row]
      ends[digit] = end &+ 1
    }
  }

  /// The items of a leaf, as far as `parts` say; valid until the next leaf.
  private func read(
    _ parts: ArraySlice<SortPlan.Part>, _ leaf: ColumnLeaf, _ place: Int
  ) throws(StoreError) -> UnsafeMutablePointer<SortItem> {
    let items = leafItems.room(leaf.rowCount)
    let integers = integers.room(leaf.rowCount)
    try plan.read(parts, leaf, at: place, into: items, integers, tree.source)
    return items
  }

  /// Calls `body` with each leaf and the place of its first row; together they have as many rows as the
  /// tree.
  private func forEachLeaf(
    _ parts: ArraySlice<SortPlan.Part>,
    _ body: (ColumnLeaf, Int) throws(StoreError) -> Void
  ) throws(StoreError) {
    var cursor = tree.leafCursor(reading: parts.map(\.term.column.id))
    var isValid = try cursor.first()
    var place = 0
    while isValid {
      let leaf = cursor.leaf
      guard place + leaf.rowCount <= tree.count else {
        throw ColumnTree.wrongCount(tree.root.reference)
      }
      try body(leaf, place)
      place += leaf.rowCount
      isValid = try cursor.next()
    }
    guard place == tree.count else { throw ColumnTree.wrongCount(tree.root.reference) }
  }
}

/// Memory for one element a row of a leaf.
struct RowScratch<Element: BitwiseCopyable>: ~Copyable {
  private var memory = UnsafeMutablePointer<Element>.allocate(capacity: 512)
  private var capacity = 512

  deinit { memory.deallocate() }

  /// Room for `count` of them; what was there is forgotten when there was less.
  mutating func room(_ count: Int) -> UnsafeMutablePointer<Element> {
    if count > capacity {
      memory.deallocate()
      capacity = count
      memory = .allocate(capacity: count)
    }
    return memory
  }
}
