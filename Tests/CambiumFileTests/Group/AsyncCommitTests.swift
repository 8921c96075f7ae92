import CambiumCore
import CambiumFile
import Foundation
import Synchronization
import TestSupport
import Testing

/// Commits whose callers do not wait for the medium.
struct AsyncCommitTests {
  private struct Call: Equatable {
    var version: Version
    var durable: Version
    var failure: StoreError?
  }

  private let device = CountingDevice()
  private let store: FileStore
  private let database: Database

  init() throws {
    (store, database) = try device.makeDatabase()
  }

  private func change(_ name: String) throws -> Transaction {
    let transaction = try database.beginWrite()
    try transaction.setValue(name, [1])
    return transaction
  }

  @Test func `calls come in the order of versions, each when its version is durable`() throws {
    let calls = Mutex<[Call]>([])
    let ended = DispatchSemaphore(value: 0)
    let (threadCount, count) = (4, 30)
    for thread in 0..<threadCount {
      Thread {
        for index in 0..<count {
          let transaction = try? change("\(thread)/\(index)")
          let next = transaction?.version ?? 0
          let published = try? transaction?.commitTogether { failure in
            let durable = (try? store.statistics().durableVersion) ?? 0
            calls.withLock {
              $0.append(Call(version: next, durable: durable, failure: failure))
            }
            ended.signal()
          }
          if published?.version != next { ended.signal() }
        }
      }.start()
    }
    for _ in 0..<(threadCount * count) { ended.wait() }
    let all = calls.withLock { $0 }
    #expect(all.map(\.version) == Array(2...Version(threadCount * count + 1)))
    #expect(all.allSatisfy { $0.failure == nil && $0.durable >= $0.version })
  }

  @Test func `a commit is seen before it is durable, and its caller goes on meanwhile`() throws {
    let ended = DispatchSemaphore(value: 0)
    let before = device.syncCount
    try device.holdingSyncs {
      for index in 0..<5 {
        let snapshot = try change("\(index)").commitTogether { _ in ended.signal() }
        #expect(try database.snapshot().version == snapshot.version)
        #expect(try store.statistics().durableVersion == 1)
      }
      #expect(ended.wait(timeout: .now()) == .timedOut)
    }
    for _ in 0..<5 { ended.wait() }
    #expect(try store.statistics().durableVersion == 6)
    #expect(device.syncCount - before <= 2)
  }

  @Test func `a failed sync is told to every caller, and nothing is written any more`() throws {
    device.failsSyncs = true
    let failures = Mutex<[StoreError?]>([])
    let ended = DispatchSemaphore(value: 0)
    try device.holdingSyncs {
      for index in 0..<5 {
        try change("\(index)").commitTogether { failure in
          failures.withLock { $0.append(failure) }
          ended.signal()
        }
      }
    }
    for _ in 0..<5 { ended.wait() }
    #expect(failures.withLock { $0 }.allSatisfy { $0 != nil })
    #expect(throws: StoreError.poisoned(path: "simulated")) { try database.beginWrite() }
    #expect(try database.snapshot().version == 6)
    device.failsSyncs = false
  }

  @Test func `a failed sync is not told to those whose version was durable before`() throws {
    let failures = Mutex<[Version: StoreError?]>([:])
    let isCalling = DispatchSemaphore(value: 0)
    let goesOn = DispatchSemaphore(value: 0)
    let ended = DispatchSemaphore(value: 0)
    try change("first").commitTogether { _ in
      isCalling.signal()
      goesOn.wait()
    }
    isCalling.wait()
    // While that call lasts, two more versions wait for theirs.
    for name in ["durable", "lost"] {
      let transaction = try change(name)
      let version = transaction.version
      try transaction.commitTogether { failure in
        failures.withLock { $0[version] = .some(failure) }
        ended.signal()
      }
      if name == "durable" { try store.sync() }
    }
    device.failsSyncs = true
    goesOn.signal()
    for _ in 0..<2 { ended.wait() }
    #expect(failures.withLock { $0[3] } == .some(nil))
    #expect(failures.withLock { $0[4] } != .some(nil))
    device.failsSyncs = false
  }

  @Test func `closing makes durable what others wait for`() throws {
    let failures = Mutex<[StoreError?]>([])
    let ended = DispatchSemaphore(value: 0)
    try device.holdingSyncs {
      for index in 0..<3 {
        try change("\(index)").commitTogether { failure in
          failures.withLock { $0.append(failure) }
          ended.signal()
        }
      }
    }
    try database.close()
    for _ in 0..<3 { ended.wait() }
    #expect(failures.withLock { $0 } == [nil, nil, nil])
  }
}
