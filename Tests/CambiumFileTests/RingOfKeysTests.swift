import CambiumCore
import CambiumFile
import CambiumMemory
import Foundation
import Synchronization
import TestSupport
import Testing

/// The keys of a table form one ring: each row names the next one.
///
/// Every transaction cuts three links and joins them again so that one ring remains. Any mixture of
/// versions breaks the ring.
@Suite struct RingOfKeysTests {
  private static let keyCount: Int64 = 60
  private static let next: UInt16 = 1

  @Test(arguments: [Durability.full, .relaxed])
  func `readers of a file always see one whole ring`(durability: Durability) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("ring.cambium")
    try run(try FileStore(path: path), durability, transactions: 150, seed: 1)
    let reopened = try Database(store: FileStore(path: path))
    #expect(try ringLength(reopened.snapshot()) == Int(Self.keyCount))
    #expect(try reopened.verify().findings == [])
    try reopened.close()
  }

  @Test func `readers of a memory store always see one whole ring`() throws {
    try run(MemoryStore(), .relaxed, transactions: 400, seed: 2)
  }

  private func run(
    _ store: any PageStore, _ durability: Durability, transactions: Int, seed: UInt64
  ) throws {
    let database = try Database(store: store)
    try makeRing(database, durability)
    let isDone = Atomic(false)
    let broken = Mutex<[String]>([])
    let reads = Atomic(0)
    let group = DispatchGroup()
    for _ in 0..<3 {
      // Threads of their own: the pool has only as many as there are processors, and tests hold them.
      group.enter()
      Thread.detachNewThread {
        defer { group.leave() }
        do {
          var kept: [Snapshot] = []
          while !isDone.load(ordering: .relaxed) {
            let snapshot = try database.snapshot()
            kept.append(snapshot)
            if kept.count > 5 { kept.removeFirst() }
            for snapshot in kept {
              let length = try ringLength(snapshot)
              if length != Int(Self.keyCount) {
                broken.withLock { $0.append("version \(snapshot.version): \(length)") }
              }
            }
            reads.add(1, ordering: .relaxed)
          }
        } catch {
          broken.withLock { $0.append("\(error)") }
        }
      }
    }
    var random = SeededGenerator(seed: seed)
    for index in 0..<transactions {
      try rotate(database, durability, isCommitted: index % 7 != 3, &random)
    }
    // Readers get their turn even on one core.
    while reads.load(ordering: .relaxed) < 3, broken.withLock({ $0.isEmpty }) {
      try rotate(database, durability, isCommitted: true, &random)
    }
    isDone.store(true, ordering: .relaxed)
    group.wait()
    #expect(broken.withLock { $0 } == [])
    #expect(try database.verify().findings == [])
    try database.close()
  }

  private func makeRing(_ database: Database, _ durability: Durability) throws {
    let transaction = try database.beginWrite()
    let table = try transaction.createTable(
      "ring", columns: [ColumnDescriptor(type: .int, isNullable: false, name: "next")])
    for key in 0..<Self.keyCount {
      try table.insert(key: key, values: [(Self.next, .int((key + 1) % Self.keyCount))])
    }
    _ = try transaction.commit(durability: durability)
  }

  /// a → b → c → d becomes a → c → b → d: four keys in a row change their order.
  private func rotate(
    _ database: Database, _ durability: Durability, isCommitted: Bool,
    _ random: inout SeededGenerator
  ) throws {
    let transaction = try database.beginWrite(expecting: durability)
    let table = try #require(try transaction.editTable("ring"))
    func link(_ key: Int64) throws -> Int64 {
      guard
        case .int(let next)? = try table.editor(of: Self.next).value(key: key, column: Self.next)
      else { return -1 }
      return next
    }
    let a = Int64.random(in: 0..<Self.keyCount, using: &random)
    let b = try link(a)
    let c = try link(b)
    let d = try link(c)
    try table.update(key: a, column: Self.next, value: .int(c))
    try table.update(key: c, column: Self.next, value: .int(b))
    try table.update(key: b, column: Self.next, value: .int(d))
    if isCommitted {
      _ = try transaction.commit(durability: durability)
    } else {
      transaction.rollback()
    }
  }

  private func ringLength(_ snapshot: Snapshot) throws -> Int {
    guard let table = try snapshot.table("ring") else { return 0 }
    var key: Int64 = 0
    var length = 0
    repeat {
      guard let row = try table.seek(key), let column = row.column(Self.next) else {
        return key == Self.keyCount - 1 ? length + 1 : -1
      }
      key = column.int(row.row)
      length += 1
    } while key != 0 && length <= Int(Self.keyCount)
    return length
  }
}
