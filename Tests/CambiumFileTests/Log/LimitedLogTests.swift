import CambiumCore
import CambiumStoreKit
import TestSupport
import Testing

@testable import CambiumCore
@testable import CambiumFile

/// Small commits of files that may not become larger than they are told: what they leave in memory has its room below
/// the limit.
struct LimitedLogTests {
  @Test(arguments: Exhaustive.seeds(40, few: 3))
  func `a file is filled to its limit by small commits, and emptied, as often as anybody likes`(
    seed: UInt64
  ) throws {
    var run = LimitedRun(seed: seed)
    try run.fillAndEmpty()
  }

  @Test func `small durable commits of a limited file are one write and one sync`() throws {
    var run = LimitedRun(seed: 7)
    try run.countWrites()
  }

  @Test func `what is kept for deletions is no room for what lies in memory`() throws {
    var run = LimitedRun(seed: 1, limit: 24 << 20, lengths: 700...700)
    try run.shrink()
  }

  @Test func `who may use less than the file has leaves nothing in memory`() throws {
    var run = LimitedRun(seed: 2)
    try run.lowerLimit()
  }
}

/// A file with a limit, and what it should hold.
private struct LimitedRun {
  private let device = SimulatedDevice()
  private let limit: Int
  private let lengths: ClosedRange<Int>
  private var rows: [Int64: [UInt8]] = [:]
  /// The keys of `rows`, in any order.
  private var keys: [Int64] = []
  private var random: SeededGenerator
  private var nextKey: Int64 = 0
  /// Whether the file has a log, and how often it got one.
  private var hasLog = false
  private var logCount = 0

  init(seed: UInt64, limit: Int? = nil, lengths: ClosedRange<Int>? = nil) {
    random = SeededGenerator(seed: seed)
    self.limit = limit ?? [1 << 20, 1_500_000, 4 << 20, 3 << 20][Int(seed % 4)]
    self.lengths =
      lengths ?? [0...1_000, 0...1_000, 700...700, 0...12_000, 500...2_000][Int(seed % 5)]
  }

  private func open(limit: Int? = nil) throws -> Database {
    var options = StoredLogBench.options(device)
    options.largestSingleSyncByteCount = FileStoreOptions().largestSingleSyncByteCount
    options.growthByteCount = FileStoreOptions().growthByteCount
    options.spareByteCount = FileStoreOptions().spareByteCount
    options.maximumByteCount = limit ?? self.limit
    return try Database(store: FileStore(path: "simulated", options: options))
  }

  private mutating func text(_ byteCount: ClosedRange<Int>) -> [UInt8] {
    random.bytes(count: Int.random(in: byteCount, using: &random))
  }

  private func table(_ transaction: Transaction) throws -> TableEditor {
    try transaction.editTable("T")
      ?? transaction.createTable(
        "T", columns: [ColumnDescriptor(type: .bytes, isNullable: false, name: "text")])
  }

  /// Commits a change of some rows; whether it stayed in memory.
  private mutating func commit(
    _ database: Database, _ durability: Durability, _ change: (TableEditor) throws -> Void
  ) throws -> Bool {
    let transaction = try database.beginWrite(expecting: durability)
    try change(try table(transaction))
    let snapshot = try transaction.commit(durability: durability)
    #expect(device.bytes.count <= limit, "the file has outgrown its limit")
    try expectRoom(database)
    return snapshot.head.residence != nil
  }

  /// What may lie in memory has its room, and takes none of what is kept for deletions.
  private mutating func expectRoom(_ database: Database) throws {
    let store = try #require(database.store as? FileStore)
    let newest = store.state.withLock { $0.newest }
    let used = store.books.withLock { $0.space.totalByteCount }
    if newest.log != nil, !hasLog { logCount += 1 }
    hasLog = newest.log != nil
    #expect(store.loggedByteLimit(newest) <= max(0, SizeLimit(limit).usableByteCount - used))
  }

  private mutating func add(
    _ database: Database, _ durability: Durability, _ count: Int
  ) throws -> Bool {
    let texts = (0..<count).map { _ in text(lengths) }
    let added = Array(zip(nextKey..., texts))
    nextKey += Int64(count)
    let isInMemory = try commit(database, durability) { editor in
      for (key, text) in added {
        try text.withUnsafeBytes { _ = try editor.insert(key: key, values: [(1, .bytes($0))]) }
      }
    }
    rows.merge(added) { _, new in new }
    keys += added.map(\.0)
    return isInMemory
  }

  /// Removes some row in a commit of its own; whether that stayed in memory.
  @discardableResult
  private mutating func remove(_ database: Database, _ durability: Durability) throws -> Bool {
    guard let index = keys.indices.randomElement(using: &random) else { return false }
    keys.swapAt(index, keys.count - 1)
    let key = keys.removeLast()
    let isInMemory = try commit(database, durability) { editor in
      let isRemoved = try editor.remove(key: key)
      #expect(isRemoved)
    }
    rows[key] = nil
    return isInMemory
  }

  private func content(_ database: Database) throws -> [Int64: [UInt8]] {
    var rows: [Int64: [UInt8]] = [:]
    let tree = try #require(try database.snapshot().table("T")?.groups[0])
    var cursor = tree.leafCursor()
    var isValid = try cursor.first()
    while isValid {
      for index in 0..<cursor.leaf.rowCount {
        let column = try #require(cursor.leaf.column(1))
        rows[cursor.leaf.key(at: index)] = try tree.bytes(of: column.bytes(index)) ?? []
      }
      isValid = try cursor.next()
    }
    return rows
  }

  private var durability: Durability {
    mutating get { Bool.random(using: &random) ? .full : .relaxed }
  }

  mutating func fillAndEmpty() throws {
    var database = try open()
    var inMemory = 0
    for round in 0..<3 {
      let error = #expect(throws: StoreError.self) {
        while true {
          if try add(database, durability, Int.random(in: 1...4, using: &random)) { inMemory += 1 }
          if Int.random(in: 0..<8, using: &random) == 0 { try remove(database, durability) }
        }
      }
      #expect(error == .sizeLimitReached(path: "simulated", limit: limit))
      for _ in 0..<30 {
        for _ in 0..<Int.random(in: 1...40, using: &random) { try remove(database, durability) }
        _ = #expect(throws: StoreError.self) {
          while true { _ = try add(database, durability, Int.random(in: 1...4, using: &random)) }
        }
      }
      // The room of the log in the file is of better use.
      let store = try #require(database.store as? FileStore)
      #expect(store.state.withLock { $0.newest.log } == nil)
      // What was committed has its room, wherever it is.
      #expect(try content(database) == rows)
      #expect(rows.values.reduce(0) { $0 + $1.count } > limit / 4, "\(rows.count) rows")
      try database.sync()
      if round == 1 {
        try database.close()
        database = try open()
        #expect(try content(database) == rows)
      }
      for _ in 0..<rows.count { try remove(database, durability) }
      #expect(rows.isEmpty)
      #expect(try database.verify().findings == [])
    }
    #expect(inMemory > 100 || lengths.upperBound > 1_000, "\(inMemory)")
    // It is not placed where the next commit would give it up.
    #expect(logCount <= 8, "\(logCount)")
    try database.close()
  }

  mutating func countWrites() throws {
    let database = try open()
    _ = try add(database, .full, 200)
    var batchCount = 0
    for _ in 0..<60 {
      let before = device.operationCount
      _ = try add(database, .full, 1)
      let operations = device.operations[before...]
      guard case .write(let bytes, _) = operations.first, operations.count == 2 else { continue }
      if bytes.starts(with: FileLayout.Batch.magicBytes) { batchCount += 1 }
    }
    #expect(batchCount > 40)
    // After a power failure they are there.
    let image = device.crashImage(
      afterOperations: device.operationCount, mood: 0, generator: &random)
    #expect(try content(StoredLogBench.open(image)) == rows)
  }

  /// Fills the file, writes some of it anew in what is kept for such, and deletes from its end on.
  mutating func shrink() throws {
    let database = try open()
    _ = #expect(throws: StoreError.self) {
      while true { _ = try add(database, .full, 100) }
    }
    try removeAtOnce(database, Array(stride(from: 0, to: 2_500, by: 38)))
    while let last = keys.max() {
      try removeAtOnce(database, keys.filter { $0 > last - 500 })
    }
  }

  private mutating func removeAtOnce(_ database: Database, _ removed: [Int64]) throws {
    _ = try commit(database, .full) { editor in
      for key in removed {
        let isRemoved = try editor.remove(key: key)
        #expect(isRemoved)
      }
    }
    keys.removeAll(where: Set(removed).contains)
  }

  mutating func lowerLimit() throws {
    var database = try open()
    _ = try add(database, .full, 1_000)
    try database.close()
    database = try open(limit: 256 << 10)
    for _ in 0..<rows.count / 2 {
      let isInMemory = try remove(database, .relaxed)
      #expect(!isInMemory)
    }
    #expect(try content(database) == rows)
    try database.close()
  }
}
