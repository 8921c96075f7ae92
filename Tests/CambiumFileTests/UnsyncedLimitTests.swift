import CambiumCore
import TestSupport
import Testing

@testable import CambiumFile

/// Relaxed commits wait for no medium; the write that begins after much of them does.
struct UnsyncedLimitTests {
  private let device = SimulatedDevice()
  private let store: FileStore

  init() throws {
    var options = CrashSettings.options(device)
    // The lane gets to nothing by itself.
    options.relaxedByteCount = 1 << 30
    // Nothing is written before it is known that nobody waits for it.
    options.gatheredByteCount = 1 << 20
    options.relaxedLimitByteCount = 128 << 10
    store = try FileStore(path: "simulated", options: options)
    try store.commitChanges(2, seed: 1)
  }

  private func syncCount(since index: Int) -> Int {
    device.operations[index...].count { if case .sync = $0 { true } else { false } }
  }

  /// Commits until as much is unsynced as a write may leave to the next one.
  private func commitUntilFull() throws {
    var seed: UInt64 = 2
    while store.memory.unsyncedByteCount < 128 << 10 {
      try store.commitChanges(20, seed: seed, .relaxed)
      seed += 1
    }
  }

  @Test func `relaxed commits do not sync, and the next write after many of them does`() throws {
    let before = device.operationCount
    try commitUntilFull()
    #expect(syncCount(since: before) == 0)
    let newest = try store.newestHead().version
    #expect(try store.statistics().durableVersion == 1)
    try store.beginWrite().abort()
    #expect(syncCount(since: before) > 0)
    #expect(try store.statistics().durableVersion == newest)
    let after = device.operationCount
    try store.commitChanges(2, seed: 99, .relaxed)
    #expect(syncCount(since: after) == 0)
    try store.close()
  }

  @Test func `the first write after opening waits for the medium, and so does not begin at once`()
    throws
  {
    try store.close()
    let opened = try FileStore(path: "simulated", options: CrashSettings.options(device))
    let before = device.operationCount
    let none = try opened.beginWriteIfFree()
    #expect(none == nil)
    #expect(device.operationCount == before)
    try opened.beginWrite().abort()
    #expect(syncCount(since: before) > 0)
    try #require(try opened.beginWriteIfFree()).abort()
    try opened.close()
  }

  @Test func `who does not wait for the medium is told that it would have to`() throws {
    try #require(try store.beginWriteIfFree()).abort()
    try commitUntilFull()
    let before = device.operationCount
    let writer = try store.beginWriteIfFree()
    #expect(writer == nil)
    #expect(device.operationCount == before)
    try store.sync()
    try #require(try store.beginWriteIfFree()).abort()
    try store.close()
  }

  @Test func `a write that cannot sync what others left does not begin, and none after it`() throws
  {
    try commitUntilFull()
    device.fail(device.operationCount, .refused)
    #expect(throws: StoreError.self) { try store.beginWrite() }
    #expect(throws: StoreError.poisoned(path: "simulated")) { try store.beginWrite() }
    // What was published is read on.
    #expect(try FakeTree.read(store).content.isEmpty == false)
    try? store.close()
  }
}
