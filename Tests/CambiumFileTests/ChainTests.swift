import CambiumCore
import TestSupport
import Testing

@testable import CambiumFile

/// Heads of small commits, each written with its pages.
struct ChainTests {
  private let device = SimulatedDevice()
  private let store: FileStore

  init() throws {
    store = try FileStore(path: "simulated", options: Self.options(device))
  }

  private static func options(
    _ device: SimulatedDevice, chainLimit: UInt64 = 4, checkpoint: Int = 64
  ) -> FileStoreOptions {
    var options = FileStoreOptions()
    options.device = { _ in device }
    options.chainLimit = chainLimit
    options.checkpointAfterRecordCount = checkpoint
    options.settleDelayNanoseconds = 0
    options.lane = BackgroundLane(byHand: MonotonicClock { 0 })
    return options
  }

  /// What a device did between two points: the offsets of writes, nil for a sync.
  private func done(since count: Int) -> [Int?] {
    device.operations[count...].map {
      if case .write(_, let offset) = $0 { offset } else { nil }
    }
  }

  private func isSlot(_ offset: Int?) -> Bool {
    offset.map { FileLayout.headOffsets.contains($0) } ?? false
  }

  @discardableResult
  private func commit(
    _ seed: UInt64, _ durability: Durability = .full, to other: FileStore? = nil
  ) throws -> FakeTree.Content {
    try (other ?? store).commitChanges(2, seed: seed, durability).content
  }

  private func content(_ store: FileStore) throws -> FakeTree.Content {
    let reading = try FakeTree.read(store)
    #expect(try store.check(reachable: reading.extents) == [])
    return reading.content
  }

  private func reopened(_ image: [UInt8]) throws -> FileStore {
    try FileStore(path: "simulated", options: Self.options(SimulatedDevice(image)))
  }

  @Test func `small commits in a row are one write and one sync, and now and then a slot`() throws {
    // The file grows first.
    for seed in 0..<8 as Range<UInt64> { try commit(seed) }
    var slotCount = 0
    for seed in 10..<30 as Range<UInt64> {
      let before = device.operationCount
      try commit(seed)
      let operations = done(since: before)
      if operations.contains(where: isSlot) {
        slotCount += 1
      } else {
        #expect(operations.count == 2 && operations[1] == nil, "\(operations)")
      }
    }
    // After four heads in a chain the fifth goes into a slot.
    #expect(slotCount == 4)
    #expect(try content(store) == content(reopened(device.bytes)))
  }

  @Test func `among small holes a head has a block of its own, and still no slot is written`()
    throws
  {
    try leaveHoles(count: 400)
    for seed in 0..<3 as Range<UInt64> { try commit(seed) }
    var chained = 0
    for seed in 10..<30 as Range<UInt64> {
      let before = device.operationCount
      let older = try FakeTree.read(store).content
      let newer = try commit(seed)
      let operations = done(since: before)
      if operations.contains(where: isSlot) { continue }
      chained += 1
      #expect(operations.last == .some(nil) && operations.filter { $0 == nil }.count == 1)
      #expect(try whole(device.bytes) == newer)
      // Power fails: what one of the writes had to bring is not there. The last one is the head's.
      for write in device.operations[before...] {
        guard case .write(let bytes, let offset) = write else { continue }
        var image = device.bytes
        let nothing = [UInt8](repeating: 0, count: bytes.count)
        image.replaceSubrange(offset..<offset + bytes.count, with: nothing)
        let seen = try whole(image)
        // The pages of the others may have been given up by the same commit.
        let mayBeNewer = offset != operations.dropLast().last
        #expect(seen == older || mayBeNewer && seen == newer, "the write at \(offset) was lost")
      }
    }
    #expect(chained == 16)
  }

  /// Fills the file with pages of a block each and frees every second one.
  private func leaveHoles(count: Int) throws {
    var generator = SeededGenerator(seed: 1)
    let filling = try store.beginWrite()
    let page = [UInt8](repeating: 1, count: FileLayout.blockByteCount)
    var extents: [Extent] = []
    try filling.reserve(byteCount: 2 * count * page.count)
    for _ in 0..<2 * count {
      let extent = try filling.allocate(byteCount: page.count)
      try filling.write(page.span, to: extent)
      extents.append(extent)
    }
    let (root, _) = try FakeTree.change(filling, store, changeCount: 4, generator: &generator)
    _ = try filling.publish(root: root, durability: .full, metadata: [])
    let digging = try store.beginWrite()
    for index in stride(from: 0, to: extents.count, by: 2) {
      digging.free(
        PageReference(checksum: 0, extent: extents[index], kind: .overflow, born: filling.version))
    }
    _ = try digging.publish(root: root, durability: .full, metadata: [])
  }

  /// What a file shows, not all of whose pages are reached.
  private func whole(_ image: [UInt8]) throws -> FakeTree.Content {
    let store = try reopened(image)
    return try FakeTree.read(store).content
  }

  @Test func `the last head of a chain counts only with all its pages`() throws {
    try commit(1)
    let older = try commit(2)
    let before = device.operationCount
    let newer = try commit(3)
    let operations = device.operations[before...]
    guard case .write(let run, let offset) = operations.first, operations.count == 2 else {
      Issue.record("\(done(since: before))")
      return
    }
    let image = device.bytes
    #expect(try content(reopened(image)) == newer)
    // The first sectors hold the head, the last ones a page or the record.
    for sector in stride(from: 0, to: run.count, by: 512) {
      var torn = image
      let byteCount = min(512, run.count - sector)
      let bytes = offset + sector..<offset + sector + byteCount
      if torn[bytes].allSatisfy({ $0 == 0 }) { continue }
      torn.replaceSubrange(bytes, with: repeatElement(0, count: byteCount))
      let store = try reopened(torn)
      #expect(try content(store) == older, "the sector at byte \(sector) of the run was lost")
      #expect(store.recoveryNotes.isEmpty == (sector == 0))
      // Work goes on from there, and survives another crash.
      let next = try commit(9, to: store)
      #expect(try content(store) == next)
    }
  }

  @Test func `a commit whose write failed is not brought back by a crash`() throws {
    // The file grows first.
    for seed in 10..<18 as Range<UInt64> { try commit(seed) }
    let older = try commit(1)
    for fault in SimulatedDevice.Fault.allCases {
      device.fail(device.operationCount, fault)
      #expect(throws: StoreError.self) { try commit(2) }
      #expect(try content(store) == older)
      #expect(try content(reopened(device.bytes)) == older)
    }
    let newer = try commit(3)
    #expect(try content(store) == newer)
    #expect(try content(reopened(device.bytes)) == newer)
  }

  @Test func `other commits end a chain, and the next small ones begin another`() throws {
    for seed in 0..<6 as Range<UInt64> { try commit(seed) }
    try commit(10, .relaxed)
    try store.sync()
    let before = device.operationCount
    try commit(11)
    try commit(12)
    #expect(done(since: before).filter(isSlot).count == 1)
    #expect(try content(reopened(device.bytes)) == content(store))
  }

  @Test func `no head of a chain is given up before a slot takes its place`() throws {
    let device = SimulatedDevice()
    let store = try FileStore(
      path: "simulated", options: Self.options(device, chainLimit: 16, checkpoint: 1))
    for seed in 0..<80 as Range<UInt64> {
      let newest = try commit(seed, to: store)
      #expect(try content(reopened(device.bytes)) == newest, "after commit \(seed)")
    }
  }

  @Test func `heads in a chain are kept as long as their records and then given back`() throws {
    for seed in 0..<400 as Range<UInt64> { try commit(seed) }
    let records = store.books.withLock { $0.records }
    #expect(records.count < 72)
    #expect(records.contains { $0.head != nil })
    // Every other extent that was ever given out is reached, pending or free.
    #expect(try content(store).count > 0)
  }

  @Test func `salvage begins with the newest head of a chain`() throws {
    for seed in 0..<4 as Range<UInt64> { try commit(seed) }
    let device = SimulatedDevice(device.bytes)
    let file = try SalvageFile(path: "simulated", options: Self.options(device))
    #expect(file.heads.first == (try store.newestHead()))
    #expect(file.heads.map(\.version) == file.heads.map(\.version).sorted(by: >))
    #expect(file.heads.count > 2)
  }

  @Test func `a head that names a wrong one before it, or itself, is not followed`() throws {
    try commit(1)
    let older = try commit(2)
    let mark = store.state.withLock { $0.mark }
    try commit(3)
    let offset = mark.next * FileLayout.blockByteCount
    let sector = Array(device.bytes[offset..<offset + FileLayout.sectorByteCount])
    let head = try #require(
      HeadSector(
        stored: sector, identity: store.sector, at: HeadSector.place(atByte: offset)))
    let changes: [(inout HeadSector) -> Void] = [
      { $0.link &+= 1 }, { $0.head.version += 1 }, { $0.head.epoch += 1 }, { $0.sequence += 1 },
      { $0.durable -= 1 }, { $0.isSettled = true },
    ]
    for change in changes {
      var crafted = head
      change(&crafted)
      var image = device.bytes
      image.replaceSubrange(offset..<offset + sector.count, with: crafted.stored)
      #expect(try content(reopened(image)) == older)
    }
    // One that leads to itself ends there.
    var circle = head
    circle.next = mark.next
    var image = device.bytes
    image.replaceSubrange(offset..<offset + sector.count, with: circle.stored)
    #expect(try reopened(image).newestHead().version == 3)
  }
}
