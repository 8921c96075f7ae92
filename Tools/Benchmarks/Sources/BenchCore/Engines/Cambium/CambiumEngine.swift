import CambiumCore
import CambiumFile

/// Cambium over its file store: a table with a column per field, one row per person.
final class CambiumEngine: Engine {
  static let name = "cambium"

  static let table = "Person"
  enum Column {
    static let name: UInt16 = 1
    static let age: UInt16 = 2
    static let email: UInt16 = 3
    static let score: UInt16 = 4
    static let active: UInt16 = 5
  }

  let path: String
  private var database: Database?
  /// The last version that this process has waited for.
  private var seenVersion: Version = 0

  init(folder: String) {
    path = folder + "/people.cambium"
  }

  func create() throws {
    try open()
    let transaction = try opened().beginWrite()
    _ = try transaction.createTable(
      Self.table,
      columns: [
        ColumnDescriptor(type: .bytes, isNullable: false, name: "name"),
        ColumnDescriptor(type: .int, isNullable: false, name: "age"),
        ColumnDescriptor(type: .bytes, isNullable: false, name: "email"),
        ColumnDescriptor(type: .double, isNullable: false, name: "score"),
        ColumnDescriptor(type: .bool, isNullable: false, name: "active"),
      ])
    _ = try transaction.commit()
  }

  func open() throws {
    database = try Database(store: FileStore(path: path))
  }

  func close() {
    try? database?.close()
    database = nil
  }

  func opened() throws -> Database {
    guard let database else { throw NotOpen() }
    return database
  }

  /// Changes the table in one transaction.
  func write(isDurable: Bool = true, _ change: (TableEditor) throws -> Void) throws {
    let durability: Durability = isDurable ? .full : .relaxed
    let transaction = try opened().beginWrite(expecting: durability)
    guard let editor = try transaction.editTable(Self.table) else { throw NotOpen() }
    try change(editor)
    _ = try transaction.commit(durability: durability)
  }

  /// Reads the newest version.
  func read<Result>(_ body: (ColumnTree) throws -> Result) throws -> Result {
    let snapshot = try opened().snapshot()
    guard let table = try snapshot.table(Self.table) else { throw NotOpen() }
    return try withExtendedLifetime(snapshot) { try body(table.groups[0]) }
  }
}

extension CambiumEngine: CommitWaiting {
  private static let stampName = "stamp"

  func commit(stamp: UInt64) throws {
    let transaction = try opened().beginWrite()
    try transaction.setValue(Self.stampName, withUnsafeBytes(of: stamp) { Array($0) })
    _ = try transaction.commit(durability: .relaxed)
  }

  func beginWaiting() throws { seenVersion = try opened().snapshot().version }

  func waitForStamp() throws -> UInt64 {
    let database = try opened()
    seenVersion = database.waitForCommit(
      after: seenVersion, timeoutNanoseconds: 60_000_000_000)
    guard let bytes = try database.snapshot().value(Self.stampName) else { throw NotOpen() }
    return bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
  }
}

/// The engine was used before `open` or after `close`.
struct NotOpen: Error, CustomStringConvertible {
  var description: String { "the database is not open" }
}
