import CambiumCore
import TestSupport
import Testing

@testable import CambiumFile

/// A file is verified while somebody writes it: each commit falls right into the walk.
struct VerifyingBesideWritersTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("a.cambium") }

  init() throws { folder = try TemporaryFolder() }

  /// A database with so much in it that a walk tells of its progress on the way.
  private func makeDatabase() throws -> Database {
    var options = DatabaseOptions()
    options.transactionBudgetByteCount = 0
    let database = try Database(store: FileStore(path: path), options: options)
    let transaction = try database.beginWrite()
    var generator = SeededGenerator(seed: 1)
    try transaction.setValue("large", generator.bytes(count: 6 << 20))
    _ = try transaction.commit()
    return database
  }

  private func change(_ database: Database, _ value: UInt8) throws {
    let transaction = try database.beginWrite()
    try transaction.setValue("small", [value])
    _ = try transaction.commit()
  }

  @Test func `a look at the books ends although another user commits whenever it can`() throws {
    let folder = try TemporaryFolder()
    let store = try FileStore(path: folder.file("a"))
    let other = try FileStore(path: folder.file("a"))
    try other.commitChanges(3, seed: 1, .relaxed)
    var commitCount: UInt64 = 0
    let used = try store.withKnownBooks { books throws(StoreError) -> Int in
      if let writer = try other.beginWriteIfFree() {
        commitCount += 1
        _ = try writer.publish(
          root: writer.base.root, durability: .relaxed, metadata: [])
      }
      return books.usedByteCount
    }
    #expect(used > 0 && commitCount >= 8)
    #expect(try other.newestHead().version == 1 + commitCount)
    // Nobody is kept from writing afterwards.
    try other.commitChanges(3, seed: 2, .full)
    try store.commitChanges(3, seed: 3, .full)
    try other.close()
    try store.close()
  }

  @Test func `who may only read verifies a file that another store writes`() throws {
    let writer = try makeDatabase()
    let reader = try Database(
      store: FileStore(path: path, options: FileStoreOptions(isReadOnly: true)))
    var commitCount: UInt8 = 0
    // More than the records of the commits are kept for.
    let report = try reader.verify { _ in
      for _ in 0..<200 {
        commitCount += 1
        #expect(throws: Never.self) { try change(writer, commitCount) }
      }
    }
    #expect(commitCount > 0)
    #expect(report.findings == [])
    #expect(report.version == 1)
  }

  @Test func `verifying takes nobody's turn to write`() throws {
    let database = try makeDatabase()
    let other = try Database(store: FileStore(path: path))
    var running: Transaction?
    let report = try database.verify { _ in
      #expect(throws: Never.self) {
        try change(other, 1)
        running = running == nil ? try other.beginWrite() : running
      }
    }
    #expect(running != nil)
    #expect(report.findings == [])
    running?.rollback()
  }

  @Test func `what a running write of the same store does is no finding`() throws {
    let database = try makeDatabase()
    let running = try database.beginWrite()
    try running.setValue("large", nil)
    let table = try running.createTable(
      "table", columns: [ColumnDescriptor(type: .int, isNullable: false, name: "number")])
    for key in 0..<1000 as Range<Int64> { _ = try table.insert(key: key, values: [(1, .int(key))]) }
    try running.spillIfNeeded()
    #expect(try database.verify().findings == [])
    _ = try running.commit()
    #expect(try database.verify().findings == [])
  }
}
