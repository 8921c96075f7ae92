import CPeerRocksDB

extension RocksDBEngine: PointReading {
  func readNames(of keys: [Int64]) throws -> NameDigest {
    var digest = NameDigest()
    for key in keys {
      try withRecord(key) { if let record = $0 { digest.add(PackedPerson.name(in: record)) } }
    }
    return digest
  }

  func readStrings(of keys: [Int64]) throws -> NameDigest {
    var digest = NameDigest()
    for key in keys {
      try withRecord(key) { record in
        guard let record else { return }
        digest.add(String(decoding: PackedPerson.name(in: record), as: UTF8.self))
      }
    }
    return digest
  }

  func readAges(of keys: [Int64]) throws -> [Int64] {
    try keys.map { key in try withRecord(key) { $0.map(PackedPerson.age) ?? -1 } }
  }

  /// Lends the bytes of one record, pinned in the cache.
  @inline(__always)
  func withRecord<Result>(
    _ key: Int64, _ body: (UnsafeRawPointer?) -> Result
  ) throws -> Result {
    let slice = try withRocksDBKey(key) { key in
      try check { rocksdb_get_pinned(database, readOptions, key, 8, &$0) }
    }
    defer { rocksdb_pinnableslice_destroy(slice) }
    var length = 0
    return body(rocksdb_pinnableslice_value(slice, &length).map { UnsafeRawPointer($0) })
  }
}

extension RocksDBEngine: ColumnScanning {
  func count(ofAgesIn range: Range<Int64>) throws -> Int {
    var count = 0
    try scan { _, record in
      guard let start = record.baseAddress else { return }
      if range.contains(PackedPerson.age(in: start)) { count += 1 }
    }
    return count
  }

  func sumOfScores() throws -> Double {
    var sum = 0.0
    try scan { _, record in
      if let start = record.baseAddress { sum += PackedPerson.score(in: start) }
    }
    return sum
  }
}
