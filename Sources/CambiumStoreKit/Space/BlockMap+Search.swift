import CambiumCore

/// Finding free blocks in a row.
///
/// Which blocks are free, the counts say, one by one. In a large store with little room a small commit would
/// look at many thousands of them before it writes its few pages, and the next commit at the same ones. So a
/// bound is kept for the longest run that begins in each part of the tree, in memory and beside the reference
/// to its page: a search passes over what is full or in crumbs without reading it.
extension BlockMap {
  /// Finds free blocks for a write: `wanted` of them in a row if there are, otherwise a shorter run
  /// of at least `minimum`; nil when only the end of the store remains.
  ///
  /// Nothing is marked: room is in use from ``hold(_:)`` on. Throws when counts cannot be read.
  package mutating func findRun(minimum: Int, wanted: Int) throws(StoreError) -> Range<Int>? {
    guard freeBlockCount >= minimum else { return nil }
    guard let ceiling = allocationCeiling else {
      return try findRun(minimum: minimum, wanted: wanted, below: blockCount)
    }
    let limit = min(ceiling, blockCount)
    if let run = try findRun(minimum: minimum, wanted: wanted, below: limit) { return run }
    return try findRun(minimum: minimum, wanted: wanted, below: blockCount)
  }

  private mutating func findRun(
    minimum: Int, wanted: Int, below ceiling: Int
  ) throws(StoreError) -> Range<Int>? {
    if keepsRuns, let run = try findWholeRun(wanted, below: ceiling) { return run }
    if let run = try search(wanted, below: ceiling) { return run }
    // Bulk work takes smaller holes too, so that they do not stay for ever; but not crumbs, which
    // would cost it a write each. Crumbs serve when much of the store consists of them.
    let least = max(minimum, isSparse ? 1 : 16)
    var length = wanted > Self.smallRunBlockCount ? wanted / 2 : wanted - 1
    while length > least {
      if let run = try search(length, below: ceiling) { return run }
      length = length > Self.smallRunBlockCount ? length / 2 : length - 1
    }
    return least < wanted ? try search(least, below: ceiling) : nil
  }

  /// `count` free blocks between two that are in use: where longer runs are few, they stay for longer pages.
  ///
  /// Nil where none is found soon.
  private mutating func findWholeRun(
    _ count: Int, below ceiling: Int
  ) throws(StoreError) -> Range<Int>? {
    var first = allocationFloor
    for _ in 0..<Self.lookedAtRunCount {
      guard let run = try search(count, from: first, to: ceiling) else { return nil }
      // What begins where the look before has ended goes on from there.
      let goesOn = run.lowerBound == first && first > allocationFloor
      first = run.upperBound
      guard first < blockCount, try isFree(first) else {
        if goesOn { continue }
        return run
      }
      let leaf = try loadedLeaf(FreeMapLeaf.number(ofBlock: first))
      first += leaf.freeCount(from: FreeMapLeaf.index(of: first), atMost: FreeMapLeaf.blockCount)
    }
    return nil
  }

  private static var lookedAtRunCount: Int { 64 }

  private mutating func isFree(_ block: Int) throws(StoreError) -> Bool {
    try loadedLeaf(FreeMapLeaf.number(ofBlock: block))[held: FreeMapLeaf.index(of: block)] == 0
  }

  /// Runs up to this length are looked for block by block.
  private static var smallRunBlockCount: Int { 8 }

  /// Whether so much is free in small holes that it pays to use them: a sixteenth of the store, but
  /// not less than 512 KiB.
  package var isSparse: Bool { fillsHoles || freeBlockCount > max(128, blockCount / 16) }

  /// The blocks at the end of the store that `count` blocks in a row would take; they begin with the
  /// free ones there.
  package mutating func tailRun(count: Int) throws(StoreError) -> Range<Int> {
    var start = blockCount
    while start > allocationFloor, blockCount - start < count {
      let leaf = try loadedLeaf(FreeMapLeaf.number(ofBlock: start - 1))
      let wanted = min(count - (blockCount - start), start - allocationFloor)
      let index = FreeMapLeaf.index(of: start - 1) + 1
      let free = leaf.freeCount(before: index, atMost: wanted)
      start -= free
      if free < min(wanted, index) { break }
    }
    return start..<(start + count)
  }

  /// The next search starts here.
  package mutating func moveCursor(to block: Int) { cursor = block }

  // MARK: The search

  /// The first `count` free blocks in a row behind the cursor, or else the first ones of all; none of them
  /// reaches `ceiling`.
  private mutating func search(
    _ count: Int, below ceiling: Int
  ) throws(StoreError) -> Range<Int>? {
    if count > longestRun { return nil }
    if cursor >= ceiling || cursor < allocationFloor { cursor = allocationFloor }
    if let run = try search(count, from: cursor, to: ceiling) { return run }
    // A run may begin before the cursor and reach over it.
    let end = min(ceiling, cursor + count - 1)
    if let run = try search(count, from: allocationFloor, to: end) { return run }
    if allocationFloor == firstBlock, ceiling == blockCount { longestRun = count - 1 }
    // Both together have looked at all of the cursor's leaf.
    let leaf = FreeMapLeaf.number(ofBlock: cursor)
    if isWhole(leaf, count, from: allocationFloor, to: ceiling) {
      try lower(leaf: leaf, in: loadedBranch(ofLeaf: leaf), failing: count)
    }
    return nil
  }

  private mutating func search(
    _ count: Int, from first: Int, to end: Int
  ) throws(StoreError) -> Range<Int>? {
    guard first + count <= end else { return nil }
    let start = try search(count, from: first, to: end, in: root, firstLeaf: 0)
    return start.map { $0..<$0 + count }
  }

  /// The first of `count` free blocks that begin in `branch`, whose leaves are numbered from `firstLeaf` on.
  private mutating func search(
    _ count: Int, from first: Int, to end: Int, in branch: FreeMapBranch, firstLeaf: Int
  ) throws(StoreError) -> Int? {
    let blocksPerChild = branch.leavesPerChild * FreeMapLeaf.blockCount
    let base = firstLeaf * FreeMapLeaf.blockCount
    let least = min(count, FreeMapPart.anyLength)
    var child = max(0, first - base) / blocksPerChild
    while child < FreeMapBranch.childCount {
      let start = base + child * blocksPerChild
      if max(start, first) + count > end { return nil }
      let number = firstLeaf + child * branch.leavesPerChild
      if unsafe branch.bounds[child] >= least {
        if branch.level > 1 {
          let next = try loadedChild(child, of: branch)
          if let found = try search(count, from: first, to: end, in: next, firstLeaf: number) {
            return found
          }
          unsafe branch.bounds[child] = next.bound
        } else {
          if let found = try search(count, from: first, to: end, inLeaf: number) { return found }
          if isWhole(number, count, from: first, to: end) {
            try lower(leaf: number, in: branch, failing: count)
          }
        }
      }
      child += 1
    }
    return nil
  }

  /// Whether all runs of `count` blocks that begin in a leaf lie between `first` and `end`.
  private func isWhole(_ number: Int, _ count: Int, from first: Int, to end: Int) -> Bool {
    let start = number * FreeMapLeaf.blockCount
    return count <= FreeMapPart.anyLength && first <= max(start, firstBlock)
      && end >= min(blockCount, start + FreeMapLeaf.blockCount + count - 1)
  }

  /// The first of `count` free blocks that begin in a leaf.
  private mutating func search(
    _ count: Int, from first: Int, to end: Int, inLeaf number: Int
  ) throws(StoreError) -> Int? {
    let base = number * FreeMapLeaf.blockCount
    let leaf = try loadedLeaf(number)
    let lowest = max(0, first - base)
    let highest = min(FreeMapLeaf.blockCount, end - count + 1 - base)
    guard lowest < highest else { return nil }
    if count <= FreeMapLeaf.blockCount, let start = leaf.firstRun(count, in: lowest..<highest) {
      return base + start
    }
    // One that reaches over the end of the leaf.
    let room = FreeMapLeaf.blockCount - lowest
    let before = leaf.freeCount(before: FreeMapLeaf.blockCount, atMost: min(room, count))
    let start = base + FreeMapLeaf.blockCount - before
    guard before > 0, start + count <= end else { return nil }
    var (missing, next) = (count - before, number + 1)
    while missing > 0 {
      let wanted = min(missing, FreeMapLeaf.blockCount)
      let found = try loadedLeaf(next).freeCount(from: 0, atMost: wanted)
      if found < wanted { return nil }
      missing -= found
      next += 1
    }
    return start
  }

  // MARK: What changes

  /// How far from a block that becomes free its run is measured; behind that it may have any length.
  private static var reach: Int { 32 }

  /// Notes that the first and the last of some blocks of a leaf were used and are free, and perhaps others of
  /// them.
  mutating func noteFree(_ blocks: Range<Int>, _ leaf: FreeMapLeaf, _ number: Int) {
    let before = leaf.freeCount(before: blocks.lowerBound, atMost: Self.reach)
    let behind = leaf.freeCount(from: blocks.upperBound, atMost: Self.reach)
    let isOpenAbove =
      behind == Self.reach || blocks.upperBound + behind == FreeMapLeaf.blockCount
    let isOpenBelow = before == Self.reach
    var length = FreeMapPart.anyLength
    if !isOpenAbove, !isOpenBelow {
      length = leaf.longestRun(.held, in: blocks.lowerBound - before..<blocks.upperBound + behind)
    }
    raise(leaf: number, to: length)
    // A run that begins in the leaf before may have become longer; one that begins further back had any
    // length already.
    if before == blocks.lowerBound || isOpenBelow, leaf[held: 0] == 0, number > 0 {
      length = FreeMapPart.anyLength
      raise(leaf: number - 1, to: length)
    }
    longestRun = length == FreeMapPart.anyLength ? .max : max(longestRun, length)
  }

  /// Lowers the bound of a leaf in which no run of `count` blocks begins to what there is.
  private mutating func lower(
    leaf number: Int, in branch: FreeMapBranch, failing count: Int
  ) throws(StoreError) {
    let child = branch.child(ofLeaf: number)
    if unsafe branch.bounds[child] < count { return }
    let blockCount = min(FreeMapLeaf.blockCount, blockCount - number * FreeMapLeaf.blockCount)
    let bound = try loadedLeaf(number).bound(.held, ofFirst: max(0, blockCount))
    unsafe branch.bounds[child] = min(bound, count - 1)
  }

  /// Raises the bound of a leaf, and of what leads to it.
  mutating func raise(leaf number: Int, to length: Int) {
    guard number < FreeMapBranch.leafCount(level: root.level) else { return }
    var branch = root
    while true {
      let child = branch.child(ofLeaf: number)
      unsafe branch.bounds[child] = unsafe max(branch.bounds[child], length)
      if branch.level == 1 { return }
      // What is not in memory has runs that are no longer than is stored, but for one that has just become
      // longer; where that cannot be read it stays unused.
      guard let next = try? loadedChild(child, of: branch) else { return }
      branch = next
    }
  }
}
