import TestSupport
import Testing

@testable import CambiumCore
@testable import CambiumStoreKit

/// The search for free blocks, against a look at every one of them.
struct BlockMapTests {
  private static let firstBlock = 4
  private static let units = UInt64(BlockMap.unitsPerBlock)

  private func extent(_ blocks: Range<Int>) -> Extent {
    Extent(
      address: UInt64(blocks.lowerBound) * Self.units,
      unitCount: UInt64(blocks.count) * Self.units)
  }

  /// Whether `used` has `count` free blocks in a row below `end`.
  private func hasRun(_ used: [Bool], _ count: Int, below end: Int) -> Bool {
    var length = 0
    for block in Self.firstBlock..<min(end, used.count) {
      length = used[block] ? 0 : length + 1
      if length == count { return true }
    }
    return false
  }

  @Test(arguments: 1...24 as ClosedRange<UInt64>)
  func `a run is found if and only if there is one`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }
    var map = BlockMap(firstBlock: Self.firstBlock)
    // Some of them over a border of branches.
    let blockCount = [300, 700, 2 * BlockMap.leafBlockCount, 16 * BlockMap.leafBlockCount + 300][
      Int(seed % 4)]
    map.extend(toBlockCount: blockCount)
    try map.load(blocks: 0..<blockCount)
    var used = [Bool](repeating: false, count: blockCount)
    // Mostly used, so that runs are short.
    var block = Self.firstBlock
    while block < blockCount {
      let end = min(blockCount, block + 1 + number(0..<120))
      map.hold(extent(block..<end))
      for taken in block..<end { used[taken] = true }
      block = end + number(0..<(number(0..<8) == 0 ? 90 : 6))
    }
    for _ in 0..<600 {
      let count = number(0..<5) == 0 ? number(1..<150) : number(1..<9)
      let ceiling = number(0..<4) == 0 ? number(Self.firstBlock + 1..<used.count) : nil
      map.allocationCeiling = ceiling
      let run = try map.findRun(minimum: count, wanted: count)
      #expect((run != nil) == hasRun(used, count, below: used.count))
      if let run {
        #expect(run.count == count)
        #expect(run.allSatisfy { $0 >= Self.firstBlock && !used[$0] })
        if let ceiling, hasRun(used, count, below: ceiling) { #expect(run.upperBound <= ceiling) }
        if number(0..<3) > 0 {
          map.hold(extent(run))
          for taken in run { used[taken] = true }
          map.moveCursor(to: run.upperBound)
        }
      }
      for _ in 0..<number(0..<3) {
        let start = number(Self.firstBlock..<used.count)
        let end = min(used.count, start + number(1..<(number(0..<6) == 0 ? 80 : 5)))
        let freed = (start..<end).prefix { used[$0] }
        if freed.isEmpty { continue }
        map.letGo(extent(start..<start + freed.count))
        for free in freed { used[free] = false }
      }
      if number(0..<60) == 0 { map.trimTail() }
      if map.blockCount < used.count { used.removeLast(used.count - map.blockCount) }
      if number(0..<40) == 0 {
        let grown = used.count + number(1..<100)
        map.extend(toBlockCount: grown)
        try map.load(blocks: used.count..<grown)
        used += [Bool](repeating: false, count: grown - used.count)
      }
    }
  }

  @Test(
    arguments: [20, 100, 200, 600],
    [5000, BlockMap.leafBlockCount - 10, 16 * BlockMap.leafBlockCount - 500])
  func `a run that one more block makes long enough is found`(length: Int, start: Int) throws {
    let run = start..<start + length
    for missing in [run.lowerBound, run.lowerBound + length / 2, run.upperBound - 1] {
      var map = BlockMap(firstBlock: Self.firstBlock)
      map.extend(toBlockCount: 16 * BlockMap.leafBlockCount + 2000)
      try map.load(blocks: 0..<map.blockCount)
      // Around the run only every other block is free.
      for block in Self.firstBlock..<map.blockCount {
        let isUsed = run.contains(block) ? block == missing : (block - start) & 1 != length & 1
        if isUsed || block == start - 1 || block == run.upperBound {
          map.hold(extent(block..<block + 1))
        }
      }
      let before = try map.findRun(minimum: length, wanted: length)
      #expect(before == nil)
      map.letGo(extent(missing..<missing + 1))
      let found = try map.findRun(minimum: length, wanted: length)
      #expect(found == run)
    }
  }
}
