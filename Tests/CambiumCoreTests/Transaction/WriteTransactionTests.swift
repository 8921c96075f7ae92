import CambiumCore
import TestSupport
import Testing

@Suite struct WriteTransactionTests {
  private func fill(_ transaction: Transaction, _ name: String, rows: Int64) throws {
    let table = try transaction.createTable(
      name, columns: [ColumnDescriptor(type: .bytes, isNullable: false, name: "text")])
    for key in 0..<rows {
      let bytes = Array("\(name) \(key &* 2_654_435_761 % 1_000_003)".utf8)
      try bytes.withUnsafeBytes { _ = try table.insert(key: key, values: [(1, .bytes($0))]) }
    }
  }

  @Test func `the pages of a dropped table are freed by the commits that follow`() throws {
    let store = HeapStore()
    var options = DatabaseOptions()
    options.deadPagesPerCommit = 8
    let database = try Database(store: store, options: options)
    let filling = try database.beginWrite()
    try fill(filling, "big", rows: 20_000)
    try fill(filling, "small", rows: 10)
    _ = try filling.commit()
    let before = try store.statistics().totalByteCount
    let dropping = try database.beginWrite()
    try dropping.drop("big")
    _ = try dropping.commit()
    #expect(try database.verify().findings == [])
    for _ in 0..<60 { _ = try database.beginWrite().commit() }
    let after = try store.statistics().totalByteCount
    #expect(after < before / 20)
    #expect(try database.snapshot().table("big") == nil)
    #expect(try database.snapshot().table("small")?.count == 10)
    let report = try database.verify()
    #expect(report.findings == [])
    #expect(!report.trees.contains { $0.role == .deadRoot })
  }

  @Test func `a transaction that is released without an end leaves no trace`() throws {
    let store = HeapStore()
    let database = try Database(store: store)
    do {
      let transaction = try database.beginWrite()
      try fill(transaction, "lost", rows: 100)
    }
    #expect(try database.snapshot().names(withPrefix: "") == [])
    let transaction = try database.beginWrite()
    try fill(transaction, "kept", rows: 100)
    _ = try transaction.commit()
    #expect(try database.snapshot().names(withPrefix: "") == ["kept"])
    #expect(try database.verify().findings == [])
  }

  @Test func `a new column reads as its default and rewrites nothing`() throws {
    let store = HeapStore()
    let database = try Database(store: store)
    let filling = try database.beginWrite()
    try fill(filling, "t", rows: 5_000)
    _ = try filling.commit()
    let before = try database.verify().trees.first { $0.name == "t" }
    let adding = try database.beginWrite()
    let table = try #require(try adding.editTable("t"))
    let id = try table.addColumn(name: "age", type: .int, isNullable: false)
    _ = try adding.commit()
    let after = try database.verify().trees.first { $0.name == "t" }
    #expect(after?.pageCount == before?.pageCount)
    #expect(after?.byteCount == before?.byteCount)
    let row = try #require(try database.snapshot().table("t")?.seek(77))
    #expect(row.leaf.column(id) == nil)
  }

  @Test func `a removed column is gone and its number is not used again`() throws {
    let database = try Database(store: HeapStore())
    let filling = try database.beginWrite()
    try fill(filling, "t", rows: 500)
    let table = try #require(try filling.editTable("t"))
    let first = try table.addColumn(name: "a", type: .int, isNullable: true)
    try table.update(key: 3, column: first, value: .int(4))
    _ = try filling.commit()
    let removing = try database.beginWrite()
    let editor = try #require(try removing.editTable("t"))
    try editor.removeColumn(first)
    let second = try editor.addColumn(name: "a", type: .int, isNullable: true)
    #expect(second > first)
    _ = try removing.commit()
    let row = try #require(try database.snapshot().table("t")?.seek(3))
    #expect(row.leaf.column(second)?.isNull(row.row) ?? true)
    #expect(try database.verify().findings == [])
  }

  @Test func `a copy holds the same rows under the same names and numbers`() throws {
    let database = try Database(store: HeapStore())
    let filling = try database.beginWrite()
    try fill(filling, "t", rows: 30_000)
    let keys = try filling.editKeyTree("k")
    for index in 0..<500 { try keys.set(Array("key \(index)".utf8), [UInt8(index % 7)]) }
    try filling.setValue("v", [1, 2, 3])
    let table = try #require(try filling.editTable("t"))
    for key in stride(from: Int64(0), to: 30_000, by: 2) { try table.remove(key: key) }
    _ = try filling.commit()
    let destination = try Database(store: HeapStore())
    try database.copy(to: destination)
    let (old, new) = (try database.snapshot(), try destination.snapshot())
    #expect(try new.names(withPrefix: "") == old.names(withPrefix: ""))
    #expect(try new.table("t")?.record == old.table("t")?.record)
    #expect(try new.table("t")?.count == 15_000)
    #expect(try new.keyTree("k")?.count == 500)
    #expect(try new.value("v") == [1, 2, 3])
    #expect(try destination.verify().findings == [])
    let byteCount = try destination.verify().reachableByteCount
    #expect(try byteCount < database.verify().reachableByteCount)
  }

  @Test func `a store whose pages went through another codec is refused by name`() throws {
    let store = HeapStore(codec: "mask")
    #expect(throws: StoreError.codecMismatch(path: "heap", found: "mask", expected: "none")) {
      try Database(store: store)
    }
  }
}
