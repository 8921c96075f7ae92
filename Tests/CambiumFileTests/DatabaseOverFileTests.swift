import CambiumCore
import CambiumStoreKit
import TestSupport
import Testing

@testable import CambiumFile

/// The engine over the file store: what no layer shows alone.
struct DatabaseOverFileTests {
  private static func options(_ device: SimulatedDevice) -> FileStoreOptions {
    var options = FileStoreOptions()
    options.device = { _ in device }
    options.checkpointAfterRecordCount = 3
    options.largestSingleSyncByteCount = 48 << 10
    options.growthByteCount = 32 << 10
    // Only explicit syncs, so that a run repeats itself.
    options.stopTimers()
    return options
  }

  /// What the database holds, and what must be true of it whoever asks.
  private func expectSound(_ database: Database, _ store: FileStore) throws {
    try #require(try database.verify().findings == [])
    let leaks = try store.books.withLock { books throws(StoreError) -> [Int] in
      guard books.version != nil else { return [] }
      var surplus: [Int] = []
      try books.space.blocks.forEachLeaf { _, held, reachable, _ in
        surplus += zip(held, reachable).map { $0 - $1 }
      }
      for extent in books.space.ledger.pending {
        for unit in extent.address..<extent.end { surplus[Int(unit) / BlockMap.unitsPerBlock] -= 1 }
      }
      return surplus.indices.filter { surplus[$0] != 0 }
    }
    try #require(leaks == [], "Blocks are held for nobody.")
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `kept versions, spilling, every durability and reopening agree with a model`(
    seed: UInt64
  ) throws {
    let device = SimulatedDevice()
    var random = SeededGenerator(seed: seed)
    var options = DatabaseOptions()
    options.transactionBudgetByteCount = 12_000
    options.deadPagesPerCommit = 5
    options.pageCacheByteCount = 64 << 10
    var model = DatabaseContent()
    for _ in 0..<3 {
      let store = try FileStore(path: "simulated", options: Self.options(device))
      #expect(store.recoveryNotes == [])
      let database = try Database(store: store, options: options)
      try #require(try DatabaseContent(of: database.snapshot()) == model)
      try expectSound(database, store)
      var kept: [(Snapshot, DatabaseContent)] = []
      for step in 0..<40 {
        let transaction = try database.beginWrite()
        var changed = model
        for _ in 0..<Int.random(in: 0...40, using: &random) {
          try changed.change(transaction, &random)
          try transaction.spillIfNeeded()
        }
        if Int.random(in: 0..<5, using: &random) == 0 {
          transaction.rollback()
        } else {
          let durability = Durability.allCases.randomElement(using: &random) ?? .full
          kept.append((try transaction.commit(durability: durability), changed))
          model = changed
        }
        if Int.random(in: 0..<6, using: &random) == 0 { try database.sync() }
        while kept.count > 7 { kept.remove(at: Int.random(in: kept.indices, using: &random)) }
        try expectSound(database, store)
        if step % 6 == 5 {
          for (snapshot, old) in kept { try #require(try DatabaseContent(of: snapshot) == old) }
          kept.removeLast(Int.random(in: 0...kept.count, using: &random))
        }
      }
      kept = []
      try expectSound(database, store)
      try database.close()
    }
  }

  // MARK: Space

  @Test func `a large load stores the free map, which is then read where it is needed`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.cambium")
    var options = FileStoreOptions()
    options.checkpointAfterLeafCount = 4
    var database = try Database(store: FileStore(path: path, options: options))
    func set(_ key: String, _ value: [UInt8]) throws {
      let transaction = try database.beginWrite()
      try transaction.setValue(key, value)
      _ = try transaction.commit()
    }
    // Sixteen leaves, of which the next commit knows.
    try set("large", [UInt8](repeating: 7, count: 32 << 20))
    try set("small", [1])
    try database.close()
    let store = try FileStore(path: path, options: options)
    database = try Database(store: store)
    try set("small", [2])
    let (hasMap, leafCount) = store.books.withLock {
      ($0.directory.map != nil, $0.space.blocks.leafCount)
    }
    #expect(hasMap)
    #expect(leafCount < 8)
    try expectSound(database, store)
    try database.close()
  }

  @Test func `what a large load has recorded is not read again by each first write`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.cambium")
    var options = FileStoreOptions()
    options.checkpointAfterRecordByteCount = 4 << 10
    var database = try Database(store: FileStore(path: path, options: options))
    for part in 0..<6 as Range<Int64> {
      let transaction = try database.beginWrite()
      let table =
        try transaction.editTable("table")
        ?? transaction.createTable(
          "table", columns: [ColumnDescriptor(type: .int, isNullable: false, name: "number")])
      for key in part * 100_000..<(part + 1) * 100_000 {
        _ = try table.insert(key: key, values: [(1, .int(key &* 0x1E37_79B9_7F4A_7C15))])
      }
      _ = try transaction.commit()
    }
    try database.close()
    let store = try FileStore(path: path, options: options)
    database = try Database(store: store)
    try database.beginWrite().rollback()
    let (all, unapplied, last) = store.books.withLock { books in
      (
        books.records.count, books.records.count { $0.version > books.directory.version },
        books.recordByteCountSinceCheckpoint
      )
    }
    #expect(all >= 6)
    // The map that a commit stores shows the version before it.
    #expect(unapplied <= 2 && last > 0, "\(unapplied) of \(all), \(last) bytes")
    try expectSound(database, store)
    try database.close()
  }

  @Test func `a leaf that was given back and is used again counts from nothing`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.cambium")
    let large = [UInt8](repeating: 7, count: 66 << 20)
    func commits(
      _ count: Int, checkpoint: Int = 2, _ change: (Transaction) throws -> Void
    ) throws {
      var options = FileStoreOptions()
      options.checkpointAfterRecordCount = checkpoint
      let store = try FileStore(path: path, options: options)
      let database = try Database(store: store)
      for _ in 0..<count {
        let transaction = try database.beginWrite()
        try change(transaction)
        _ = try transaction.commit()
      }
      try expectSound(database, store)
      try database.close()
    }
    // Small commits go into the hole, so that only the large value lies in most leaves.
    try commits(1) { try $0.setValue("hole", Array(large.prefix(1 << 20))) }
    try commits(1) { try $0.setValue("large", large) }
    try commits(1) { try $0.setValue("hole", nil) }
    try commits(20) { try $0.setValue("small", [1]) }
    try commits(1, checkpoint: 64) { try $0.setValue("large", nil) }
    try commits(2, checkpoint: 64) { try $0.setValue("small", [2]) }
    // Only records know by now that those leaves were changed.
    try commits(20) { try $0.setValue("small", [3]) }
    try commits(1) { try $0.setValue("large", large) }
    try commits(1) { try $0.setValue("small", [4]) }
  }

  private func update(_ database: Database, _ keys: some Sequence<Int64>, _ value: Int64) throws {
    let transaction = try database.beginWrite()
    let table = try #require(try transaction.editTable("t"))
    for key in keys {
      var random = SeededGenerator(seed: UInt64(value) << 32 | UInt64(key))
      let text = (0..<8).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
      try text.withUnsafeBytes { _ = try table.update(key: key, column: 1, value: .bytes($0)) }
    }
    _ = try transaction.commit()
  }

  @Test func `a pinned version costs no more than its own pages, and its end gives them back`()
    throws
  {
    let rowCount: Int64 = 3_000
    let device = SimulatedDevice()
    var options = Self.options(device)
    options.checkpointAfterRecordCount = 16
    // Each version has pages of its own.
    options.storedLogByteCount = 0
    let store = try FileStore(path: "simulated", options: options)
    let database = try Database(store: store)
    let filling = try database.beginWrite()
    let table = try filling.createTable(
      "t", columns: [ColumnDescriptor(type: .bytes, isNullable: false, name: "text")])
    for key in 0..<rowCount {
      try table.insert(key: key, values: [(1, .bytes(.init(start: nil, count: 0)))])
    }
    _ = try filling.commit()
    try update(database, 0..<rowCount, 0)
    var pinned: Snapshot? = try database.snapshot()
    let reachable = try database.verify().trees.reduce(0) { $0 + $1.byteCount }
    // Half of the records always stay, each in the middle of what its commit wrote.
    // Half of the records always stay, each in the middle of what its commit wrote; some room behind is kept
    // for a full medium.
    let bound = 3 * reachable + (384 << 10) + options.spareByteCount
    var random = SeededGenerator(seed: 5)
    var sizes: [Int] = []
    for round in 0..<4 as Range<Int64> {
      for _ in 0..<250 {
        try update(database, [Int64.random(in: 0..<rowCount, using: &random)], round)
      }
      let statistics = try store.statistics()
      sizes.append(statistics.totalByteCount)
      // Records and the free map wait beside the pages of the version, rounded to blocks.
      #expect(statistics.pendingByteCount < reachable + (192 << 10))
    }
    #expect(sizes[3] <= sizes[1] + (64 << 10), "\(sizes)")
    #expect(sizes[3] < bound, "\(sizes), \(reachable) reachable")
    #expect(pinned?.version == 2)
    try expectSound(database, store)
    pinned = nil
    #expect(try store.statistics().pendingByteCount < 128 << 10)
    for round in 0..<6 as Range<Int64> { try update(database, 0..<rowCount, round) }
    let total = try store.statistics().totalByteCount
    #expect(total < bound, "\(sizes)")
    try expectSound(database, store)
  }
}
