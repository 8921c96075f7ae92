import CambiumCore
import CambiumFile
import Dispatch
import Synchronization
import TestSupport
import Testing

/// A settled head about a second after the last small commit.
struct SettlingTests {
  /// A store on a simulated device, and the time it believes in.
  private final class Bench: Sendable {
    let device = SimulatedDevice()
    private let time = TimeByHand()
    var lane: BackgroundLane { time.lane }
    let store: FileStore
    private let seed = Mutex<UInt64>(0)

    init() throws {
      store = try FileStore(path: "simulated", options: Self.options(device, time.lane))
    }

    static func options(_ device: SimulatedDevice, _ lane: BackgroundLane) -> FileStoreOptions {
      var options = CrashSettings.options(device)
      options.lane = lane
      // Relaxed commits wait for nobody here.
      options.relaxedDelayNanoseconds = 3_600_000_000_000
      return options
    }

    /// Lets time pass.
    func pass(milliseconds: Int64) { time.pass(milliseconds: milliseconds) }

    func commit(_ durability: Durability = .full) throws {
      let seed = seed.withLock { seed in
        seed += 1
        return seed
      }
      try store.commitChanges(2, seed: seed, durability)
    }

    /// How many operations opening and beginning a write cost on what power loss leaves now.
    func recoveredExtentCount() throws -> (version: Version, writes: Int) {
      var generator = SeededGenerator(seed: 1)
      let image = device.crashImage(
        afterOperations: device.operationCount, mood: 0, generator: &generator)
      let after = SimulatedDevice(image)
      let store = try FileStore(
        path: "simulated",
        options: Self.options(after, BackgroundLane(byHand: MonotonicClock { 0 })))
      try store.beginWrite().abort()
      return (try store.newestHead().version, after.operationCount)
    }
  }

  @Test func `a second after the last commit a settled head is written, once`() throws {
    let bench = try Bench()
    try bench.commit()
    try bench.commit()
    let unsettled = try bench.recoveredExtentCount()
    let before = bench.device.operationCount
    bench.pass(milliseconds: 999)
    #expect(bench.device.operationCount == before)
    bench.pass(milliseconds: 1)
    #expect(bench.device.operationCount == before + 2, "one write of a slot, one sync")
    bench.pass(milliseconds: 5000)
    #expect(bench.device.operationCount == before + 2)
    let settled = try bench.recoveredExtentCount()
    #expect(settled.version == 2 && unsettled.version == 2)
    #expect(settled.writes < unsettled.writes, "no page is written again")
    try bench.store.close()
    #expect(bench.device.operationCount == before + 4, "closing has only the other slot to write")
  }

  @Test func `commits put it off`() throws {
    let bench = try Bench()
    try bench.commit()
    bench.pass(milliseconds: 600)
    try bench.commit()
    let before = bench.device.operationCount
    bench.pass(milliseconds: 600)
    #expect(bench.device.operationCount == before)
    bench.pass(milliseconds: 400)
    #expect(bench.device.operationCount == before + 2)
    try bench.commit()
    let again = bench.device.operationCount
    bench.pass(milliseconds: 1000)
    #expect(bench.device.operationCount == again + 2)
  }

  @Test func `nothing is settled that is not durable or closed`() throws {
    let bench = try Bench()
    try bench.commit()
    try bench.commit(.relaxed)
    var before = bench.device.operationCount
    bench.pass(milliseconds: 2000)
    #expect(bench.device.operationCount == before)
    try bench.store.sync()
    try bench.commit()
    try bench.commit()
    try bench.store.close()
    before = bench.device.operationCount
    bench.pass(milliseconds: 2000)
    #expect(bench.device.operationCount == before)
  }

  @Test(arguments: [0, 1])
  func `a failure while settling poisons the store and loses nothing`(operation: Int) throws {
    let bench = try Bench()
    try bench.commit()
    try bench.commit()
    let content = try FakeTree.read(bench.store).content
    bench.device.fail(bench.device.operationCount + operation, .partial)
    bench.pass(milliseconds: 1000)
    #expect(throws: StoreError.poisoned(path: "simulated")) { try bench.store.beginWrite() }
    #expect(try FakeTree.read(bench.store).content == content)
    for mood in [0, 0.5, 1] {
      var generator = SeededGenerator(seed: 3)
      let image = bench.device.crashImage(
        afterOperations: bench.device.operationCount, mood: mood, generator: &generator)
      let again = try FileStore(
        path: "simulated", options: CrashSettings.options(SimulatedDevice(image)))
      let reading = try FakeTree.read(again)
      #expect(reading.content == content)
      #expect(try again.check(reachable: reading.extents) == [])
      try StoreModel(again, seed: 1, durabilities: [.full]).commit()
    }
  }

  @Test func `a medium that hangs keeps no other store from settling`() throws {
    let caller = ThreadIdentity()
    /// A store that settles at once, and is noticed when its lane comes to the medium.
    func open(_ notice: @escaping @Sendable () -> Void) throws -> FileStore {
      let device = SimulatedDevice()
      var options = CrashSettings.options(device)
      options.lane = nil
      options.settleDelayNanoseconds = 0
      device.watch { if !caller.isCurrent { notice() } }
      return try FileStore(path: "simulated", options: options)
    }
    let (hangs, gate, settles) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    let first = try open {
      hangs.signal()
      gate.wait()
    }
    let second = try open { settles.signal() }
    try first.commitChanges(2, seed: 1, .full)
    hangs.wait()
    try second.commitChanges(2, seed: 1, .full)
    #expect(settles.wait(timeout: .now() + .seconds(60)) == .success)
    for _ in 0..<100 { gate.signal() }
  }
}
