import TestSupport
import Testing

@testable import CambiumCore

/// Random transactions against a plain model, every kept version compared with what it was.
@Suite struct DatabaseModelTests {
  struct Model: Equatable {
    var tables: [String: [Int64: [Int64?]]] = [:]
    var keyTrees: [String: [[UInt8]: [UInt8]]] = [:]
    var values: [String: [UInt8]] = [:]
  }

  @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
  func `every version reads as the model did when it was committed`(seed: UInt64) throws {
    try run(seed: seed, codec: nil, budget: 256 << 20)
  }

  @Test(arguments: [11, 12] as [UInt64])
  func `spilling early changes nothing that can be seen`(seed: UInt64) throws {
    try run(seed: seed, codec: nil, budget: 20_000)
  }

  @Test(arguments: [21, 22] as [UInt64])
  func `a codec changes nothing that can be seen`(seed: UInt64) throws {
    try run(seed: seed, codec: MaskCodec(), budget: 256 << 20)
  }

  @Test(arguments: 31...50 as ClosedRange<UInt64>)
  func `what is changed behind a savepoint is undone, and nothing else`(seed: UInt64) throws {
    let codec: (any PageCodec)? = seed % 5 == 0 ? MaskCodec() : nil
    try run(seed: seed, codec: codec, budget: seed % 3 == 0 ? 20_000 : 256 << 20, marks: true)
  }

  @Test func `of what was written ahead behind a savepoint and undone nothing is kept`() throws {
    let database = try Database(store: HeapStore())
    let first = try database.beginWrite()
    let table = try first.createTable(
      "t", columns: [ColumnDescriptor(type: .bytes, isNullable: false, name: "text")])
    try fill(table, 0..<100)
    _ = try first.commit()
    let transaction = try database.beginWrite()
    let text = try #require(try transaction.editTable("t"))
    try fill(text, 100..<200)
    let savepoint = try transaction.mark()
    // In the order of their keys, in which they are written ahead, and in another one, in which they wait.
    for (last, step) in [(60_000, 1), (30_000, 1), (60_000, 7_919)] as [(Int64, Int64)] {
      try fill(try #require(try transaction.editTable("t")), 200..<last, step: step)
      try transaction.rollback(to: savepoint)
    }
    try fill(try #require(try transaction.editTable("t")), 300..<400)
    #expect(try transaction.commit().table("t")?.count == 300)
    #expect(try database.verify().findings == [])
  }

  private func fill(_ table: TableEditor, _ keys: Range<Int64>, step: Int64 = 1) throws {
    let count = Int64(keys.count)
    for number in 0..<count as Range<Int64> {
      let key = keys.lowerBound + number * step % count
      try withUnsafeBytes(of: (key, key, key, key, key, key)) {
        _ = try table.insert(key: key, values: [(1, .bytes($0))])
      }
    }
  }

  private func run(
    seed: UInt64, codec: (any PageCodec)?, budget: Int, marks: Bool = false
  ) throws {
    let store = HeapStore(codec: codec?.name ?? "")
    var options = DatabaseOptions()
    options.transactionBudgetByteCount = budget
    options.deadPagesPerCommit = 4
    let database = try Database(store: store, codec: codec, options: options)
    var random = SeededGenerator(seed: seed)
    var committed = Model()
    var kept: [(Snapshot, Model)] = []
    for _ in 0..<60 {
      var model = committed
      let transaction = try database.beginWrite()
      var mark: (savepoint: Transaction.Savepoint, model: Model)?
      for _ in 0..<Int.random(in: 0...120, using: &random) {
        try change(transaction, &model, &random)
        if !marks { continue }
        if let last = mark, Int.random(in: 0..<8, using: &random) == 0 {
          try transaction.rollback(to: last.savepoint)
          model = last.model
          let dirty = transaction.context.dirty
          #expect(dirty.byteCount == dirty.measuredByteCount)
          if Bool.random(using: &random) { try expectEqual(transaction, model) }
        } else if Int.random(in: 0..<8, using: &random) == 0 {
          mark = (try transaction.mark(), model)
        }
      }
      try expectEqual(transaction, model)
      if Int.random(in: 0..<5, using: &random) == 0 {
        transaction.rollback()
      } else {
        let snapshot = try transaction.commit()
        committed = model
        kept.append((snapshot, model))
      }
      if kept.count > 4 { kept.remove(at: Int.random(in: 0..<kept.count, using: &random)) }
      try expectEqual(try database.snapshot(), committed)
      #expect(try database.verify().findings == [])
    }
    for (snapshot, model) in kept { try expectEqual(snapshot, model) }
  }

  private func change(
    _ transaction: Transaction, _ model: inout Model, _ random: inout SeededGenerator
  ) throws {
    let name = ["a", "b", "c"].randomElement(using: &random) ?? "a"
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<60: try changeTable(transaction, "table/" + name, &model, &random)
    case 60..<90:
      let key = [UInt8](repeating: UInt8.random(in: 0...9, using: &random), count: 3)
      let tree = try transaction.editKeyTree("keys/" + name)
      if Bool.random(using: &random) {
        let value = [UInt8](
          repeating: 7, count: Int.random(in: 0...2_000, using: &random))
        try tree.set(key, value)
        model.keyTrees["keys/" + name, default: [:]][key] = value
      } else {
        try tree.remove(key)
        model.keyTrees["keys/" + name, default: [:]][key] = nil
      }
    case 90..<96:
      let bytes: [UInt8]? =
        Bool.random(using: &random) ? [1, 2, UInt8.random(in: 0...9, using: &random)] : nil
      try transaction.setValue("value/" + name, bytes)
      model.values["value/" + name] = bytes
    default:
      for full in ["table/" + name, "keys/" + name] {
        try transaction.drop(full)
        model.tables[full] = nil
        model.keyTrees[full] = nil
      }
    }
    try transaction.spillIfNeeded()
  }

  private func changeTable(
    _ transaction: Transaction, _ name: String, _ model: inout Model,
    _ random: inout SeededGenerator
  ) throws {
    let columnCount = name == "table/c" ? 70 : 3
    let editor: TableEditor
    if let known = try transaction.editTable(name) {
      editor = known
    } else {
      editor = try transaction.createTable(
        name,
        columns: (0..<columnCount).map {
          ColumnDescriptor(type: .int, isNullable: true, name: "\($0)")
        })
      model.tables[name] = [:]
    }
    let key = Int64.random(in: 0..<300, using: &random)
    let column = UInt16.random(in: 1...UInt16(columnCount), using: &random)
    let number = Int64.random(in: -1_000...1_000, using: &random)
    if model.tables[name]?[key] == nil {
      #expect(try editor.insert(key: key, values: [(column, .int(number))]))
      var row = [Int64?](repeating: nil, count: columnCount)
      row[Int(column) - 1] = number
      model.tables[name]?[key] = row
    } else if Int.random(in: 0..<3, using: &random) == 0 {
      #expect(try editor.remove(key: key))
      model.tables[name]?[key] = nil
    } else {
      #expect(try editor.update(key: key, column: column, value: .int(number)))
      model.tables[name]?[key]?[Int(column) - 1] = number
    }
  }

  private func expectEqual(_ view: any ReadTransaction, _ model: Model) throws {
    var seen = Model()
    for name in try view.names(withPrefix: "") {
      if let table = try view.table(name) {
        seen.tables[name] = try rows(of: table)
      } else if let tree = try view.keyTree(name) {
        var entries: [[UInt8]: [UInt8]] = [:]
        var cursor = tree.cursor()
        var isValid = try cursor.seekFirst()
        while isValid {
          entries[cursor.key] = try tree.value(for: cursor.key)
          isValid = try cursor.next()
        }
        seen.keyTrees[name] = entries
      } else {
        seen.values[name] = try view.value(name)
      }
    }
    #expect(seen == model)
  }

  private func rows(of table: Table) throws -> [Int64: [Int64?]] {
    var rows: [Int64: [Int64?]] = [:]
    for column in table.record.columns {
      guard let tree = table.tree(of: column.id) else { continue }
      var cursor = tree.leafCursor()
      var isValid = try cursor.first()
      while isValid {
        let leaf = cursor.leaf
        let values = leaf.column(column.id)
        for row in 0..<leaf.rowCount {
          let value: Int64? =
            values.flatMap { $0.isNull(row) ? nil : $0.int(row) }
          rows[leaf.key(at: row), default: []].append(value)
        }
        isValid = try cursor.next()
      }
    }
    return rows
  }
}
