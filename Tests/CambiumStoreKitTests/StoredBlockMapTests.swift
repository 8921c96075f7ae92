import Synchronization
import TestSupport
import Testing

@testable import CambiumCore
@testable import CambiumStoreKit

/// The free map in pages: what is read again when it is needed is what was counted.
struct StoredBlockMapTests {
  private static let firstBlock = 3
  private static let unitsPerBlock = UInt64(BlockMap.unitsPerBlock)

  /// Pages in memory, by address.
  private final class Pages: FreeMapSource {
    private struct State {
      var pages: [UInt64: FreeMapPage] = [:]
      var next: UInt64 = 1
      var readCount = 0
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.pages.count } }
    var readCount: Int { state.withLock { $0.readCount } }

    func write(_ page: FreeMapPage) -> (checksum: UInt64, address: UInt64) {
      state.withLock { state in
        state.next += 1
        state.pages[state.next] = page
        return (state.next ^ 0xff, state.next)
      }
    }

    func remove(_ part: FreeMapPart) {
      let page = state.withLock { $0.pages.removeValue(forKey: part.address) }
      #expect(page != nil, "a page was given up twice")
    }

    private func page(_ part: FreeMapPart) throws(StoreError) -> FreeMapPage {
      guard part.checksum == part.address ^ 0xff else {
        throw .damaged(Damage(.checksum, "a page"))
      }
      let page = state.withLock { state in
        state.readCount += 1
        return state.pages[part.address]
      }
      guard let page else { throw .damaged(Damage(.reference, "a page that was given up")) }
      return page
    }

    func counts(of leaf: FreeMapPart) throws(StoreError) -> [UInt8] {
      guard case .leaf(let counts) = try page(leaf) else { throw .damaged(Damage(.kind, "a leaf")) }
      return counts
    }

    func children(of branch: FreeMapPart, level: Int) throws(StoreError) -> [FreeMapPart] {
      guard case .branch(let parts) = try page(branch) else {
        throw .damaged(Damage(.kind, "a branch"))
      }
      return parts
    }
  }

  /// A map beside the plain counts of what it should hold.
  private struct World: ~Copyable {
    let pages = Pages()
    var map: BlockMap
    var units: [UInt8]
    var version: Version = 0
    var stored: BlockMap.Stored?

    init() {
      map = BlockMap(firstBlock: firstBlock, from: pages)
      units = [UInt8](repeating: UInt8(BlockMap.unitsPerBlock), count: firstBlock)
    }

    mutating func grow(to count: Int) {
      map.extend(toBlockCount: count)
      if count > units.count { units += [UInt8](repeating: 0, count: count - units.count) }
    }

    mutating func take(_ extent: Extent) throws {
      try map.load(extent)
      let isFree = map.canHold(extent)
      try #require(isFree)
      map.hold(extent)
      let isAdded = map.addReachable(extent, version)
      try #require(isAdded)
      count(extent, 1)
    }

    mutating func give(_ extent: Extent) throws {
      try map.load(extent)
      let isRemoved = map.removeReachable(extent, version)
      try #require(isRemoved)
      map.letGo(extent)
      count(extent, -1)
    }

    private mutating func count(_ extent: Extent, _ sign: Int) {
      for unit in extent.address..<extent.end {
        let block = Int(unit / unitsPerBlock)
        units[block] = UInt8(Int(units[block]) + sign)
      }
    }

    /// Stores the map; how many pages were written.
    mutating func fold() throws -> Int {
      var writtenCount = 0
      let pages = pages
      var old: [FreeMapPart] = []
      let update = try BlockMap.Update(map.changes(version: version)) { part, _ in
        old.append(part)
      } write: { page in
        writtenCount += 1
        return pages.write(page)
      }
      map.adopt(update)
      for part in old { pages.remove(part) }
      stored = update.stored
      return writtenCount
    }

    mutating func reopen() throws {
      let stored = try #require(stored)
      try #require(stored.isPlausible(firstBlock: firstBlock))
      map = BlockMap(firstBlock: firstBlock, stored, from: pages)
    }

    /// Whether every count is right, and every bound high enough.
    mutating func expectRight(_ place: Comment) throws {
      var (reachable, tooLow): ([Int], [Int]) = ([], [])
      try map.forEachLeaf { first, held, counts, isBoundTooLow in
        #expect(held == counts, place)
        reachable += counts
        if isBoundTooLow { tooLow.append(first) }
      }
      #expect(reachable == units.prefix(map.blockCount).map { Int($0) }, place)
      #expect(tooLow == [], place)
      let free = map.freeBlockCount
      #expect(free == reachable.count { $0 == 0 }, place)
    }

    /// Whether `count` blocks in a row are free.
    func hasRun(_ count: Int) -> Bool {
      var length = 0
      for block in firstBlock..<units.count {
        length = units[block] > 0 ? 0 : length + 1
        if length == count { return true }
      }
      return false
    }
  }

  @Test func `a stored count of free blocks that cannot be is seen`() {
    let parts = [FreeMapPart](repeating: .empty, count: BlockMap.Stored.childCount)
    for (freeCount, isPossible) in [(97, true), (50, false), (0, false)] {
      let stored = BlockMap.Stored(
        version: 1, level: 1, parts: parts, blockCount: 100, freeBlockCount: freeCount)
      var map = BlockMap(firstBlock: Self.firstBlock, stored, from: Pages())
      let seemsPossible = map.hasPlausibleCounts
      // Nothing is in use, so that all blocks at the end are given back.
      map.trimTail()
      let (isRight, wasRight) = (map.hasPlausibleCounts, seemsPossible)
      #expect(wasRight && isRight == isPossible, "\(freeCount)")
    }
  }

  @Test(arguments: 1...16 as ClosedRange<UInt64>)
  func `counts, runs and pages are right through storing, dropping and reopening`(
    seed: UInt64
  ) throws {
    var generator = SeededGenerator(seed: seed)
    func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }
    var world = World()
    var taken: [Extent] = []
    // Leaves of several branches, and of several levels with odd seeds.
    world.grow(to: seed % 2 == 0 ? 5_000 : 160_000)
    var block = 0
    for step in 0..<400 {
      world.version += 1
      for _ in 0..<number(1..<6) {
        block = number(0..<3) == 0 ? number(Self.firstBlock..<world.units.count) : block + 1
        let first = UInt64(max(block, Self.firstBlock))
        let address = first * Self.unitsPerBlock + UInt64(number(0..<64))
        let extent = Extent(address: address, unitCount: UInt64(number(1..<400)))
        guard extent.end <= UInt64(world.units.count) * Self.unitsPerBlock,
          !taken.contains(where: { $0.address < extent.end && extent.address < $0.end })
        else { continue }
        try world.take(extent)
        taken.append(extent)
      }
      for _ in 0..<number(0..<5) where taken.count > 40 {
        let index = number(0..<taken.count)
        taken.swapAt(index, taken.count - 1)
        try world.give(taken.removeLast())
      }
      if number(0..<4) == 0 {
        let count = number(0..<3) == 0 ? number(1..<2_000) : number(1..<20)
        let run = try world.map.findRun(minimum: count, wanted: count)
        #expect((run != nil) == world.hasRun(count), "seed \(seed), step \(step)")
        if let run {
          #expect(run.count == count && run.allSatisfy { world.units[$0] == 0 })
          world.map.moveCursor(to: run.lowerBound)
        }
      }
      // By levels of branches, too.
      if number(0..<50) == 0 { world.grow(to: world.units.count + number(1..<20_000)) }
      if number(0..<8) == 0 {
        _ = try world.fold()
        if number(0..<2) == 0 { world.map.dropUnchanged() }
        if number(0..<3) == 0 { try world.reopen() }
      }
      if step % 40 == 0 { try world.expectRight("seed \(seed), step \(step)") }
    }
    world.version += 1
    for extent in taken { try world.give(extent) }
    _ = try world.fold()
    // What is empty has no page; the first leaf counts the store's own blocks.
    let level = world.map.level
    #expect(world.pages.count <= level)
    world.map.trimTail()
    let rest = world.map.blockCount
    #expect(rest == Self.firstBlock)
  }

  @Test func `storing writes the leaves that changed and what leads to them`() throws {
    var world = World()
    world.grow(to: 16 * 16 * BlockMap.leafBlockCount)
    world.version = 1
    let leafUnits = UInt64(BlockMap.leafBlockCount) * Self.unitsPerBlock
    for leaf in 1..<(16 * 16) as Range<UInt64> {
      try world.take(Extent(address: leaf * leafUnits, unitCount: 1))
    }
    let all = try world.fold()
    // The first leaf, whose own blocks are known, is empty.
    #expect(all == 255 + 16)
    let none = try world.fold()
    #expect(none == 0)
    world.version = 2
    try world.give(Extent(address: 5 * leafUnits, unitCount: 1))
    try world.take(Extent(address: 100 * leafUnits + 9, unitCount: 1))
    let some = try world.fold()
    // A leaf that became empty, one that did not, and a branch for each.
    #expect(some == 3)
    #expect(world.pages.count == 254 + 16)
    try world.reopen()
    let before = world.pages.readCount
    try world.map.load(Extent(address: 100 * leafUnits, unitCount: 1))
    #expect(world.pages.readCount == before + 2)
    try world.expectRight("reopened")
  }

  @Test func `a map that grows by levels keeps what is stored`() throws {
    var world = World()
    for level in 1...4 {
      // All of the leaves that so many levels have, and one more level with the next turn.
      world.grow(to: BlockMap.leafBlockCount << (4 * level))
      world.version += 1
      let address = UInt64(world.units.count - 1) * Self.unitsPerBlock
      try world.take(Extent(address: address, unitCount: 64))
      // Nothing below the new top has changed since.
      _ = try world.fold()
      let found = world.map.level
      #expect(found == level)
      world.map.dropUnchanged()
      if level % 2 == 0 { try world.reopen() }
      if level < 4 { try world.expectRight("level \(level)") }
    }
    for block in world.units.indices where world.units[block] > 0 && block >= Self.firstBlock {
      let extent = Extent(address: UInt64(block) * Self.unitsPerBlock, unitCount: 64)
      try world.map.load(extent)
      #expect(world.map.heldUnits(ofBlock: block) == 64)
    }
  }

  @Test func `a search reads only leaves that can have what it looks for`() throws {
    var world = World()
    let count = 16 * 16 * BlockMap.leafBlockCount
    world.grow(to: count)
    world.version = 1
    // Everything is in use but two blocks in a row far away.
    let gap = count - 70_000
    for start in stride(from: Self.firstBlock, to: count, by: 100) {
      let end = min(count, start + 100)
      for part in [start..<min(end, max(start, gap)), max(start, min(end, gap + 2))..<end]
      where !part.isEmpty {
        try world.take(
          Extent(
            address: UInt64(part.lowerBound) * Self.unitsPerBlock,
            unitCount: UInt64(part.count) * Self.unitsPerBlock))
      }
    }
    _ = try world.fold()
    try world.reopen()
    var before = world.pages.readCount
    let none = try world.map.findRun(minimum: 3, wanted: 3)
    #expect(none == nil)
    let run = try world.map.findRun(minimum: 2, wanted: 2)
    #expect(run == gap..<gap + 2)
    // One branch and one leaf, and perhaps the last leaf, whose end is not known.
    #expect(world.pages.readCount - before <= 4)
    before = world.pages.readCount
    let again = try world.map.findRun(minimum: 3, wanted: 3)
    #expect(again == nil && world.pages.readCount == before)
  }

  @Test func `a leaf that holds something for others stays in memory`() throws {
    var world = World()
    world.grow(to: 4 * BlockMap.leafBlockCount)
    world.version = 1
    let extent = Extent(address: 600 * Self.unitsPerBlock, unitCount: 64)
    try world.take(extent)
    _ = try world.fold()
    // As a page that a pinned version sees, or that the running write has begun.
    world.map.hold(Extent(address: 601 * Self.unitsPerBlock, unitCount: 5))
    world.map.dropUnchanged()
    #expect(world.map.heldUnits(ofBlock: 601) == 5)
    world.map.letGo(Extent(address: 601 * Self.unitsPerBlock, unitCount: 5))
    world.map.dropUnchanged()
    let count = world.map.leafCount
    #expect(count == 0)
    try world.expectRight("dropped")
  }
}
