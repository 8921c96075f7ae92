import CambiumCore
import CambiumStoreKit
import TestSupport
import Testing

/// How large a store becomes when single pages of a bulk load are rewritten in random order.
struct SpaceGrowthTests {
  /// One store that holds pages of about one size, and a few that every commit rewrites.
  private struct World: ~Copyable {
    var space = Space(firstBlock: 4)
    var version: Version = 0
    var leaves: [(extent: Extent, born: Version)] = []
    var hot: [(extent: Extent, born: Version)] = []
    var runCount = 0

    init() { space.ledger.hold(0, .store) }

    mutating func commit(
      _ byteCounts: [Int], freeing dead: [(extent: Extent, born: Version)], reserves: Bool
    ) throws -> [Extent] {
      var log = AllocationLog()
      space.ledger.hold(version, .pin)
      if reserves { try space.reserve(byteCount: byteCounts.reduce(1024, +)) { _ in } }
      var extents: [Extent] = []
      for byteCount in byteCounts {
        let extent = try space.allocate(byteCount: byteCount) { _ in }
        if extent.address < extents.last?.end ?? 0 || extent.address > (extents.last?.end ?? 0) + 64
        {
          runCount += 1
        }
        log.append(extent)
        extents.append(extent)
      }
      let freed = dead.map { VersionLedger.Dead(extent: $0.extent, born: $0.born) }
      let refused = try space.applyReachable(log, freed: freed, version: version + 1)
      #expect(refused == nil)
      space.publish(version: version + 1, previous: version, freed: freed)
      space.release(version, .pin)
      version += 1
      return extents
    }
  }

  @Test(arguments: [7_000...8_100, 7_900...8_192] as [ClosedRange<Int>])
  func `a store keeps near what it holds through random updates, without an upward trend`(
    sizes: ClosedRange<Int>
  ) throws {
    var generator = SeededGenerator(seed: 7)
    var world = World()
    let load = (0..<4_000).map { _ in Int.random(in: sizes, using: &generator) }
    world.leaves = try world.commit(load, freeing: [], reserves: false).map { ($0, 1) }
    var sizesOverTime: [Int] = []
    for step in 1...12_000 {
      let index = Int.random(in: world.leaves.indices, using: &generator)
      let page = Int.random(in: sizes, using: &generator)
      let new = try world.commit(
        [page, 4_100, 1_400, 192], freeing: [world.leaves[index]] + world.hot, reserves: true)
      world.leaves[index] = (new[0], world.version)
      world.hot = new.dropFirst().map { ($0, world.version) }
      if step % 1_000 == 0 { sizesOverTime.append(world.space.totalByteCount) }
    }
    let blocks = world.leaves.reduce(0) { $0 + ($1.extent.byteCount + 4095) / 4096 * 4096 }
    #expect(world.space.totalByteCount <= blocks * 5 / 4 + (1 << 20), "\(sizesOverTime)")
    #expect(sizesOverTime[11] <= sizesOverTime[5] + (64 << 10), "\(sizesOverTime)")
    #expect(world.runCount < 12_000 * 3, "\(world.runCount) writes")
  }
}
