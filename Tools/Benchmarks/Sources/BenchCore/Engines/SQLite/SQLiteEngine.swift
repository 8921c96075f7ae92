import GRDB
import GRDBSQLite

/// SQLite through GRDB: write-ahead log, a large cache, memory-mapped reads and prepared statements
/// that are stepped without going through rows of GRDB's.
final class SQLiteEngine: Engine {
  static let name = "sqlite"

  let path: String
  private var pool: DatabasePool?
  private var isSyncing: Bool?

  init(folder: String) {
    path = folder + "/people.sqlite"
  }

  func create() throws {
    try open()
    try opened().write { database in
      try database.execute(
        sql: """
          CREATE TABLE person (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER NOT NULL,
            email TEXT NOT NULL, score REAL NOT NULL, active INTEGER NOT NULL)
          """)
    }
  }

  func open() throws {
    var configuration = Configuration()
    configuration.maximumReaderCount = 2
    configuration.prepareDatabase { database in
      try database.execute(
        sql: "PRAGMA cache_size = -262144; PRAGMA mmap_size = 2147418112; PRAGMA temp_store = 2")
    }
    isSyncing = nil
    pool = try DatabasePool(path: path, configuration: configuration)
  }

  func close() {
    try? pool?.close()
    pool = nil
  }

  /// Writes the log back into the file.
  func settle() throws {
    try opened().writeWithoutTransaction { database in _ = try database.checkpoint(.truncate) }
  }

  /// The connections.
  func opened() throws -> DatabasePool {
    guard let pool else { throw SQLiteFailure(description: "the database is not open") }
    return pool
  }

  /// Sees to it that commits wait for the disk, or that nothing does.
  func setSyncing(_ isSyncing: Bool) throws {
    if isSyncing == self.isSyncing { return }
    try opened().writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA synchronous = \(isSyncing ? "FULL" : "OFF")")
    }
    self.isSyncing = isSyncing
  }

  /// Does `body` in one transaction.
  func write<Result>(isDurable: Bool, _ body: (Database) throws -> Result) throws -> Result {
    try setSyncing(isDurable)
    return try opened().write(body)
  }

  /// Does `body` within one snapshot.
  func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
    try opened().read(body)
  }
}

/// What SQLite said.
struct SQLiteFailure: Error, CustomStringConvertible {
  var description: String
}

/// A statement that is prepared once and then driven through SQLite's own functions.
struct SteppedStatement {
  private let statement: GRDB.Statement
  private let handle: OpaquePointer?

  /// Prepares `sql`, or takes it from the connection's cache.
  init(_ sql: String, _ database: Database) throws {
    statement = try database.cachedStatement(sql: sql)
    handle = statement.sqliteStatement
    sqlite3_reset(handle)
  }

  @inline(__always)
  func bind(_ index: Int32, _ value: Int64) { sqlite3_bind_int64(handle, index, value) }

  @inline(__always)
  func bind(_ index: Int32, _ value: Double) { sqlite3_bind_double(handle, index, value) }

  /// The bytes must stay until the statement has run.
  @inline(__always)
  func bind(_ index: Int32, _ text: UnsafeRawBufferPointer) {
    sqlite3_bind_text(
      handle, index, text.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(text.count),
      nil)
  }

  /// Goes to the next row; false after the last one.
  @inline(__always)
  func step() throws -> Bool {
    let code = sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    guard code == SQLITE_DONE else {
      throw SQLiteFailure(
        description: "SQLite: " + String(cString: sqlite3_errmsg(sqlite3_db_handle(handle))))
    }
    return false
  }

  /// Makes ready for the next run.
  @inline(__always)
  func reset() { sqlite3_reset(handle) }

  /// Runs a statement that gives no rows.
  @inline(__always)
  func run() throws {
    _ = try step()
    reset()
  }

  @inline(__always)
  func int(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  @inline(__always)
  func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

  /// Valid until the next step.
  @inline(__always)
  func text(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_text(handle, column)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
  }
}
