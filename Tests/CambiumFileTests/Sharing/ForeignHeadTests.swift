import CambiumCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CambiumFile

/// A process is killed between writing a head and saying so, another one goes on, and the power fails.
///
/// The first one is played by a store that does as much as that and no more.
struct ForeignHeadTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("a.cambium") }

  init() throws { folder = try TemporaryFolder() }

  /// What the one that dies was about to do.
  enum Death: CaseIterable {
    case settling, smallCommit, largeCommit
  }

  private func open() throws(StoreError) -> FileStore {
    var options = FileStoreOptions.withoutTimers
    options.lane = BackgroundLane(byHand: MonotonicClock { 0 })
    return try FileStore(path: path, options: options)
  }

  /// Writes a head as `death` says and leaves it at that.
  private func die(_ death: Death, _ store: FileStore) throws {
    switch death {
    case .settling:
      try writeHead(store) { $0.isSettled = true }
    case .smallCommit, .largeCommit:
      var generator = SeededGenerator(seed: 99)
      let writer = try #require(try store.beginWrite() as? FileWriter)
      let (root, _) = try FakeTree.change(writer, store, changeCount: 40, generator: &generator)
      _ = try? writer.stage(root, []) { outcome throws(StoreError) in
        try writer.flush()
        try writeHead(store, outcome.head, holdsWriterLock: true) {
          $0.isSettled = death == .largeCommit
        }
        // Not what a dead process does, but nothing of it is stored.
        throw .closed(path: path)
      }
      writer.abort()
    }
  }

  private func writeHead(
    _ store: FileStore, _ head: HeadSector? = nil, holdsWriterLock: Bool = false,
    _ change: (inout HeadSector) -> Void
  ) throws(StoreError) {
    try store.withSlots { () throws(StoreError) in
      let (mark, newest) = store.state.withLock { ($0.mark, $0.newest) }
      var head = head ?? newest
      head.sequence = mark.sequence + 1
      head.durable = mark.version
      change(&head)
      if head.isSettled { head.durable = head.head.version }
      try store.writeSlot(1 - mark.slot, head, holdsWriterLock: holdsWriterLock)
      try store.syncDevice()
    }
  }

  /// The store as it opens on what the medium holds now, after a power failure.
  private func afterPowerFailure(_ name: String) throws -> FileStore {
    let copy = folder.file(name)
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    return try FileStore(path: copy, options: FileStoreOptions())
  }

  private func expectWhole(_ store: FileStore, _ content: FakeTree.Content) throws {
    let reading = try FakeTree.read(store)
    #expect(reading.content == content)
    #expect(try store.check(reachable: reading.extents) == [])
    try store.commitChanges(3, seed: 5)
    try store.close()
  }

  @Test(arguments: Death.allCases, 1...3)
  func `what others commit after that is what a power failure leaves`(
    death: Death, commitCount: Int
  ) throws {
    let (survivor, dying) = (try open(), try open())
    for seed in 0..<4 as Range<UInt64> { try survivor.commitChanges(40, seed: seed) }
    try die(death, dying)
    for seed in 0..<commitCount {
      let (version, content) = try survivor.commitChanges(60, seed: 50 + UInt64(seed))
      let found = try afterPowerFailure("b\(seed)")
      #expect(try found.newestHead().version == version)
      try expectWhole(found, content)
    }
  }

  @Test(arguments: Death.allCases)
  func `what others make durable later takes nothing from what is durable`(death: Death) throws {
    let (survivor, dying) = (try open(), try open())
    var durable = try survivor.commitChanges(40, seed: 1)
    durable = try survivor.commitChanges(40, seed: 2)
    try die(death, dying)
    for seed in 3..<9 as Range<UInt64> {
      try survivor.commitChanges(60, seed: seed, .relaxed)
      let found = try afterPowerFailure("b\(seed)")
      #expect(try found.newestHead().version == durable.version)
      try expectWhole(found, durable.content)
    }
  }

  @Test(arguments: Death.allCases)
  func `when all are killed the next one finds what was published`(death: Death) throws {
    let (survivor, dying) = (try open(), try open())
    for seed in 0..<3 as Range<UInt64> { try survivor.commitChanges(40, seed: seed) }
    try die(death, dying)
    let (version, content) = try survivor.commitChanges(40, seed: 50, .relaxed)
    // As the lock file of this boot says.
    let memory = SharedMemory()
    memory.put(survivor.memory.bytes(0, SharedLayout.Process.first), at: 0)
    let live = try #require(memory.knownHead(survivor.sector))
    let slots = try FileOpening.readSlots(survivor.device, identity: survivor.sector, path: path)
    let recovery = try Recovery(
      slots: slots, live: live, wasPoisoned: false, identity: survivor.sector,
      device: survivor.device, path: path,
      fileByteCount: FileOpening.fileByteCount(survivor.device, path: path))
    #expect(recovery.newest.head.version == version)
    let pin = try survivor.pin()
    #expect(try FakeTree.read(recovery.newest.head.root, pin, survivor).content == content)
  }

  @Test func `what is mended leaves others alone who write a head and live`() throws {
    let (first, second) = (try open(), try open())
    try first.commitChanges(40, seed: 1, .relaxed)
    try first.withSlots { () throws(StoreError) in
      first.announceHead(holdsWriterLock: false)
      let slots = try FileOpening.readSlots(first.device, identity: first.sector, path: path)
      try second.commitChanges(40, seed: 2, .relaxed)
      #expect(
        try FileOpening.readSlots(first.device, identity: first.sector, path: path) == slots)
      #expect(first.memory.headWriter?.slot == first.slot)
    }
    try second.sync()
    #expect(first.memory.headWriter == nil)
  }

  @Test func `the pins of who died over a head last until that is gone`() throws {
    let store = try open()
    // Before its first write there is nothing that a head could endanger.
    try store.commitChanges(3, seed: 1)
    var dying: SharedMemory? = try SharedMemory(path: path)
    let memory = try SharedMemory(path: path)
    let table = ProcessTable(memory: memory)
    let slot = try #require(try dying.map { try ProcessTable(memory: $0).join(label: "d") } ?? nil)
    memory.headWriter = SharedMemory.HeadWriter(slot: slot, holdsWriterLock: false)
    // Its descriptor closes, as at the death of a process, and with it the lock goes.
    dying = nil
    table.clearDead(besides: store.slot)
    #expect(table.isUsed(slot))
    try store.sync()
    table.clearDead(besides: store.slot)
    #expect(!table.isUsed(slot))
  }

  @Test func `who died with the turn is buried before anybody else writes a page`() throws {
    let (first, second) = (try open(), try open())
    try first.commitChanges(40, seed: 1)
    let begun = DispatchSemaphore(value: 0)
    let isBlocked = try first.withSlots { () throws(StoreError) in
      first.memory.headWriter = SharedMemory.HeadWriter(slot: 63, holdsWriterLock: true)
      Thread {
        (try? second.beginWrite())?.abort()
        begun.signal()
      }.start()
      return begun.wait(timeout: .now() + .milliseconds(50)) == .timedOut
    }
    #expect(isBlocked)
    begun.wait()
    #expect(first.memory.headWriter == nil)
  }

  @Test func `who buries a dead one's head leaves its name until that is done`() throws {
    let device = SimulatedDevice()
    var options = CrashSettings.options(device)
    let memory = SharedMemory()
    options.memory = memory
    let store = try FileStore(path: "simulated", options: options)
    try store.commitChanges(40, seed: 1)
    let dead = SharedMemory.HeadWriter(slot: 63, holdsWriterLock: false)
    memory.headWriter = dead
    let seen = Mutex<SharedMemory.HeadWriter?>(nil)
    device.duringNextSync { seen.withLock { $0 = memory.headWriter } }
    try store.sync()
    #expect(seen.withLock { $0 } == dead)
    #expect(memory.headWriter == nil)
  }

  /// Carries a write into what happens during a sync.
  ///
  /// Unchecked: that is on the thread of the test.
  private struct Unchecked<Value>: @unchecked Sendable { let value: Value }

  @Test(arguments: 0..<16 as Range<UInt64>)
  func `a write under way when somebody died over a failed sync is written again`(
    seed: UInt64
  ) throws {
    let device = SimulatedDevice()
    var options = CrashSettings.options(device)
    let memory = SharedMemory()
    options.memory = memory
    let store = try FileStore(path: "simulated", options: options)
    try store.commitChanges(3, seed: seed)
    let relaxed = try store.commitChanges(3, seed: seed + 100, .relaxed).version
    var generator = SeededGenerator(seed: seed)
    let writer = try #require(try store.beginWrite() as? FileWriter)
    let (root, content) = try FakeTree.change(writer, store, changeCount: 3, generator: &generator)
    try writer.flush()
    // Somebody else hears of that, and dies.
    device.fail(device.operationCount, .refused)
    #expect(throws: DeviceError.self) { try device.sync() }
    memory.syncState = .running
    let version = writer.version
    let publish = Unchecked(value: {
      _ = try? writer.publish(root: root, durability: .relaxed, metadata: [])
    })
    let end = device.bytes.count
    func isEndWritten() -> Bool {
      device.operations.contains { operation in
        if case .write(let bytes, let offset) = operation {
          offset < end && offset + bytes.count >= end
        } else {
          false
        }
      }
    }
    let wasEndWritten = isEndWritten()
    // Before anybody makes anything durable, or while that is done.
    if seed.isMultiple(of: 2) {
      publish.value()
      // What is known of the length may be out of date: another one may have made the file shorter.
      store.state.withLock { $0.fileByteCount += 1 << 20 }
    } else {
      device.duringNextSync { publish.value() }
    }
    if seed % 4 < 2 { try store.sync() } else { try store.makeDurable(relaxed) }
    #expect(memory.durableMark?.version == version)
    // The end of the file may be where somebody else writes a page just now.
    #expect(isEndWritten() == wasEndWritten)
    // Whoever writes next looks at the length, and knows what there is.
    store.state.withLock { $0.fileByteCount = device.bytes.count }
    #expect(memory.syncState == .unsure)
    try store.beginWrite().abort()
    #expect(memory.syncState == .sure)
    #expect(isEndWritten())
    var states = CrashStates(device)
    states.advance(to: device.operationCount, generator: &generator)
    let image = states.image(mood: 0, generator: &generator)
    let reopened = try FileStore(
      path: "simulated", options: CrashSettings.options(SimulatedDevice(image)))
    #expect(try reopened.newestHead().version == version)
    #expect(try FakeTree.read(reopened).content == content)
  }

  @Test func `what others have seen of who died is made durable`() throws {
    let (survivor, dying) = (try open(), try open())
    try survivor.commitChanges(40, seed: 1)
    var generator = SeededGenerator(seed: 2)
    let writer = try #require(try dying.beginWrite() as? FileWriter)
    let (root, content) = try FakeTree.change(
      writer, dying, changeCount: 40, generator: &generator)
    _ = try? writer.stage(root, []) { outcome throws(StoreError) in
      try writer.flush()
      try writeHead(dying, outcome.head, holdsWriterLock: true) { _ in }
      // Killed before the mark was.
      dying.memory.publish(outcome.head, dying.sector)
      throw .closed(path: path)
    }
    writer.abort()
    #expect(try FakeTree.read(survivor).content == content)
    try survivor.commitChanges(40, seed: 3, .relaxed)
    let found = try afterPowerFailure("b")
    #expect(try found.newestHead().version == 2)
    try expectWhole(found, content)
  }

  @Test func `who closes last makes durable what a dead one has committed`() throws {
    let (survivor, dying) = (try open(), try open())
    let (version, content) = try dying.commitChanges(40, seed: 1, .relaxed)
    dying.state.withLock { $0.isClosed = true }
    dying.leave()
    try survivor.close()
    let found = try afterPowerFailure("b")
    #expect(try found.newestHead().version == version)
    try expectWhole(found, content)
  }
}
