import Foundation
import GRDB

extension SQLiteEngine: ColumnUpdating {
  func addYear() throws {
    try write(isDurable: false) { database in
      try SteppedStatement("UPDATE person SET age = (age + 1) % 100", database).run()
    }
  }
}

extension SQLiteEngine: Deleting {
  func removeOddKeys() throws {
    try write(isDurable: true) { database in
      try SteppedStatement("DELETE FROM person WHERE id & 1", database).run()
    }
  }

  func remove(_ keys: [Int64]) throws {
    try write(isDurable: true) { database in
      let statement = try SteppedStatement("DELETE FROM person WHERE id = ?", database)
      for key in keys {
        statement.bind(1, key)
        try statement.run()
      }
    }
  }

  func reusableShare() throws -> Double? {
    try read { database in
      let free = try Int.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
      let all = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 1
      return Double(free) / Double(all)
    }
  }

  func compactedByteCount() throws -> Int {
    let copy = path + ".compacted"
    defer { try? FileManager.default.removeItem(atPath: copy) }
    try opened().writeWithoutTransaction { database in
      try database.execute(sql: "VACUUM INTO ?", arguments: [copy])
    }
    let attributes = try FileManager.default.attributesOfItem(atPath: copy)
    return (attributes[.size] as? NSNumber)?.intValue ?? 0
  }
}

extension SQLiteEngine: SnapshotTaking {
  /// A read begins when its first statement has run; here a look at one row.
  func beginReads(_ count: Int) throws {
    try opened().unsafeRead { database in
      let begin = try SteppedStatement("BEGIN", database)
      let look = try SteppedStatement("SELECT 1 FROM person", database)
      let end = try SteppedStatement("COMMIT", database)
      for _ in 0..<count {
        try begin.run()
        _ = try look.step()
        look.reset()
        try end.run()
      }
    }
  }
}
