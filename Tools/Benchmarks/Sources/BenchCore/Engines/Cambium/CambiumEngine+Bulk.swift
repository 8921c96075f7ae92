import CambiumCore
import CambiumFile

extension CambiumEngine: ColumnUpdating {
  func addYear() throws {
    let snapshot = try opened().snapshot()
    guard let table = try snapshot.table(Self.table) else { throw NotOpen() }
    try write(isDurable: false) { editor in
      let editor = editor.editor(of: Column.age)
      var cursor = table.groups[0].leafCursor(reading: [Column.age])
      var isValid = try cursor.first()
      while isValid {
        let leaf = cursor.leaf
        let ages = leaf.column(Column.age)
        for row in 0..<leaf.rowCount {
          let age = ((ages?.int(row) ?? 0) + 1) % 100
          try editor.update(key: leaf.key(at: row), column: Column.age, value: .int(age))
        }
        isValid = try cursor.next()
      }
    }
  }
}

extension CambiumEngine: Deleting {
  func removeOddKeys() throws {
    let count = try read { tree in Int64(tree.count) }
    try write { editor in
      for key in stride(from: Int64(1), to: count, by: 2) { try editor.remove(key: key) }
    }
  }

  func remove(_ keys: [Int64]) throws {
    try write { editor in
      for key in keys { try editor.remove(key: key) }
    }
  }

  func reusableShare() throws -> Double? {
    let statistics = try opened().statistics()
    return Double(statistics.freeByteCount + statistics.pendingByteCount)
      / Double(statistics.totalByteCount)
  }

  func compactedByteCount() throws -> Int {
    close()
    let report = try FileStore.compact(path: path)
    try open()
    return report.byteCountAfter
  }
}

extension CambiumEngine: SnapshotTaking, Freezing {
  func beginReads(_ count: Int) throws {
    let database = try opened()
    for _ in 0..<count {
      let snapshot = try database.snapshot()
      withExtendedLifetime(snapshot) {}
    }
  }

  func freeze(_ count: Int) throws {
    let snapshot = try opened().snapshot()
    try withExtendedLifetime(snapshot) { try beginReads(count) }
  }
}
