import ArgumentParser
import Cambium
import CambiumCore
import CambiumFile
import CambiumMemory
import Foundation

/// A person as most programs have it.
final class Member: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name: String
  @Persisted var age: Int
}

/// What is done in each of many small transactions.
enum Subject: String, CaseIterable, ExpressibleByArgument {
  case engineAppend = "engine-append"
  case engineUpdate = "engine-update"
  case engineAppendDurable = "engine-append-durable"
  case engineUpdateDurable = "engine-update-durable"
  case engineLimitedDurable = "engine-update-limited-durable"
  case engineManyDurable = "engine-append-1000-durable"
  case engineUpdateInMemory = "engine-update-memory"
  case realmUpdate = "realm-update"
  case realmUpdateDurable = "realm-update-durable"
  case realmUpdateInMemory = "realm-update-memory"
  case readAfterCommit = "commit-and-read"

  /// Opens a database of `rows` rows, and returns what makes the transaction with a number.
  func open(file: String, rows: Int) throws -> (Int) throws -> Void {
    switch self {
    case .engineAppend: try append(file, rows, .relaxed)
    case .engineAppendDurable: try append(file, rows, .full)
    case .engineUpdate: try update(try FileStore(path: file), rows, .relaxed)
    case .engineUpdateDurable: try update(try FileStore(path: file), rows, .full)
    case .engineLimitedDurable: try update(try Self.limited(file), rows, .full)
    case .engineManyDurable: try append(file, rows, .full, count: 1_000)
    case .engineUpdateInMemory: try update(MemoryStore(), rows, .relaxed)
    case .realmUpdate: try change(file, rows, .file, .relaxed)
    case .realmUpdateDurable: try change(file, rows, .file, .full)
    case .realmUpdateInMemory: try change(file, rows, .memory, .relaxed)
    case .readAfterCommit: try read(file, rows)
    }
  }

  // MARK: The engine

  private static let table = "Person"
  private static let columns: [ColumnDescriptor] = [
    ColumnDescriptor(type: .bytes, isNullable: false, name: "name"),
    ColumnDescriptor(type: .int, isNullable: false, name: "age"),
    ColumnDescriptor(type: .bytes, isNullable: false, name: "email"),
    ColumnDescriptor(type: .double, isNullable: false, name: "score"),
    ColumnDescriptor(type: .bool, isNullable: false, name: "active"),
  ]

  private func fill(_ store: any PageStore, _ rows: Int) throws -> Database {
    let database = try Database(store: store)
    let transaction = try database.beginWrite()
    let editor = try transaction.createTable(Self.table, columns: Self.columns)
    for key in 0..<rows { try insert(Int64(key), editor) }
    _ = try transaction.commit()
    return database
  }

  private func insert(_ key: Int64, _ editor: TableEditor) throws {
    let name = Array("person number \(key &* 7919 % 100_003)".utf8)
    let email = Array("person\(key)@example.org".utf8)
    try name.withUnsafeBytes { name in
      try email.withUnsafeBytes { email in
        let values: [ColumnValue] = [
          .bytes(name), .int(key % 100), .bytes(email), .double(Double(key) / 3),
          .bool(key % 3 == 0),
        ]
        _ = try values.withUnsafeBufferPointer { try editor.insert(key: key, values: $0) }
      }
    }
  }

  /// A file that may not become larger than a gigabyte.
  private static func limited(_ file: String) throws -> FileStore {
    var options = FileStoreOptions()
    options.maximumByteCount = 1 << 30
    return try FileStore(path: file, options: options)
  }

  private func append(
    _ file: String, _ rows: Int, _ durability: Durability, count: Int = 1
  ) throws -> (Int) throws -> Void {
    let database = try fill(try FileStore(path: file), rows)
    return { number in
      let transaction = try database.beginWrite(expecting: durability)
      guard let editor = try transaction.editTable(Self.table) else { return }
      for row in 0..<count { try insert(Int64(rows + number * count + row), editor) }
      _ = try transaction.commit(durability: durability)
    }
  }

  private func update(
    _ store: any PageStore, _ rows: Int, _ durability: Durability
  ) throws -> (Int) throws -> Void {
    let database = try fill(store, rows)
    return { number in
      let transaction = try database.beginWrite(expecting: durability)
      guard let editor = try transaction.editTable(Self.table) else { return }
      try editor.update(
        key: Int64(Self.scattered(number, rows)), column: 2, value: .int(Int64(number % 100)))
      _ = try transaction.commit(durability: durability)
    }
  }

  private func read(_ file: String, _ rows: Int) throws -> (Int) throws -> Void {
    let database = try fill(try FileStore(path: file), rows)
    return { number in
      let transaction = try database.beginWrite(expecting: .relaxed)
      guard let editor = try transaction.editTable(Self.table) else { return }
      let key = Int64(Self.scattered(number, rows))
      try editor.update(key: key, column: 2, value: .int(Int64(number % 100)))
      _ = try transaction.commit(durability: .relaxed)
      let snapshot = try database.snapshot()
      _ = try snapshot.table(Self.table)?.groups[0].seek(key)
    }
  }

  /// Places in no order that a program would have.
  private static func scattered(_ number: Int, _ rows: Int) -> Int { number &* 7919 % rows }

  // MARK: Objects

  private func change(
    _ file: String, _ rows: Int, _ store: Realm.Store, _ durability: Durability
  ) throws -> (Int) throws -> Void {
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: file), objectTypes: [Member.self])
    configuration.store = store
    configuration.durability = durability
    let realm = try Realm(configuration: configuration)
    try realm.write {
      for id in 0..<rows {
        realm.create(Member.self, value: ["id": id, "name": "person \(id)", "age": id % 100])
      }
    }
    let members = realm.objects(Member.self)
    let some = (0..<1_000).map { members[Self.scattered($0, rows)] }
    return { number in
      try realm.write { some[number % some.count].age = number % 100 }
    }
  }
}
