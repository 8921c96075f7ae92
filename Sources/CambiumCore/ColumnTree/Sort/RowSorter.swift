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
/// apart; then sections are sorted by themselves.
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
  /// How many bits tell sections apart.
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
    let columns = plan.parts.map(\.term.column.id)
    try ParallelParts.run(parts.count) { [self] part throws(StoreError) in
      var integers = RowScratch<Int64>()
      var items = RowScratch<SortItem>()
      let rowCount = parts.rows(of: part).count
      try parts.forEachLeaf(of: part, reading: columns) { leaf, place throws(StoreError) in
        lists[part].append(leaf, at: place, of: rowCount)
        let items = unsafe items.room(leaf.rowCount)
        try unsafe plan.read(
          plan.parts, leaf, at: place, into: items, integers.room(leaf.rowCount), source)
        unsafe body(part, place, items, leaf.rowCount)
      }
    }
    for list in lists { leaves.append(list) }
  }

  // MARK: Sorting

  /// Sorts the sections, which end at `ends`, and returns the keys of the first `limit` rows; `spare` has
  /// room for as many items, which nobody needs.
  private func sortedKeys(
    _ ends: [Int], spare: UnsafeMutablePointer<SortItem>, _ limit: Int
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
    _ share: (start: Int, ends: ArraySlice<Int>), _ spare: UnsafeMutablePointer<SortItem>,
    _ body: (Int, UnsafeMutablePointer<SortItem>, Int) -> Void
  ) throws(StoreError) {
    let comparison = RowComparison(plan, leaves, source)
    let sorter = ItemSorter()
    var start = share.start
    for end in share.ends where end > start {
      try parts.interruption?.check()
      let (section, count) = unsafe (items.start + start, end - start)
      unsafe sorter.sort(section, count, spare: spare + start)
      try unsafe comparison.sortTies(section, count)
      unsafe body(start, section, count)
      start = end
    }
  }
}
