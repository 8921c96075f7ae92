import CambiumCore

/// What comes and goes beside a ring, so that the store grows and shrinks: a large value, and many
/// rows of a table, whose number is also kept as a value.
enum RingBallast {
  private static let valueName = "ballast"
  private static let tableName = "rows"
  private static let countName = "row count"
  private static let text: UInt16 = 1

  /// Now and then adds or removes much.
  static func shift(
    _ transaction: Transaction, _ generator: inout SeededGenerator
  ) throws {
    switch Int.random(in: 0..<48, using: &generator) {
    case 0:
      let count = Int.random(in: 20_000...400_000, using: &generator)
      try transaction.setValue(
        valueName, [UInt8](repeating: UInt8(count % 251), count: count))
    case 1: try transaction.setValue(valueName, nil)
    case 2, 3:
      let table = try table(transaction)
      let row = [UInt8](repeating: 7, count: Int.random(in: 40...400, using: &generator))
      for _ in 0..<Int.random(in: 20...300, using: &generator) {
        let key = try table.generateKey()
        try unsafe row.withUnsafeBytes { row in
          _ = try unsafe table.insert(key: key, values: [(text, .bytes(row))])
        }
      }
      try note(table, transaction)
    case 4, 5:
      let table = try table(transaction)
      // All of them, or most: what stays lies anywhere.
      let keepsSome = Bool.random(using: &generator)
      for key in try keys(table.table) where !keepsSome || key % 9 > 0 {
        try table.remove(key: key)
      }
      try note(table, transaction)
    default: break
    }
  }

  private static func table(_ transaction: Transaction) throws -> TableEditor {
    if let table = try transaction.editTable(tableName) { return table }
    return try transaction.createTable(
      tableName, columns: [ColumnDescriptor(type: .bytes, isNullable: false, name: "text")])
  }

  private static func keys(_ table: Table) throws -> [Int64] {
    var keys: [Int64] = []
    var cursor = table.groups[0].leafCursor()
    var isValid = try cursor.first()
    while isValid {
      for row in 0..<cursor.leaf.rowCount { keys.append(cursor.leaf.key(at: row)) }
      isValid = try cursor.next()
    }
    return keys
  }

  private static func note(_ table: TableEditor, _ transaction: Transaction) throws {
    try transaction.setValue(countName, Array("\(table.table.count)".utf8))
  }

  /// Whether it is as one transaction has left it.
  static func isWhole(_ view: any ReadTransaction) throws -> Bool {
    if let value = try view.value(valueName) {
      let byte = UInt8(value.count % 251)
      guard value.first == byte, value.last == byte else { return false }
    }
    let count = try view.value(countName).map { String(decoding: $0, as: UTF8.self) } ?? "0"
    return try "\(view.table(tableName)?.count ?? 0)" == count
  }
}
