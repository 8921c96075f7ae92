import CambiumMemory
import TestSupport
import Testing

@testable import CambiumCore

@Suite struct TransactionEdgeTests {
  private func fill(_ transaction: Transaction, _ name: String, rows: Int64) throws {
    let table = try transaction.createTable(
      name,
      columns: [
        ColumnDescriptor(type: .int, isNullable: false, name: "number"),
        ColumnDescriptor(type: .bytes, isNullable: false, name: "text"),
      ])
    for key in 0..<rows {
      let bytes = [UInt8](repeating: 7, count: key % 50 == 0 ? 300_000 : 9)
      try bytes.withUnsafeBytes {
        _ = try table.insert(key: key, values: [(1, .int(key)), (2, .bytes($0))])
      }
    }
  }

  @Test(arguments: [false, true])
  func `rows changed through a tree's own editor are committed`(spills: Bool) throws {
    var options = DatabaseOptions()
    if spills { options.transactionBudgetByteCount = 0 }
    let database = try Database(store: HeapStore(), options: options)
    let filling = try database.beginWrite()
    try fill(filling, "t", rows: 200)
    _ = try filling.commit()
    let transaction = try database.beginWrite()
    let editor = try #require(try transaction.editTable("t")).editor(of: 1)
    try editor.update(key: 5, column: 1, value: .int(-5))
    try transaction.spillIfNeeded()
    try editor.update(key: 7, column: 1, value: .int(-7))
    let snapshot = try transaction.commit()
    let table = try #require(try snapshot.table("t"))
    for key in [5, 7] as [Int64] {
      let row = try #require(try table.seek(key))
      #expect(row.column(1)?.int(row.row) == -key)
    }
    #expect(try database.verify().findings == [])
  }

  /// Why a dropped table cannot be read.
  enum Obstacle: CaseIterable {
    case damaged, refused, undecodable
  }

  @Test(arguments: Obstacle.allCases)
  func `a dropped table that cannot be read stops no commit`(obstacle: Obstacle) throws {
    let codec = RefusingCodec()
    let store = ObservedStore(HeapStore(codec: codec.name))
    var options = DatabaseOptions()
    options.deadPagesPerCommit = 0
    let database = try Database(store: store, codec: codec, options: options)
    let filling = try database.beginWrite()
    try fill(filling, "big", rows: 3_000)
    let filled = try filling.commit()
    let dropping = try database.beginWrite()
    try fill(dropping, "small", rows: 10)
    try dropping.drop("big")
    _ = try dropping.commit()
    // All leaves of the dropped table, seen without any cache.
    switch obstacle {
    case .damaged:
      store.falsify { reference, buffer in
        if reference.rawKind == PageKind.columnLeaf.rawValue, reference.born == 1 {
          buffer.bytes.storeBytes(of: 0xff, toByteOffset: 30, as: UInt8.self)
        }
      }
    case .refused:
      try store.refuseLeaves(of: try #require(try filled.table("big")).groups[0])
    case .undecodable:
      codec.refuse { $0.kind == .columnLeaf && $0.born == 1 }
    }
    var leaves: [PageReference] = []
    try #require(try filled.table("big")).groups[0].walk(
      { page, kind in if kind == .columnLeaf { leaves.append(page) } }, tree: { _ in },
      damage: { _ in })
    options.deadPagesPerCommit = 100
    let hindered = try Database(store: store, codec: codec, options: options)
    // The first one finds out what cannot be read, the second one reads it once more.
    var known: (entries: [[UInt8]: [UInt8]], readCount: Int)?
    for round in 0..<8 as Range<Int64> {
      let transaction = try hindered.beginWrite()
      let table = try #require(try transaction.editTable("small"))
      try table.update(key: round, column: 1, value: .int(-1))
      let snapshot = try transaction.commit()
      var entries: [[UInt8]: [UInt8]] = [:]
      try snapshot.catalog.forEachEntry(withPrefix: Catalog.deadRootPrefix) {
        entries[$0] = $1.bytes
      }
      #expect(!entries.isEmpty)
      let readCount = leaves.reduce(0) { $0 + store.readCount(of: $1) }
      if round == 2 { known = (entries, readCount) }
      if round > 2 {
        #expect(entries == known?.entries, "the list is written again")
        #expect(readCount == known?.readCount, "what cannot be read is read again")
      }
    }
    store.falsify(nil)
    store.refuseNone()
    codec.refuse { _ in false }
    let mended = try Database(store: store, codec: codec, options: options)
    for _ in 0..<20 { _ = try mended.beginWrite().commit() }
    let report = try mended.verify()
    #expect(report.findings == [])
    #expect(!report.trees.contains { $0.role == .deadRoot })
  }

  @Test
  func
    `a table whose name leaves no room for its description is refused, and the transaction goes on`()
    throws
  {
    let database = try Database(store: ObservedStore())
    let transaction = try database.beginWrite()
    for count in [512, 513, 5_000] {
      let name = String(repeating: "n", count: count)
      #expect(throws: StoreError.tooLarge(what: "A name", byteCount: count, limit: 511)) {
        _ = try transaction.createTable(name, columns: [])
      }
      #expect(try transaction.table(name) == nil)
    }
    let longest = String(repeating: "n", count: 511)
    _ = try transaction.createTable(longest, columns: [])
    #expect(try transaction.commit().table(longest) != nil)
  }

  @Test func `damage is found by a database that has seen the page whole`() throws {
    let store = ObservedStore()
    let database = try Database(store: store)
    let filling = try database.beginWrite()
    try fill(filling, "big", rows: 3_000)
    _ = try filling.commit()
    #expect(try database.verify().findings == [])
    store.falsify { reference, buffer in
      if reference.rawKind == PageKind.columnLeaf.rawValue {
        buffer.bytes.storeBytes(of: 0xff, toByteOffset: 30, as: UInt8.self)
      }
    }
    #expect(try !database.verify().findings.isEmpty)
    store.falsify(nil)
    #expect(try database.verify().findings == [])
  }

  @Test func `of an emptied tree that a row owned nothing is left when the row goes`() throws {
    let database = try Database(store: HeapStore())
    let filling = try database.beginWrite()
    let table = try filling.createTable(
      "lists", columns: [ColumnDescriptor(type: .bytes, isNullable: true, name: "list")])
    for key in 0..<3 as Range<Int64> {
      try table.insert(key: key, values: [(1, .tree(.empty(.position)))])
    }
    _ = try filling.commit()
    let dropping = try database.beginWrite()
    try dropping.drop("lists")
    _ = try dropping.commit()
    for _ in 0..<2 { _ = try database.beginWrite().commit() }
    let report = try database.verify()
    #expect(report.findings == [])
    #expect(!report.trees.contains { $0.role == .deadRoot })
  }

  @Test func `keys far below a leaf are removed in vain`() throws {
    let database = try Database(store: HeapStore())
    let filling = try database.beginWrite()
    let filled = try filling.createTable(
      "dense", columns: [ColumnDescriptor(type: .int, isNullable: false, name: "a")])
    // From the first of them such a key is further away than integers tell.
    for key in 10..<110 as Range<Int64> { try filled.insert(key: key, values: [(1, .int(key))]) }
    _ = try filling.commit()
    let removing = try database.beginWrite()
    let table = try #require(try removing.editTable("dense"))
    #expect(try table.remove(keys: [.min, .min + 1, 5, 15]) == 1)
    #expect(try removing.commit().table("dense")?.count == 99)
    #expect(try database.verify().findings == [])
  }

  @Test func `a tree that follows a tree in its row gives nothing back, its end gives all`() throws
  {
    let database = try Database(store: HeapStore())
    let filling = try database.beginWrite()
    try fill(filling, "t", rows: 60)
    let table = try #require(try filling.editTable("t"))
    let layout = ColumnLayout([ColumnSpec(id: 1, type: .int, isNullable: false)])
    func edit(
      _ transaction: Transaction, _ table: TableEditor, _ root: TreeRoot, key: Int64,
      _ body: (ColumnTreeEditor) throws -> Void
    ) throws {
      let editor = ColumnTreeEditor(root: root, layout: layout, context: transaction.context)
      try body(editor)
      try table.update(key: key, column: 2, value: .tree(try editor.flush()))
    }
    for key in [1, 50] as [Int64] {
      try edit(filling, table, .empty(.position), key: key) { list in
        for number in 0..<9_000 as Range<Int64> {
          try list.insert(at: list.count, values: [.int(number &* 77_777_777_777)])
        }
      }
    }
    _ = try filling.commit()
    #expect(try database.verify().findings == [])
    for round in 0..<4 {
      let transaction = try database.beginWrite()
      let table = try #require(try transaction.editTable("t"))
      for key in [1, 50] as [Int64] {
        guard case .tree(let root)? = try table.editor(of: 2).value(key: key, column: 2) else {
          Issue.record("The tree of row \(key) is gone.")
          continue
        }
        try edit(transaction, table, root, key: key) { list in
          try list.update(at: round * 2_000, column: 1, value: .int(-1))
          try list.remove(at: 4_000)
        }
      }
      _ = try transaction.commit()
      #expect(try database.verify().findings == [])
    }
    let ending = try database.beginWrite()
    let last = try #require(try ending.editTable("t"))
    try last.remove(key: 1)
    try last.removeColumn(2)
    _ = try ending.commit()
    for _ in 0..<3 { _ = try database.beginWrite().commit() }
    let report = try database.verify()
    #expect(report.findings == [])
    #expect(!report.trees.contains { $0.role == .deadRoot })
  }

  @Test func `a name that stands for something of another kind is told, and changes nothing`()
    throws
  {
    let database = try Database(store: MemoryStore())
    let transaction = try database.beginWrite()
    try transaction.setValue("value", [1])
    _ = try transaction.editKeyTree("tree").set(Array("a".utf8), [2])
    _ = try transaction.createTable(
      "table", columns: [ColumnDescriptor(type: .int, isNullable: false, name: "n")])
    func isTold(_ body: () throws -> Void) {
      let error = #expect(throws: StoreError.self) { try body() }
      guard case .damaged = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect("\(String(describing: error))".contains("another kind"))
    }
    for name in ["value", "table"] { isTold { _ = try transaction.editKeyTree(name) } }
    for name in ["value", "tree"] { isTold { _ = try transaction.createTable(name, columns: []) } }
    for name in ["tree", "table"] { isTold { try transaction.setValue(name, [3]) } }
    let snapshot = try transaction.commit()
    #expect(try snapshot.value("value") == [1])
    #expect(try snapshot.keyTree("tree")?.value(for: Array("a".utf8)) == [2])
    #expect(try snapshot.table("table")?.count == 0)
  }
}
