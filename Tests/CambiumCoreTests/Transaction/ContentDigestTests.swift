import CambiumCore
import CambiumMemory
import TestSupport
import Testing

/// The digest of what a version holds, however it came to be and wherever it lies.
struct ContentDigestTests {
  private static let columns = [
    ColumnDescriptor(type: .int, isNullable: true, name: "number"),
    ColumnDescriptor(type: .bytes, isNullable: false, name: "text"),
    ColumnDescriptor(type: .double, isNullable: false, name: "real"),
    ColumnDescriptor(type: .wide, isNullable: true, name: "wide"),
    ColumnDescriptor(type: .bool, isNullable: false, name: "flag"),
  ]

  private struct Row {
    var number: Int64?
    var text: [UInt8]
    var real: Double

    init(_ key: Int64) {
      var generator = SeededGenerator(seed: UInt64(bitPattern: key) &+ 1)
      number = key % 5 == 0 ? nil : key % 3
      let count = key % 97 == 0 ? 5_000 : Int(key % 40)
      text = (0..<count).map { _ in UInt8.random(in: 97...99, using: &generator) }
      real = key % 4 == 0 ? 0 : Double(key) / 3
    }
  }

  private func insert(_ key: Int64, _ table: TableEditor) throws {
    let row = Row(key)
    try row.text.withUnsafeBytes { text in
      _ = try table.insert(
        key: key,
        values: [
          (1, row.number.map { .int($0) } ?? .null), (2, .bytes(text)), (3, .double(row.real)),
          (4, key % 7 == 0 ? .wide(low: 0, high: 1) : .null), (5, .bool(key % 2 == 0)),
        ])
    }
  }

  /// Keys 0 to 1,999 and what goes with them, made in an order of its own.
  private func fill(_ database: Database, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var keys = Array(0..<2_000 as Range<Int64>)
    if seed > 0 { keys.shuffle(using: &generator) }
    do {
      let transaction = try database.beginWrite()
      let table = try transaction.createTable("t", columns: Self.columns, attributes: [7])
      for key in keys.prefix(1_500) { try insert(key, table) }
      if seed > 0 {
        for key in 5_000..<5_800 as Range<Int64> { try insert(key, table) }
      }
      let tree = try transaction.editKeyTree("k")
      for key in keys {
        try "\(key)".utf8.map { $0 }.withUnsafeBytes { name in
          let value = [UInt8](repeating: 1, count: key == 77 ? 3_000 : Int(key % 9))
          try value.withUnsafeBytes { value in _ = try tree.set(name, value) }
        }
      }
      try transaction.setValue("v", [1, 2, 3])
      if seed > 0 { try transaction.setValue("gone", [1]) }
      _ = try transaction.commit(durability: .relaxed)
    }
    let transaction = try database.beginWrite()
    let table = try #require(try transaction.editTable("t"))
    for key in keys.suffix(500) { try insert(key, table) }
    if seed > 0 {
      for key in 5_000..<5_800 as Range<Int64> { _ = try table.remove(key: key) }
      _ = try table.update(key: 3, column: 1, value: .int(9))
      _ = try table.update(key: 3, column: 1, value: Row(3).number.map { .int($0) } ?? .null)
      try transaction.setValue("gone", nil)
    }
    _ = try transaction.commit(durability: .relaxed)
  }

  private func digest(_ database: Database) throws -> ContentDigest {
    try database.snapshot().contentDigest()
  }

  @Test func `equal content has one digest, in any order, store and codec, and after copying`()
    throws
  {
    let first = try Database(store: MemoryStore())
    try fill(first, seed: 0)
    let expected = try digest(first)
    for seed in 1...3 as ClosedRange<UInt64> {
      let other = try Database(store: MemoryStore())
      try fill(other, seed: seed)
      #expect(try digest(other) == expected, "seed \(seed)")
      let copy = try Database(store: HeapStore(codec: MaskCodec().name), codec: MaskCodec())
      try other.copy(to: copy)
      #expect(try digest(copy) == expected)
    }
    #expect(expected.description.count == 32)
    #expect(expected.description == (try digest(first)).description)
  }

  @Test func `any difference in content gives another digest`() throws {
    let database = try Database(store: MemoryStore())
    try fill(database, seed: 0)
    var seen: Set<ContentDigest> = [try digest(database)]
    let table: (Transaction) throws -> TableEditor = {
      try #require(try $0.editTable("t"))
    }
    let changes: [(Transaction) throws -> Void] = [
      { _ = try table($0).update(key: 1_999, column: 1, value: .null) },
      { _ = try table($0).update(key: 1_999, column: 1, value: .int(0)) },
      { _ = try table($0).update(key: 4, column: 3, value: .double(-0.0)) },
      { _ = try table($0).update(key: 5, column: 4, value: .wide(low: 0, high: 0)) },
      { _ = try table($0).update(key: 6, column: 5, value: .bool(false)) },
      { transaction in
        try [UInt8](repeating: 98, count: 70_000).withUnsafeBytes {
          _ = try table(transaction).update(key: 7, column: 2, value: .bytes($0))
        }
      },
      { transaction in
        try ([UInt8](repeating: 98, count: 69_999) + [97]).withUnsafeBytes {
          _ = try table(transaction).update(key: 7, column: 2, value: .bytes($0))
        }
      },
      { _ = try table($0).remove(key: 8) },
      { try insert(9_000, table($0)) },
      { _ = try table($0).addColumn(name: "new", type: .int, isNullable: true) },
      { try $0.setValue("v", [1, 2]) },
      { try $0.setValue("w", [3]) },
      { try $0.setValue("v", nil) },
      { _ = try $0.editKeyTree("l") },
      { transaction in
        try [UInt8]("5".utf8).withUnsafeBytes {
          _ = try transaction.editKeyTree("k").remove($0)
        }
      },
      { try $0.drop("k") },
    ]
    for (index, change) in changes.enumerated() {
      let transaction = try database.beginWrite()
      try change(transaction)
      _ = try transaction.commit(durability: .relaxed)
      let isNew = seen.insert(try digest(database)).inserted
      #expect(isNew, "change \(index) did not change the digest")
    }
  }

  @Test func `stores that differ in one thing alone have different digests`() throws {
    typealias Step = (Transaction) throws -> Void
    let int = ColumnDescriptor(type: .int, isNullable: false, name: "a")
    let value: (String, [UInt8]) -> Step = { name, bytes in { try $0.setValue(name, bytes) } }
    let tree: (String, String, String) -> Step = { name, key, value in
      { transaction in
        let tree = try transaction.editKeyTree(name)
        try [UInt8](key.utf8).withUnsafeBytes { key in
          try [UInt8](value.utf8).withUnsafeBytes { _ = try tree.set(key, $0) }
        }
      }
    }
    let table: (String, [ColumnDescriptor], [UInt8], [Int64]) -> Step = {
      name, columns, attributes, keys in
      { transaction in
        let table = try transaction.createTable(name, columns: columns, attributes: attributes)
        for key in keys { _ = try table.insert(key: key, values: []) }
      }
    }
    let column: (ColumnType, Bool, String, [UInt8]) -> ColumnDescriptor = {
      ColumnDescriptor(type: $0, isNullable: $1, name: $2, attributes: $3)
    }
    let steps: [Step] = [
      { _ in }, value("a", []), value("b", []), value("a", [0]), value("a", [0, 0]),
      tree("a", "k", "v"), tree("b", "k", "v"), tree("a", "l", "v"), tree("a", "k", "w"),
      tree("a", "k", ""), tree("a", "kv", ""), { _ = try $0.editKeyTree("a") },
      table("a", [int], [], []), table("b", [int], [], []), table("a", [int], [1], []),
      table("a", [int], [], [1]), table("a", [int], [], [2]), table("a", [int], [], [1, 2]),
      table("a", [int, column(.int, false, "b", [])], [], []),
      table("a", [column(.bool, false, "a", [])], [], []),
      table("a", [column(.int, true, "a", [])], [], []),
      table("a", [column(.int, false, "b", [])], [], []),
      table("a", [column(.int, false, "a", [1])], [], []),
      { transaction in
        // The same column under the next number.
        let table = try transaction.createTable("a", columns: [int])
        try table.removeColumn(1)
        _ = try table.addColumn(name: "a", type: .int, isNullable: false)
      },
    ]
    var seen: [ContentDigest: Int] = [:]
    for (index, step) in steps.enumerated() {
      let database = try Database(store: MemoryStore())
      let transaction = try database.beginWrite()
      try step(transaction)
      _ = try transaction.commit(durability: .relaxed)
      if let other = seen.updateValue(index, forKey: try digest(database)) {
        Issue.record("Stores \(other) and \(index) have the same digest.")
      }
    }
  }

  @Test func `progress counts rows and keys up to all of them`() throws {
    let database = try Database(store: MemoryStore())
    try fill(database, seed: 0)
    var counts: [Int] = []
    _ = try database.snapshot().contentDigest { counts.append($0) }
    #expect(counts.last == 4_000)
    #expect(counts == counts.sorted())
  }
}
