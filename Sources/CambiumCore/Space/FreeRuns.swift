/// Where no run of free blocks begins: what searches for room have found out, so that the next one
/// does not look there again.
///
/// Which blocks are free, the counts of a ``BlockMap`` say, one by one. In a large store with little
/// room a small commit would look at many thousands of them before it writes its few pages, and the
/// next commit at the same ones. So two bounds are kept for the longest run that begins in a part of
/// the store: one for each region, which lets a search pass over what is full or in crumbs, and one
/// for each group of 64 blocks, which serves the regions that hold a little of everything.
///
/// Bounds may be too high, which costs time; they are never too low, which would lose room. They fall
/// when a search has looked at the whole part in vain, and rise when blocks become free.
///
/// The counts stay with the map, which hands them in: a block is free when its count is zero. They
/// must be as they are after the change that is told.
struct FreeRuns: Sendable {
  private struct Region: Sendable {
    var freeCount = 0
    /// No longer run of free blocks begins here.
    var longest = FreeRuns.regionBlockCount
  }

  private static let regionBlockCount = BlockMap.regionBlockCount
  /// How many blocks make a group.
  private static let groupBlockCount = 64
  /// How far from a block that becomes free its run is measured; behind that it may have any length.
  private static let reach = 128

  /// No run begins before this block.
  private let firstBlock: Int
  private var regions: [Region] = []
  /// The bounds of the groups; `groupBlockCount` stands for any length.
  private var groups: [UInt8] = []

  /// Nothing is known about the blocks up to `blockCount`, of which those from `firstBlock` on are
  /// free.
  init(firstBlock: Int, blockCount: Int) {
    self.firstBlock = firstBlock
    fitParts(toBlockCount: firstBlock)
    extend(firstBlock..<blockCount)
  }

  // MARK: What changes

  /// Notes that `blocks` were added behind the last one; they are free.
  mutating func extend(_ blocks: Range<Int>) {
    guard !blocks.isEmpty else { return }
    fitParts(toBlockCount: blocks.upperBound)
    Self.forEachRegion(of: blocks) { region, count in regions[region].freeCount += count }
    raise(
      from: blocks.lowerBound - Self.regionBlockCount, to: blocks.lowerBound,
      length: Self.regionBlockCount)
  }

  /// Notes that `blocks`, which are free and the last ones, were taken away.
  mutating func trim(_ blocks: Range<Int>) {
    Self.forEachRegion(of: blocks) { region, count in regions[region].freeCount -= count }
    fitParts(toBlockCount: blocks.lowerBound)
  }

  /// Notes that `block` was free and is used.
  mutating func take(_ block: Int) { regions[block / Self.regionBlockCount].freeCount -= 1 }

  /// Notes that `block` was used and is free.
  mutating func free(_ block: Int, _ counts: UnsafeBufferPointer<UInt8>) {
    regions[block / Self.regionBlockCount].freeCount += 1
    let lowest = max(0, block - Self.reach)
    let highest = min(counts.count, block + Self.reach)
    var start = block
    while start > lowest, counts[start - 1] == 0 { start -= 1 }
    var end = block + 1
    while end < highest, counts[end] == 0 { end += 1 }
    let isOpenBelow = start > 0 && counts[start - 1] == 0
    let isOpenAbove = end < counts.count && counts[end] == 0
    raise(
      from: isOpenBelow ? start - Self.regionBlockCount : start, to: block,
      length: isOpenBelow || isOpenAbove ? Self.regionBlockCount : end - start)
  }

  /// Raises the bounds where a run may begin that has become longer: at `first` or behind it, not
  /// behind `block`, which was added to the run.
  private mutating func raise(from first: Int, to block: Int, length: Int) {
    for region in max(0, first) / Self.regionBlockCount...block / Self.regionBlockCount {
      regions[region].longest = max(regions[region].longest, length)
    }
    // What begins further back had any length before.
    let nearest = max(0, first, block - Self.groupBlockCount)
    let bound = UInt8(min(length, Self.groupBlockCount))
    for group in nearest / Self.groupBlockCount...block / Self.groupBlockCount {
      groups[group] = max(groups[group], bound)
    }
  }

  /// Gives each of `blockCount` blocks a region and a group; nothing is known about new ones.
  private mutating func fitParts(toBlockCount blockCount: Int) {
    let missing = (blockCount + Self.regionBlockCount - 1) / Self.regionBlockCount - regions.count
    if missing > 0 { regions.append(contentsOf: repeatElement(Region(), count: missing)) }
    if missing < 0 { regions.removeLast(-missing) }
    let missingGroups =
      (blockCount + Self.groupBlockCount - 1) / Self.groupBlockCount - groups.count
    let bound = UInt8(Self.groupBlockCount)
    if missingGroups > 0 { groups.append(contentsOf: repeatElement(bound, count: missingGroups)) }
    if missingGroups < 0 { groups.removeLast(-missingGroups) }
  }

  /// Calls `body` with each region that has some of `blocks`, and how many.
  private static func forEachRegion(of blocks: Range<Int>, _ body: (Int, Int) -> Void) {
    var block = blocks.lowerBound
    while block < blocks.upperBound {
      let region = block / regionBlockCount
      let next = min(blocks.upperBound, (region + 1) * regionBlockCount)
      body(region, next - block)
      block = next
    }
  }

  // MARK: Searching

  /// The first `count` free blocks in a row behind `cursor`, or else the first behind `floor`; none
  /// of them reaches `ceiling`.
  mutating func find(
    _ count: Int, from cursor: Int, floor: Int, ceiling: Int, _ counts: UnsafeBufferPointer<UInt8>
  ) -> Range<Int>? {
    if let run = search(count, from: cursor, to: ceiling, counts) { return run }
    // A run may begin before the cursor and reach over it.
    let end = min(ceiling, cursor + count - 1)
    if let run = search(count, from: floor, to: end, counts) { return run }
    // Both together have looked at more whole regions than each of them.
    for region in regions.indices
    where isWhole(region, count, from: floor, to: ceiling, counts.count) {
      regions[region].longest = min(regions[region].longest, count - 1)
    }
    return nil
  }

  /// Whether all runs of `count` blocks that begin in `region` lie between `first` and `end`.
  private func isWhole(
    _ region: Int, _ count: Int, from first: Int, to end: Int, _ blockCount: Int
  ) -> Bool {
    let start = region * Self.regionBlockCount
    return first <= max(start, firstBlock)
      && end >= min(blockCount, start + Self.regionBlockCount + count)
  }

  private mutating func search(
    _ count: Int, from first: Int, to end: Int, _ counts: UnsafeBufferPointer<UInt8>
  ) -> Range<Int>? {
    var block = first
    while block < end {
      let region = block / Self.regionBlockCount
      let next = (region + 1) * Self.regionBlockCount
      if regions[region].freeCount > 0, regions[region].longest >= count {
        let starts = block..<max(block, min(next, end - count + 1))
        if let run = searchGroups(count, starts, counts) { return run }
        if isWhole(region, count, from: block, to: end, counts.count) {
          regions[region].longest = count - 1
        }
      }
      block = next
    }
    return nil
  }

  /// The first run of `count` free blocks that begins in `starts`.
  ///
  /// Looks at the last block of a window first: when it is used, the window moves behind it.
  private mutating func searchGroups(
    _ count: Int, _ starts: Range<Int>, _ counts: UnsafeBufferPointer<UInt8>
  ) -> Range<Int>? {
    groups.withUnsafeMutableBufferPointer { groups in
      var start = starts.lowerBound
      while start < starts.upperBound {
        let group = start / Self.groupBlockCount
        let next = (group + 1) * Self.groupBlockCount
        if groups[group] < min(count, Self.groupBlockCount) {
          start = next
          continue
        }
        let end = min(next, starts.upperBound)
        while start < end {
          var block = start + count - 1
          while block >= start, counts[block] == 0 { block -= 1 }
          if block < start { return start..<start + count }
          start = block + 1
        }
        let isWhole = starts.lowerBound <= next - Self.groupBlockCount && end == next
        if isWhole, count <= Self.groupBlockCount { groups[group] = UInt8(count - 1) }
      }
      return nil
    }
  }
}
