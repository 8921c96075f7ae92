import CambiumCore
import Foundation
import TestSupport
import Testing

@testable import CambiumFile

/// What pinned versions hold: the pages that they reach and nothing else, whoever pins them and
/// whoever writes.
struct PinnedSpaceTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("a.cambium") }
  private static let rowCount = 4000

  init() throws { folder = try TemporaryFolder() }

  private func open() throws -> Database {
    var options = FileStoreOptions()
    // So few that records are given up while versions are pinned.
    options.checkpointAfterRecordCount = 4
    // How much is durable is up to the tests.
    options.stopTimers()
    // Each version has pages of its own.
    options.storedLogByteCount = 0
    return try Database(store: FileStore(path: path, options: options))
  }

  private func load(_ database: Database) throws {
    let transaction = try database.beginWrite()
    let editor = try transaction.createTable(
      "Person",
      columns: [
        ColumnDescriptor(type: .bytes, isNullable: false, name: "name"),
        ColumnDescriptor(type: .int, isNullable: false, name: "age"),
      ])
    var random = SeededGenerator(seed: 99)
    for row in 0..<Self.rowCount {
      let name = (0..<12).map { _ in random.next() }
      try name.withUnsafeBytes { name in
        _ = try editor.insert(key: Int64(row), values: [(1, .bytes(name)), (2, .int(0))])
      }
    }
    _ = try transaction.commit()
  }

  private func change(
    _ database: Database, _ random: inout SeededGenerator, _ durability: Durability = .relaxed
  ) throws {
    let transaction = try database.beginWrite()
    let editor = try #require(try transaction.editTable("Person"))
    let key = Int64.random(in: 0..<Int64(Self.rowCount), using: &random)
    try editor.update(key: key, column: 2, value: .int(Int64.random(in: 0..<99, using: &random)))
    _ = try transaction.commit(durability: durability)
  }

  /// Holds what the store says of each pin against the pages that its version reaches.
  private func expectExact(_ database: Database, _ pinned: [Snapshot]) throws {
    try database.sync()
    #expect(try database.verify().findings == [])
    let newest = try database.snapshot()
    let versions = (pinned + [newest]).reduce(into: [Version: Set<Extent>]()) { sets, snapshot in
      sets[snapshot.version] = Set(database.extents(of: snapshot))
    }
    let statistics = try database.statistics()
    let newestExtents = versions[newest.version] ?? []
    let waiting = versions.values.reduce(Set()) { $0.union($1) }.subtracting(newestExtents)
    #expect(statistics.pendingByteCount == waiting.reduce(0) { $0 + $1.byteCount })
    for (version, extents) in versions where version != newest.version {
      let others = versions.filter { $0.key != version }.values.reduce(Set()) { $0.union($1) }
      let alone = extents.subtracting(others).reduce(0) { $0 + $1.byteCount }
      #expect(statistics.exclusiveByteCounts[version] == alone)
    }
  }

  @Test func `a pinned version holds what it reaches, however much is written since`() throws {
    let database = try open()
    try load(database)
    let pinned = try database.snapshot()
    var random = SeededGenerator(seed: 1)
    var sizes: [Int] = []
    for round in 0..<6 {
      for commit in 0..<250 {
        try change(database, &random)
        // What the last durable version holds is another matter.
        if commit % 25 == 24 { try database.sync() }
      }
      try expectExact(database, [pinned])
      let statistics = try database.statistics()
      let needed =
        try database.verify().reachableByteCount
        + (statistics.exclusiveByteCounts[pinned.version] ?? 0)
      // The file grows ahead, and keeps room for what lies in memory and for deletions.
      let kept = 1 << 20 + FileStoreOptions().spareByteCount
      #expect(statistics.totalByteCount < needed + needed / 10 + kept)
      if round > 2 { sizes.append(statistics.totalByteCount) }
    }
    #expect(sizes[2] <= sizes[0] + sizes[0] / 20, "The file goes on growing: \(sizes).")
    try database.close()
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `versions that are let go in any order take along what only they saw`(seed: UInt64) throws {
    let database = try open()
    try load(database)
    var random = SeededGenerator(seed: seed)
    var pinned: [Snapshot] = []
    for commit in 0..<240 {
      if commit % 12 == 0 { pinned.append(try database.snapshot()) }
      try change(database, &random, [.full, .relaxed, .relaxed].randomElement(using: &random)!)
    }
    while !pinned.isEmpty {
      for _ in 0..<3 { pinned.remove(at: Int.random(in: pinned.indices, using: &random)) }
      for _ in 0..<10 { try change(database, &random) }
      if pinned.count <= 2 { pinned = [] }
      try expectExact(database, pinned)
    }
    #expect(try database.statistics().pendingByteCount == 0)
    try database.close()
  }

  @Test func `who begins to write knows what others have pinned for long`() throws {
    let reader = try open()
    try load(reader)
    var random = SeededGenerator(seed: 5)
    var pinned = [try reader.snapshot()]
    for round in 0..<4 {
      let writer = try open()
      for commit in 0..<60 {
        try change(writer, &random, .full)
        if commit == 20 { pinned.append(try reader.snapshot()) }
      }
      try expectExact(writer, pinned)
      pinned.remove(at: round % pinned.count)
      try change(writer, &random)
      try expectExact(writer, pinned)
      try writer.close()
    }
    pinned = []
    try change(reader, &random)
    try expectExact(reader, [])
    try reader.close()
  }

  @Test func `lists of what waits are given up with the pins`() throws {
    var options = FileStoreOptions()
    // Each version has a record of its own.
    options.storedLogByteCount = 0
    let store = try FileStore(path: path, options: options)
    let database = try Database(store: store)
    try load(database)
    var pinned: Snapshot? = try database.snapshot()
    var random = SeededGenerator(seed: 6)
    func listed() -> Int { store.books.withLock { $0.directory.waiting.count } }
    for _ in 0..<1000 { try change(database, &random, .full) }
    #expect(pinned != nil)
    #expect(1...8 ~= listed())
    pinned = nil
    for _ in 0..<200 { try change(database, &random, .full) }
    #expect(listed() == 0)
    try database.close()
  }

  @Test func `more pinned versions than allowed refuse a transaction, whoever pins them`() throws {
    var options = DatabaseOptions()
    options.maximumNumberOfActiveVersions = 3
    let database = try Database(store: FileStore(path: path), options: options)
    try load(database)
    let other = try open()
    var random = SeededGenerator(seed: 7)
    var pinned: [Snapshot] = []
    for _ in 0..<3 {
      pinned.append(try other.snapshot())
      try change(database, &random)
    }
    pinned.append(try other.snapshot())
    #expect(throws: StoreError.tooManyVersions(count: 4, limit: 3)) { try database.beginWrite() }
    // Others have their own limits, or none.
    try other.beginWrite().rollback()
    pinned.removeFirst()
    try change(database, &random)
    try other.close()
    try database.close()
  }

  @Test func `a file of few keys stays small, though its writers are killed all the time`()
    async throws
  {
    try Ring(Database(store: FileStore(path: path))).make()
    // Somebody stays, so that nobody recovers.
    let watcher = try FileStore(path: path)
    for seed in 0..<10 as Range<UInt64> {
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, seed = seed as UInt64] in
        var options = FileStoreOptions()
        options.checkpointAfterRecordCount = 4
        // How much is durable is up to the tests.
        options.stopTimers()
        options.storedLogByteCount = 0
        let database = try Database(store: FileStore(path: path, options: options))
        let pinned = try database.snapshot()
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<40 { try Ring(database).turn(&generator) }
        withExtendedLifetime(pinned) { _ = kill(getpid(), SIGKILL) }
      }
    }
    #expect(try watcher.statistics().totalByteCount < 1 << 20)
    try watcher.close()
  }
}
