import TestSupport
import Testing

@testable import CambiumCore

/// Changes that meet a page that cannot be read, in transactions that catch the error and go on.
@Suite struct FailedChangeTests {
  /// A store whose newest version has a table, a wide table and a key tree, none of whose leaves can be
  /// read any more.
  private struct Refused {
    let store = ObservedStore()
    let database: Database

    init() throws {
      var options = DatabaseOptions()
      options.transactionBudgetByteCount = 0
      let filling = try Database(store: store).beginWrite()
      let table = try filling.createTable(
        "table",
        columns: [
          ColumnDescriptor(type: .int, isNullable: false, name: "number"),
          ColumnDescriptor(type: .bytes, isNullable: false, name: "text"),
        ])
      let wide = try filling.createTable(
        "wide",
        columns: (0..<TableRecord.maximumGroupWidth).map {
          ColumnDescriptor(type: .int, isNullable: true, name: "\($0)")
        })
      let tree = try filling.editKeyTree("tree")
      for key in 0..<2_000 as Range<Int64> {
        let text = [UInt8](repeating: UInt8(key & 0xff), count: Int(key % 50))
        try text.withUnsafeBytes {
          _ = try table.insert(key: key * 2, values: [(1, .int(key)), (2, .bytes($0))])
        }
        try wide.insert(key: key, values: [])
        _ = try tree.set([UInt8(key >> 8), UInt8(key & 0xff)], text)
      }
      let snapshot = try filling.commit()
      for name in ["table", "wide"] {
        try store.refuseLeaves(of: try #require(try snapshot.table(name)).groups[0])
      }
      try store.refuseLeaves(of: try #require(try snapshot.keyTree("tree")))
      database = try Database(store: store, options: options)
    }
  }

  /// A change that has to read a leaf.
  enum Change: CaseIterable {
    case insert, update, remove, removeMany, updateInts, addColumn, removeColumn
    case setKey, removeKey

    func make(in transaction: Transaction) throws {
      func table(_ name: String = "table") throws -> TableEditor {
        try #require(try transaction.editTable(name))
      }
      switch self {
      case .insert: try table().insert(key: 1_001, values: [(1, .int(0))])
      case .update: try table().update(key: 1_000, column: 1, value: .int(-1))
      case .remove: try table().remove(key: 1_000)
      case .removeMany: try table().remove(keys: [0, 1_000, 2_000])
      case .updateInts:
        try table().editor(of: 1).updateInts(of: 1) { _, integers in integers[0] += 1 }
      case .addColumn: try table("wide").addColumn(name: "one more", type: .int, isNullable: true)
      case .removeColumn: try table().removeColumn(2)
      case .setKey: _ = try transaction.editKeyTree("tree").set([3, 1], [1])
      case .removeKey: try transaction.editKeyTree("tree").remove([3, 1])
      }
    }
  }

  @Test(arguments: Change.allCases)
  func `a transaction whose change has failed is not committed, whoever caught the error`(
    change: Change
  ) throws {
    let refused = try Refused()
    let transaction = try refused.database.beginWrite()
    try transaction.setValue("note", [1])
    #expect(throws: ObservedStore.refusal) { try change.make(in: transaction) }
    try transaction.setValue("other note", [2])
    #expect(throws: ObservedStore.refusal) { try transaction.spillIfNeeded() }
    #expect(throws: ObservedStore.refusal) { _ = try transaction.commit() }
    #expect(!transaction.isActive)
    #expect(try refused.database.snapshot().value("note") == nil)

    refused.store.refuseNone()
    let again = try refused.database.beginWrite()
    try again.setValue("note", [1])
    try change.make(in: again)
    #expect(try again.commit().value("note") == [1])
    #expect(try refused.database.verify().findings == [])
  }

  @Test func `a tree whose building has failed is not committed, and leaves no pages behind`()
    throws
  {
    let database = try Database(store: ObservedStore())
    let transaction = try database.beginWrite()
    let tree = try transaction.editKeyTree("tree")
    #expect(throws: StoreError.self) {
      try tree.build { builder throws(StoreError) in
        for number in 0..<20_000 as Range<UInt32> {
          try number.bigEndianBytes.withTypedBytes { key throws(StoreError) in
            try builder.append(key)
          }
        }
        try [UInt8](repeating: 0xff, count: 600).withTypedBytes { key throws(StoreError) in
          try builder.append(key)
        }
      }
    }
    #expect(throws: StoreError.self) { _ = try transaction.commit() }
    #expect(try database.verify().findings == [])
    #expect(try database.statistics().occupiedByteCount < 64 << 10)
  }

  @Test func `a key is removed although the leaf beside its own is damaged`() throws {
    let store = ObservedStore()
    let database = try Database(store: store)
    let filling = try database.beginWrite()
    let tree = try filling.editKeyTree("tree")
    for number in 0..<2_000 as Range<UInt32> {
      _ = try tree.set(number.bigEndianBytes, [UInt8](repeating: 1, count: 30))
    }
    let snapshot = try filling.commit()
    var leaves: [PageReference] = []
    try #require(try snapshot.keyTree("tree")).walk(
      { page, kind in if kind == .keyLeaf { leaves.append(page) } }, damage: { _ in })
    #expect(leaves.count > 4)
    // Nobody has read it yet.
    let broken = leaves[2]
    store.falsify { reference, page in
      if reference == broken { page.bytes.storeBytes(of: 0xff, as: UInt8.self) }
    }
    let fresh = try Database(store: store)
    let transaction = try fresh.beginWrite()
    let edited = try transaction.editKeyTree("tree")
    // Where the broken leaf begins.
    var first: UInt32 = 0
    while (try? edited.tree.value(for: first.bigEndianBytes)) != nil { first += 1 }
    for number in first - 20..<first { #expect(try edited.remove(number.bigEndianBytes)) }
    for number in (0..<first - 20).reversed() {
      #expect(try edited.remove(number.bigEndianBytes), "\(number)")
    }
    let emptied = try transaction.commit()
    store.falsify(nil)
    let left = try #require(try emptied.keyTree("tree"))
    #expect(left.count == 2_000 - Int(first))
    #expect(try Database(store: store).verify().findings == [])
  }

  @Test func `trees that cannot be read can be emptied`() throws {
    let refused = try Refused()
    let transaction = try refused.database.beginWrite()
    try #require(try transaction.editTable("table")).removeAll()
    try transaction.editKeyTree("tree").removeAll()
    let snapshot = try transaction.commit()
    #expect(try snapshot.table("table")?.count == 0)
    #expect(try snapshot.keyTree("tree")?.count(in: KeyRange()) == 0)
    refused.store.refuseNone()
    _ = try refused.database.beginWrite().commit()
    #expect(try refused.database.verify().findings == [])
  }

  @Test(arguments: Change.allCases)
  func `a change that has failed behind a savepoint is undone with it, and nothing else`(
    change: Change
  ) throws {
    let refused = try Refused()
    let transaction = try refused.database.beginWrite()
    try transaction.setValue("note", [1])
    let savepoint = try transaction.mark()
    for _ in 0..<2 {
      try transaction.setValue("other note", [2])
      #expect(throws: ObservedStore.refusal) { try change.make(in: transaction) }
      #expect(throws: ObservedStore.refusal) { _ = try transaction.mark() }
      try transaction.rollback(to: savepoint)
    }
    try transaction.setValue("third note", [3])
    let snapshot = try transaction.commit()
    #expect(
      try ["note", "other note", "third note"].map { try snapshot.value($0) } == [[1], nil, [3]])
    refused.store.refuseNone()
    #expect(try refused.database.verify().findings == [])
  }

  @Test(arguments: [Change.update, .setKey])
  func `a change that has failed keeps nobody from reading`(change: Change) throws {
    let refused = try Refused()
    let transaction = try refused.database.beginWrite()
    #expect(throws: ObservedStore.refusal) { try change.make(in: transaction) }
    refused.store.refuseNone()
    let editor = try #require(try transaction.editTable("table")).editor(of: 1)
    for key in stride(from: 0, to: 4_000, by: 500) as StrideTo<Int64> {
      guard case .int(key / 2)? = try editor.value(key: key, column: 1) else {
        Issue.record("\(key)")
        continue
      }
    }
    #expect(throws: ObservedStore.refusal) { _ = try transaction.commit() }
  }

  @Test func `a transaction goes on after a read that has failed`() throws {
    let refused = try Refused()
    let transaction = try refused.database.beginWrite()
    let table = try #require(try transaction.table("table"))
    #expect(throws: ObservedStore.refusal) { _ = try table.seek(1_000) }
    let editor = try #require(try transaction.editTable("table")).editor(of: 1)
    #expect(throws: ObservedStore.refusal) { _ = try editor.value(key: 1_000, column: 1) }
    try transaction.setValue("note", [1])
    #expect(try transaction.commit().value("note") == [1])
  }

  @Test func `a key that is too long stops no transaction`() throws {
    let database = try Database(store: HeapStore())
    let transaction = try database.beginWrite()
    let tree = try transaction.editKeyTree("tree")
    _ = try tree.set([1], [1])
    let long = [UInt8](repeating: 1, count: 513)
    #expect(throws: StoreError.tooLarge(what: "A key", byteCount: 513, limit: 512)) {
      _ = try tree.set(long, [2])
    }
    #expect(try transaction.commit().keyTree("tree")?.count == 1)
  }
}

extension UInt32 {
  fileprivate var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}
