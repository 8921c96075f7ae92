import CLMDB

/// LMDB as its users run it: synchronous, a key-value pair per record, integer keys.
final class LMDBEngine: Engine {
  static let name = "lmdb"

  private let folder: String
  private var environment: OpaquePointer?
  private var database: MDB_dbi = 0

  init(folder: String) {
    self.folder = folder
  }

  func open() throws {
    try check(mdb_env_create(&environment))
    try check(mdb_env_set_mapsize(environment, 16 << 30))
    try check(mdb_env_open(environment, folder, 0, 0o600))
    try withTransaction(flags: 0) { transaction in
      try check(mdb_dbi_open(transaction, nil, UInt32(MDB_INTEGERKEY), &database))
    }
  }

  func close() {
    mdb_env_close(environment)
    environment = nil
  }

  /// Runs `body` in a transaction and commits it; a failure aborts it.
  private func withTransaction<Result>(
    flags: Int32, _ body: (OpaquePointer?) throws -> Result
  ) throws -> Result {
    var transaction: OpaquePointer?
    try check(mdb_txn_begin(environment, nil, UInt32(flags), &transaction))
    let result: Result
    do {
      result = try body(transaction)
    } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    try check(mdb_txn_commit(transaction))
    return result
  }

  private func withCursor<Result>(
    _ transaction: OpaquePointer?, _ body: (OpaquePointer?) throws -> Result
  ) throws -> Result {
    var cursor: OpaquePointer?
    try check(mdb_cursor_open(transaction, database, &cursor))
    defer { mdb_cursor_close(cursor) }
    return try body(cursor)
  }

  /// Visits every record in key order; the bytes are LMDB's own.
  @inline(__always)
  private func scan(_ visit: (UnsafeRawPointer) -> Void) throws {
    try withTransaction(flags: MDB_RDONLY) { transaction in
      try withCursor(transaction) { cursor in
        var key = MDB_val()
        var value = MDB_val()
        var code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
        while code == MDB_SUCCESS {
          visit(UnsafeRawPointer(value.mv_data))
          code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
        }
        if code != MDB_NOTFOUND { try check(code) }
      }
    }
  }
}

extension LMDBEngine: BulkAppending {
  func append(_ people: People) throws {
    try withTransaction(flags: 0) { transaction in
      try withCursor(transaction) { cursor in
        for index in 0..<people.count {
          try put(people[index], cursor, flags: MDB_APPEND)
        }
      }
    }
  }

  /// Stores one record, packed straight into the place that LMDB reserves for it.
  private func put(_ person: Person, _ cursor: OpaquePointer?, flags: Int32) throws {
    var id = person.id
    try withUnsafeMutableBytes(of: &id) { idBytes in
      var key = MDB_val(mv_size: idBytes.count, mv_data: idBytes.baseAddress)
      var value = MDB_val(mv_size: PackedPerson.byteCount(of: person), mv_data: nil)
      try check(mdb_cursor_put(cursor, &key, &value, UInt32(flags | MDB_RESERVE)))
      PackedPerson.write(person, to: value.mv_data)
    }
  }
}

extension LMDBEngine: PointReading {
  func readNames(of keys: [Int64]) throws -> NameDigest {
    try withTransaction(flags: MDB_RDONLY) { transaction in
      var digest = NameDigest()
      var value = MDB_val()
      for key in keys {
        var id = key
        try withUnsafeMutableBytes(of: &id) { idBytes in
          var key = MDB_val(mv_size: idBytes.count, mv_data: idBytes.baseAddress)
          try check(mdb_get(transaction, database, &key, &value))
        }
        digest.add(PackedPerson.name(in: UnsafeRawPointer(value.mv_data)))
      }
      return digest
    }
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

extension LMDBEngine: SmallCommitting {
  private func setSyncing(_ isSyncing: Bool) throws {
    try check(mdb_env_set_flags(environment, UInt32(MDB_NOSYNC), isSyncing ? 0 : 1))
  }

  func commitAppend(_ person: Person, isDurable: Bool) throws {
    try setSyncing(isDurable)
    try withTransaction(flags: 0) { transaction in
      try withCursor(transaction) { cursor in try put(person, cursor, flags: MDB_APPEND) }
    }
  }

  func commitUpdate(key: Int64, age: Int64, isDurable: Bool) throws {
    try setSyncing(isDurable)
    try withTransaction(flags: 0) { transaction in
      try withCursor(transaction) { cursor in
        var id = key
        try withUnsafeMutableBytes(of: &id) { idBytes in
          var key = MDB_val(mv_size: idBytes.count, mv_data: idBytes.baseAddress)
          var old = MDB_val()
          try check(mdb_cursor_get(cursor, &key, &old, MDB_SET_KEY))
          let record = UnsafeMutableRawPointer.allocate(byteCount: old.mv_size, alignment: 8)
          defer { record.deallocate() }
          record.copyMemory(from: UnsafeRawPointer(old.mv_data), byteCount: old.mv_size)
          PackedPerson.setAge(age, in: record)
          var new = MDB_val(mv_size: old.mv_size, mv_data: record)
          try check(mdb_cursor_put(cursor, &key, &new, UInt32(MDB_CURRENT)))
        }
      }
    }
  }
}

/// An error code of LMDB.
struct LMDBFailure: Error, CustomStringConvertible {
  var code: Int32
  var description: String { "LMDB: " + String(cString: mdb_strerror(code)) }
}

@inline(__always)
private func check(_ code: Int32) throws {
  if code != MDB_SUCCESS { throw LMDBFailure(code: code) }
}
