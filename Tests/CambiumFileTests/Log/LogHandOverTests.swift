import CambiumCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CambiumCore
@testable import CambiumFile

/// Who stores what lies in memory when a user of the file goes, in whatever way, dies or is stopped.
struct LogHandOverTests {
  private let fixture: LogFixture
  private var random = SeededGenerator(seed: 1)

  init() throws { fixture = try LogFixture() }

  @Test(arguments: LimitedBeginning.allCases)
  func `who may not let the file grow stores what others have left in memory, and deletes`(
    beginning: LimitedBeginning
  ) throws {
    let fixture = try LogFixture()
    let (store, database) = try fixture.open()
    let filling = try database.beginWrite()
    let table = try filling.createTable(
      "T",
      columns: [
        ColumnDescriptor(type: .int, isNullable: false, name: "a"),
        ColumnDescriptor(type: .bytes, isNullable: false, name: "b"),
      ])
    var random = SeededGenerator(seed: 1)
    for key in 0..<4_000 as Range<Int64> {
      let text = (0..<900).map { _ in UInt8.random(in: 0...255, using: &random) }
      try text.withUnsafeBytes { _ = try table.insert(key: key, values: [(2, .bytes($0))]) }
    }
    _ = try filling.commit()
    // As much as somebody may use who may not use what is kept for deletions.
    let used = try store.statistics().totalByteCount
    var options = fixture.options()
    options.maximumByteCount = used + beginning.room
    var last: Snapshot?
    // More than what is kept has room for, or less.
    for key in stride(from: 0 as Int64, to: 4_000, by: beginning == .afterSync ? 100 : 200) {
      let transaction = try database.beginWrite(expecting: .relaxed)
      _ = try transaction.editTable("T")?.update(key: key, column: 1, value: .int(key))
      last = try transaction.commit(durability: .relaxed)
    }
    let lying = try #require(last?.head.residence)
    #expect(lying.byteCount > 100 << 10)
    let (_, limited) = try fixture.open(options)
    if beginning == .afterSync { try limited.sync() }
    for key in stride(from: 0 as Int64, to: 40, by: 2) {
      let durability: Durability = key == 0 ? .relaxed : .full
      try beginning.write(limited, durability) { transaction in
        let isRemoved = try transaction.editTable("T")?.remove(key: key)
        #expect(isRemoved == true)
      }
    }
    let again = try database.beginWrite(expecting: .relaxed)
    _ = try again.editTable("T")?.update(key: 101, column: 1, value: .int(1))
    _ = try again.commit(durability: .relaxed)
    try limited.sync()
    #expect(try limited.snapshot().head.residence == nil)
    #expect(try limited.snapshot().table("T")?.count == 3_980)
    last = nil
    try limited.close()
    try database.close()
  }

  @Test mutating func `a store that goes without being closed stores them`() throws {
    var content = try fixture.load()
    do {
      let (_, database) = try fixture.open()
      _ = try fixture.changeInMemory(database, &content, &random)
    }
    #expect(try fixture.stored() == content)
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
    let time = TimeByHand()
    var content = try fixture.load()
    let (_, database) = try fixture.open()
    let (_, other) = try fixture.open(time)
    _ = try fixture.changeInMemory(database, &content, &random)
    let transaction = try other.beginWrite()
    try database.close()
    transaction.rollback()
    #expect(try fixture.stored() != content)
    time.pass(milliseconds: 200)
    #expect(try fixture.stored() == content)
    try other.close()
  }

  @Test
  mutating func
    `a store that is closed while a write is about to begin has stored what lies in memory`()
    throws
  {
    let time = TimeByHand()
    var content = try fixture.load()
    let (store, database) = try fixture.open(time)
    _ = try fixture.changeInMemory(database, &content, &random)
    let (other, otherDatabase) = try fixture.open()
    let failure = Mutex<StoreError?>(nil)
    let file = try #require(other.device as? PosixDevice)
    // It may have kept the lock for a moment while it was alone.
    while file.lockOfOthers(byte: SharedLayout.DataByte.writer) != .unlocked { sched_yield() }
    // It gets the lock among processes, and goes on when the lane runs.
    store.beginWrite { if case .failure(let error) = $0 { failure.withLock { $0 = error } } }
    while file.lockOfOthers(byte: SharedLayout.DataByte.writer) == .unlocked { sched_yield() }
    try database.close()
    #expect(try fixture.stored() != content)
    while failure.withLock({ $0 }) == nil {
      time.pass(milliseconds: 0)
      sched_yield()
    }
    #expect(failure.withLock { $0 } == .closed(path: fixture.path))
    #expect(try fixture.stored() == content)
    try otherDatabase.close()
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
      let waiting = (0..<6).map { _ in
        WatchedThread { #expect(throws: StoreError.self) { _ = try store.beginWrite() } }
      }
      for thread in waiting { #expect(thread.waitsForSomebody()) }
      try database.close()
      transaction.rollback()
      for thread in waiting { thread.waitForEnd() }
      #expect(try fixture.stored() == content)
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
    #expect(try fixture.stored() != content)
    transaction.rollback()
    #expect(try fixture.stored() == content)
    #expect(try DatabaseContent(of: snapshot) == content)
  }

  @Test func `who joins and only reads has stored what a killed process has left`() throws {
    let time = TimeByHand()
    let left = try fixture.killed()
    let device = SimulatedDevice(left.image)
    // Nobody asks this one.
    let first = try FileStore(
      path: "simulated", options: fixture.simulated(device, left.memory))
    var joining = fixture.simulated(device, left.memory)
    joining.joins = true
    joining.relaxedDelayNanoseconds = 100_000_000
    joining.lane = time.lane
    let second = try Database(store: FileStore(path: "simulated", options: joining))
    time.pass(milliseconds: 200)
    let newest = try second.snapshot()
    #expect(first.memory.durableMark?.version == newest.version)
    #expect(try DatabaseContent(of: newest) == left.content)
    try second.close()
    try first.close()
  }

  @Test func `who takes over the log of a killed process stores it, also without writing`() throws {
    let time = TimeByHand()
    let left = try fixture.killed()
    let device = SimulatedDevice(left.image)
    var timed = fixture.simulated(device, left.memory)
    timed.relaxedDelayNanoseconds = 100_000_000
    timed.lane = time.lane
    let store = try FileStore(path: "simulated", options: timed)
    let database = try Database(store: store)
    let version = try database.snapshot().version
    #expect(store.memory.durableMark?.version ?? 0 < version)
    time.pass(milliseconds: 200)
    #expect(store.memory.durableMark?.version == version)
    #expect(try DatabaseContent(of: database.snapshot()) == left.content)
    try database.close()
  }

  @Test
  mutating func `who has seen what another user left in memory stores it when that one does not`()
    throws
  {
    let time = TimeByHand()
    var content = try fixture.load()
    let (_, database) = try fixture.open()
    let (_, other) = try fixture.open(time)
    let version = try fixture.changeInMemory(database, &content, &random).version
    #expect(try other.snapshot().version == version)
    // It leaves some time to who has made them.
    for _ in 0..<3 { time.pass(milliseconds: 200) }
    #expect(try fixture.stored() != content)
    for _ in 0..<3 { time.pass(milliseconds: 200) }
    #expect(try fixture.stored() == content)
    try other.close()
    try database.close()
  }

  /// What somebody leaves that is not durable, after others have begun to look after it.
  enum Left: CaseIterable {
    case inMemory, inTheFile
  }

  @Test(arguments: Left.allCases)
  mutating func `who looks after what others leave does so also when they have gone on meanwhile`(
    left: Left
  ) throws {
    let time = TimeByHand()
    var content = try fixture.load()
    let (_, database) = try fixture.open()
    let (store, other) = try fixture.open(time)
    _ = try fixture.changeInMemory(database, &content, &random)
    _ = try other.snapshot()
    time.pass(milliseconds: 500)
    try database.sync()
    switch left {
    case .inMemory: _ = try fixture.changeInMemory(database, &content, &random)
    case .inTheFile: _ = try fixture.change(database, &content, &random, count: 2000)
    }
    let version = try other.snapshot().version
    #expect(store.memory.durableMark?.version ?? 0 < version)
    for _ in 0..<12 { time.pass(milliseconds: 200) }
    #expect(store.memory.durableMark?.version == version)
    #expect(try fixture.stored() == content)
    try other.close()
    try database.close()
  }

  @Test mutating func `a process that waits to write and is stopped keeps nobody from storing`()
    throws
  {
    let time = TimeByHand()
    var content = try fixture.load()
    let (store, database) = try fixture.open(time)
    let (waiting, other) = try fixture.open()
    _ = try fixture.changeInMemory(database, &content, &random)
    // As that one notes it before it waits.
    let place = SharedLayout.Process.offset(waiting.slot) + SharedLayout.Process.waiting
    unsafe store.memory.word(place).pointee.store(7, ordering: .sequentiallyConsistent)
    unsafe store.memory.word(SharedLayout.waits).pointee.wrappingAdd(
      1, ordering: .sequentiallyConsistent)
    time.pass(milliseconds: 200)
    #expect(try fixture.stored() != content)
    time.pass(milliseconds: 200)
    #expect(try fixture.stored() == content)
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
    #expect(try fixture.stored() == content)
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

  @Test mutating func `a database that is gone leaves its store able to store what lies in memory`()
    throws
  {
    var content = try fixture.load()
    let store = try FileStore(path: fixture.path, options: fixture.options())
    var version: Version = 0
    do {
      let database = try Database(store: store)
      version = try fixture.changeInMemory(database, &content, &random).version
    }
    try store.close()
    let (reopenedStore, reopened) = try fixture.open()
    #expect(reopenedStore.recoveryNotes == [])
    #expect(try reopened.snapshot().version == version)
    #expect(try reopened.snapshot().head.residence == nil)
    #expect(try DatabaseContent(of: reopened.snapshot()) == content)
    try reopened.close()
  }
}

/// How somebody begins to write who may not let the file grow.
enum LimitedBeginning: CaseIterable {
  case atOnce, afterSync, inTurn

  /// How much more than the file has it may take, which is less than additions may use.
  var room: Int { self == .inTurn ? 768 << 10 : 512 << 10 }

  /// Commits what `body` changes.
  func write(
    _ database: Database, _ durability: Durability,
    _ body: @escaping @Sendable (Transaction) throws -> Void
  ) throws {
    if self != .inTurn {
      let transaction = try database.beginWrite(expecting: durability)
      try body(transaction)
      _ = try transaction.commit(durability: durability)
      return
    }
    let ended = DispatchSemaphore(value: 0)
    let outcome = Mutex<Result<Void, any Error>>(.success(()))
    database.beginWrite(expecting: durability) { result in
      let done = Result {
        let transaction = try result.get()
        try body(transaction)
        _ = try transaction.commit(durability: durability)
      }
      outcome.withLock { $0 = done }
      ended.signal()
    }
    ended.wait()
    try outcome.withLock { try $0.get() }
  }
}
