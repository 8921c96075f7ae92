import CambiumCore
import TestSupport
import Testing

@testable import CambiumFile

/// Small commits that add rows leave the catalog alone; who reads it must know of them all the same.
struct AddedRowsTests {
  private let fixture: LogFixture

  init() throws { fixture = try LogFixture() }

  /// What a table and a key tree hold.
  private struct Model: Equatable {
    var rows: Set<Int64> = []
    var next: Int64 = 0
    var keys: Set<[UInt8]> = []

    mutating func insert(_ key: Int64) {
      rows.insert(key)
      if key < .max { next = max(next, key + 1) }
    }
  }

  private func insert(_ key: Int64, into table: TableEditor) throws {
    #expect(try table.insert(key: key, values: [(column: 1, value: .int(key / 3))]))
  }

  /// Makes a table and a key tree.
  private func create(rows: Int64, in database: Database) throws -> Model {
    var model = Model()
    let transaction = try database.beginWrite()
    let table = try transaction.createTable(
      "T", columns: [ColumnDescriptor(type: .int, isNullable: false, name: "a")])
    for key in 0..<rows {
      try insert(key, into: table)
      model.insert(key)
    }
    _ = try transaction.editKeyTree("K").set([0], [])
    model.keys.insert([0])
    _ = try transaction.commit()
    return model
  }

  /// Makes one random change of a transaction.
  private func change(
    _ model: inout Model, _ transaction: Transaction, _ random: inout SeededGenerator
  ) throws {
    let table = try #require(try transaction.editTable("T"))
    #expect(table.record.nextKey == model.next && table.count == model.rows.count)
    let keys = try transaction.editKeyTree("K")
    #expect(keys.tree.count == model.keys.count)
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<7:
      let key = try table.generateKey()
      #expect(key == model.next)
      try insert(key, into: table)
      model.insert(key)
    case 7:
      _ = try table.generateKey()
      model.next += 1
    case 8:
      let key = model.next + Int64.random(in: 0..<5, using: &random)
      try insert(key, into: table)
      model.insert(key)
    case 9:
      // The highest key of all moves no next key.
      if model.rows.remove(.max) != nil {
        #expect(try table.remove(key: .max))
      } else {
        try insert(.max, into: table)
        model.insert(.max)
      }
    case 10, 11:
      if let last = model.rows.filter({ $0 < .max }).max() {
        #expect(try table.remove(key: last))
        model.rows.remove(last)
      }
    case 12:
      if let some = model.rows.sorted().randomElement(using: &random) {
        #expect(try table.remove(key: some))
        model.rows.remove(some)
      }
    case 13:
      let low = Int64.random(in: -9..<(model.next + 1), using: &random)
      if !model.rows.contains(low) {
        try insert(low, into: table)
        model.insert(low)
      }
    case 14:
      let removed = model.rows.sorted().suffix(Int.random(in: 0..<4, using: &random))
      #expect(try table.remove(keys: Array(removed)) == removed.count)
      model.rows.subtract(removed)
    case 15:
      if let some = model.rows.sorted().randomElement(using: &random) {
        #expect(try table.update(key: some, column: 1, value: .int(.random(in: 0..<9))))
      }
    default:
      let key = [UInt8.random(in: 0...255, using: &random), 7]
      if model.keys.remove(key) != nil {
        #expect(try keys.remove(key))
      } else {
        _ = try keys.set(key, [])
        model.keys.insert(key)
      }
    }
  }

  private func check(_ view: Snapshot, _ model: Model, _ step: String) throws {
    let table = try #require(try view.table("T"))
    #expect(table.record.nextKey == model.next, "\(step)")
    #expect(table.groups[0].count == model.rows.count, "\(step)")
    #expect(try view.keyTree("K")?.count == model.keys.count, "\(step)")
  }

  @Test(arguments: Exhaustive.seeds(200, few: 20))
  func `users that take turns know how many rows there are and which key comes next`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    var users = [try fixture.open(), try fixture.open()]
    var model = try create(rows: seed % 3 == 0 ? 3_000 : 0, in: users[0].1)
    var (unnamedCount, lastRoot) = (0, TreeRoot.empty(.key))
    for step in 0..<300 {
      let user = Int.random(in: 0..<2, using: &random)
      let database = users[user].1
      let transaction = try database.beginWrite(expecting: .relaxed)
      var changed = model
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        try change(&changed, transaction, &random)
      }
      if Int.random(in: 0..<6, using: &random) == 0 {
        let savepoint = try transaction.mark()
        var undone = changed
        for _ in 0..<Int.random(in: 0..<3, using: &random) {
          try change(&undone, transaction, &random)
        }
        if Bool.random(using: &random) {
          try transaction.rollback(to: savepoint)
        } else {
          changed = undone
        }
      }
      if Int.random(in: 0..<12, using: &random) == 0 {
        transaction.rollback()
      } else {
        let isFull = Int.random(in: 0..<30, using: &random) == 0
        let snapshot = try transaction.commit(durability: isFull ? .full : .relaxed)
        if snapshot.head.root == lastRoot, changed.rows.count > model.rows.count {
          unnamedCount += 1
        }
        lastRoot = snapshot.head.root
        model = changed
      }
      for (_, database) in users { try check(database.snapshot(), model, "step \(step)") }
      switch Int.random(in: 0..<60, using: &random) {
      case 0: try database.sync()
      case 1:
        try database.close()
        users[user] = try fixture.open()
        try check(users[user].1.snapshot(), model, "opened at step \(step)")
      case 2: #expect(try database.verify().findings == [])
      default: break
      }
    }
    #expect(unnamedCount > 20, "\(unnamedCount) commits added rows and left the catalog alone.")
    for (_, database) in users { try database.close() }
    let (_, reopened) = try fixture.open()
    try check(reopened.snapshot(), model, "the end")
    #expect(try reopened.verify().findings == [])
    try reopened.close()
  }

  @Test func `a row that is added in memory leaves the catalog where it is`() throws {
    let (_, database) = try fixture.open()
    var model = try create(rows: 3_000, in: database)
    var roots: Set<TreeRoot> = []
    for _ in 0..<20 {
      let transaction = try database.beginWrite(expecting: .relaxed)
      let table = try #require(try transaction.editTable("T"))
      let key = try table.generateKey()
      try insert(key, into: table)
      model.insert(key)
      let keys = try transaction.editKeyTree("K")
      _ = try keys.set([1, UInt8(key % 256)], [])
      model.keys.insert([1, UInt8(key % 256)])
      let snapshot = try transaction.commit(durability: .relaxed)
      #expect(snapshot.head.residence != nil)
      roots.insert(snapshot.head.root)
      try check(snapshot, model, "row \(key)")
    }
    #expect(roots.count == 1)
    try database.close()
  }
}
