import CambiumCore
import TestSupport

@testable import CambiumFile

/// What a run writes and what it must find again.
protocol CrashWork: AnyObject, SendableMetatype {
  /// What a version holds.
  associatedtype Content: Equatable

  /// Works on an open store.
  init(_ store: FileStore) throws(StoreError)

  /// Begins a write that will likely ask for `durability`; what it begins from. Nil where it would have to wait for
  /// the medium, and may not.
  func begin(_ durability: Durability, mayWait: Bool) throws(StoreError) -> Head?

  /// Changes a little, or much, at random; what the version holds then.
  func change(isLarge: Bool, _ generator: inout SeededGenerator) throws(StoreError) -> Content

  /// Makes the changes the newest version; how many pages it has moved towards the beginning of the
  /// file, as they were.
  func publish(_ durability: Durability) throws(StoreError) -> Int

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
  /// What a write that is to move pages began from.
  private var before: FakeTree.Reading?

  init(_ store: FileStore) { self.store = store }

  func begin(_ durability: Durability, mayWait: Bool) throws(StoreError) -> Head? {
    guard let writer = mayWait ? try store.beginWrite() : try store.beginWriteIfFree() else {
      return nil
    }
    self.writer = writer
    before = writer.relocation == nil ? nil : try FakeTree.read(store)
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

  func publish(_ durability: Durability) throws(StoreError) -> Int {
    defer { writer = nil }
    let boundary = running.relocation?.ranges.first?.lowerBound ?? 0
    let pin = try running.publish(root: root, durability: durability, metadata: [1, 2, 3])
    guard let before else { return 0 }
    let old = Dictionary(
      zip(before.content, before.children), uniquingKeysWith: { first, _ in first })
    let after = try FakeTree.read(pin, store)
    return zip(after.content, after.children).count { seed, child in
      child.extent.end <= boundary && old[seed]?.extent.end ?? 0 > boundary
    }
  }

  func abort() {
    writer?.abort()
    writer = nil
  }

  func read() throws(StoreError) -> (content: FakeTree.Content, findings: [String]) {
    let reading = try FakeTree.read(store)
    return (reading.content, try store.check(reachable: reading.extents))
  }
}

/// A database with tables, a key tree and values, through its write transactions.
class DatabaseWork: CrashWork {
  private let store: FileStore
  fileprivate let database: Database
  private var transaction: Transaction?
  /// What a write that is to move pages began from, and behind which byte it finds such pages.
  private var before: (places: PagePlaces, boundary: Int)?

  required init(_ store: FileStore) throws(StoreError) {
    self.store = store
    database = try Database(store: store, options: Self.options, lane: store.options.lane)
  }

  class var options: DatabaseOptions {
    var options = DatabaseOptions()
    // So that pages are written ahead, and dropped trees are freed by several commits.
    options.transactionBudgetByteCount = 12_000
    options.deadPagesPerCommit = 3
    options.relocatedByteCountPerCommit = 8 << 10
    return options
  }

  /// A file that was closed when most of what it held had been deleted.
  static func emptiedFile() throws(StoreError) -> [UInt8] {
    let (device, database) = try made()
    var content = DatabaseContent()
    for isFull in [true, false] {
      let transaction = try database.beginWrite()
      if isFull { try content.fill(0..<100, transaction) } else { try content.thinOut(transaction) }
      _ = try transaction.commit()
    }
    try database.close()
    return device.bytes
  }

  /// A new file and the empty database in it.
  fileprivate static func made() throws(StoreError) -> (SimulatedDevice, Database) {
    let device = SimulatedDevice()
    var identity = SeededGenerator(seed: 1)
    try CrashSettings.create(device, using: &identity)
    let store = try FileStore(path: "simulated", options: CrashSettings.options(device))
    return (device, try Database(store: store, lane: store.options.lane))
  }

  func begin(_ durability: Durability, mayWait: Bool) throws(StoreError) -> Head? {
    transaction =
      mayWait
      ? try database.beginWrite(expecting: durability)
      : try database.beginWriteIfFree(expecting: durability)
    guard transaction != nil else { return nil }
    before = try places()
    // Nobody else writes.
    return try store.newestHead()
  }

  fileprivate var running: Transaction {
    guard let transaction else { preconditionFailure("A write has to begin first.") }
    return transaction
  }

  func change(
    isLarge: Bool, _ generator: inout SeededGenerator
  ) throws(StoreError) -> DatabaseContent {
    var content = try DatabaseContent(of: database.snapshot())
    if Int.random(in: 0..<8, using: &generator) == 0 { try content.thinOut(running) }
    for _ in 0..<Int.random(in: 0...(isLarge ? 60 : 6), using: &generator) {
      try content.change(running, &generator)
      try running.spillIfNeeded()
    }
    return content
  }

  func publish(_ durability: Durability) throws(StoreError) -> Int {
    defer { transaction = nil }
    // Some do as those who wait for the medium together with others.
    let isAwaited = durability == .relaxed && running.baseVersion % 2 == 0
    let snapshot =
      isAwaited
      ? try running.commitAwaited(metadata: [1, 2, 3])
      : try running.commit(durability: durability, metadata: [1, 2, 3])
    guard let before, let device = store.device as? SimulatedDevice else { return 0 }
    return PagePlaces(snapshot, of: database, on: device)
      .movedCount(since: before.places, before: before.boundary)
  }

  /// Where the newest version's pages lie, if the write that has begun is to move some.
  private func places() throws(StoreError) -> (places: PagePlaces, boundary: Int)? {
    let ceiling = store.books.withLock { $0.space.blocks.allocationCeiling }
    guard let ceiling, let device = store.device as? SimulatedDevice else { return nil }
    return (
      PagePlaces(try database.snapshot(), of: database, on: device),
      ceiling * FileLayout.blockByteCount
    )
  }

  func abort() {
    transaction?.rollback()
    transaction = nil
  }

  func read() throws(StoreError) -> (content: DatabaseContent, findings: [String]) {
    (try DatabaseContent(of: database.snapshot()), try database.verify().findings.map { "\($0)" })
  }
}

/// The same with changes of a row or two, most of which leave nothing in the file but records in its log.
final class RowWork: DatabaseWork {
  override class var options: DatabaseOptions { DatabaseOptions() }

  /// A file with some rows and a log, as a crash leaves it.
  static func loggedFile() throws(StoreError) -> [UInt8] {
    let (device, database) = try made()
    var generator = SeededGenerator(seed: 1)
    var content = DatabaseContent()
    for step in 0..<4 {
      let transaction = try database.beginWrite()
      if step == 0 {
        try content.fill(0..<60, transaction)
      } else {
        try content.changeRow(transaction, &generator)
      }
      _ = try transaction.commit()
    }
    return device.bytes
  }

  override func change(
    isLarge: Bool, _ generator: inout SeededGenerator
  ) throws(StoreError) -> DatabaseContent {
    var content = try DatabaseContent(of: database.snapshot())
    let count = isLarge && Bool.random(using: &generator) ? 40 : 2
    for _ in 0..<Int.random(in: 1...count, using: &generator) {
      try content.changeRow(running, &generator)
    }
    return content
  }
}
