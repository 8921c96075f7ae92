import CambiumCore
import CambiumFile

extension CambiumEngine: ColumnUpdating {
  func addYear() throws {
    try write(isDurable: false) { editor in
      try editor.editor(of: Column.age).updateInts(of: Column.age) { _, ages in
        for row in ages.indices { ages[row] = (ages[row] + 1) % 100 }
      }
    }
  }
}

extension CambiumEngine: Deleting {
  func removeOddKeys() throws {
    let count = try read { tree in Int64(tree.count) }
    let keys = [Int64](unsafeUninitializedCapacity: Int(count / 2)) { keys, filled in
      filled = Int(count / 2)
      for place in 0..<filled { keys[place] = Int64(place * 2 + 1) }
    }
    try write { editor in _ = try editor.remove(keys: keys) }
  }

  func remove(_ keys: [Int64]) throws {
    try write { editor in _ = try editor.remove(keys: keys) }
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
