/// Finds the first rows in an order without sorting the others.
///
/// The best rows met so far tell what a later one must be to have a chance; most rows are turned away
/// by their first column, a leaf at a time.
///
/// Pointers: `items` belongs to this value and goes with it; what was kept is settled as soon as there
/// are `capacity` items, which leaves half of them at most. Scratch has room for all rows of a leaf,
/// and `pages` keeps the leaves that `texts` lie in.
@safe struct FirstRows: ~Copyable {
  private let tree: ColumnTree
  private let plan: SortPlan
  private let limit: Int
  private let noted: LeafList
  private let comparison: RowComparison
  private let sorter = ItemSorter()
  /// The best rows so far, sorted, and behind them the candidates since.
  private let items: UnsafeMutablePointer<SortItem>
  private let capacity: Int
  private var count = 0
  /// The last of the best rows, once there are enough of them.
  private var last: SortItem?
  /// What the first column must be to sort no later than that.
  private var bound: ClosedRange<Int64>?
  /// Rows of the last leaves that must be looked at.
  private var candidates = GrowingMemory<Candidate>(capacity: batchCount)
  /// The leaves of these rows, the places of their first rows, and their texts.
  private var pages: [Page] = []
  private var firsts = GrowingMemory<Int>(capacity: batchCount)
  private var texts = GrowingMemory<PlainTexts>(capacity: batchCount)
  /// The place of the first row of the last leaf that may have one of the best rows.
  private var notedFirst = -1
  private let isExact: Bool
  private let firstPart: SortPlan.Part?
  /// The second part, if it is the last one and of bytes.
  private let textPart: SortPlan.Part?
  private var integers = RowScratch<Int64>()
  private var bitmaps = RowScratch<UInt64>()
  private var leafItems = RowScratch<SortItem>()

  private struct Candidate: BitwiseCopyable {
    /// Its place among the leaves of candidates.
    var leaf: Int
    var row: Int
    /// With the first part's share.
    var item: SortItem
  }

  /// How many rows are looked at together, so that they wait for memory together.
  private static let batchCount = 128

  init(_ tree: ColumnTree, _ plan: SortPlan, limit: Int) {
    self.tree = tree
    self.plan = plan
    self.limit = limit
    isExact = plan.isExact
    firstPart = plan.parts.first
    let second = plan.parts.count == 2 ? plan.parts[1] : nil
    textPart = second?.term.column.type == .bytes ? second : nil
    noted = LeafList(plan)
    comparison = RowComparison(plan, noted, tree.source)
    capacity = limit * 2 + 256
    unsafe items = .allocate(capacity: capacity)
  }

  deinit { unsafe items.deallocate() }

  /// The keys of the first `limit` rows of a tree, in order.
  ///
  /// Each part tells its own first rows, at the same time, and the first of them are those of the tree.
  static func keys(
    _ parts: TreeParts, _ plan: SortPlan, limit: Int
  ) throws(StoreError) -> [Int64] {
    let found = (0..<parts.count).map { _ in Box(FirstRows(parts.tree, plan, limit: limit)) }
    try ParallelParts.run(parts.count) { part throws(StoreError) in
      try found[part].rows.look(atPart: part, of: parts)
    }
    for part in found.dropFirst() { try found[0].rows.keepFirst(of: part.rows) }
    return found[0].rows.keys()
  }

  /// Lets the first rows of a part be kept with those of others.
  private final class Box {
    var rows: FirstRows

    init(_ rows: consuming FirstRows) { self.rows = rows }
  }

  /// Keeps the first rows of a later part that are among the first.
  private mutating func keepFirst(of other: borrowing FirstRows) throws(StoreError) {
    let items = unsafe UnsafeBufferPointer(start: other.items, count: other.count)
    for item in unsafe items.sorted(by: { $0.place < $1.place }) where isAmongFirst(item) {
      let (leaf, row) = other.noted.find(item.place)
      try keep(item, other.noted[leaf], item.place - row)
    }
    try settle()
  }

  /// Looks at all rows of a part, and settles.
  private mutating func look(atPart part: Int, of parts: TreeParts) throws(StoreError) {
    let columns = plan.parts.prefix(1).map(\.term.column.id)
    try parts.forEachLeaf(of: part, reading: columns) { leaf, place throws(StoreError) in
      try look(at: leaf, place)
    }
    try lookAtCandidates()
    try settle()
  }

  /// The keys of the first rows, in order.
  private func keys() -> [Int64] { (0..<count).map { unsafe noted.key(items[$0].place) } }

  /// Looks at the rows of a leaf that may be among the first.
  private mutating func look(at leaf: ColumnLeaf, _ place: Int) throws(StoreError) {
    guard let bound, let part = firstPart else { return try lookAtAll(of: leaf, place) }
    let words = (leaf.rowCount &+ 63) &>> 6
    let bitmap = unsafe bitmaps.room(words)
    let plain = PlainIntegers(leaf, part.term.column.id)
    let column = plain == nil ? leaf.borrowedColumn(part.term.column.id) : nil
    var marked = 0
    if let plain {
      marked = unsafe plain.select(in: bound, into: bitmap)
    } else {
      guard let column, column.type == .int else { return try lookAtAll(of: leaf, place) }
      unsafe column.selectInts(in: bound, into: bitmap)
      for word in 0..<words { unsafe marked &+= bitmap[word].nonzeroBitCount }
    }
    if marked == 0 { return }
    if marked > leaf.rowCount / 4 { return try lookAtAll(of: leaf, place) }
    if candidates.count &+ marked > Self.batchCount { try lookAtCandidates() }
    let texts = textPart.map { PlainTexts(leaf, $0.term.column.id, skipping: $0.skip) }
    let index = pages.count
    pages.append(leaf.page)
    firsts.append(place)
    if let texts { self.texts.append(texts) }
    for word in 0..<words {
      var bits = unsafe bitmap[word]
      while bits != 0 {
        let row = word &* 64 &+ bits.trailingZeroBitCount
        // What tells where its text lies arrives while more rows are found.
        texts?.prefetchPlace(row)
        var item = SortItem(high: 0, low: UInt64(place &+ row))
        part.put(part.word(plain?[row] ?? column?.int(row) ?? 0), &item)
        candidates.append(Candidate(leaf: index, row: row, item: item))
        bits &= bits &- 1
      }
    }
  }

  /// Keeps the rows of a leaf that may be among the first.
  private mutating func lookAtAll(of leaf: ColumnLeaf, _ place: Int) throws(StoreError) {
    try lookAtCandidates()
    let rows = leaf.rowCount
    let all = unsafe leafItems.room(rows)
    try unsafe plan.read(plan.parts, leaf, at: place, into: all, integers.room(rows), tree.source)
    for row in 0..<rows where unsafe isAmongFirst(all[row]) {
      try unsafe keep(all[row], leaf, place)
    }
  }

  /// Keeps the noted rows that may be among the first.
  private mutating func lookAtCandidates() throws(StoreError) {
    if textPart != nil {
      for index in 0..<candidates.count {
        let texts = texts[candidates[index].leaf]
        if texts.isPlain { texts.prefetch(candidates[index].row) }
      }
    }
    for index in 0..<candidates.count {
      let candidate = candidates[index]
      var item = candidate.item
      // Most are turned away by their first column, which has become stricter meanwhile.
      if let last, last.high < item.high { continue }
      if let textPart, texts[candidate.leaf].isPlain {
        let text = unsafe texts[candidate.leaf].text(candidate.row)
        if let start = text.baseAddress {
          unsafe textPart.put(SortWord(reading16: start, text.count), &item)
        }
      } else {
        let leaf = ColumnLeaf(pages[candidate.leaf])
        for part in plan.parts.dropFirst() {
          let cells = SortCells(leaf.column(part.term.column), part, tree.source)
          part.put(try cells.word(candidate.row), &item)
        }
      }
      if isAmongFirst(item) {
        try keep(item, ColumnLeaf(pages[candidate.leaf]), firsts[candidate.leaf])
      }
    }
    candidates.removeAll()
    pages.removeAll(keepingCapacity: true)
    firsts.removeAll()
    texts.removeAll()
  }

  /// Whether a row may be among the first, as far as those met so far tell.
  @inline(__always) private func isAmongFirst(_ item: SortItem) -> Bool {
    // Of rows with the same prefix the earlier is first, unless there is more to compare.
    guard let last else { return true }
    return !(last < item) || !isExact && item.isTied(with: last)
  }

  /// Keeps a row of `leaf`, whose first row is at `first`; leaves come in their order.
  private mutating func keep(
    _ item: SortItem, _ leaf: ColumnLeaf, _ first: Int
  ) throws(StoreError) {
    if notedFirst != first {
      noted.append(leaf, at: first)
      notedFirst = first
    }
    // Few values make many ties with the last of the best: each is told by one comparison, and not sorted
    // among the others again and again.
    if let last, !isExact, item.isTied(with: last), try !comparison.precedes(item, last) { return }
    unsafe items[count] = item
    count &+= 1
    if count == capacity { try settle() }
  }

  /// Sorts what was kept, and drops what is not among the first.
  private mutating func settle() throws(StoreError) {
    unsafe sorter.sort(items, count)
    try unsafe comparison.sortTies(items, count)
    count = min(count, limit)
    if count == limit {
      last = unsafe items[limit - 1]
      bound = unsafe firstPart?.bound(items[limit - 1])
    }
  }
}

extension SortPlan.Part {
  /// Which integers the first column must have to sort no later than `item`; nil unless it is one of integers without
  /// nulls.
  func bound(_ item: SortItem) -> ClosedRange<Int64>? {
    guard term.column.type == .int, offset == 0, width == 64 else { return nil }
    let bits = term.isAscending ? item.high : ~item.high
    let value = base &+ Int64(bitPattern: bits)
    return term.isAscending ? .min...value : value ... .max
  }
}
