import CambiumCore
import TestSupport

/// What a small database holds, as a model of it: two tables, a key tree and values.
struct DatabaseContent: Equatable {
  struct Row: Equatable {
    var text: [UInt8]
    var number: Int64
  }

  private var tables: [String: [Int64: Row]] = [:]
  private var keys: [[UInt8]: [UInt8]] = [:]
  private var values: [String: [UInt8]] = [:]

  private static let tableNames = ["a", "b"]
  private static let valueNames = ["v", "w"]
  static let rowKeys = 0..<250 as Range<Int64>
  private static let keysName = "keys"
  private static let text: UInt16 = 1
  private static let number: UInt16 = 2

  /// Nothing.
  init() {}

  // MARK: Reading

  /// Reads everything.
  init(of view: any ReadTransaction) throws(StoreError) {
    for name in Self.tableNames {
      guard let tree = try view.table(name)?.groups[0] else { continue }
      tables[name] = try Self.rows(of: tree)
    }
    if let tree = try view.keyTree(Self.keysName) {
      var cursor = tree.cursor()
      var isValid = try cursor.seekFirst()
      while isValid {
        keys[cursor.key] = try tree.value(for: cursor.key)
        isValid = try cursor.next()
      }
    }
    for name in Self.valueNames { values[name] = try view.value(name) }
  }

  private static func rows(of tree: ColumnTree) throws(StoreError) -> [Int64: Row] {
    var rows: [Int64: Row] = [:]
    var cursor = tree.leafCursor()
    var isValid = try cursor.first()
    while isValid {
      let leaf = cursor.leaf
      for index in 0..<leaf.rowCount {
        var row = Row(text: [], number: leaf.column(number)?.int(index) ?? 0)
        if let column = leaf.column(text) {
          row.text = try tree.bytes(of: column.bytes(index)) ?? []
        }
        rows[leaf.key(at: index)] = row
      }
      isValid = try cursor.next()
    }
    return rows
  }

  // MARK: Changing

  /// Changes something at random, here and in `transaction`.
  mutating func change(
    _ transaction: Transaction, _ random: inout SeededGenerator
  ) throws(StoreError) {
    let name = Self.tableNames.randomElement(using: &random) ?? "a"
    switch Int.random(in: 0..<50, using: &random) {
    case 0:
      try transaction.drop(name)
      tables[name] = nil
    case 1..<10: try changeKey(transaction, &random)
    case 10..<13:
      let name = Self.valueNames.randomElement(using: &random) ?? "v"
      let bytes = Bool.random(using: &random) ? Self.bytes(&random) : nil
      try transaction.setValue(name, bytes)
      values[name] = bytes
    default:
      let editor = try Self.table(name, transaction)
      var rows = tables[name] ?? [:]
      try Self.changeRow(editor, &rows, &random)
      tables[name] = rows
    }
  }

  /// Adds, changes or removes one row, here and in `transaction`.
  mutating func changeRow(
    _ transaction: Transaction, _ random: inout SeededGenerator
  ) throws(StoreError) {
    let name = Self.tableNames.randomElement(using: &random) ?? "a"
    let editor = try Self.table(name, transaction)
    var rows = tables[name] ?? [:]
    try Self.changeRow(editor, &rows, &random)
    tables[name] = rows
  }

  /// Gives `count` rows texts in which nothing repeats itself, here and in `transaction`.
  mutating func lengthen(
    _ count: Int, _ transaction: Transaction, _ random: inout SeededGenerator
  ) throws(StoreError) {
    let name = Self.tableNames.randomElement(using: &random) ?? "a"
    let editor = try Self.table(name, transaction)
    if Int.random(in: 0..<4, using: &random) == 0, let rows = tables[name] {
      for key in rows.keys { try editor.remove(key: key) }
      tables[name] = [:]
    }
    for _ in 0..<count {
      let key = Int64.random(in: Self.rowKeys, using: &random)
      let words = (0..<Int.random(in: 1...120, using: &random)).map { _ in random.next() }
      let text = words.withUnsafeBytes { Array($0) }
      try setText(text, key, of: name, editor)
    }
  }

  /// Gives a row a text, which is there or comes.
  private mutating func setText(
    _ text: [UInt8], _ key: Int64, of name: String, _ editor: TableEditor
  ) throws(StoreError) {
    let isNew = tables[name]?[key] == nil
    try text.withBytes { bytes throws(StoreError) in
      if isNew {
        _ = try editor.insert(key: key, values: [(Self.text, .bytes(bytes))])
      } else {
        _ = try editor.update(key: key, column: Self.text, value: .bytes(bytes))
      }
    }
    tables[name, default: [:]][key, default: Row(text: [], number: 0)].text = text
  }

  /// Gives the rows `keys` of all tables a text, here and in `transaction`; each sixth one is long and
  /// lies in a page of its own.
  mutating func fill(
    _ keys: Range<Int64>, _ transaction: Transaction
  ) throws(StoreError) {
    for name in Self.tableNames {
      let editor = try Self.table(name, transaction)
      for key in keys {
        // Nothing in it repeats itself, so that it takes the room that it seems to.
        var random = SeededGenerator(seed: UInt64(key))
        let words = (0..<(key % 6 == 0 ? 190 : 20)).map { _ in random.next() }
        let text = words.withUnsafeBytes { Array($0) }
        try setText(text, key, of: name, editor)
      }
    }
  }

  /// Removes the first three quarters of all rows and keys, here and in `transaction`.
  mutating func thinOut(_ transaction: Transaction) throws(StoreError) {
    for name in Self.tableNames {
      guard let rows = tables[name], let editor = try transaction.editTable(name) else { continue }
      for key in rows.keys.sorted().prefix(rows.count * 3 / 4) {
        try editor.remove(key: key)
        tables[name]?[key] = nil
      }
    }
    let tree = try transaction.editKeyTree(Self.keysName)
    let sorted = keys.keys.sorted { $0.lexicographicallyPrecedes($1) }
    for key in sorted.prefix(sorted.count * 3 / 4) {
      try tree.remove(key)
      keys[key] = nil
    }
  }

  /// Whether the tables of `snapshot` have the columns that changes need: a record may say of them what it likes.
  static func hasColumns(_ snapshot: Snapshot) throws(StoreError) -> Bool {
    for name in tableNames {
      guard let record = try snapshot.table(name)?.record else { continue }
      let types = record.groups.joined().filter { $0.id == text || $0.id == number }.map(\.type)
      if types != [.bytes, .int] || record.groups.joined().count != 2 { return false }
    }
    return true
  }

  private static func table(
    _ name: String, _ transaction: Transaction
  ) throws(StoreError) -> TableEditor {
    if let editor = try transaction.editTable(name) { return editor }
    return try transaction.createTable(
      name,
      columns: [
        ColumnDescriptor(type: .bytes, isNullable: false, name: "text"),
        ColumnDescriptor(type: .int, isNullable: false, name: "number"),
      ])
  }

  private static func bytes(_ random: inout SeededGenerator) -> [UInt8] {
    let isLong = Int.random(in: 0..<12, using: &random) == 0
    return [UInt8](
      repeating: UInt8.random(in: 0...3, using: &random),
      count: Int.random(in: 0...(isLong ? 9_000 : 60), using: &random))
  }

  private mutating func changeKey(
    _ transaction: Transaction, _ random: inout SeededGenerator
  ) throws(StoreError) {
    let key = [UInt8](repeating: UInt8.random(in: 0...40, using: &random), count: 5)
    let tree = try transaction.editKeyTree(Self.keysName)
    if Bool.random(using: &random) {
      let bytes = Self.bytes(&random)
      try tree.set(key, bytes)
      keys[key] = bytes
    } else {
      try tree.remove(key)
      keys[key] = nil
    }
  }

  private static func changeRow(
    _ editor: TableEditor, _ rows: inout [Int64: Row], _ random: inout SeededGenerator
  ) throws(StoreError) {
    let key = Int64.random(in: rowKeys, using: &random)
    guard rows[key] != nil else {
      let row = Row(text: bytes(&random), number: Int64.random(in: -9...9, using: &random))
      let isNew = try row.text.withBytes { text throws(StoreError) in
        try editor.insert(
          key: key, values: [(Self.text, .bytes(text)), (Self.number, .int(row.number))])
      }
      precondition(isNew, "The model has no row \(key).")
      rows[key] = row
      return
    }
    switch Int.random(in: 0..<3, using: &random) {
    case 0:
      try editor.remove(key: key)
      rows[key] = nil
    case 1:
      let number = Int64.random(in: .min ... .max, using: &random)
      try editor.update(key: key, column: Self.number, value: .int(number))
      rows[key]?.number = number
    default:
      let text = bytes(&random)
      try text.withBytes { bytes throws(StoreError) in
        _ = try editor.update(key: key, column: Self.text, value: .bytes(bytes))
      }
      rows[key]?.text = text
    }
  }
}
