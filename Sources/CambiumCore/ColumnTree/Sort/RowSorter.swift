#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Sorts all rows of a tree, parts of them at the same time.
///
/// Parts of the tree are read and their rows spread over sections, by the first bits that tell them
/// apart; then sections are sorted by themselves. Where the first term has few values, those are the
/// sections, and rows are spread while they are read.
///
/// Pointers: items, spare and keys have room for all rows that the tree claims to have, and are kept
/// until the threads are through. `TreeParts` throws before a part gives more rows than are its own, so
/// that threads write to different places; sections are so, too.
final class RowSorter {
  private let parts: TreeParts
  private let plan: SortPlan
  private let source: PageSource
  /// All rows, in the end those of each section together.
  private let items: LargeMemory<SortItem>
  private let leaves: LeafList
  /// More bits of the first term do not tell sections apart while rows are read.
  private static let digitLimit = 11
  /// How many bits tell them apart otherwise.
  private static let sectionWidth = 12

  init(_ parts: TreeParts, _ plan: SortPlan) throws(StoreError) {
    self.parts = parts
    self.plan = plan
    source = parts.tree.source
    items = try Self.memory(for: parts.tree)
    leaves = LeafList(plan)
  }

  /// The keys of all rows in order, or of the first `limit`.
  func keys(limit: Int) throws(StoreError) -> [Int64] {
    if let first = plan.parts.first, first.width > 0, first.width <= Self.digitLimit {
      let ends = try readSections(width: first.width)
      return try unsafe sortedKeys(ends, spare: nil, limit)
    }
    let spare = try Self.memory(for: parts.tree)
    defer { withExtendedLifetime(spare) {} }
    let ends = try unsafe spread(from: spare.start)
    return try unsafe sortedKeys(ends, spare: spare.start, limit)
  }

  /// Memory for all rows that `tree` claims to have.
  private static func memory(for tree: ColumnTree) throws(StoreError) -> LargeMemory<SortItem> {
    guard let memory = LargeMemory<SortItem>(trying: tree.count) else {
      throw .system(
        operation: "allocate memory to sort \(tree.count) rows of",
        path: tree.source.store.identity.path, code: ENOMEM)
    }
    return memory
  }

  // MARK: Reading

  /// Reads all rows, those of each value of the first term together; where each value's end.
  private func readSections(width: Int) throws(StoreError) -> [Int] {
    let sections = SectionCounts(width: width, partCount: parts.count)
    let digit = SectionDigit(highest: width)
    let target = unsafe items.start
    try ParallelParts.run(parts.count) { [self] part throws(StoreError) in
      try unsafe read(plan.parts[..<1], of: part, noting: nil) { _, items, count in
        unsafe sections.count(items, count, of: part, digit)
      }
    }
    let ends = sections.settle()
    // Only storage that rots under a mapping counts differently a second time.
    guard ends.last == parts.tree.count else { throw wrongCount }
    try unsafe readAll { part, _, items, count in
      unsafe sections.distribute(items, count, of: part, digit, to: target)
    }
    guard sections.isDistributed else { throw wrongCount }
    return ends
  }

  /// Reads all rows to `spare`, and spreads them then; where each section ends.
  private func spread(from spare: UnsafeMutablePointer<SortItem>) throws(StoreError) -> [Int] {
    let memory = LargeMemory<DifferingBits>(capacity: parts.count)
    let differing = unsafe memory.start
    unsafe differing.initialize(repeating: DifferingBits(), count: parts.count)
    try unsafe readAll { part, place, items, count in
      unsafe (spare + place).update(from: items, count: count)
      unsafe differing[part].add(items, count)
    }
    var all = DifferingBits()
    for part in 0..<parts.count { unsafe all.add(differing[part]) }
    withExtendedLifetime(memory) {}
    let bits = all
    let digit = SectionDigit(bits, width: Self.sectionWidth)
    let sections = SectionCounts(width: Self.sectionWidth, partCount: parts.count)
    try ParallelParts.run(parts.count) { [parts] part throws(StoreError) in
      let rows = parts.rows(of: part)
      unsafe bits.squeeze(spare + rows.lowerBound, rows.count)
      unsafe sections.count(spare + rows.lowerBound, rows.count, of: part, digit)
    }
    let ends = sections.settle()
    let target = unsafe items.start
    try ParallelParts.run(parts.count) { [parts] part throws(StoreError) in
      let rows = parts.rows(of: part)
      unsafe sections.distribute(spare + rows.lowerBound, rows.count, of: part, digit, to: target)
    }
    return ends
  }

  /// Calls `body` with each part, and in it with the items of each leaf, the place of the first of them and
  /// how many there are; the leaves are known afterwards.
  private func readAll(
    _ body: @escaping (Int, Int, UnsafeMutablePointer<SortItem>, Int) -> Void
  ) throws(StoreError) {
    let lists = (0..<parts.count).map { _ in LeafList(plan) }
    try ParallelParts.run(parts.count) { [self] part throws(StoreError) in
      try unsafe read(plan.parts, of: part, noting: lists[part]) { unsafe body(part, $0, $1, $2) }
    }
    for list in lists { leaves.append(list) }
  }

  /// Calls `body` with the items of each leaf of a part, the place of the first of them, and how many there
  /// are; the items have the shares of `shares`.
  @inline(__always) private func read(
    _ shares: ArraySlice<SortPlan.Part>, of part: Int, noting list: LeafList?,
    _ body: (Int, UnsafeMutablePointer<SortItem>, Int) -> Void
  ) throws(StoreError) {
    var integers = RowScratch<Int64>()
    var items = RowScratch<SortItem>()
    let rowCount = parts.rows(of: part).count
    try parts.forEachLeaf(of: part, reading: shares.map(\.term.column.id)) {
      leaf, place throws(StoreError) in
      list?.append(leaf, at: place, of: rowCount)
      let items = unsafe items.room(leaf.rowCount)
      try unsafe plan.read(
        shares, leaf, at: place, into: items, integers.room(leaf.rowCount), source)
      unsafe body(place, items, leaf.rowCount)
    }
  }

  private var wrongCount: StoreError { ColumnTree.wrongCount(parts.tree.root.reference) }

  // MARK: Sorting

  /// Sorts the sections, which end at `ends`, and returns the keys of the first `limit` rows; `spare` has
  /// room for as many items, which nobody needs, if there is one.
  private func sortedKeys(
    _ ends: [Int], spare: UnsafeMutablePointer<SortItem>?, _ limit: Int
  ) throws(StoreError) -> [Int64] {
    let base = leaves.denseBase
    let stored = base == nil ? leaves.copyKeys() : LargeMemory(capacity: 0)
    let known = unsafe stored.start
    let shares = Self.shares(of: ends, parts.count, limit)
    var failure: StoreError?
    let keys = unsafe [Int64](unsafeUninitializedCapacity: limit) { keys, count in
      let keys = unsafe keys
      do throws(StoreError) {
        try ParallelParts.run(shares.count) { [self] part throws(StoreError) in
          try unsafe sort(shares[part], spare) { first, items, count in
            for index in 0..<min(count, limit &- first) {
              let place = unsafe items[index].place
              unsafe keys[first &+ index] = base.map { $0 &+ Int64(place) } ?? known[place]
            }
          }
        }
        count = limit
      } catch {
        failure = error
      }
    }
    withExtendedLifetime(stored) {}
    if let failure { throw failure }
    return keys
  }

  /// Cuts the sections that have some of the first `limit` rows into shares of about as many rows; each is
  /// where its first section begins, and where its sections end.
  private static func shares(
    of ends: [Int], _ count: Int, _ limit: Int
  ) -> [(start: Int, ends: ArraySlice<Int>)] {
    var shares: [(start: Int, ends: ArraySlice<Int>)] = []
    var (first, start) = (0, 0)
    for section in ends.indices where start < limit {
      let end = ends[section]
      let isLast = end >= limit
      if isLast || end >= limit / count * (shares.count + 1) && shares.count + 1 < count {
        shares.append((start, ends[first...section]))
        (first, start) = (section + 1, isLast ? limit : end)
      }
    }
    return shares
  }

  /// Sorts the sections of a share; calls `body` with each, where it begins and how many items it has.
  @inline(__always) private func sort(
    _ share: (start: Int, ends: ArraySlice<Int>), _ spare: UnsafeMutablePointer<SortItem>?,
    _ body: (Int, UnsafeMutablePointer<SortItem>, Int) -> Void
  ) throws(StoreError) {
    let comparison = RowComparison(plan, leaves, source)
    let sorter = ItemSorter()
    var start = share.start
    for end in share.ends where end > start {
      try parts.interruption?.check()
      let (section, count) = unsafe (items.start + start, end - start)
      if let spare = unsafe spare {
        unsafe sorter.sort(section, count, spare: spare + start)
      } else {
        unsafe sorter.sort(section, count, squeezes: true)
      }
      try unsafe comparison.sortTies(section, count)
      unsafe body(start, section, count)
      start = end
    }
  }
}
