import CambiumCore
import CambiumFile

/// Cambium over its file store: a table with a column per field, one row per person.
final class CambiumEngine: Engine {
  static let name = "cambium"

  private static let table = "Person"
  private enum Column {
    static let name: UInt16 = 1
    static let age: UInt16 = 2
    static let email: UInt16 = 3
    static let score: UInt16 = 4
    static let active: UInt16 = 5
  }

  private let path: String
  private var database: Database?

  init(folder: String) {
    path = folder + "/people.cambium"
  }

  func open() throws {
    let database = try Database(store: FileStore(path: path))
    self.database = database
    let transaction = try database.beginWrite()
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

  func close() {
    try? database?.close()
    database = nil
  }

  private func opened() throws -> Database {
    guard let database else { throw NotOpen() }
    return database
  }

  /// Changes the table in one transaction.
  private func write(isDurable: Bool = true, _ change: (TableEditor) throws -> Void) throws {
    let transaction = try opened().beginWrite()
    guard let editor = try transaction.editTable(Self.table) else { throw NotOpen() }
    try change(editor)
    _ = try transaction.commit(durability: isDurable ? .full : .none)
  }

  private func read<Result>(_ body: (ColumnTree) throws -> Result) throws -> Result {
    let snapshot = try opened().snapshot()
    guard let table = try snapshot.table(Self.table) else { throw NotOpen() }
    return try withExtendedLifetime(snapshot) { try body(table.groups[0]) }
  }

  /// Writes the fields of `person` to `row`, in the order of the columns.
  @inline(__always)
  private static func fill(_ row: UnsafeMutableBufferPointer<ColumnValue>, _ person: Person) {
    row[0] = .bytes(person.name)
    row[1] = .int(person.age)
    row[2] = .bytes(person.email)
    row[3] = .double(person.score)
    row[4] = .bool(person.active)
  }

  private static func withRow<Result>(
    _ body: (UnsafeMutableBufferPointer<ColumnValue>) throws -> Result
  ) rethrows -> Result {
    try withUnsafeTemporaryAllocation(of: ColumnValue.self, capacity: 5) { row in
      row.initialize(repeating: .null)
      return try body(row)
    }
  }
}

/// The engine was used before `open` or after `close`.
private struct NotOpen: Error, CustomStringConvertible {
  var description: String { "the database is not open" }
}

extension CambiumEngine: BulkAppending {
  func append(_ people: People) throws {
    try write { editor in
      try Self.withRow { row in
        for index in 0..<people.count {
          let person = people[index]
          Self.fill(row, person)
          try editor.insert(key: person.id, values: UnsafeBufferPointer(row))
        }
      }
    }
  }
}

extension CambiumEngine: PointReading {
  func readNames(of keys: [Int64]) throws -> NameDigest {
    try read { tree in
      var digest = NameDigest()
      var names = tree.reader(of: Column.name)
      for key in keys {
        guard let name = try names.bytes(of: key) else { continue }
        digest.add(name)
      }
      return digest
    }
  }
}

extension NameDigest {
  /// Adds one name that a leaf may hold in parts.
  @inline(__always)
  fileprivate mutating func add(_ cell: BytesCell) {
    if let name = cell.contiguous {
      add(name)
    } else {
      cell.array.withUnsafeBytes { add($0) }
    }
  }
}

extension CambiumEngine: ColumnScanning {
  func count(ofAgesIn range: Range<Int64>) throws -> Int {
    let ages = ColumnSpec(id: Column.age, type: .int, isNullable: false)
    return try read { tree in
      try tree.countInts(of: ages, in: range.lowerBound...range.upperBound - 1)
    }
  }

  func sumOfScores() throws -> Double {
    let scores = ColumnSpec(id: Column.score, type: .double, isNullable: false)
    return try read { tree in try tree.sumDoubles(of: scores) }
  }
}

extension CambiumEngine: SmallCommitting {
  func commitAppend(_ person: Person, isDurable: Bool) throws {
    try write(isDurable: isDurable) { editor in
      try Self.withRow { row in
        Self.fill(row, person)
        try editor.insert(key: person.id, values: UnsafeBufferPointer(row))
      }
    }
  }

  func commitUpdate(key: Int64, age: Int64, isDurable: Bool) throws {
    try write(isDurable: isDurable) { editor in
      try editor.update(key: key, column: Column.age, value: .int(age))
    }
  }
}
