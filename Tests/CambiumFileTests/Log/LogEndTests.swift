import CambiumCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CambiumCore
@testable import CambiumFile

/// How versions in memory come to be stored, whoever goes, and what storing them leaves as it was.
struct LogEndTests {
  private let fixture: LogFixture
  private var random = SeededGenerator(seed: 1)

  init() throws { fixture = try LogFixture() }

  /// What the file alone holds, which is what power loss leaves.
  private func stored() throws -> DatabaseContent {
    let copy = fixture.path + ".copy"
    try FileManager.default.copyItem(atPath: fixture.path, toPath: copy)
    defer { try? FileManager.default.removeItem(atPath: copy) }
    let database = try Database(store: FileStore(path: copy, options: fixture.options()))
    defer { try? database.close() }
    return try DatabaseContent(of: database.snapshot())
  }

  // MARK: Who goes

  @Test mutating func `a store that goes without being closed stores them`() throws {
    var content = try fixture.load()
    do {
      let (_, database) = try fixture.open()
      _ = try fixture.changeInMemory(database, &content, &random)
    }
    #expect(try stored() == content)
  }

  @Test mutating func `a store that goes does not make a file again that is gone`() throws {
    var content = try fixture.load()
    do {
      let (_, database) = try fixture.open()
      _ = try fixture.changeInMemory(database, &content, &random)
      try FileManager.default.removeItem(atPath: fixture.path)
    }
    #expect(!FileManager.default.fileExists(atPath: fixture.path))
  }

  @Test func `a store on a device of the caller's stores them when it goes, too`() throws {
    let left = try fixture.killed()
    let device = SimulatedDevice(left.image)
    do {
      _ = try FileStore(path: "simulated", options: fixture.simulated(device, left.memory))
    }
    let database = try Database(
      store: FileStore(
        path: "simulated", options: fixture.simulated(device, SharedMemory())))
    #expect(try DatabaseContent(of: database.snapshot()) == left.content)
    try database.close()
  }

  @Test mutating func `a user that is closed while another one writes leaves them to that one`()
    throws
  {
    let now = Atomic<Int64>(0)
    let clock = MonotonicClock { now.load(ordering: .relaxed) }
    try withExtendedLifetime(now) {
      var content = try fixture.load()
      let (_, database) = try fixture.open()
      var timed = FileStoreOptions()
      timed.lane = BackgroundLane(byHand: clock)
      let (_, other) = try fixture.open(timed)
      _ = try fixture.changeInMemory(database, &content, &random)
      let transaction = try other.beginWrite()
      try database.close()
      transaction.rollback()
      #expect(try stored() != content)
      now.add(200_000_000, ordering: .relaxed)
      timed.lane?.runDue()
      #expect(try stored() == content)
      try other.close()
    }
  }

  @Test
  mutating func
    `a store that is closed while a write is about to begin has stored what lies in memory`()
    throws
  {
    let now = Atomic<Int64>(0)
    let clock = MonotonicClock { now.load(ordering: .relaxed) }
    try withExtendedLifetime(now) {
      var content = try fixture.load()
      var timed = FileStoreOptions()
      timed.lane = BackgroundLane(byHand: clock)
      let (store, database) = try fixture.open(timed)
      _ = try fixture.changeInMemory(database, &content, &random)
      let failure = Mutex<StoreError?>(nil)
      // It has the lock among processes, or soon will, and goes on when the lane runs.
      store.beginWrite { if case .failure(let error) = $0 { failure.withLock { $0 = error } } }
      while try store.lockWriterIfFree() { store.releaseWriterLock() }
      try database.close()
      while failure.withLock({ $0 }) == nil {
        timed.lane?.runDue()
        usleep(1000)
      }
      #expect(failure.withLock { $0 } == .closed(path: fixture.path))
      #expect(try stored() == content)
    }
  }

  @Test
  mutating func
    `a store that is closed while one writes and others wait has stored what lies in memory`()
    throws
  {
    for _ in 0..<5 {
      var content = try fixture.load()
      let (store, database) = try fixture.open()
      _ = try fixture.changeInMemory(database, &content, &random)
      let transaction = try database.beginWrite()
      let ended = DispatchSemaphore(value: 0)
      for _ in 0..<6 {
        let thread = Thread {
          #expect(throws: StoreError.self) { _ = try store.beginWrite() }
          ended.signal()
        }
        thread.start()
      }
      while store.writers.waiterCount < 6 { usleep(1000) }
      try database.close()
      transaction.rollback()
      for _ in 0..<6 { ended.wait() }
      #expect(try stored() == content)
      try FileManager.default.removeItem(atPath: fixture.path)
    }
  }

  @Test mutating func `what a store was closed over is stored while its snapshots are held`() throws
  {
    var content = try fixture.load()
    let (_, database) = try fixture.open()
    let snapshot = try fixture.changeInMemory(database, &content, &random)
    let transaction = try database.beginWrite(expecting: .relaxed)
    try database.close()
    #expect(try stored() != content)
    transaction.rollback()
    #expect(try stored() == content)
    #expect(try DatabaseContent(of: snapshot) == content)
  }

  @Test func `who joins and only reads has stored what a killed process has left`() throws {
    let now = Atomic<Int64>(0)
    let clock = MonotonicClock { now.load(ordering: .relaxed) }
    try withExtendedLifetime(now) {
      let left = try fixture.killed()
      let device = SimulatedDevice(left.image)
      // Nobody asks this one.
      let first = try FileStore(
        path: "simulated", options: fixture.simulated(device, left.memory))
      var joining = fixture.simulated(device, left.memory)
      joining.joins = true
      joining.relaxedDelayNanoseconds = 100_000_000
      joining.lane = BackgroundLane(byHand: clock)
      let second = try Database(store: FileStore(path: "simulated", options: joining))
      now.add(200_000_000, ordering: .relaxed)
      joining.lane?.runDue()
      let newest = try second.snapshot()
      #expect(first.memory.durableMark?.version == newest.version)
      #expect(try DatabaseContent(of: newest) == left.content)
      try second.close()
      try first.close()
    }
  }

  @Test func `who takes over the log of a killed process stores it, also without writing`() throws {
    let now = Atomic<Int64>(0)
    let clock = MonotonicClock { now.load(ordering: .relaxed) }
    try withExtendedLifetime(now) {
      let left = try fixture.killed()
      let device = SimulatedDevice(left.image)
      var timed = fixture.simulated(device, left.memory)
      timed.relaxedDelayNanoseconds = 100_000_000
      timed.lane = BackgroundLane(byHand: clock)
      let store = try FileStore(path: "simulated", options: timed)
      let database = try Database(store: store)
      let version = try database.snapshot().version
      #expect(store.memory.durableMark?.version ?? 0 < version)
      now.add(200_000_000, ordering: .relaxed)
      timed.lane?.runDue()
      #expect(store.memory.durableMark?.version == version)
      #expect(try DatabaseContent(of: database.snapshot()) == left.content)
      try database.close()
    }
  }

  @Test
  mutating func `who has seen what another user left in memory stores it when that one does not`()
    throws
  {
    let now = Atomic<Int64>(0)
    let clock = MonotonicClock { now.load(ordering: .relaxed) }
    try withExtendedLifetime(now) {
      var content = try fixture.load()
      let (_, database) = try fixture.open()
      var timed = FileStoreOptions()
      timed.lane = BackgroundLane(byHand: clock)
      let (_, other) = try fixture.open(timed)
      let version = try fixture.changeInMemory(database, &content, &random).version
      #expect(try other.snapshot().version == version)
      // It leaves some time to who has made them.
      now.add(500_000_000, ordering: .relaxed)
      timed.lane?.runDue()
      #expect(try stored() != content)
      for _ in 0..<2 {
        now.add(500_000_000, ordering: .relaxed)
        timed.lane?.runDue()
      }
      #expect(try stored() == content)
      try other.close()
      try database.close()
    }
  }

  @Test mutating func `a process that waits to write and is stopped keeps nobody from storing`()
    throws
  {
    var content = try fixture.load()
    let (store, database) = try fixture.open()
    let (waiting, other) = try fixture.open()
    _ = try fixture.changeInMemory(database, &content, &random)
    let place = SharedLayout.Process.offset(waiting.slot) + SharedLayout.Process.waiting
    unsafe store.memory.word(place).pointee.store(7, ordering: .sequentiallyConsistent)
    unsafe store.memory.word(SharedLayout.waits).pointee.wrappingAdd(
      1, ordering: .sequentiallyConsistent)
    try store.storePagesIfFree()
    #expect(try stored() != content)
    usleep(20_000)
    try store.storePagesIfFree()
    try store.sync()
    #expect(try stored() == content)
    unsafe store.memory.word(place).pointee.store(0, ordering: .sequentiallyConsistent)
    try other.close()
    try database.close()
  }

  @Test mutating func `a store without a database stores what others have left`() throws {
    var content = try fixture.load()
    let (_, database) = try fixture.open()
    let other = try FileStore(path: fixture.path, options: fixture.options())
    let version = try fixture.changeInMemory(database, &content, &random).version
    try other.makeDurable(version)
    #expect(other.memory.durableMark?.version == version)
    #expect(try stored() == content)
    try other.close()
    try database.close()
  }

  @Test mutating func `who joins and writes first goes on from the log`() throws {
    let left = try fixture.killed()
    let device = SimulatedDevice(left.image)
    let first = try Database(
      store: FileStore(path: "simulated", options: fixture.simulated(device, left.memory)))
    var joining = fixture.simulated(device, left.memory)
    joining.joins = true
    let second = try Database(store: FileStore(path: "simulated", options: joining))
    var content = left.content
    _ = try fixture.change(second, &content, &random)
    #expect(try DatabaseContent(of: second.snapshot()) == content)
    #expect(try DatabaseContent(of: first.snapshot()) == content)
    try second.close()
    try first.close()
  }

  @Test func `a process that dies when it has begun the next epoch and not said so loses no log`()
    throws
  {
    let left = try fixture.killed()
    let device = SimulatedDevice(left.image)
    do {
      let store = try FileStore(
        path: "simulated", options: fixture.simulated(device, SharedMemory()))
      var head = store.state.withLock { $0.newest }
      head.head.epoch += 1
      try store.withSlots { () throws(StoreError) in try store.settle(head) }
      // What it does when it goes is nobody's concern.
    }
    let settled = SimulatedDevice(device.bytes)
    let database = try Database(
      store: FileStore(path: "simulated", options: fixture.simulated(settled, left.memory)))
    #expect(try DatabaseContent(of: database.snapshot()) == left.content)
    try database.close()
  }

  // MARK: What storing leaves

  @Test func `storing a version leaves the pages that its readers see in its other form`() throws {
    let (_, database) = try fixture.open()
    let filling = try database.beginWrite()
    let editor = try filling.createTable(
      "t", columns: [ColumnDescriptor(type: .int, isNullable: false, name: "number")])
    for key in 0..<40_000 as Range<Int64> {
      _ = try editor.insert(key: key, values: [(1, .int(key &* 0x1e37_79b9_7f4a_7c15))])
    }
    _ = try filling.commit()
    try database.sync()
    var cursor = try #require(try database.snapshot().table("t")).groups[0].leafCursor()
    #expect(try cursor.first() && cursor.next())
    let keys = (0..<cursor.leaf.rowCount).map { cursor.leaf.key(at: $0) }
    // A leaf that is small in the end lies between stored ones.
    var newest = try database.snapshot()
    for part in stride(from: 0, to: keys.count - 4, by: 16) {
      let transaction = try database.beginWrite(expecting: .relaxed)
      let editor = try #require(try transaction.editTable("t"))
      for key in keys[part..<min(part + 16, keys.count - 4)] { try editor.remove(key: key) }
      newest = try transaction.commit(durability: .relaxed)
    }
    let residence = try #require(newest.head.residence)
    #expect(!residence.freedReferences.isEmpty)
    func sum(_ snapshot: Snapshot) throws -> (Int, Int64) {
      var (count, sum) = (0, Int64(0))
      let tree = try #require(try snapshot.table("t")).groups[0]
      var cursor = tree.leafCursor()
      var isValid = try cursor.first()
      while isValid {
        count += cursor.leaf.rowCount
        for row in 0..<cursor.leaf.rowCount { sum &+= cursor.leaf.column(1)?.int(row) ?? 0 }
        isValid = try cursor.next()
      }
      return (count, sum)
    }
    let before = try sum(newest)
    try database.sync()
    #expect(try database.snapshot().version == newest.version)
    // What was given up is used again.
    for step in 0..<40 as Range<Int64> {
      let transaction = try database.beginWrite()
      let editor = try #require(try transaction.editTable("t"))
      for key in stride(from: step * 1000, to: step * 1000 + 1000, by: 3) where key > keys.count * 2
      {
        try editor.update(key: key, column: 1, value: .int(key))
      }
      _ = try transaction.commit()
    }
    #expect(try sum(newest) == before)
    #expect(try database.verify().findings == [])
    try database.close()
  }

  @Test func `a root that has come to have one stored branch is stored with it`() throws {
    let (_, database) = try fixture.open()
    let filling = try database.beginWrite()
    let editor = try filling.createTable(
      "t", columns: [ColumnDescriptor(type: .int, isNullable: false, name: "number")])
    for key in 0..<200_000 as Range<Int64> {
      _ = try editor.insert(key: key, values: [(1, .int(key &* 0x1e37_79b9_7f4a_7c15))])
    }
    _ = try filling.commit()
    // Makes room for what lies in memory.
    let small = try database.beginWrite(expecting: .relaxed)
    try small.setValue("room", [1])
    _ = try small.commit(durability: .relaxed)
    try database.sync()
    let tree = try #require(try database.snapshot().table("t")).groups[0]
    try #require(tree.root.height == 3)
    let page = try tree.source.page(tree.root.reference, .columnBranch)
    let second = ColumnBranch(page).separator(1)
    // Of the first branch one leaf is left, and then of the tree that branch.
    func remove(_ keys: Range<Int64>) throws -> Snapshot {
      let transaction = try database.beginWrite(expecting: .relaxed)
      try #require(try transaction.editTable("t")).remove(keys: Array(keys))
      let snapshot = try transaction.commit(durability: .relaxed)
      #expect(snapshot.head.residence != nil)
      return snapshot
    }
    _ = try remove(400..<second)
    try database.sync()
    let newest = try remove(second..<200_000)
    func keys(_ snapshot: Snapshot) throws -> [Int64] {
      var cursor = try #require(try snapshot.table("t")).groups[0].leafCursor()
      var keys: [Int64] = []
      var isValid = try cursor.first()
      while isValid {
        keys += (0..<cursor.leaf.rowCount).map { cursor.leaf.key(at: $0) }
        isValid = try cursor.next()
      }
      return keys
    }
    try database.sync()
    #expect(try database.snapshot().version == newest.version)
    for step in 0..<40 as Range<Int64> {
      let transaction = try database.beginWrite()
      try #require(try transaction.editTable("t")).update(key: step, column: 1, value: .int(step))
      _ = try transaction.commit()
    }
    #expect(try keys(newest) == Array(0..<400))
    #expect(try keys(database.snapshot()) == Array(0..<400))
    #expect(try database.verify().findings == [])
    try database.close()
  }

  @Test mutating func `metadata is whole where small commits and others take turns`() throws {
    var content = try fixture.load()
    let (_, database) = try fixture.open()
    let (_, other) = try fixture.open()
    let base = try fixture.changeInMemory(database, &content, &random).version
    var expected: [[UInt8]] = []
    for byte in 1...12 as ClosedRange<UInt8> {
      let user = byte % 5 == 0 ? other : database
      _ = try fixture.change(
        user, &content, &random, byte % 3 == 0 ? .full : .relaxed, metadata: [byte])
      expected.append([byte])
      if byte % 4 == 0 { try database.sync() }
    }
    for database in [database, other] {
      let commits = try database.metadata(from: base + 1, through: try database.snapshot())
      #expect(commits?.map(\.bytes) == expected)
    }
    try database.close()
    try other.close()
  }

  @Test func `a version that cannot be stored is read as it is`() throws {
    let left = try fixture.killed()
    let store = try FileStore(
      path: "simulated",
      options: fixture.simulated(SimulatedDevice(left.image), left.memory))
    let database = try Database(store: store)
    let snapshot = try database.snapshot()
    store.poison()
    let again = try database.storedAgain(snapshot)
    #expect(again === snapshot)
    #expect(try DatabaseContent(of: again) == left.content)
    try? database.close()
  }

  @Test func `no word of the live version comes again soon`() {
    var word = UInt64.max
    var seen: Set<UInt64> = []
    for step in 0..<20_000 {
      word = SharedMemory.LiveWord(7, after: word, changesHead: step % 3 == 0).word
      seen.insert(word)
    }
    #expect(seen.count == 20_000)
  }

  @Test func `a small leaf beside a damaged one does not stop what is stored`() throws {
    var keys: [Int64] = []
    var neighbour = PageReference.none
    do {
      let (_, database) = try fixture.open()
      let filling = try database.beginWrite()
      let editor = try filling.createTable(
        "t", columns: [ColumnDescriptor(type: .int, isNullable: false, name: "number")])
      for key in 0..<40_000 as Range<Int64> {
        _ = try editor.insert(key: key, values: [(1, .int(key &* 0x1e37_79b9_7f4a_7c15))])
      }
      let snapshot = try filling.commit()
      let tree = try #require(try snapshot.table("t")).groups[0]
      var leaves: [PageReference] = []
      try tree.walk(
        { if $1 == .columnLeaf { leaves.append($0) } }, tree: { _ in }, damage: { _ in })
      var cursor = tree.leafCursor()
      #expect(try cursor.first() && cursor.next())
      keys = (0..<cursor.leaf.rowCount).map { cursor.leaf.key(at: $0) }
      neighbour = leaves[2]
      try database.close()
    }
    var bytes = try Data(contentsOf: URL(fileURLWithPath: fixture.path))
    bytes[neighbour.byteOffset + 100] ^= 1
    try bytes.write(to: URL(fileURLWithPath: fixture.path))
    let (_, database) = try fixture.open()
    for durability in [Durability.relaxed, .full] {
      let transaction = try database.beginWrite(expecting: durability)
      let editor = try #require(try transaction.editTable("t"))
      let part = durability == .full ? keys[100..<keys.count - 2] : keys[..<100]
      for key in part { try editor.remove(key: key) }
      _ = try transaction.commit(durability: durability)
      try database.sync()
    }
    let findings = try database.verify().findings
    #expect(findings.count == 1)
    try database.close()
  }
}
