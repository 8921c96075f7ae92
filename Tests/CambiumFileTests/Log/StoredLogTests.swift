import CambiumCore
import CambiumMemory
import Foundation
import TestSupport
import Testing

@testable import CambiumCore
@testable import CambiumFile

/// Small durable commits, which leave what they change in the log of the file.
struct StoredLogTests {
  private static let path = "simulated"

  /// A database with some rows on a simulated device, whose file has a log for the next durable commits.
  private struct Bench {
    let device: SimulatedDevice
    let memory = SharedMemory()
    let time = TimeByHand()
    let store: FileStore
    let database: Database
    var content: DatabaseContent
    var random: SeededGenerator

    init(
      seed: UInt64, byteCount: Int = 256 << 10, _ device: SimulatedDevice = SimulatedDevice()
    ) throws {
      self.device = device
      random = SeededGenerator(seed: seed)
      var options = StoredLogTests.options(device)
      options.memory = memory
      options.lane = time.lane
      options.storedLogByteCount = byteCount
      store = try FileStore(path: StoredLogTests.path, options: options)
      database = try Database(store: store)
      content = try DatabaseContent(of: database.snapshot())
      if !device.bytes.isEmpty, content != DatabaseContent() { return }
      let filling = try database.beginWrite()
      try content.fill(0..<30, filling)
      _ = try filling.commit()
    }

    /// Changes a row or so; what the device was asked to do for it.
    mutating func commit(
      _ durability: Durability = .full, metadata: [UInt8] = []
    ) throws -> [SimulatedDevice.Operation] {
      let before = device.operationCount
      let transaction = try database.beginWrite(expecting: durability)
      var changed = content
      try changed.changeRow(transaction, &random)
      _ = try transaction.commit(durability: durability, metadata: metadata)
      content = changed
      return Array(device.operations[before...])
    }

    /// Commits until one leaves what it changes in the log.
    mutating func commitInLog() throws {
      for _ in 0..<100 { if isInLog(try commit()) { break } }
      #expect(store.memory.durableMark?.log != nil)
    }

    func isInLog(_ operations: [SimulatedDevice.Operation]) -> Bool {
      guard operations.count == 2, case .write(let bytes, _) = operations[0],
        case .sync = operations[1]
      else { return false }
      return bytes.starts(with: FileLayout.Batch.magicBytes)
        && bytes.count % FileLayout.blockByteCount == 0
    }

    /// What the medium holds for certain.
    mutating func image(mood: Double = 0) -> [UInt8] {
      device.crashImage(
        afterOperations: device.operationCount, mood: mood, generator: &random)
    }
  }

  private static func options(_ device: SimulatedDevice) -> FileStoreOptions {
    var options = CrashSettings.options(device)
    options.relaxedDelayNanoseconds = 3_600_000_000_000
    options.checkpointAfterRecordCount = 8
    // The file is not to become shorter.
    options.largestSlackByteCount = FileStoreOptions().largestSlackByteCount
    options.leastRelocatedByteCount = FileStoreOptions().leastRelocatedByteCount
    return options
  }

  private static func open(_ image: [UInt8]) throws -> Database {
    try Database(store: FileStore(path: path, options: options(SimulatedDevice(image))))
  }

  private static func content(_ image: [UInt8]) throws -> DatabaseContent {
    try DatabaseContent(of: open(image).snapshot())
  }

  @Test func `a small durable commit is one write of whole blocks and one sync`() throws {
    var bench = try Bench(seed: 1)
    var count = 0
    for _ in 0..<60 where bench.isInLog(try bench.commit()) { count += 1 }
    #expect(count > 30)
  }

  @Test(arguments: Exhaustive.seeds(20, few: 4))
  func `what it returned for is there after a power failure, with the relaxed commits before it`(
    seed: UInt64
  ) throws {
    var bench = try Bench(seed: seed)
    var wasInLog = 0
    for _ in 0..<60 {
      let relaxedCount = Int.random(in: 0...2, using: &bench.random)
      for _ in 0..<relaxedCount { _ = try bench.commit(.relaxed) }
      if bench.isInLog(try bench.commit()) { wasInLog += 1 }
      let version = try bench.database.snapshot().version
      #expect(try bench.store.statistics().durableVersion == version)
      let after = try Self.open(bench.image())
      #expect(try after.snapshot().version == version)
      #expect(try DatabaseContent(of: after.snapshot()) == bench.content)
      #expect(try after.verify().findings == [])
    }
    #expect(wasInLog > 15, "\(wasInLog)")
    #expect(try bench.database.verify().findings == [])
  }

  @Test(arguments: Exhaustive.seeds(20, few: 4))
  func `who opens it after a power failure goes on, and loses nothing in the next one`(
    seed: UInt64
  ) throws {
    var bench = try Bench(seed: seed)
    var (image, content) = (bench.image(), bench.content)
    for round in 0..<12 as Range<UInt64> {
      try bench.commitInLog()
      for _ in 0..<Int.random(in: 0...3, using: &bench.random) { _ = try bench.commit() }
      (image, content) = (bench.image(mood: 0.5), bench.content)
      bench = try Bench(seed: seed * 100 + round, SimulatedDevice(image))
      #expect(bench.content == content)
    }
    let database = try Self.open(image)
    #expect(try database.verify().findings == [])
    try database.close()
  }

  @Test
  func
    `what commits were given is told of versions in the log, before and after it is opened again`()
    throws
  {
    var bench = try Bench(seed: 3)
    try bench.commitInLog()
    let first = try bench.database.snapshot().version + 1
    for number in 0..<4 as Range<UInt8> { _ = try bench.commit(metadata: [number, 7]) }
    for database in [bench.database, try Self.open(bench.image())] {
      let found = try database.metadata(from: first, through: database.snapshot())
      #expect(found?.map(\.bytes) == (0..<4).map { [$0, 7] })
    }
  }

  @Test func `closing stores what is in the log, and opening needs it no more`() throws {
    var bench = try Bench(seed: 4)
    try bench.commitInLog()
    try bench.database.close()
    let head = try FileStore(
      path: Self.path, options: Self.options(SimulatedDevice(bench.device.bytes))
    ).newestHead()
    #expect(head.residence == nil)
    #expect(try Self.content(bench.device.bytes) == bench.content)
  }

  @Test func `a second after the last of them their pages are stored`() throws {
    var bench = try Bench(seed: 5)
    try bench.commitInLog()
    bench.time.pass(milliseconds: 500)
    #expect(try bench.store.newestHead().residence != nil)
    bench.time.pass(milliseconds: 600)
    #expect(try bench.store.newestHead().residence == nil)
    let after = try Self.open(bench.image())
    #expect(try after.snapshot().head.residence == nil)
    #expect(try DatabaseContent(of: after.snapshot()) == bench.content)
  }

  @Test func `a log in which a byte was changed ends before that`() throws {
    var bench = try Bench(seed: 6)
    try bench.commitInLog()
    var contents: [DatabaseContent] = [bench.content]
    for _ in 0..<3 {
      #expect(bench.isInLog(try bench.commit()))
      contents.append(bench.content)
    }
    let image = bench.image()
    let log = StoredLog(try #require(bench.store.state.withLock { $0.newest.log }))
    let tail = try #require(bench.store.memory.durableMark?.log)
    let start = log.blocks.lowerBound * FileLayout.blockByteCount
    let end = log.byteOffset(behind: tail)
    var found: Set<Version> = []
    for offset in start..<end where image[offset] != 0 {
      guard Exhaustive.tries(offset, oneIn: 7) else { continue }
      var damaged = image
      damaged[offset] ^= 0x41
      let database = try Self.open(damaged)
      let version = try database.snapshot().version
      found.insert(version)
      let content = try DatabaseContent(of: database.snapshot())
      #expect(content != bench.content, "byte \(offset)")
      #expect(try database.verify().findings == [], "byte \(offset)")
      let behind = Int(tail.version - version)
      if behind < contents.count {
        #expect(content == contents[contents.count - 1 - behind], "byte \(offset)")
      }
    }
    #expect(found.count >= 4)
  }

  @Test
  func `a damaged page of which the log says what became of it is an error, and no older version`()
    throws
  {
    var bench = try Bench(seed: 7)
    try bench.commitInLog()
    let image = bench.image()
    let version = try bench.database.snapshot().version
    // The same without the log shows which pages there are.
    var ended = image
    let log = StoredLog(try #require(bench.store.state.withLock { $0.newest.log }))
    ended[log.blocks.lowerBound * FileLayout.blockByteCount] ^= 1
    let stored = try Self.open(ended)
    #expect(try stored.snapshot().version < version)
    var refusedCount = 0
    for extent in try stored.walkNewest().extents {
      var damaged = image
      damaged[extent.byteOffset + extent.byteCount / 2] ^= 1
      do throws(StoreError) {
        let database = try Database(
          store: FileStore(path: Self.path, options: Self.options(SimulatedDevice(damaged))))
        #expect(try database.store.newestHead().version == version)
      } catch {
        guard case .damaged = error else { throw error }
        refusedCount += 1
      }
    }
    #expect(refusedCount > 0)
  }

  @Test(arguments: Exhaustive.seeds(20, few: 4))
  func `however much a commit changes, its batch lies in the log or its pages are stored`(
    seed: UInt64
  ) throws {
    var bench = try Bench(seed: seed, byteCount: 128 << 10)
    var largest = 0
    for _ in 0..<120 {
      let count = Int.random(in: 1...15, using: &bench.random)
      let before = bench.store.memory.durableMark?.log?.blockCount ?? 0
      let transaction = try bench.database.beginWrite()
      try bench.content.lengthen(count, transaction, &bench.random)
      _ = try transaction.commit()
      let (newest, mark) = bench.store.state.withLock { ($0.newest, $0.mark) }
      if let tail = mark.log, let extent = newest.log {
        #expect(tail.blockCount <= StoredLog(extent).blocks.count)
        largest = max(largest, tail.blockCount - before)
      }
      let after = try Self.open(bench.image())
      #expect(try DatabaseContent(of: after.snapshot()) == bench.content)
    }
    #expect(largest > 1)
    #expect(try bench.database.verify().findings == [])
    #expect(try Self.open(bench.image()).verify().findings == [])
  }

  @Test func `a batch that no commit has made is refused or ends the log, and stops nobody`() throws
  {
    var bench = try Bench(seed: 15)
    try bench.commitInLog()
    let store = bench.store
    let (newest, mark, version) = store.state.withLock {
      ($0.newest, $0.mark, $0.newestHead.version)
    }
    let tail = try #require(mark.log)
    let image = bench.image()
    let offset = StoredLog(try #require(newest.log)).byteOffset(behind: tail)
    let record = SharedLog.record(
      of: version + 1, after: newest.head.version, metadata: [], byteLimit: 64
    ) { $0.append(repeating: 0, count: 64, as: UInt8.self) }
    let known = try #require(SharedLog(memory: store.memory).bytes(0..<tail.byteCount))
    // One that belongs to something else.
    for change in [\StoredLog.Tail.link, \.base] as [WritableKeyPath<StoredLog.Tail, UInt64>] {
      var other = tail
      other[keyPath: change] += 1
      let (batch, _) = StoredLog.batch(record, making: version + 1, behind: other, in: store.sector)
      var crafted = image
      crafted.replaceSubrange(offset..<offset + batch.count, with: batch)
      #expect(try Self.open(crafted).snapshot().version == version)
    }
    for records in [
      [], [0], [UInt8](repeating: 0, count: 8), record, record + [UInt8](repeating: 0, count: 8),
      known, [UInt8](repeating: 1, count: 4096), Array(record.dropLast()),
    ] {
      let (batch, _) = StoredLog.batch(records, making: version + 1, behind: tail, in: store.sector)
      var crafted = image
      crafted.replaceSubrange(offset..<offset + batch.count, with: batch)
      do throws(StoreError) {
        let database = try Database(
          store: FileStore(path: Self.path, options: Self.options(SimulatedDevice(crafted))))
        #expect(try database.store.newestHead().version == version)
        for number in 0..<3 as Range<UInt8> {
          let transaction = try database.beginWrite()
          try transaction.setValue("number", [number])
          _ = try transaction.commit()
        }
        try database.close()
      } catch {
        guard case .damaged = error else { throw error }
      }
      var options = Self.options(SimulatedDevice(crafted))
      options.access = .buffered
      #expect(try SalvageFile(path: Self.path, options: options).heads.count > 1)
    }
  }

  @Test(arguments: [false, true])
  func `a batch of which nobody knows is gone before others write, also after a power failure`(
    syncs: Bool
  ) throws {
    var bench = try Bench(seed: 8)
    try bench.commitInLog()
    // As one does who is killed before it has said that its version is durable.
    let store = bench.store
    let (newest, mark, version) = store.state.withLock {
      ($0.newest, $0.mark, $0.newestHead.version)
    }
    let tail = try #require(mark.log)
    let log = StoredLog(try #require(newest.log))
    let record = SharedLog.record(
      of: version + 1, after: newest.head.version, metadata: [], byteLimit: 64
    ) { $0.append(repeating: 0, count: 64, as: UInt8.self) }
    let (batch, _) = StoredLog.batch(record, making: version + 1, behind: tail, in: store.sector)
    try store.withSlots { () throws(StoreError) in
      store.announceHead(holdsWriterLock: true)
      do throws(DeviceError) {
        try bench.device.write(batch, at: log.byteOffset(behind: tail))
        if syncs { try bench.device.sync() }
      } catch {
        throw StoreError(error, path: Self.path)
      }
    }
    #expect(try bench.store.statistics().newestVersion == version)
    // Whoever writes next ends it, whatever it is that is written.
    _ = try bench.commit(.relaxed)
    let after = try Self.open(bench.image(mood: 1))
    #expect(try after.snapshot().version <= version + 1)
    #expect(try after.verify().findings == [])
    for _ in 0..<3 { _ = try bench.commit() }
    #expect(try Self.content(bench.image()) == bench.content)
  }

  @Test func `a failed write or sync leaves the version before, and nothing of it comes back`()
    throws
  {
    for fault in [SimulatedDevice.Fault.refused, .partial, .whole] {
      for operation in 0..<2 {
        var bench = try Bench(seed: 9)
        try bench.commitInLog()
        let before = bench.content
        bench.device.fail(bench.device.operationCount + operation, fault)
        #expect(throws: StoreError.self) { _ = try bench.commit() }
        _ = bench.device.endFault()
        #expect(bench.content == before)
        #expect(try DatabaseContent(of: bench.database.snapshot()) == before)
        guard operation == 0 else { continue }
        // A write that was refused has poisoned nothing.
        #expect(try Self.content(bench.image(mood: 1)) == before)
        _ = try bench.commit()
        #expect(try Self.content(bench.image()) == bench.content)
      }
    }
  }

  @Test func `salvage finds what is in the log`() throws {
    var bench = try Bench(seed: 10)
    try bench.commitInLog()
    var options = Self.options(SimulatedDevice(bench.image()))
    options.access = .buffered
    let file = try SalvageFile(path: Self.path, options: options)
    #expect(file.heads.first?.version == (try bench.database.snapshot().version))
    let destination = try Database(store: MemoryStore())
    let report = try Salvage(store: file).run(into: destination)
    #expect(report.losses.isEmpty)
    #expect(try DatabaseContent(of: destination.snapshot()) == bench.content)
  }

  @Test func `a file that cannot have a log, or shall not, makes durable commits without one`()
    throws
  {
    var bench = try Bench(seed: 11, byteCount: 0)
    for _ in 0..<20 { #expect(!bench.isInLog(try bench.commit())) }
    #expect(bench.store.state.withLock { $0.newest.log } == nil)
    try CrashSettings.$codec.withValue(SealCodec(parameterByteCount: 0)) {
      var sealed = try Bench(seed: 12)
      for _ in 0..<20 { #expect(!sealed.isInLog(try sealed.commit())) }
    }
  }

  @Test func `its room counts as used, and its own books and a walk agree about it`() throws {
    var bench = try Bench(seed: 13)
    try bench.commitInLog()
    #expect(try bench.database.verify().findings == [])
    try bench.database.close()
    let database = try Self.open(bench.device.bytes)
    #expect(try database.verify().findings == [])
    var content = bench.content
    let thinning = try database.beginWrite()
    try content.thinOut(thinning)
    _ = try thinning.commit()
    #expect(try database.verify().findings == [])
    #expect(try DatabaseContent(of: database.snapshot()) == content)
  }
}
