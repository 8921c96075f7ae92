import TestSupport
import Testing

@testable import CambiumCore

/// What happens where the format's numbers end, and what a transaction's budget counts.
@Suite struct LimitWhiteBoxTests {
  private let column = ColumnDescriptor(type: .int, isNullable: false, name: "number")

  @Test func `a table whose keys are used up refuses to make one, and still takes chosen ones`()
    throws
  {
    let database = try Database(store: HeapStore())
    let transaction = try database.beginWrite()
    let table = try transaction.createTable("t", columns: [column])
    try table.insert(key: .max - 1, values: [(1, .int(1))])
    #expect(throws: StoreError.exhausted(what: "keys of a table", limit: Int(Int64.max))) {
      try table.generateKey()
    }
    #expect(try table.insert(key: .max, values: [(1, .int(2))]))
    #expect(try table.insert(key: 5, values: [(1, .int(3))]))
    _ = try transaction.commit()
    #expect(try database.verify().findings == [])
  }

  @Test func `a table holds as many columns as the format can number, and refuses the next`()
    throws
  {
    let most = TableRecord.maximumGroupCount * TableRecord.maximumGroupWidth
    let database = try Database(store: HeapStore())
    let transaction = try database.beginWrite()
    let columns = (0..<most).map { _ in column }
    let table = try transaction.createTable("wide", columns: columns)
    let full = StoreError.exhausted(what: "columns of a table", limit: most)
    #expect(throws: full) {
      try table.addColumn(name: "one more", type: .int, isNullable: false)
    }
    #expect(throws: full) { try transaction.createTable("wider", columns: columns + [column]) }
    let snapshot = try transaction.commit()
    let stored = try #require(try snapshot.catalog.table("wide"))
    #expect(stored.record.columns.count == most)
    #expect(try snapshot.table("wider") == nil)
  }

  @Test func `a table has had 65,534 columns in its life, and no more`() throws {
    var record = TableRecord(
      id: 1, nextKey: 0, nextColumn: .max - 1, groups: [[]], attributes: [])
    #expect(try record.append(column) == 65_534)
    #expect(record.remove(65_534) == nil)
    #expect(
      throws: StoreError.exhausted(what: "columns that a table can have in its life", limit: 65_534)
    ) { try record.append(column) }
  }

  @Test func `numbers of tables end with those of 32 bits`() throws {
    let database = try Database(store: HeapStore())
    let transaction = try database.beginWrite()
    try transaction.adoptNextTableNumber(.max - 1)
    _ = try transaction.createTable("last", columns: [column])
    #expect(throws: StoreError.exhausted(what: "numbers of tables", limit: Int(UInt32.max))) {
      try transaction.createTable("one more", columns: [column])
    }
    transaction.rollback()
  }

  @Test func `more rows than places of 32 bits can tell apart are not sorted`() throws {
    let database = try Database(store: HeapStore())
    let source = try database.snapshot().source
    let reference = PageReference(
      checksum: 1, extent: Extent(address: 2, unitCount: 3), kind: .columnBranch, born: 1)
    let root = TreeRoot(
      reference: reference, height: 3, kind: .column, rowCount: UInt64(Int32.max) + 1)
    let tree = ColumnTree(root: root, source: source)
    #expect(throws: StoreError.exhausted(what: "rows to sort", limit: Int(Int32.max))) {
      try tree.keys(sortedBy: [], limit: 1)
    }
  }

  @Test func `a value is at most 64 TiB long`() throws {
    let longest = OverflowValue.maximumByteCount
    #expect(longest == 64 << 40)
    try KeyTreeBench().write { editor throws in
      withUnsafeTemporaryAllocation(byteCount: 64, alignment: 8) { memory in
        // Refused by its length, before any of it is read.
        let value = UnsafeRawBufferPointer(start: memory.baseAddress, count: longest + 1)
        #expect(
          throws: StoreError.tooLarge(what: "A value", byteCount: longest + 1, limit: longest)
        ) { try OverflowValue.write(value, to: editor.context) }
      }
    }
  }

  @Test func `a column's name and attributes are bounded by their length fields`() throws {
    let database = try Database(store: HeapStore())
    let transaction = try database.beginWrite()
    let table = try transaction.createTable("t", columns: [column])
    let error = StoreError.tooLarge(
      what: "The name or attributes of a column", byteCount: 65_536, limit: 65_535)
    #expect(throws: error) {
      try table.addColumn(
        name: String(repeating: "x", count: 65_536), type: .int, isNullable: false)
    }
    #expect(throws: error) {
      try table.addColumn(
        name: "x", type: .int, isNullable: false,
        attributes: [UInt8](repeating: 1, count: 65_536))
    }
    #expect(table.record.columns.count == 1)
  }

  @Test func `a table is known by what was committed last, also after it was dropped or cancelled`()
    throws
  {
    let store = HeapStore()
    let database = try Database(store: store)
    let other = try Database(store: store)
    func change(
      _ database: Database, commits: Bool = true, _ body: (Transaction) throws -> Void
    ) throws {
      let transaction = try database.beginWrite()
      try body(transaction)
      if commits { _ = try transaction.commit() } else { transaction.rollback() }
    }
    func expect(_ transaction: Transaction, _ names: [String]?) throws {
      let found = try transaction.editTable("t")?.record.columns.map(\.name)
      #expect(found == names)
    }
    try change(database) { _ = try $0.createTable("t", columns: [column]) }
    try change(database, commits: false) {
      try $0.editTable("t")?.addColumn(name: "cancelled", type: .int, isNullable: true)
    }
    try change(database) { try expect($0, ["number"]) }
    // Another user of the same store changes it behind this one's back.
    try change(other) {
      try $0.editTable("t")?.addColumn(name: "other", type: .int, isNullable: true)
    }
    try change(database) {
      try expect($0, ["number", "other"])
      try $0.drop("t")
      try expect($0, nil)
    }
    try change(database) {
      try expect($0, nil)
      _ = try $0.createTable("t", columns: [])
      try expect($0, [])
    }
    try change(database) {
      try expect($0, [])
      try $0.drop("t")
      _ = try $0.createTable("t", columns: [column, column])
    }
    try change(database) { try expect($0, ["number", "number"]) }
    #expect(try database.verify().findings == [])
  }

  @Test func `a value over the name of a table is misuse, and so is a table over a value`() async {
    await #expect(processExitsWith: .failure) {
      let database = try Database(store: HeapStore())
      let transaction = try database.beginWrite()
      _ = try transaction.createTable("t", columns: [])
      try transaction.setValue("t", [1])
    }
    await #expect(processExitsWith: .failure) {
      let database = try Database(store: HeapStore())
      let transaction = try database.beginWrite()
      try transaction.setValue("v", [1])
      _ = try transaction.createTable("v", columns: [])
    }
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `the budget counts all that random inserts keep in memory`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let database = try Database(store: HeapStore())
    let transaction = try database.beginWrite()
    let columns = [
      ColumnDescriptor(type: .bytes, isNullable: true, name: "text"), column,
    ]
    let table = try transaction.createTable("t", columns: columns)
    let text = [UInt8](repeating: 7, count: 300)
    for _ in 0..<4000 {
      let key = Int64.random(in: 0..<1 << 40, using: &generator)
      try text.withUnsafeBytes {
        let part = UnsafeRawBufferPointer(
          rebasing: $0[..<Int.random(in: 0..<300, using: &generator)])
        _ = try table.insert(key: key, values: [(1, .bytes(part)), (2, .int(key))])
      }
    }
    // The row that was added last lies in the leaf under the finger.
    table.editor(of: 1).dropFinger()
    let dirty = transaction.context.dirty
    let measured = dirty.measuredByteCount
    #expect(abs(dirty.byteCount - measured) <= measured / 50)
    transaction.rollback()
  }
}
