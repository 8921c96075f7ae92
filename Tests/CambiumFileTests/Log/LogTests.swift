import CambiumCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CambiumFile

/// Small relaxed commits, whose pages lie in memory and whose records lie in the shared log.
struct LogTests {
  private let fixture: LogFixture
  private var path: String { fixture.path }

  init() throws { fixture = try LogFixture() }

  @Test(arguments: Exhaustive.seeds(40, few: 6))
  func `two users of a file that take turns read what the model says`(seed: UInt64) throws {
    var content = try fixture.load()
    var users = [try fixture.open(), try fixture.open()]
    var random = SeededGenerator(seed: seed)
    var kept: [(Snapshot, DatabaseContent)] = []
    var (loggedCount, turnCount, lastUser) = (0, 0, 0)
    for step in 0..<400 {
      let index = Int.random(in: 0..<2, using: &random)
      let database = users[index].1
      switch Int.random(in: 0..<40, using: &random) {
      case 0: try database.sync()
      case 1:
        // Its snapshots go with it.
        kept = []
        try database.close()
        users[index] = try fixture.open()
      case 2: _ = try fixture.change(database, &content, &random, .full)
      case 3:
        let transaction = try database.beginWrite(expecting: .relaxed)
        var dropped = content
        for _ in 0..<3 { try dropped.change(transaction, &random) }
        transaction.rollback()
      case 4:
        let transaction = try database.beginWrite(expecting: .relaxed)
        try content.change(transaction, &random)
        let version = try transaction.commitTogether()
        #expect(try users[index].0.statistics().durableVersion == version)
      case 5:
        _ = try fixture.change(database, &content, &random, count: 40)
      default:
        let snapshot = try fixture.change(
          database, &content, &random, count: Int.random(in: 0...3, using: &random))
        if snapshot.head.residence != nil {
          loggedCount += 1
          if lastUser != index { turnCount += 1 }
        }
      }
      lastUser = index
      if step % 5 == 0 {
        for (_, database) in users {
          #expect(try DatabaseContent(of: database.snapshot()) == content, "step \(step)")
        }
      }
      if Int.random(in: 0..<10, using: &random) == 0 {
        kept.append((try users[Int.random(in: 0..<2, using: &random)].1.snapshot(), content))
        if kept.count > 6 { kept.remove(at: Int.random(in: 0..<6, using: &random)) }
      }
      if step % 50 == 49 {
        for (snapshot, then) in kept { #expect(try DatabaseContent(of: snapshot) == then) }
        #expect(try users[index].1.verify().findings == [])
        _ = try users[index].0.statistics()
      }
    }
    #expect(loggedCount > 100 && turnCount > 20, "\(loggedCount), \(turnCount)")
    kept = []
    for (_, database) in users { try database.close() }
    let (_, reopened) = try fixture.open()
    #expect(try DatabaseContent(of: reopened.snapshot()) == content)
    #expect(try reopened.verify().findings == [])
    try reopened.close()
  }

  @Test func `a small commit writes nothing to the file, and a sync stores it as the same version`()
    throws
  {
    var content = try fixture.load()
    let (store, database) = try fixture.open()
    var random = SeededGenerator(seed: 1)
    let first = try fixture.changeInMemory(database, &content, &random)
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    let second = try fixture.changeInMemory(database, &content, &random)
    #expect(second.version > first.version)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    #expect(store.memory.durableMark?.version ?? 0 < second.version)

    try database.sync()
    let stored = try database.snapshot()
    #expect(stored.version == second.version && stored.head.residence == nil)
    #expect(store.memory.durableMark?.version == second.version)
    #expect(try DatabaseContent(of: stored) == content)
    #expect(try DatabaseContent(of: second) == content)
    try database.close()
  }

  @Test func `versions in memory stay readable whatever is stored, freed and used again since`()
    throws
  {
    var content = try fixture.load()
    let (_, database) = try fixture.open()
    var random = SeededGenerator(seed: 2)
    var kept: [(Snapshot, DatabaseContent)] = []
    for round in 0..<30 {
      for _ in 0..<4 {
        kept.append((try fixture.change(database, &content, &random, count: 2), content))
      }
      // The room of what each version gave up is used again.
      _ = try fixture.change(
        database, &content, &random, round % 2 == 0 ? .full : .relaxed, count: 60)
      try database.sync()
      for (snapshot, then) in kept { #expect(try DatabaseContent(of: snapshot) == then) }
      while kept.count > 8 { kept.remove(at: Int.random(in: 0..<kept.count, using: &random)) }
    }
    #expect(kept.contains { $0.0.head.residence != nil })
    kept = []
    #expect(try database.verify().findings == [])
    try database.close()
  }

  @Test func `a pinned version in memory counts among the active ones`() throws {
    var content = try fixture.load()
    let store = try FileStore(path: path, options: fixture.options())
    var limited = DatabaseOptions()
    limited.maximumNumberOfActiveVersions = 3
    let database = try Database(store: store, options: limited)
    var random = SeededGenerator(seed: 3)
    var kept: [Snapshot] = []
    for _ in 0..<4 { kept.append(try fixture.changeInMemory(database, &content, &random)) }
    #expect(Set(kept.map(\.version)).count == 4)
    #expect(throws: StoreError.tooManyVersions(count: 4, limit: 3)) {
      try database.beginWrite(expecting: .relaxed)
    }
    kept.removeFirst()
    _ = try fixture.changeInMemory(database, &content, &random)
    kept = []
    try database.close()
  }

  @Test func `what small commits were given to keep is told, here and to others`() throws {
    var content = try fixture.load()
    let (_, database) = try fixture.open()
    let (_, other) = try fixture.open()
    var random = SeededGenerator(seed: 4)
    _ = try fixture.changeInMemory(database, &content, &random)
    let base = try database.snapshot().version
    for byte in 1...5 as ClosedRange<UInt8> {
      _ = try fixture.change(database, &content, &random, metadata: [byte])
    }
    for database in [database, other] {
      let snapshot = try database.snapshot()
      let commits = try #require(try database.metadata(from: base + 1, through: snapshot))
      #expect(commits.map(\.bytes) == [[1], [2], [3], [4], [5]])
      #expect(commits.map(\.version) == Array(base + 1...base + 5))
    }
    // It stays when the version is stored.
    try database.close()
    try other.close()
    let (_, reopened) = try fixture.open()
    let commits = try reopened.metadata(from: base + 1, through: reopened.snapshot())
    #expect(commits?.map(\.bytes) == [[1], [2], [3], [4], [5]])
    try reopened.close()
  }

  @Test func `what lies in memory is dropped by the write that has changed it`() throws {
    _ = try fixture.load()
    let (_, database) = try fixture.open()
    let columns = [ColumnDescriptor(type: .int, isNullable: false, name: "number")]
    let making = try database.beginWrite()
    let made = try making.createTable("numbers", columns: columns)
    for key in 0..<40_000 as Range<Int64> {
      _ = try made.insert(key: key, values: [(1, .int(key &* 0x1e37_79b9_7f4a_7c15))])
    }
    _ = try making.editKeyTree("names").set(Array("a".utf8), [1])
    _ = try making.commit()
    for number in 0..<3 as Range<Int64> {
      let transaction = try database.beginWrite(expecting: .relaxed)
      let editor = try #require(try transaction.editTable("numbers"))
      _ = try editor.insert(key: 40_000 + number, values: [(1, .int(number))])
      _ = try transaction.editKeyTree("names").set(Array("b".utf8), [UInt8(number)])
      let snapshot = try transaction.commit(durability: .relaxed)
      #expect(number == 0 || snapshot.head.residence != nil)
    }
    let transaction = try database.beginWrite(expecting: .relaxed)
    let editor = try #require(try transaction.editTable("numbers"))
    // The branch above does not know of that yet.
    try editor.remove(key: 40_002)
    try transaction.editKeyTree("names").remove(Array("b".utf8))
    #expect(try transaction.drop("numbers"))
    #expect(try transaction.drop("names"))
    try transaction.setValue("numbers", [7])
    let snapshot = try transaction.commit(durability: .relaxed)
    #expect(try snapshot.table("numbers") == nil && snapshot.keyTree("names") == nil)
    #expect(try snapshot.value("numbers") == [7])
    #expect(try database.verify().findings == [])
    try database.close()
  }

  @Test func `a log that is full, or has no room in the file behind it, is stored`() throws {
    var content = try fixture.load()
    let (store, database) = try fixture.open()
    var random = SeededGenerator(seed: 6)
    var (loggedCount, storedCount) = (0, 0)
    var most = 0
    for _ in 0..<3000 {
      let snapshot = try fixture.change(database, &content, &random)
      if snapshot.head.residence == nil { storedCount += 1 } else { loggedCount += 1 }
      most = max(most, store.state.withLock { $0.logged?.end ?? 0 })
    }
    #expect(loggedCount > 10 * storedCount && storedCount > 3, "\(loggedCount), \(storedCount)")
    #expect(most <= SharedLayout.logByteCount)
    #expect(try DatabaseContent(of: database.snapshot()) == content)
    try database.close()
    let (_, reopened) = try fixture.open()
    #expect(try DatabaseContent(of: reopened.snapshot()) == content)
    #expect(try reopened.verify().findings == [])
    try reopened.close()
  }

  @Test func `another user's sync stores what this one has left in memory`() throws {
    var content = try fixture.load()
    let (_, database) = try fixture.open()
    let (otherStore, other) = try fixture.open()
    var random = SeededGenerator(seed: 7)
    let snapshot = try fixture.changeInMemory(database, &content, &random)
    try other.sync()
    #expect(otherStore.memory.durableMark?.version == snapshot.version)
    #expect(try database.snapshot().head.residence == nil)
    #expect(try DatabaseContent(of: database.snapshot()) == content)
    _ = try fixture.changeInMemory(database, &content, &random)
    try otherStore.makeDurable(try database.snapshot().version)
    #expect(try other.snapshot().head.residence == nil)
    try database.close()
    try other.close()
  }

  @Test func `a sync waits for the running write`() throws {
    var content = try fixture.load()
    let (store, database) = try fixture.open()
    var random = SeededGenerator(seed: 8)
    let snapshot = try fixture.changeInMemory(database, &content, &random)
    let transaction = try database.beginWrite(expecting: .relaxed)
    let waiting = WatchedThread { try? database.sync() }
    #expect(waiting.waitsForSomebody())
    #expect(store.memory.durableMark?.version ?? 0 < snapshot.version)
    try content.change(transaction, &random)
    let last = try transaction.commit(durability: .relaxed)
    try store.makeDurable(last.version)
    waiting.waitForEnd()
    #expect(store.memory.durableMark?.version == last.version)
    #expect(try DatabaseContent(of: database.snapshot()) == content)
    try database.close()
  }

  @Test func `the background stores what lies in memory, once nobody writes`() throws {
    let time = TimeByHand()
    var content = try fixture.load()
    let (store, database) = try fixture.open(time)
    var random = SeededGenerator(seed: 8)
    let snapshot = try fixture.changeInMemory(database, &content, &random)
    let transaction = try database.beginWrite(expecting: .relaxed)
    time.pass(milliseconds: 200)
    #expect(store.memory.durableMark?.version ?? 0 < snapshot.version)
    transaction.rollback()
    time.pass(milliseconds: 200)
    #expect(store.memory.durableMark?.version == snapshot.version)
    #expect(try database.snapshot().version == snapshot.version)
    #expect(try database.snapshot().head.residence == nil)
    try database.close()
  }

  @Test func `a killed process loses no version of the log`() async throws {
    _ = try fixture.load()
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let options = FileStoreOptions.withoutTimers
      let database = try Database(store: FileStore(path: path, options: options))
      var content = try DatabaseContent(of: database.snapshot())
      var random = SeededGenerator(seed: 11)
      for _ in 0..<30 {
        let transaction = try database.beginWrite(expecting: .relaxed)
        try content.change(transaction, &random)
        _ = try transaction.commit(durability: .relaxed)
      }
      kill(getpid(), SIGKILL)
    }
    let (store, database) = try fixture.open()
    var random = SeededGenerator(seed: 11)
    #expect(store.state.withLock { $0.logged != nil })
    #expect(try database.snapshot().version == 31)
    // A read-only user makes the same of it, whoever is there.
    var reading = fixture.options()
    reading.isReadOnly = true
    let (_, reader) = try fixture.open(reading)
    #expect(
      try DatabaseContent(of: reader.snapshot()) == DatabaseContent(of: database.snapshot()))
    try reader.close()
    var content = try DatabaseContent(of: database.snapshot())
    _ = try fixture.change(database, &content, &random)
    #expect(try DatabaseContent(of: database.snapshot()) == content)
    #expect(try database.verify().findings == [])
    try database.close()
  }

  // MARK: After a kill

  @Test func `a log that is damaged costs what was not durable, and opening says so`() throws {
    let left = try fixture.killed()
    let all = SharedLayout.log..<SharedLayout.log + 400
    for offset in stride(from: all.lowerBound, to: all.upperBound, by: 8) {
      let memory = LogFixture.copy(of: left.memory)
      var word = memory.bytes(offset, 8)
      word[3] ^= 0x10
      memory.put(word, at: offset)
      let device = SimulatedDevice(left.image)
      let store = try FileStore(path: "simulated", options: fixture.simulated(device, memory))
      #expect(store.recoveryNotes.contains { $0.contains("small commits") }, "byte \(offset)")
      let database = try Database(store: store)
      var content = try DatabaseContent(of: database.snapshot())
      #expect(content == left.stored)
      var random = SeededGenerator(seed: 13)
      _ = try fixture.change(database, &content, &random)
      _ = try fixture.change(database, &content, &random)
      #expect(try DatabaseContent(of: database.snapshot()) == content)
      #expect(try database.verify().findings == [])
      try database.close()
    }
  }

  @Test func `a medium that cannot be read while a file is opened costs no log`() throws {
    let left = try fixture.killed()
    var failedCount = 0
    for index in 0..<200 {
      let memory = LogFixture.copy(of: left.memory)
      let device = SimulatedDevice(left.image)
      device.failRead(index)
      do throws(StoreError) {
        let store = try FileStore(path: "simulated", options: fixture.simulated(device, memory))
        let isOver = device.readCount <= index
        try store.close()
        if isOver { break }
      } catch {
        failedCount += 1
      }
      memory.clearUsers()
      let database = try Database(
        store: FileStore(
          path: "simulated",
          options: fixture.simulated(SimulatedDevice(device.bytes), memory)))
      #expect(try DatabaseContent(of: database.snapshot()) == left.content, "read \(index)")
      try database.close()
    }
    #expect(failedCount > 0)
  }

  @Test func `a repair of the free map keeps what lies in memory`() throws {
    let left = try fixture.killed()
    var image = left.image
    let device = SimulatedDevice(left.image)
    let before = try FileStore(
      path: "simulated", options: fixture.simulated(device, SharedMemory()))
    let record = before.state.withLock { $0.newest }.record
    try before.close()
    image[record.byteOffset + 20] ^= 0x55
    let damaged = SimulatedDevice(image)
    let findings = try FileStore.repairFreeMap(
      path: "simulated", options: fixture.simulated(damaged, left.memory))
    #expect(findings != [])
    let database = try Database(
      store: FileStore(path: "simulated", options: fixture.simulated(damaged, SharedMemory())))
    #expect(try DatabaseContent(of: database.snapshot()) == left.content)
    #expect(try database.verify().findings == [])
    var content = left.content
    var random = SeededGenerator(seed: 14)
    for _ in 0..<20 { _ = try fixture.change(database, &content, &random, .full) }
    #expect(try database.verify().findings == [])
    try database.close()
  }

  @Test func `power loss costs the log and nothing that was durable`() throws {
    let left = try fixture.killed()
    let database = try Database(
      store: FileStore(
        path: "simulated", options: fixture.simulated(SimulatedDevice(left.image), SharedMemory())))
    #expect(try DatabaseContent(of: database.snapshot()) == left.stored)
    #expect(try database.verify().findings == [])
    try database.close()
  }
}
