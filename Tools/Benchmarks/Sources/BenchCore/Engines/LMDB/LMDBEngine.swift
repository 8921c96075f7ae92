import CLMDB

/// LMDB as its users run it: synchronous, a key-value pair per record, integer keys.
final class LMDBEngine: Engine {
  static let name = "lmdb"

  let folder: String
  private(set) var environment: OpaquePointer?
  /// A transaction that was reset and waits to be renewed.
  var reader: OpaquePointer?
  /// The index of names, while there is one.
  var index: LMDBIndex?
  private(set) var database: MDB_dbi = 0

  init(folder: String) {
    self.folder = folder
  }

  deinit { close() }

  func create() throws {
    try openEnvironment()
    try withTransaction(flags: 0) { transaction in
      try check(mdb_dbi_open(transaction, nil, UInt32(MDB_INTEGERKEY), &database))
    }
  }

  func open() throws {
    try openEnvironment()
    try withTransaction(flags: MDB_RDONLY) { transaction in
      try check(mdb_dbi_open(transaction, nil, 0, &database))
    }
  }

  private func openEnvironment() throws {
    try check(mdb_env_create(&environment))
    try check(mdb_env_set_mapsize(environment, 64 << 30))
    try check(mdb_env_open(environment, folder, UInt32(MDB_NOTLS), 0o600))
  }

  func close() {
    guard let environment else { return }
    if let reader { mdb_txn_abort(reader) }
    reader = nil
    mdb_env_close(environment)
    self.environment = nil
  }

  /// Whether commits wait for the disk.
  func setSyncing(_ isSyncing: Bool) throws {
    try check(mdb_env_set_flags(environment, UInt32(MDB_NOSYNC), isSyncing ? 0 : 1))
  }

  /// Runs `body` in a transaction and commits it; a failure aborts it.
  func withTransaction<Result>(
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

  func withCursor<Result>(
    _ transaction: OpaquePointer?, _ body: (OpaquePointer?) throws -> Result
  ) throws -> Result {
    var cursor: OpaquePointer?
    try check(mdb_cursor_open(transaction, database, &cursor))
    defer { mdb_cursor_close(cursor) }
    return try body(cursor)
  }

  /// How many records there are.
  var recordCount: Int {
    var statistics = MDB_stat()
    mdb_env_stat(environment, &statistics)
    return statistics.ms_entries
  }

  /// Visits every record in key order; the bytes are LMDB's own.
  @inline(__always)
  func scan(_ visit: (UnsafeRawPointer) -> Void) throws {
    try scanKeys { _, record in visit(record) }
  }

  /// Visits every key and record in key order.
  @inline(__always)
  func scanKeys(_ visit: (Int64, UnsafeRawPointer) -> Void) throws {
    try withTransaction(flags: MDB_RDONLY) { transaction in
      try withCursor(transaction) { cursor in
        var key = MDB_val()
        var value = MDB_val()
        var code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
        while code == MDB_SUCCESS {
          visit(key.mv_data.load(as: Int64.self), UnsafeRawPointer(value.mv_data))
          code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
        }
        if code != MDB_NOTFOUND { try check(code) }
      }
    }
  }
}

/// An error code of LMDB.
struct LMDBFailure: Error, CustomStringConvertible {
  var code: Int32
  var description: String { "LMDB: " + String(cString: mdb_strerror(code)) }

  @inline(__always)
  static func check(_ code: Int32) throws {
    if code != MDB_SUCCESS { throw LMDBFailure(code: code) }
  }
}

extension LMDBEngine {
  @inline(__always)
  func check(_ code: Int32) throws { try LMDBFailure.check(code) }
}
