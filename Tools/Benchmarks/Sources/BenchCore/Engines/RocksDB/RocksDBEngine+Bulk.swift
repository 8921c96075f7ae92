import CPeerRocksDB
import Foundation

extension RocksDBEngine: ColumnUpdating {
  func addYear() throws {
    try inBatches(isDurable: false) { batch, key, record in
      withUnsafeTemporaryAllocation(byteCount: record.count, alignment: 8) { copy in
        copy.copyMemory(from: record)
        guard let start = copy.baseAddress else { return false }
        PackedPerson.setAge((PackedPerson.age(in: start) + 1) % 100, in: start)
        put(UnsafeRawBufferPointer(copy), under: key, batch)
        return true
      }
    }
  }

  /// Visits every record and writes what the visits put into a batch, a thousand changes at a time;
  /// a visit says whether it changed anything.
  private func inBatches(
    isDurable: Bool,
    _ visit: (OpaquePointer?, Int64, UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    let batch = rocksdb_writebatch_create()
    defer { rocksdb_writebatch_destroy(batch) }
    var count = 0
    try scan { key, record in
      guard try visit(batch, key, record) else { return }
      count += 1
      if count & 1023 == 0 {
        try write(batch, isDurable: false)
        rocksdb_writebatch_clear(batch)
      }
    }
    try write(batch, isDurable: isDurable)
  }
}

extension RocksDBEngine: Deleting {
  func removeOddKeys() throws {
    try inBatches(isDurable: true) { batch, key, _ in
      if key & 1 == 0 { return false }
      withRocksDBKey(key) { rocksdb_writebatch_delete(batch, $0, 8) }
      return true
    }
  }

  func remove(_ keys: [Int64]) throws {
    let batch = rocksdb_writebatch_create()
    defer { rocksdb_writebatch_destroy(batch) }
    for (place, key) in keys.enumerated() {
      withRocksDBKey(key) { rocksdb_writebatch_delete(batch, $0, 8) }
      if place & 1023 == 1023 {
        try write(batch, isDurable: false)
        rocksdb_writebatch_clear(batch)
      }
    }
    try write(batch, isDurable: true)
  }

  func reusableShare() throws -> Double? { nil }

  func compactedByteCount() throws -> Int {
    try settle()
    let files = rocksdb_livefiles(database)
    defer { rocksdb_livefiles_destroy(files) }
    return (0..<rocksdb_livefiles_count(files)).reduce(0) {
      $0 + Int(rocksdb_livefiles_size(files, $1))
    }
  }
}

extension RocksDBEngine: SnapshotTaking {
  func beginReads(_ count: Int) throws {
    for _ in 0..<count {
      let snapshot = rocksdb_create_snapshot(database)
      rocksdb_release_snapshot(database, snapshot)
    }
  }
}
