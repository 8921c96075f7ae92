import CambiumCore
import TestSupport
import Testing

/// When the number rises by which others see that tables are described otherwise.
@Suite struct LayoutGenerationTests {
  private let database: Database
  private let columns = [ColumnDescriptor(type: .int, isNullable: false, name: "a")]

  init() throws {
    database = try Database(store: HeapStore())
    let transaction = try database.beginWrite()
    _ = try transaction.createTable("t", columns: columns)
    _ = try transaction.commit()
  }

  private var generation: UInt64 { get throws { try database.snapshot().layoutGeneration() } }

  /// By how much a transaction that does `change` raises the number.
  private func rise(_ change: (Transaction) throws -> Void) throws -> UInt64 {
    let before = try generation
    let transaction = try database.beginWrite()
    try change(transaction)
    let snapshot = try transaction.commit()
    #expect(try snapshot.layoutGeneration() == generation)
    #expect(try database.verify().findings == [])
    return try generation - before
  }

  @Test func `a new database has none, and its first table begins it`() throws {
    let empty = try Database(store: HeapStore())
    #expect(try empty.snapshot().layoutGeneration() == 0)
    #expect(try generation == 1)
  }

  @Test func `rows, key trees and values leave it as it is`() throws {
    let rise = try rise { transaction in
      try transaction.editTable("t")?.insert(key: 1, values: [(1, .int(5))])
      _ = try transaction.editKeyTree("k").set([1], [2])
      try transaction.setValue("v", [3])
    }
    #expect(rise == 0)
    #expect(try self.rise { _ = try $0.drop("k") } == 0)
  }

  @Test func `every change of what describes a table raises it once for each transaction`() throws {
    #expect(try self.rise { _ = try $0.createTable("new", columns: columns) } == 1)
    #expect(try self.rise { try $0.editTable("t")?.setAttributes([1], ofColumn: 1) } == 1)
    #expect(try self.rise { try $0.editTable("t")?.attributes = [2] } == 1)
    #expect(try self.rise { try $0.editTable("t")?.renameColumn(1, to: "b") } == 1)
    let rise = try self.rise { transaction in
      let table = try transaction.editTable("t")
      let id = try table?.addColumn(name: "c", type: .bytes, isNullable: true)
      _ = try transaction.createTable("newer", columns: columns)
      try table?.removeColumn(try #require(id))
    }
    #expect(rise == 1)
    #expect(try self.rise { _ = try $0.drop("new") } == 1)
  }

  @Test func `a transaction that is rolled back leaves it as it is`() throws {
    let before = try generation
    let transaction = try database.beginWrite()
    try transaction.drop("t")
    #expect(try transaction.layoutGeneration() == before + 1)
    transaction.rollback()
    #expect(try generation == before)
    #expect(try rise { _ = try $0.drop("t") } == 1)
  }

  @Test func `whoever holds an older version still sees its number`() throws {
    let old = try database.snapshot()
    #expect(try rise { try $0.editTable("t")?.attributes = [2] } == 1)
    #expect(try old.layoutGeneration() == 1)
  }
}
