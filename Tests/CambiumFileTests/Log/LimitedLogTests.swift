import CambiumCore
import TestSupport
import Testing

@testable import CambiumCore
@testable import CambiumFile

/// Small commits of files that may not become larger than they are told: what they leave in memory has its room below
/// the limit.
struct LimitedLogTests {
  @Test(arguments: Exhaustive.seeds(40, few: 2))
  func `a file is filled to its limit by small commits, and emptied, as often as anybody likes`(
    seed: UInt64
  ) throws {
    var run = LimitedRun(seed: seed)
    try run.fillAndEmpty()
  }

  @Test func `small durable commits of a limited file are one write and one sync`() throws {
    var run = LimitedRun(seed: 3)
    try run.countWrites()
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
  private var rows: [Int64: [UInt8]] = [:]
  private var random: SeededGenerator
  private var nextKey: Int64 = 0

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    limit = [1 << 20, 1_500_000, 2 << 20, 3 << 20][Int(seed % 4)]
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
    _ database: Database, _ durability: Durability,
    _ change: (inout [Int64: [UInt8]], TableEditor) throws -> Void
  ) throws -> Bool {
    let transaction = try database.beginWrite(expecting: durability)
    var changed = rows
    try change(&changed, try table(transaction))
    let snapshot = try transaction.commit(durability: durability)
    rows = changed
    #expect(device.bytes.count <= limit, "the file has outgrown its limit")
    return snapshot.head.residence != nil
  }

  private mutating func add(
    _ database: Database, _ durability: Durability, _ count: Int
  ) throws -> Bool {
    let texts = (0..<count).map { _ in text(0...1_000) }
    let first = nextKey
    nextKey += Int64(count)
    return try commit(database, durability) { rows, editor in
      for (key, text) in zip(first..., texts) {
        rows[key] = text
        try text.withUnsafeBytes { _ = try editor.insert(key: key, values: [(1, .bytes($0))]) }
      }
    }
  }

  private mutating func remove(_ database: Database, _ durability: Durability) throws {
    guard let key = rows.keys.sorted().randomElement(using: &random) else { return }
    _ = try commit(database, durability) { rows, editor in
      rows[key] = nil
      let isRemoved = try editor.remove(key: key)
      #expect(isRemoved)
    }
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
      // What was committed has its room, wherever it is.
      #expect(try content(database) == rows)
      #expect(rows.values.reduce(0) { $0 + $1.count } > limit / 3, "\(rows.count) rows")
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
    #expect(inMemory > 100, "\(inMemory)")
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

  mutating func lowerLimit() throws {
    var database = try open()
    _ = try add(database, .full, 1_000)
    try database.close()
    database = try open(limit: 256 << 10)
    for _ in 0..<rows.count / 2 {
      let key = try #require(rows.keys.first)
      let isInMemory = try commit(database, .relaxed) { rows, editor in
        rows[key] = nil
        let isRemoved = try editor.remove(key: key)
        #expect(isRemoved)
      }
      #expect(!isInMemory)
    }
    #expect(try content(database) == rows)
    try database.close()
  }
}
