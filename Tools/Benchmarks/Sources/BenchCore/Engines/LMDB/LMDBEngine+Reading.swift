import CLMDB

extension LMDBEngine: PointReading {
  func readNames(of keys: [Int64]) throws -> NameDigest {
    try withTransaction(flags: MDB_RDONLY) { transaction in
      var digest = NameDigest()
      for key in keys {
        guard let record = try record(key, transaction) else { continue }
        digest.add(PackedPerson.name(in: record))
      }
      return digest
    }
  }

  func readStrings(of keys: [Int64]) throws -> NameDigest {
    try withTransaction(flags: MDB_RDONLY) { transaction in
      var digest = NameDigest()
      for key in keys {
        guard let record = try record(key, transaction) else { continue }
        digest.add(String(decoding: PackedPerson.name(in: record), as: UTF8.self))
      }
      return digest
    }
  }

  func readAges(of keys: [Int64]) throws -> [Int64] {
    try withTransaction(flags: MDB_RDONLY) { transaction in
      try keys.map { key in try record(key, transaction).map(PackedPerson.age) ?? -1 }
    }
  }

  /// The bytes of one record, as they lie in the file.
  @inline(__always)
  func record(_ key: Int64, _ transaction: OpaquePointer?) throws -> UnsafeRawPointer? {
    var value = MDB_val()
    var id = key
    let code = withUnsafeMutableBytes(of: &id) { idBytes in
      var key = MDB_val(mv_size: idBytes.count, mv_data: idBytes.baseAddress)
      return mdb_get(transaction, database, &key, &value)
    }
    if code == MDB_NOTFOUND { return nil }
    try check(code)
    return UnsafeRawPointer(value.mv_data)
  }
}

extension LMDBEngine: ColumnScanning {
  func count(ofAgesIn range: Range<Int64>) throws -> Int {
    var count = 0
    try scan { record in
      if range.contains(PackedPerson.age(in: record)) { count += 1 }
    }
    return count
  }

  func sumOfScores() throws -> Double {
    var sum = 0.0
    try scan { record in sum += PackedPerson.score(in: record) }
    return sum
  }
}
