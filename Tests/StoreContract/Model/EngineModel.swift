import CambiumCore

/// Random work with tables, key trees and values, beside what they must hold.
struct EngineModel {
  /// What a version holds.
  struct Content: Equatable {
    var tables: [String: [Int64: [UInt8]]] = [:]
    var keys: [[UInt8]: [UInt8]] = [:]
    var values: [String: [UInt8]] = [:]
  }

  private static let tableNames = ["a", "b"]
  private(set) var content = Content()
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  /// Small budgets, so that transactions spill and pages leave the cache.
  static var options: DatabaseOptions {
    var options = DatabaseOptions()
    options.transactionBudgetByteCount = 12_000
    options.deadPagesPerCommit = 5
    options.pageCacheByteCount = 64 << 10
    return options
  }

  /// Commits and rolls back, keeping some versions, and compares each of them.
  mutating func work(_ run: ContractRun<StoreSubject>, on database: Database) throws(StoreError) {
    run.expect(try Self.read(database.snapshot()) == content, "not what was there before")
    var kept: [(snapshot: Snapshot, content: Content)] = []
    for step in 0..<24 {
      let transaction = try database.beginWrite()
      var changed = content
      for _ in 0..<Int.random(in: 0...40, using: &generator) { try change(transaction, &changed) }
      if Int.random(in: 0..<5, using: &generator) == 0 {
        transaction.rollback()
      } else {
        let durability = Durability.allCases.randomElement(using: &generator) ?? .full
        kept.append((try transaction.commit(durability: durability), changed))
        content = changed
      }
      if Int.random(in: 0..<6, using: &generator) == 0 { try database.sync() }
      while kept.count > 5 { kept.remove(at: Int.random(in: kept.indices, using: &generator)) }
      guard step % 6 == 5 else { continue }
      for (snapshot, old) in kept {
        run.expect(
          try Self.read(snapshot) == old, "step \(step): version \(snapshot.version) differs")
      }
      run.note(try database.verify().findings.map { "step \(step): \($0)" })
    }
  }

  private mutating func change(
    _ transaction: Transaction, _ content: inout Content
  ) throws(StoreError) {
    let name = Self.tableNames.randomElement(using: &generator) ?? "a"
    let isLong = Int.random(in: 0..<12, using: &generator) == 0
    let bytes = [UInt8](
      repeating: UInt8.random(in: 0...3, using: &generator),
      count: Int.random(in: 1...(isLong ? 9_000 : 60), using: &generator))
    switch Int.random(in: 0..<50, using: &generator) {
    case 0:
      try transaction.drop(name)
      content.tables[name] = nil
    case 1..<10:
      let key = [UInt8](repeating: UInt8.random(in: 0...40, using: &generator), count: 5)
      let tree = try transaction.editKeyTree("keys")
      if Bool.random(using: &generator) {
        try tree.set(key, bytes)
        content.keys[key] = bytes
      } else {
        try tree.remove(key)
        content.keys[key] = nil
      }
    case 10..<13:
      let value = Bool.random(using: &generator) ? bytes : nil
      try transaction.setValue("value", value)
      content.values["value"] = value
    default:
      let key = Int64.random(in: 0..<250, using: &generator)
      let isRemoving = Int.random(in: 0..<3, using: &generator) == 0
      try changeTable(name, key, isRemoving ? nil : bytes, transaction, &content)
    }
  }

  private func changeTable(
    _ name: String, _ key: Int64, _ bytes: [UInt8]?, _ transaction: Transaction,
    _ content: inout Content
  ) throws(StoreError) {
    var editor = try transaction.editTable(name)
    if editor == nil {
      let column = ColumnDescriptor(type: .bytes, isNullable: false, name: "text")
      editor = try transaction.createTable(name, columns: [column])
      content.tables[name] = [:]
    }
    guard let editor else { return }
    let isThere = content.tables[name]?[key] != nil
    guard let bytes else {
      if isThere { try editor.remove(key: key) }
      content.tables[name]?[key] = nil
      return
    }
    let result = unsafe bytes.withUnsafeBytes { bytes in
      Result<Void, StoreError> { () throws(StoreError) in
        if isThere {
          try unsafe editor.update(key: key, column: 1, value: .bytes(bytes))
        } else {
          try unsafe editor.insert(key: key, values: [(1, .bytes(bytes))])
        }
      }
    }
    try result.get()
    content.tables[name, default: [:]][key] = bytes
  }

  /// What a version holds.
  static func read(_ snapshot: Snapshot) throws(StoreError) -> Content {
    var content = Content()
    for name in tableNames {
      guard let tree = try snapshot.table(name)?.groups.first else { continue }
      var rows: [Int64: [UInt8]] = [:]
      var cursor = tree.leafCursor()
      var isValid = try cursor.first()
      while isValid {
        for row in 0..<cursor.leaf.rowCount {
          guard let column = cursor.leaf.column(1) else { continue }
          rows[cursor.leaf.key(at: row)] = try tree.bytes(of: column.bytes(row))
        }
        isValid = try cursor.next()
      }
      content.tables[name] = rows
    }
    if let tree = try snapshot.keyTree("keys") {
      var cursor = tree.cursor()
      var isValid = try cursor.seekFirst()
      while isValid {
        content.keys[cursor.key] = try tree.value(for: cursor.key)
        isValid = try cursor.next()
      }
    }
    content.values["value"] = try snapshot.value("value")
    return content
  }
}
