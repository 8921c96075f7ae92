import CambiumCore
import CambiumFile
import Foundation
import Synchronization
import TestSupport
import Testing

/// Commits that wait for the medium together.
struct GroupCommitTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("a.cambium") }

  init() throws { folder = try TemporaryFolder() }

  /// Commits `count` values each on `threadCount` threads of their own; how many failed.
  private func commit(
    _ database: Database, _ store: FileStore, threadCount: Int, count: Int
  ) -> Int {
    let failures = Mutex(0)
    let ended = DispatchSemaphore(value: 0)
    for thread in 0..<threadCount {
      Thread {
        for index in 0..<count {
          do {
            let transaction = try database.beginWrite()
            try transaction.setValue("\(thread)/\(index)", [UInt8(index)])
            let version = try transaction.commitTogether()
            let durable = try store.statistics().durableVersion
            if durable < version { failures.withLock { $0 += 1 } }
          } catch {
            failures.withLock { $0 += 1 }
          }
        }
        ended.signal()
      }.start()
    }
    for _ in 0..<threadCount { ended.wait() }
    return failures.withLock { $0 }
  }

  /// Waits until others have published `version`.
  private func wait(for version: Version, of database: Database) throws {
    var published = try database.snapshot().version
    while published < version {
      let next = database.waitForCommit(after: published, timeoutNanoseconds: 600_000_000_000)
      try #require(next > published, "A commit failed.")
      published = next
    }
  }

  @Test func `a write is contended while others wait to write, or for the medium`() throws {
    let device = CountingDevice()
    let (store, database) = try device.makeDatabase()
    let writer = try store.beginWrite()
    #expect(!writer.isContended)
    let waiting = WatchedThread { (try? store.beginWrite())?.abort() }
    #expect(waiting.waitsForSomebody())
    #expect(writer.isContended)
    writer.abort()
    waiting.waitForEnd()
    let published = Mutex<Version>(0)
    let isPublished = DispatchSemaphore(value: 0)
    try device.holdingSyncs {
      let syncing = WatchedThread {
        let transaction = try? database.beginWrite()
        try? transaction?.setValue("a", [1])
        let version = try? transaction?.commitAwaited().version
        published.withLock { $0 = version ?? 0 }
        isPublished.signal()
        try? database.makeDurable(version ?? 0)
      }
      isPublished.wait()
      #expect(syncing.waitsForSomebody())
      let writer = try store.beginWrite()
      #expect(writer.isContended)
      writer.abort()
    }
    try store.makeDurable(published.withLock { $0 })
    let last = try store.beginWrite()
    while last.isContended { sched_yield() }
    last.abort()
    try store.close()
  }

  @Test func `every commit is durable when it returns, in the order of versions`() throws {
    let store = try FileStore(path: path)
    let database = try Database(store: store)
    #expect(commit(database, store, threadCount: 8, count: 25) == 0)
    #expect(try database.snapshot().version == 200)
    #expect(try database.verify().findings == [])
    try database.close()
    let reopened = try Database(store: FileStore(path: path))
    let snapshot = try reopened.snapshot()
    for thread in 0..<8 {
      for index in 0..<25 { #expect(try snapshot.value("\(thread)/\(index)") == [UInt8(index)]) }
    }
  }

  @Test func `commits that wait together share a sync`() throws {
    let device = CountingDevice()
    let (store, database) = try device.makeDatabase()
    let before = device.syncCount
    let ended = DispatchSemaphore(value: 0)
    let count = 16
    // While a sync waits all others come to wait for the next one.
    try device.holdingSyncs {
      for index in 0..<count {
        Thread {
          if let transaction = try? database.beginWrite() {
            try? transaction.setValue("\(index)", [1])
            _ = try? transaction.commitTogether()
          }
          ended.signal()
        }.start()
      }
      try wait(for: Version(count + 1), of: database)
    }
    for _ in 0..<count { ended.wait() }
    #expect(device.syncCount - before <= 2)
    #expect(try store.statistics().durableVersion == Version(count + 1))
  }

  @Test func `a failed sync is told to everybody who waits`() throws {
    let device = CountingDevice()
    let (store, database) = try device.makeDatabase()
    device.failsSyncs = true
    let told = Mutex(0)
    let ended = DispatchSemaphore(value: 0)
    try device.holdingSyncs {
      for index in 0..<6 {
        Thread {
          do {
            let transaction = try database.beginWrite()
            try transaction.setValue("\(index)", [1])
            try transaction.commitTogether()
          } catch {
            told.withLock { $0 += 1 }
          }
          ended.signal()
        }.start()
      }
      try wait(for: 7, of: database)
    }
    for _ in 0..<6 { ended.wait() }
    #expect(told.withLock { $0 } == 6)
    withExtendedLifetime(store) {}
    #expect(throws: StoreError.poisoned(path: "simulated")) { try database.beginWrite() }
  }

  @Test func `a full commit is a barrier for those before it`() throws {
    let store = try FileStore(path: path)
    let database = try Database(store: store)
    let first = try database.beginWrite()
    try first.setValue("a", [1])
    _ = try first.commit(durability: .relaxed)
    let second = try database.beginWrite()
    try second.setValue("b", [2])
    let snapshot = try second.commit()
    #expect(try store.statistics().durableVersion == snapshot.version)
  }
}
