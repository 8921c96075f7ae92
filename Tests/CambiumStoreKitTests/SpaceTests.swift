import CambiumCore
import CambiumStoreKit
import TestSupport
import Testing

/// Compares the space of a store with the plain rule: an extent is used while some held version lies
/// in [born, freed).
struct SpaceTests {
  private struct Entry {
    var extent: Extent
    var born: Version
    var freed: Version?
  }

  /// The rule itself, without any cleverness.
  private struct Model {
    var entries: [Entry] = []
    var pins: [Version] = []
    var newest: Version = 0

    func isSeen(_ entry: Entry) -> Bool {
      guard let freed = entry.freed else { return true }
      return (pins + [newest]).contains { $0 >= entry.born && $0 < freed }
    }

    /// The units in use per block.
    func units(blockCount: Int) -> [Int] {
      var units = [Int](repeating: 0, count: blockCount)
      for entry in entries where isSeen(entry) {
        for unit in entry.extent.address..<entry.extent.end {
          units[Int(unit) / BlockMap.unitsPerBlock] += 1
        }
      }
      return units
    }
  }

  private static func compare(
    _ space: inout Space, _ model: Model, _ place: String
  ) throws {
    let units = model.units(blockCount: space.blocks.blockCount)
    for block in space.blocks.firstBlock..<space.blocks.blockCount
    where space.blocks.heldUnits(ofBlock: block) != units[block] {
      Issue.record(
        "\(place): block \(block) holds \(space.blocks.heldUnits(ofBlock: block)), not \(units[block])"
      )
    }
    let freeCount = units.dropFirst(space.blocks.firstBlock).count { $0 == 0 }
    let found = (space.blocks.freeBlockCount, space.pendingByteCount)
    #expect(found.0 == freeCount, "\(place)")
    let pending = model.entries.filter { $0.freed != nil && model.isSeen($0) }
    #expect(found.1 == pending.reduce(0) { $0 + $1.extent.byteCount }, "\(place)")
    let reachable = model.entries.filter { $0.freed == nil }.map(\.extent)
    let findings = try SpaceCheck.findings(space: &space, reachable: reachable, owned: [])
    #expect(findings == [], "\(place)")
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `room is used exactly as long as a held version sees it`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var space = Space(firstBlock: 3)
    space.ledger.hold(0, .store)
    var model = Model()
    for step in 0..<120 {
      switch Int.random(in: 0..<5, using: &generator) {
      case 0:
        space.ledger.hold(model.newest, .pin)
        model.pins.append(model.newest)
      case 1:
        if let index = model.pins.indices.randomElement(using: &generator) {
          space.release(model.pins.remove(at: index), .pin)
        }
      default:
        try Self.write(&space, &model, &generator)
      }
      try Self.compare(&space, model, "step \(step)")
    }
    for version in model.pins { space.release(version, .pin) }
    model.pins = []
    try Self.compare(&space, model, "at the end")
    let pending = space.pendingByteCount
    #expect(pending == 0)
  }

  /// One transaction: allocates, frees, takes some of its own back, and commits or rolls back.
  private static func write(
    _ space: inout Space, _ model: inout Model, _ generator: inout SeededGenerator
  ) throws {
    var log = AllocationLog()
    let version = model.newest + 1
    let largest = Int.random(in: 0..<8, using: &generator) == 0 ? 200_000 : 9_000
    if Bool.random(using: &generator) { try space.reserve(byteCount: 3 * largest / 2) { _ in } }
    for _ in 0..<Int.random(in: 0..<5, using: &generator) {
      let byteCount = Int.random(in: 1...largest, using: &generator)
      let extent = try space.allocate(byteCount: byteCount) { _ in }
      // Nothing that is still seen may lie in the blocks given out.
      for entry in model.entries where model.isSeen(entry) {
        #expect(
          entry.extent.end <= extent.address || extent.end <= entry.extent.address,
          "an extent in use was given out")
        #expect(
          (entry.extent.end - 1) / 64 < extent.address / 64
            || (extent.end - 1) / 64 < entry.extent.address / 64 || entry.born == version,
          "a block with something in use was given out")
      }
      log.append(extent)
      if Int.random(in: 0..<4, using: &generator) == 0 {
        let isRemoved = log.remove(extent)
        #expect(isRemoved)
        space.takeBack(extent)
      }
    }
    if Int.random(in: 0..<4, using: &generator) == 0 { return space.rollBack(log) }
    var freed: [VersionLedger.Dead] = []
    for index in model.entries.indices
    where model.entries[index].freed == nil && Int.random(in: 0..<3, using: &generator) == 0 {
      freed.append(
        VersionLedger.Dead(extent: model.entries[index].extent, born: model.entries[index].born))
      model.entries[index].freed = version
    }
    let refused = try space.applyReachable(log, freed: freed, version: version)
    #expect(refused == nil)
    space.publish(version: version, previous: model.newest, freed: freed)
    model.newest = version
    model.entries += log.live.map { Entry(extent: $0.extent, born: version) }
    let seen = model
    model.entries.removeAll { !seen.isSeen($0) }
  }

  @Test func `runs are found across leaves and after their neighbours were freed`() throws {
    var blocks = BlockMap(firstBlock: 1)
    // A border between two leaves of different branches.
    let border = 16 * BlockMap.leafBlockCount
    blocks.extend(toBlockCount: 2 * border)
    try blocks.load(blocks: 1..<(2 * border))
    for block in 1..<(2 * border) {
      blocks.hold(Extent(address: UInt64(block * 64), unitCount: 64))
    }
    let none = try blocks.findRun(minimum: 1, wanted: 1)
    #expect(none == nil)
    for block in (border - 3)..<(border + 3) {
      blocks.letGo(Extent(address: UInt64(block * 64), unitCount: 64))
      _ = try blocks.findRun(minimum: 7, wanted: 7)
    }
    let run = try blocks.findRun(minimum: 6, wanted: 6)
    #expect(run == (border - 3)..<(border + 3))
  }

  @Test(arguments: [1, 2, 8, 15, 16])
  func `where long runs are kept, a small page takes a lone block and none of a run`(
    before: Int
  ) throws {
    var blocks = BlockMap(firstBlock: 1)
    let border = BlockMap.leafBlockCount
    let count = 2 * border
    blocks.extend(toBlockCount: count)
    try blocks.load(blocks: 1..<count)
    for block in 1..<count { blocks.hold(Extent(address: UInt64(block * 64), unitCount: 64)) }
    func letGo(_ run: Range<Int>) {
      for block in run { blocks.letGo(Extent(address: UInt64(block * 64), unitCount: 64)) }
    }
    // It lies in two leaves.
    let run = border - before..<border - before + 17
    letGo(run)
    letGo(count - 9..<count - 8)
    blocks.keepsRuns = true
    let lone = try blocks.findRun(minimum: 1, wanted: 1)
    #expect(lone == count - 9..<count - 8)
    let long = try blocks.findRun(minimum: 17, wanted: 17)
    #expect(long == run)
    letGo(count - 20..<count - 14)
    let six = try blocks.findRun(minimum: 6, wanted: 6)
    #expect(six == count - 20..<count - 14)
    let four = try blocks.findRun(minimum: 4, wanted: 4)
    #expect(four?.count == 4)
    // At the end of the store it has no block behind it.
    blocks.hold(Extent(address: UInt64((count - 9) * 64), unitCount: 64))
    letGo(count - 1..<count)
    let last = try blocks.findRun(minimum: 1, wanted: 1)
    #expect(last == count - 1..<count)
    blocks.hold(Extent(address: UInt64((count - 1) * 64), unitCount: 64))
    let any = try blocks.findRun(minimum: 1, wanted: 1)
    #expect(any.map { run.contains($0.lowerBound) } == true)
  }

  @Test func `a slow reader holds only what it can reach`() throws {
    var space = Space(firstBlock: 1)
    space.ledger.hold(0, .store)
    var previous: Extent?
    for version in 1...100 as ClosedRange<Version> {
      var log = AllocationLog()
      let extent = try space.allocate(byteCount: 4096) { _ in }
      log.append(extent)
      let freed = previous.map { [VersionLedger.Dead(extent: $0, born: version - 1)] } ?? []
      let refused = try space.applyReachable(log, freed: freed, version: version)
      #expect(refused == nil)
      space.publish(version: version, previous: version - 1, freed: freed)
      previous = extent
      if version == 10 { space.ledger.hold(10, .pin) }
    }
    let (pending, total) = (space.pendingByteCount, space.totalByteCount)
    #expect(pending == 4096)
    #expect(total <= 8 * 4096)
  }
}
