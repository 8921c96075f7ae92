import CambiumCore
import Synchronization
import TestSupport
import Testing

@testable import CambiumFile

/// What commits that are made while a sync is under way may do to what that sync is for.
struct CommitsDuringSyncTests {
  private let device = SimulatedDevice()

  private func open(_ device: SimulatedDevice) throws(StoreError) -> FileStore {
    var options = CrashSettings.options(device)
    options.checkpointAfterRecordCount = 1
    options.largestSingleSyncByteCount = 1 << 20
    return try FileStore(path: "simulated", options: options)
  }

  private static func commit(
    _ store: FileStore, _ durability: Durability, seed: UInt64
  ) throws(StoreError) -> Version {
    var generator = SeededGenerator(seed: seed)
    let writer = try store.beginWrite()
    let (root, _) = try FakeTree.change(writer, store, changeCount: 3, generator: &generator)
    return try writer.publish(root: root, durability: durability, metadata: []).head.version
  }

  @Test(arguments: 0..<12 as Range<UInt64>)
  func `a sync makes a whole version durable, whatever is committed meanwhile`(
    seed: UInt64
  ) throws {
    var identity = SeededGenerator(seed: seed)
    try CrashSettings.create(device, using: &identity)
    let store = try open(device)
    for step in 0..<5 + seed % 4 { _ = try Self.commit(store, .relaxed, seed: seed + step) }
    let version = try store.newestHead().version
    let content = try FakeTree.read(store).content
    device.duringNextSync {
      for step in 0..<6 as Range<UInt64> {
        let later = try? Self.commit(store, .relaxed, seed: seed + 100 + step)
        #expect(later == version + step + 1)
      }
    }
    try store.sync()

    // The power fails right after that.
    var states = CrashStates(device)
    var generator = SeededGenerator(seed: seed)
    states.advance(to: device.operationCount, generator: &generator)
    let reopened = try open(SimulatedDevice(states.image(mood: 0, generator: &generator)))
    #expect(try reopened.newestHead().version == version)
    let reading = try FakeTree.read(reopened)
    #expect(reading.content == content)
    #expect(try reopened.check(reachable: reading.extents) == [])
    _ = try Self.commit(reopened, .full, seed: seed)
    try store.close()
  }

  @Test(arguments: 0..<12 as Range<UInt64>)
  func
    `records that show who waited together after that to be whole are kept while they are needed`(
      seed: UInt64
    ) throws
  {
    var identity = SeededGenerator(seed: seed)
    try CrashSettings.create(device, using: &identity)
    let store = try open(device)
    for step in 0..<5 + seed % 4 { _ = try Self.commit(store, .relaxed, seed: seed + step) }
    device.duringNextSync {
      for step in 0..<4 as Range<UInt64> { _ = try? Self.commit(store, .relaxed, seed: step) }
    }
    try store.sync()
    let version = try Self.commit(store, .relaxed, seed: seed + 100)
    let operationCount = device.operationCount
    try store.makeDurable(version)
    // One write of a head, one sync: the commits before it are proven by their records.
    #expect(device.operationCount == operationCount + 2)
    for step in 0..<6 as Range<UInt64> {
      _ = try Self.commit(store, .relaxed, seed: seed + 200 + step)
      // The power fails, and all that was written is on the medium.
      let reopened = try open(SimulatedDevice(device.bytes))
      #expect(try reopened.newestHead().version == version)
      let reading = try FakeTree.read(reopened)
      #expect(try reopened.check(reachable: reading.extents) == [])
    }
    try store.close()
  }
}
