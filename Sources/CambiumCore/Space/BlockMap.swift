/// How many units of each block are in use: the free space of a store, in memory.
///
/// Space is given out in whole blocks; inside a run of blocks pages pack at one unit. A block that
/// holds anything a held version reads is never rewritten, so a block is free only when none of its
/// units is used. Two counts per block say that:
/// - `held`: units that any held version or the running write uses. Zero means free.
/// - `reachable`: units that the newest version uses. This is what a store keeps on its medium.
///
/// Not synchronized: the store guards it with its own lock.
package struct BlockMap: Sendable {
  /// The size of a block in bytes.
  package static let blockByteCount = 4096
  /// How many units make a block.
  package static let unitsPerBlock = blockByteCount / Extent.unitByteCount
  /// How many blocks make a region: 64 MiB, described by one page of a free map.
  package static let regionBlockCount = 16384

  /// The first block that is given out; those before it belong to the store.
  package let firstBlock: Int
  /// One past the last block ever given out and not yet given back.
  package private(set) var blockCount: Int
  /// How many blocks below `blockCount` are free.
  package private(set) var freeBlockCount = 0
  private var held: [UInt8]
  private var reachable: [UInt8]
  /// Where a search for free blocks need not look.
  private var runs: FreeRuns
  /// Where the next search starts: next-fit keeps the commits of a burst together.
  private var cursor: Int
  /// Whether small holes are used however little is free: the store can hardly grow.
  package var fillsHoles = false
  /// No block before this one is given out: it is not known what old versions see there.
  package var allocationFloor: Int
  /// Room behind this block is given out only when there is none before it; nil for no such block.
  package var allocationCeiling: Int?

  /// An empty map: nothing is used behind `firstBlock`.
  package init(firstBlock: Int) {
    self.firstBlock = firstBlock
    blockCount = firstBlock
    cursor = firstBlock
    allocationFloor = firstBlock
    held = [UInt8](repeating: UInt8(Self.unitsPerBlock), count: firstBlock)
    reachable = held
    runs = FreeRuns(firstBlock: firstBlock, blockCount: firstBlock)
  }

  // MARK: Counting

  /// How many units of `block` are in use by any held version or the running write.
  package func heldUnits(ofBlock block: Int) -> Int { block < blockCount ? Int(held[block]) : 0 }

  /// How many units of `block` the newest version uses.
  package func reachableUnits(ofBlock block: Int) -> Int {
    block < blockCount ? Int(reachable[block]) : 0
  }

  /// The `reachable` counts of a region, one byte per block, up to the last block.
  ///
  /// A region whose blocks were all given back has none.
  package func reachableCounts(ofRegion region: Int) -> ArraySlice<UInt8> {
    let start = min(region * Self.regionBlockCount, blockCount)
    return reachable[start..<min(start + Self.regionBlockCount, blockCount)]
  }

  /// How many regions there are.
  package var regionCount: Int {
    (blockCount + Self.regionBlockCount - 1) / Self.regionBlockCount
  }

  /// Whether `extent` lies between the store's own blocks and the high-water mark.
  package func contains(_ extent: Extent) -> Bool {
    extent.unitCount > 0 && extent.address >= UInt64(firstBlock * Self.unitsPerBlock)
      && extent.address <= UInt64(blockCount * Self.unitsPerBlock)
      && extent.unitCount <= UInt64(blockCount * Self.unitsPerBlock) - extent.address
  }

  /// Calls `body` with each block of `extent` and the number of its units there.
  @inline(__always)
  private static func forEachBlock(_ extent: Extent, _ body: (Int, UInt8) -> Bool) -> Bool {
    var unit = Int(extent.address)
    let end = Int(extent.end)
    while unit < end {
      let block = unit / unitsPerBlock
      let next = min(end, (block + 1) * unitsPerBlock)
      if !body(block, UInt8(next - unit)) { return false }
      unit = next
    }
    return true
  }

  /// Whether no unit of `extent` can be in use already.
  package func canHold(_ extent: Extent) -> Bool {
    contains(extent)
      && Self.forEachBlock(extent) { block, units in
        Int(held[block]) + Int(units) <= Self.unitsPerBlock
      }
  }

  /// Notes that `extent` is in use.
  ///
  /// The blocks must lie below the high-water mark.
  package mutating func hold(_ extent: Extent) {
    precondition(contains(extent), "S1: an extent outside of the store was given out.")
    _ = Self.forEachBlock(extent) { block, units in
      if held[block] == 0 {
        freeBlockCount -= 1
        runs.take(block)
      }
      held[block] += units
      assert(held[block] <= Self.unitsPerBlock, "S1: units of block \(block) were given out twice.")
      return true
    }
  }

  /// Notes that no held version uses `extent` any more.
  package mutating func letGo(_ extent: Extent) {
    _ = Self.forEachBlock(extent) { block, units in
      precondition(held[block] >= units, "S1: units of block \(block) were let go twice.")
      held[block] -= units
      if held[block] == 0 {
        freeBlockCount += 1
        held.withUnsafeBufferPointer { runs.free(block, $0) }
      }
      return true
    }
  }

  /// Adds `extent` to what the newest version uses; false, and unchanged, when the counts say that
  /// cannot be.
  package mutating func addReachable(_ extent: Extent) -> Bool {
    guard contains(extent) else { return false }
    let fits = Self.forEachBlock(extent) { block, units in
      Int(reachable[block]) + Int(units) <= Self.unitsPerBlock
    }
    guard fits else { return false }
    return Self.forEachBlock(extent) { block, units in
      reachable[block] += units
      return true
    }
  }

  /// Takes `extent` from what the newest version uses; false, and unchanged, when the counts say
  /// that it was not in use.
  package mutating func removeReachable(_ extent: Extent) -> Bool {
    guard contains(extent) else { return false }
    guard Self.forEachBlock(extent, { block, units in reachable[block] >= units }) else {
      return false
    }
    return Self.forEachBlock(extent) { block, units in
      reachable[block] -= units
      return true
    }
  }

  // MARK: Loading

  /// Grows the map to `blockCount` blocks, all free.
  package mutating func extend(toBlockCount count: Int) {
    guard count > blockCount else { return }
    let first = blockCount
    let added = count - first
    held.append(contentsOf: repeatElement(0, count: added))
    reachable.append(contentsOf: repeatElement(0, count: added))
    blockCount = count
    freeBlockCount += added
    runs.extend(first..<count)
  }

  /// Sets the `reachable` counts of a region as they were stored, up to the high-water mark; false
  /// when they break a rule.
  ///
  /// Call ``adoptReachable()`` when all regions and changes are in.
  package mutating func load(region: Int, counts: UnsafeRawBufferPointer) -> Bool {
    let start = region * Self.regionBlockCount
    guard counts.count <= Self.regionBlockCount else { return false }
    for (index, count) in counts.enumerated() where start + index < blockCount {
      guard count <= Self.unitsPerBlock else { return false }
      if start + index >= firstBlock { reachable[start + index] = count }
    }
    return true
  }

  /// The parts of `extent` that lie below the high-water mark, one per region.
  package func partsByRegion(_ extent: Extent) -> [(region: Int, extent: Extent)] {
    let unitsPerRegion = UInt64(Self.regionBlockCount * Self.unitsPerBlock)
    let end = min(extent.end, UInt64(blockCount * Self.unitsPerBlock))
    var parts: [(region: Int, extent: Extent)] = []
    var address = extent.address
    while address < end {
      let region = address / unitsPerRegion
      let next = min(end, (region + 1) * unitsPerRegion)
      parts.append((Int(region), Extent(address: address, unitCount: next - address)))
      address = next
    }
    return parts
  }

  /// Takes the `reachable` counts for all that is held, after loading.
  package mutating func adoptReachable() {
    held = reachable
    freeBlockCount = 0
    runs = FreeRuns(firstBlock: firstBlock, blockCount: blockCount)
    for block in firstBlock..<blockCount {
      if held[block] == 0 { freeBlockCount += 1 } else { runs.take(block) }
    }
  }

  // MARK: Runs

  /// Finds free blocks for a write: `wanted` of them in a row if there are, otherwise a shorter run
  /// of at least `minimum`; nil when only the end of the store remains.
  ///
  /// Nothing is marked: room is in use from ``hold(_:)`` on.
  package mutating func findRun(minimum: Int, wanted: Int) -> Range<Int>? {
    guard freeBlockCount >= minimum else { return nil }
    guard let ceiling = allocationCeiling else {
      return findRun(minimum: minimum, wanted: wanted, below: blockCount)
    }
    return findRun(minimum: minimum, wanted: wanted, below: min(ceiling, blockCount))
      ?? findRun(minimum: minimum, wanted: wanted, below: blockCount)
  }

  private mutating func findRun(minimum: Int, wanted: Int, below ceiling: Int) -> Range<Int>? {
    if let run = search(wanted, below: ceiling) { return run }
    // Bulk work takes smaller holes too, so that they do not stay for ever; but not crumbs, which
    // would cost it a write each. Crumbs serve when much of the store consists of them.
    let least = max(minimum, isSparse ? 1 : 16)
    var length = wanted > Self.smallRunBlockCount ? wanted / 2 : wanted - 1
    while length > least {
      if let run = search(length, below: ceiling) { return run }
      length = length > Self.smallRunBlockCount ? length / 2 : length - 1
    }
    return least < wanted ? search(least, below: ceiling) : nil
  }

  /// Runs up to this length are looked for block by block.
  private static let smallRunBlockCount = 8

  /// Whether so much is free in small holes that it pays to use them: a sixteenth of the store, but
  /// not less than 512 KiB.
  package var isSparse: Bool { fillsHoles || freeBlockCount > max(128, blockCount / 16) }

  /// The blocks at the end of the store that `count` blocks in a row would take; they begin with the
  /// free ones there.
  package func tailRun(count: Int) -> Range<Int> {
    var start = blockCount
    while start > allocationFloor, held[start - 1] == 0, blockCount - start < count { start -= 1 }
    return start..<(start + count)
  }

  /// Whether `run` may be given out as it is; blocks behind the end are free.
  package func isFree(_ run: Range<Int>) -> Bool {
    guard run.lowerBound >= allocationFloor, run.lowerBound <= blockCount else { return false }
    return (run.lowerBound..<min(run.upperBound, blockCount)).allSatisfy { held[$0] == 0 }
  }

  /// The next search starts here.
  package mutating func moveCursor(to block: Int) { cursor = block }

  private mutating func search(_ count: Int, below ceiling: Int) -> Range<Int>? {
    if cursor >= ceiling || cursor < allocationFloor { cursor = allocationFloor }
    return held.withUnsafeBufferPointer {
      runs.find(count, from: cursor, floor: allocationFloor, ceiling: ceiling, $0)
    }
  }

  /// One past the last block that is in use.
  package var usedBlockCount: Int {
    var count = blockCount
    while count > allocationFloor, held[count - 1] == 0 { count -= 1 }
    return count
  }

  /// Gives back free blocks at the end, so that the high-water mark falls.
  package mutating func trimTail() {
    let count = usedBlockCount
    guard count < blockCount else { return }
    for block in count..<blockCount {
      assert(reachable[block] == 0, "S1: block \(block) is reachable and free.")
    }
    runs.trim(count..<blockCount)
    freeBlockCount -= blockCount - count
    held.removeLast(blockCount - count)
    reachable.removeLast(blockCount - count)
    blockCount = count
  }
}
