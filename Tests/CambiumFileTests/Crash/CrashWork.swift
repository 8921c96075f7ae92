import CambiumCore
import TestSupport

@testable import CambiumFile

/// What a run writes and what it must find again.
protocol CrashWork: AnyObject, SendableMetatype {
  /// What a version holds.
  associatedtype Content: Equatable

  /// Works on an open store.
  init(_ store: FileStore) throws(StoreError)

  /// Begins a write; what it begins from.
  func begin() throws(StoreError) -> Head

  /// Changes a little, or much, at random; what the version holds then.
  func change(isLarge: Bool, _ generator: inout SeededGenerator) throws(StoreError) -> Content

  /// Makes the changes the newest version.
  func publish(_ durability: Durability) throws(StoreError)

  /// Drops the changes.
  func abort()

  /// What the newest version holds, and what is wrong with it, for people.
  func read() throws(StoreError) -> (content: Content, findings: [String])
}

/// Pages that need no engine; see `FakeTree`.
final class PageWork: CrashWork {
  private let store: FileStore
  private var writer: (any PageWriter)?
  private var root = TreeRoot.empty(.key)

  init(_ store: FileStore) { self.store = store }

  func begin() throws(StoreError) -> Head {
    let writer = try store.beginWrite()
    self.writer = writer
    return writer.base
  }

  private var running: any PageWriter {
    guard let writer else { preconditionFailure("A write has to begin first.") }
    return writer
  }

  func change(
    isLarge: Bool, _ generator: inout SeededGenerator
  ) throws(StoreError) -> FakeTree.Content {
    let (root, content) = try FakeTree.change(
      running, store, changeCount: isLarge ? 30 : 3, dropsMany: true, generator: &generator)
    self.root = root
    return content
  }

  func publish(_ durability: Durability) throws(StoreError) {
    defer { writer = nil }
    _ = try running.publish(root: root, durability: durability, metadata: [1, 2, 3])
  }

  func abort() {
    writer?.abort()
    writer = nil
  }

  func read() throws(StoreError) -> (content: FakeTree.Content, findings: [String]) {
    let reading = try FakeTree.read(store.newestHead().root, store)
    return (reading.content, try store.check(reachable: reading.extents))
  }
}

/// A database with tables, a key tree and values, through its write transactions.
final class DatabaseWork: CrashWork {
  private let store: FileStore
  private let database: Database
  private var transaction: WriteTransaction?

  init(_ store: FileStore) throws(StoreError) {
    self.store = store
    var options = DatabaseOptions()
    // So that pages are written ahead, and dropped trees are freed by several commits.
    options.transactionBudgetByteCount = 12_000
    options.deadPagesPerCommit = 3
    database = try Database(store: store, options: options)
  }

  func begin() throws(StoreError) -> Head {
    transaction = try database.beginWrite()
    // Nobody else writes.
    return try store.newestHead()
  }

  private var running: WriteTransaction {
    guard let transaction else { preconditionFailure("A write has to begin first.") }
    return transaction
  }

  func change(
    isLarge: Bool, _ generator: inout SeededGenerator
  ) throws(StoreError) -> DatabaseContent {
    var content = try DatabaseContent(of: database.snapshot())
    for _ in 0..<Int.random(in: 0...(isLarge ? 60 : 6), using: &generator) {
      try content.change(running, &generator)
      try running.spillIfNeeded()
    }
    return content
  }

  func publish(_ durability: Durability) throws(StoreError) {
    defer { transaction = nil }
    _ = try running.commit(durability: durability, metadata: [1, 2, 3])
  }

  func abort() {
    transaction?.rollback()
    transaction = nil
  }

  func read() throws(StoreError) -> (content: DatabaseContent, findings: [String]) {
    (try DatabaseContent(of: database.snapshot()), try database.verify().findings.map { "\($0)" })
  }
}
