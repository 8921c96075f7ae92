import CambiumCore
import Foundation
import TestSupport
import Testing

@testable import CambiumFile

/// A store that nobody else uses keeps the writer lock between its writes, and nobody is locked out by that.
struct KeptLockTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("a.cambium") }

  init() throws { folder = try TemporaryFolder() }

  private func open(isReadOnly: Bool = false, readersShare: Bool = true) throws -> FileStore {
    var options = FileStoreOptions(isReadOnly: isReadOnly)
    options.readersShare = readersShare
    return try FileStore(path: path, options: options)
  }

  /// How the writer lock is held, seen by somebody who is no user.
  private func lock() throws -> PosixDevice.LockMode? {
    let device = PosixDevice(descriptor: try PosixFiles.open(path, .read).get())
    return device.lockOfOthers(byte: SharedLayout.DataByte.writer)
  }

  /// Commits until the lock is seen to be kept: the moment for which it is may be over sooner.
  private func commitUntilKept(_ store: FileStore) throws {
    repeat { try store.commitChanges(1, seed: 1, .relaxed) } while try lock() == .unlocked
    #expect(try lock() != .shared)
  }

  private func waitUntilGivenBack() throws {
    while try lock() != .unlocked { sched_yield() }
  }

  @Test func `who is alone keeps the lock between writes, and gives it back soon`() throws {
    let store = try open()
    for _ in 0..<3 {
      try commitUntilKept(store)
      try waitUntilGivenBack()
    }
    try store.close()
  }

  @Test func `who is not alone releases the lock with each write`() throws {
    let store = try open()
    try commitUntilKept(store)
    let other = try open()
    for seed in 0..<300 as Range<UInt64> {
      try (seed % 3 == 0 ? other : store).commitChanges(1, seed: seed, .relaxed)
      #expect(try lock() == .unlocked)
    }
    try other.close()
    try commitUntilKept(store)
    try store.close()
  }

  @Test func `who comes while the lock is kept writes next`() throws {
    let store = try open()
    for seed in 0..<50 as Range<UInt64> {
      try store.commitChanges(1, seed: seed, .relaxed)
      let other = try open()
      try other.commitChanges(1, seed: seed, .relaxed)
      try other.close()
    }
    try store.close()
  }

  @Test func `who may not write the lock file finds a gap between writes that follow each other`()
    throws
  {
    let store = try open()
    try commitUntilKept(store)
    let path = path
    let writer = WatchedThread {
      #expect(
        throws: StoreError.inUse(path: path, holder: "a reader that may not write the lock file")
      ) {
        while true { try store.beginWrite().abort() }
      }
    }
    let reader = try open(isReadOnly: true, readersShare: false)
    writer.waitForEnd()
    try reader.close()
    try commitUntilKept(store)
    try store.close()
  }

  @Test func `closing gives the lock back at once, even while a version is read`() throws {
    for _ in 0..<10 {
      let store = try open()
      let pin = try store.pin()
      try commitUntilKept(store)
      try store.close()
      #expect(try lock() == .unlocked)
      withExtendedLifetime(pin) {}
    }
  }

  @Test func `a reader that may not write the lock file keeps its lock as long as it reads`() throws
  {
    let store = try open()
    try store.commitChanges(1, seed: 1, .full)
    try store.close()
    let reader = try open(isReadOnly: true, readersShare: false)
    var pin: Pin? = try reader.pin()
    try reader.close()
    #expect(try lock() == .shared)
    let writer = try open()
    #expect(throws: StoreError.self) { try writer.beginWrite() }
    withExtendedLifetime(pin) {}
    pin = nil
    try writer.commitChanges(1, seed: 2, .full)
    try writer.close()
  }

  @Test func `the write with which a closed store ends gives the lock back, whoever is next in it`()
    throws
  {
    for _ in 0..<10 {
      let store = try open()
      try commitUntilKept(store)
      let writer = try store.beginWrite()
      let isCalled = DispatchSemaphore(value: 0)
      let path = path
      store.writers.acquire {
        // Before anybody in this process goes on.
        #expect(throws: Never.self) {
          let device = PosixDevice(descriptor: try PosixFiles.open(path, .read).get())
          #expect(device.lockOfOthers(byte: SharedLayout.DataByte.writer) == .unlocked)
        }
        store.writers.release()
        isCalled.signal()
      }
      try store.close()
      writer.abort()
      isCalled.wait()
      #expect(try lock() == .unlocked)
    }
  }

  @Test func `who was killed is no user any more`() async throws {
    let store = try open()
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let other = try FileStore(path: path, options: FileStoreOptions())
      withExtendedLifetime(other) { _ = kill(getpid(), SIGKILL) }
    }
    try commitUntilKept(store)
    try store.close()
  }

  @Test func `a lock that is kept ends with its process`() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let store = try FileStore(path: path, options: FileStoreOptions())
      for seed in 0..<100 as Range<UInt64> { try store.commitChanges(1, seed: seed, .relaxed) }
      kill(getpid(), SIGKILL)
    }
    let store = try open()
    #expect(try store.commitChanges(1, seed: 1, .relaxed).version == 101)
    try store.close()
  }
}
