import CambiumFile
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CambiumCore

/// Blocks that share transactions.
struct WriteTogetherTests {
  private struct Refused: Error, Equatable { var index: Int }

  private let device = CountingDevice()
  private let store: FileStore
  private let database: Database

  init() throws {
    (store, database) = try device.makeDatabase()
  }

  /// Runs `body` on `count` threads and returns what each threw.
  private func onThreads(
    _ count: Int, meanwhile: () -> Void = {},
    _ body: @escaping @Sendable (Int) throws -> Void
  ) -> [Int: any Error] {
    let failures = Mutex<[Int: any Error]>([:])
    let ended = DispatchSemaphore(value: 0)
    for index in 0..<count {
      Thread {
        do {
          try body(index)
        } catch {
          failures.withLock { $0[index] = error }
        }
        ended.signal()
      }.start()
    }
    meanwhile()
    for _ in 0..<count { ended.wait() }
    return failures.withLock { $0 }
  }

  private static func add(_ amount: UInt8, to transaction: Transaction) throws {
    let sum = try transaction.value("sum")?.first ?? 0
    try transaction.setValue("sum", [sum &+ amount])
  }

  /// Lets the blocks of all threads meet in one transaction.
  private func together(
    _ count: Int, _ body: @escaping @Sendable (Int, Transaction) throws -> Void
  ) throws -> [Int: any Error] {
    let turn = try database.beginWrite()
    return onThreads(
      count,
      meanwhile: {
        // All wait, one of them for its turn.
        while database.combiner.waitingCount < count - 1 { usleep(100) }
        turn.rollback()
      }
    ) { index in
      try database.writeTogether { try body(index, $0) }
    }
  }

  @Test func `blocks run one after the other, each on what those before have done`() throws {
    let failures = onThreads(16) { _ in
      for _ in 0..<10 { try database.writeTogether { try Self.add(1, to: $0) } }
    }
    #expect(failures.isEmpty)
    #expect(try database.snapshot().value("sum") == [160])
    let version = try database.snapshot().version
    #expect(version <= 161)
    #expect(try store.statistics().durableVersion == version)
    #expect(try database.verify().findings == [])
  }

  @Test func `blocks that wait together become one version with one sync`() throws {
    let before = device.syncCount
    let failures = try together(12) { _, transaction in try Self.add(1, to: transaction) }
    #expect(failures.isEmpty)
    #expect(try database.snapshot().value("sum") == [12])
    #expect(try database.snapshot().version == 2)
    // The file may grow first.
    #expect(device.syncCount - before <= 2)
  }

  @Test func `a block that throws leaves nothing and concerns nobody else`() throws {
    let failures = try together(12) { index, transaction in
      try Self.add(UInt8(1 << (index % 3)), to: transaction)
      if index % 3 == 1 { throw Refused(index: index) }
    }
    #expect(Set(failures.keys) == [1, 4, 7, 10])
    for (index, failure) in failures { #expect(failure as? Refused == Refused(index: index)) }
    #expect(try database.snapshot().value("sum") == [4 * 1 + 4 * 4])
    // The turn was given back.
    try database.writeTogether { try Self.add(1, to: $0) }
    #expect(try database.snapshot().value("sum") == [21])
  }

  @Test func `a failed sync is told to all whose blocks it was for`() throws {
    device.failsSyncs = true
    let failures = try together(6) { _, transaction in try Self.add(1, to: transaction) }
    #expect(failures.count == 6)
    #expect(throws: StoreError.poisoned(path: "simulated")) {
      try database.writeTogether { try Self.add(1, to: $0) }
    }
    device.failsSyncs = false
  }
}
