import CambiumCore
import CambiumMemory
import TestSupport
import Testing

@testable import CambiumCore
@testable import CambiumFile

/// What crashes, failures, damage and hostile hands leave of the log of a file.
struct StoredLogDamageTests {
  @Test func `a changed byte ends a log in its last batch, and is an error in one before that`()
    throws
  {
    var bench = try StoredLogBench(seed: 6)
    try bench.commitInLog()
    for _ in 0..<2 { #expect(bench.isInLog(try bench.commit())) }
    let log = StoredLog(try #require(bench.store.state.withLock { $0.newest.log }))
    let (before, tail) = (bench.content, try #require(bench.store.memory.durableMark?.log))
    #expect(bench.isInLog(try bench.commit()))
    let version = try bench.database.snapshot().version
    let image = bench.image()
    let last = log.byteOffset(behind: tail)
    let end = log.byteOffset(behind: try #require(bench.store.memory.durableMark?.log))
    var (endedCount, refusedCount) = (0, 0)
    for offset in log.blocks.lowerBound * FileLayout.blockByteCount..<end where image[offset] != 0 {
      guard Exhaustive.tries(offset, oneIn: 7) else { continue }
      var damaged = image
      damaged[offset] ^= 0x41
      do throws(StoreError) {
        let database = try StoredLogBench.open(damaged)
        endedCount += 1
        #expect(offset >= last, "byte \(offset)")
        #expect(try database.snapshot().version < version)
        #expect(try DatabaseContent(of: database.snapshot()) == before, "byte \(offset)")
        #expect(try database.verify().findings == [], "byte \(offset)")
      } catch {
        refusedCount += 1
        guard case .damaged(let damage) = error else { throw error }
        #expect(offset < last, "byte \(offset)")
        #expect(damage.detail.contains("goes on to version \(version)"), "\(damage.detail)")
      }
    }
    #expect(endedCount > 0 && refusedCount > 0)
  }

  @Test func `a batch that the medium does not give back is an error where one lies behind it`()
    throws
  {
    var bench = try StoredLogBench(seed: 6)
    try bench.commitInLog()
    for _ in 0..<6 { #expect(bench.isInLog(try bench.commit())) }
    let log = StoredLog(try #require(bench.store.state.withLock { $0.newest.log }))
    let tail = try #require(bench.store.memory.durableMark?.log)
    let image = bench.image()
    for block in 0..<tail.blockCount - 1 {
      var zeroed = image
      let start = (log.blocks.lowerBound + block) * FileLayout.blockByteCount
      zeroed.replaceSubrange(
        start..<start + FileLayout.blockByteCount,
        with: [UInt8](repeating: 0, count: FileLayout.blockByteCount))
      #expect(throws: StoreError.self, "block \(block)") { try StoredLogBench.open(zeroed) }
    }
  }

  @Test
  func `a damaged page of which the log says what became of it is an error, and no older version`()
    throws
  {
    var bench = try StoredLogBench(seed: 7)
    try bench.commitInLog()
    let image = bench.image()
    let version = try bench.database.snapshot().version
    // The same without the log shows which pages there are.
    var ended = image
    let log = StoredLog(try #require(bench.store.state.withLock { $0.newest.log }))
    ended[log.blocks.lowerBound * FileLayout.blockByteCount] ^= 1
    let stored = try StoredLogBench.open(ended)
    #expect(try stored.snapshot().version < version)
    var refusedCount = 0
    for extent in try stored.walkNewest().extents {
      var damaged = image
      damaged[extent.byteOffset + extent.byteCount / 2] ^= 1
      do throws(StoreError) {
        let database = try Database(
          store: FileStore(
            path: StoredLogBench.path, options: StoredLogBench.options(SimulatedDevice(damaged))))
        #expect(try database.store.newestHead().version == version)
      } catch {
        guard case .damaged = error else { throw error }
        refusedCount += 1
      }
    }
    #expect(refusedCount > 0)
  }

  @Test func `a batch that no commit has made is refused or ends the log, and stops nobody`() throws
  {
    var bench = try StoredLogBench(seed: 15)
    try bench.commitInLog()
    let version = try bench.database.snapshot().version
    let image = bench.image()
    let (tail, offset) = try bench.next()
    let record = bench.strayRecord()
    let known = try #require(SharedLog(memory: bench.memory).bytes(0..<tail.byteCount))
    // One that belongs to something else.
    for change in [\StoredLog.Tail.link, \.base] as [WritableKeyPath<StoredLog.Tail, UInt64>] {
      var other = tail
      other[keyPath: change] += 1
      let crafted = StoredLogBench.image(
        image, with: bench.batch(record, behind: other), at: offset)
      #expect(try StoredLogBench.open(crafted).snapshot().version == version)
    }
    for records in [
      [], [0], [UInt8](repeating: 0, count: 8), record, record + [UInt8](repeating: 0, count: 8),
      known, [UInt8](repeating: 1, count: 4096), Array(record.dropLast()),
    ] {
      let crafted = StoredLogBench.image(
        image, with: bench.batch(records, behind: tail), at: offset)
      do throws(StoreError) {
        let database = try Database(
          store: FileStore(
            path: StoredLogBench.path, options: StoredLogBench.options(SimulatedDevice(crafted))))
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
      var options = StoredLogBench.options(SimulatedDevice(crafted))
      options.access = .buffered
      #expect(try SalvageFile(path: StoredLogBench.path, options: options).heads.count > 1)
    }
  }

  @Test(arguments: [false, true])
  func `a batch of which nobody knows is gone before others write, also after a power failure`(
    syncs: Bool
  ) throws {
    var bench = try StoredLogBench(seed: 8)
    try bench.commitInLog()
    // As one does who is killed before it has said that its version is durable.
    let store = bench.store
    let version = try bench.database.snapshot().version
    let (tail, offset) = try bench.next()
    let batch = bench.batch(bench.strayRecord(), behind: tail)
    try store.withSlots { () throws(StoreError) in
      store.announceHead(holdsWriterLock: true)
      do throws(DeviceError) {
        try bench.device.write(batch, at: offset)
        if syncs { try bench.device.sync() }
      } catch {
        throw StoreError(error, path: StoredLogBench.path)
      }
    }
    #expect(try bench.store.statistics().newestVersion == version)
    // Whoever writes next ends it, whatever it is that is written.
    _ = try bench.commit(.relaxed)
    let after = try StoredLogBench.open(bench.image(mood: 1))
    #expect(try after.snapshot().version <= version + 1)
    #expect(try after.verify().findings == [])
    for _ in 0..<3 { _ = try bench.commit() }
    #expect(try StoredLogBench.content(bench.image()) == bench.content)
  }

  @Test func `a failed write or sync leaves the version before, and nothing of it comes back`()
    throws
  {
    for fault in [SimulatedDevice.Fault.refused, .partial, .whole] {
      for operation in 0..<2 {
        var bench = try StoredLogBench(seed: 9)
        try bench.commitInLog()
        let before = bench.content
        bench.device.fail(bench.device.operationCount + operation, fault)
        #expect(throws: StoreError.self) { _ = try bench.commit() }
        _ = bench.device.endFault()
        #expect(bench.content == before)
        #expect(try DatabaseContent(of: bench.database.snapshot()) == before)
        guard operation == 0 else { continue }
        // A write that was refused has poisoned nothing.
        #expect(try StoredLogBench.content(bench.image(mood: 1)) == before)
        _ = try bench.commit()
        #expect(try StoredLogBench.content(bench.image()) == bench.content)
      }
    }
  }

  @Test(arguments: [0, 0.5, 1])
  func `after a failed sync the first write makes what was found in the log durable again`(
    mood: Double
  ) throws {
    for seed in 0..<8 as Range<UInt64> {
      var bench = try StoredLogBench(seed: 40 + seed)
      try bench.commitInLog()
      bench.device.fail(bench.device.operationCount + 1, .refused)
      #expect(throws: StoreError.self) { _ = try bench.commit() }
      _ = bench.device.endFault()
      // The same device again: its memory still shows what may never reach the medium.
      let database = try Database(
        store: FileStore(
          path: StoredLogBench.path, options: StoredLogBench.options(bench.device)))
      let content = try DatabaseContent(of: database.snapshot())
      try database.beginWrite().rollback()
      #expect(try StoredLogBench.content(bench.image(mood: mood)) == content)
    }
  }

  @Test
  func `what was found in the log counts as durable once the first write has written it again`()
    throws
  {
    var bench = try StoredLogBench(seed: 16)
    try bench.commitInLog()
    let database = try StoredLogBench.open(bench.image())
    let version = try database.snapshot().version
    #expect(try database.statistics().durableVersion < version)
    let transaction = try database.beginWrite()
    #expect(try database.statistics().durableVersion == version)
    transaction.rollback()
  }

  @Test
  func `a log that was damaged while its file was not used is written on with all that it lacks`()
    throws
  {
    var bench = try StoredLogBench(seed: 17)
    try bench.commitInLog()
    for _ in 0..<3 { #expect(bench.isInLog(try bench.commit())) }
    let log = StoredLog(try #require(bench.store.state.withLock { $0.newest.log }))
    let left = (bench.device.bytes, LogFixture.copy(of: bench.memory))
    for block in 0..<3 {
      var bytes = left.0
      bytes[(log.blocks.lowerBound + block) * FileLayout.blockByteCount + 100] ^= 1
      let device = SimulatedDevice(bytes)
      var options = StoredLogBench.options(device)
      options.memory = LogFixture.copy(of: left.1)
      let database = try Database(store: FileStore(path: StoredLogBench.path, options: options))
      var content = bench.content
      #expect(try DatabaseContent(of: database.snapshot()) == content)
      var random = SeededGenerator(seed: 1)
      for _ in 0..<3 {
        let transaction = try database.beginWrite()
        try content.changeRow(transaction, &random)
        _ = try transaction.commit()
        let image = device.crashImage(
          afterOperations: device.operationCount, mood: 0, generator: &random)
        #expect(try StoredLogBench.content(image) == content, "block \(block)")
      }
    }
  }

  @Test func `shared memory that says less than was acknowledged gives way to the log of the file`()
    throws
  {
    var bench = try StoredLogBench(seed: 18)
    try bench.commitInLog()
    for _ in 0..<3 { #expect(bench.isInLog(try bench.commit())) }
    let version = try bench.database.snapshot().version
    let newest = bench.store.state.withLock { $0.newest }
    for through in [nil, newest.head.version + 1] as [Version?] {
      let memory = LogFixture.copy(of: bench.memory)
      memory.publish(newest, bench.store.sector, through: through)
      var options = StoredLogBench.options(SimulatedDevice(bench.image()))
      options.memory = memory
      let store = try FileStore(path: StoredLogBench.path, options: options)
      #expect(try store.newestHead().version == version)
    }
  }

  @Test func `a lock file that has gone back with its medium costs nothing that was acknowledged`()
    throws
  {
    var bench = try StoredLogBench(seed: 19)
    var old: [SharedMemory] = []
    old.append(LogFixture.copy(of: bench.memory))
    try bench.commitInLog()
    old.append(LogFixture.copy(of: bench.memory))
    for _ in 0..<3 { #expect(bench.isInLog(try bench.commit())) }
    let content = bench.content
    for memory in old {
      let device = SimulatedDevice(bench.image())
      var options = StoredLogBench.options(device)
      options.memory = memory
      let store = try FileStore(path: StoredLogBench.path, options: options)
      let database = try Database(store: store)
      #expect(try DatabaseContent(of: database.snapshot()) == content)
      // The first write ends what follows the part of the log that is known.
      _ = try database.beginWrite().commit(durability: .full)
      #expect(try DatabaseContent(of: database.snapshot()) == content)
      #expect(try StoredLogBench.content(device.bytes) == content)
    }
  }

  @Test func `the beginning of a torn batch is gone before another one is written in its place`()
    throws
  {
    typealias Field = FileLayout.Batch
    var bench = try StoredLogBench(seed: 20)
    try bench.commitInLog()
    let (tail, offset) = try bench.next()
    var torn = bench.batch(bench.strayRecord(), behind: tail)
    torn[Field.byteCount + 20] ^= 1
    let device = SimulatedDevice(StoredLogBench.image(bench.image(), with: torn, at: offset))
    let database = try Database(
      store: FileStore(path: StoredLogBench.path, options: StoredLogBench.options(device)))
    var batches: [[UInt8]] = []
    var isSynced = false
    for _ in 0..<20 where batches.count < 2 {
      let before = device.operationCount
      let transaction = try database.beginWrite()
      var content = bench.content
      try content.changeRow(transaction, &bench.random)
      _ = try transaction.commit(durability: .full)
      bench.content = content
      for operation in device.operations[before...] {
        switch operation {
        case .write(let bytes, let place) where place == offset:
          // Of the two the first one must be there before the second one is begun.
          #expect(batches.isEmpty || isSynced)
          (batches, isSynced) = (batches + [bytes], false)
        case .sync: isSynced = true
        default: break
        }
      }
    }
    try #require(batches.count == 2)
    #expect(batches[0].allSatisfy { $0 == 0 })
    #expect(batches[1].starts(with: Field.magicBytes))
    let epoch = Field.epoch..<Field.recordByteCount
    #expect(batches[1][epoch] != torn[epoch])
  }

  @Test func `salvage finds what is in the log`() throws {
    var bench = try StoredLogBench(seed: 10)
    try bench.commitInLog()
    var options = StoredLogBench.options(SimulatedDevice(bench.image()))
    options.access = .buffered
    let file = try SalvageFile(path: StoredLogBench.path, options: options)
    #expect(file.heads.first?.version == (try bench.database.snapshot().version))
    let destination = try Database(store: MemoryStore())
    let report = try Salvage(store: file).run(into: destination)
    #expect(report.losses.isEmpty)
    #expect(try DatabaseContent(of: destination.snapshot()) == bench.content)
  }

  @Test func `what a log has left of another base, or of earlier versions, refuses no file`()
    throws
  {
    var bench = try StoredLogBench(seed: 15)
    try bench.commitInLog()
    let version = try bench.database.snapshot().version
    let (tail, offset) = try bench.next()
    let image = bench.image()
    func opened(making made: Version, base: Version) throws(StoreError) -> Version {
      var other = tail
      other.base = base
      let batch = bench.batch(bench.strayRecord(), making: made, behind: other)
      let changed = StoredLogBench.image(
        image, with: batch, at: offset + FileLayout.blockByteCount)
      return try StoredLogBench.open(changed).snapshot().version
    }
    #expect(try opened(making: version + 2, base: tail.base - 1) == version)
    #expect(try opened(making: version, base: tail.base) == version)
    // One that tells of a batch before it.
    #expect(throws: StoreError.self) { try opened(making: version + 2, base: tail.base) }
  }

  @Test func `what a newer version has written over in a log is no loss for salvage`() throws {
    var bench = try StoredLogBench(seed: 15)
    try bench.commitInLog()
    for _ in 0..<3 { #expect(bench.isInLog(try bench.commit())) }
    let transaction = try bench.database.beginWrite()
    try transaction.setValue("large", [UInt8](repeating: 1, count: 100_000))
    _ = try transaction.commit()
    #expect(bench.isInLog(try bench.commit()))
    var options = StoredLogBench.options(SimulatedDevice(bench.image()))
    options.access = .buffered
    let file = try SalvageFile(path: StoredLogBench.path, options: options)
    #expect(file.heads.count > 2)
    #expect(file.lostCommits == [])
  }

  @Test func `salvage takes what is before a damaged batch, and says that more was durable`()
    throws
  {
    var bench = try StoredLogBench(seed: 10)
    try bench.commitInLog()
    #expect(bench.isInLog(try bench.commit()))
    let (before, tail) = (bench.content, try #require(bench.store.memory.durableMark?.log))
    let log = StoredLog(try #require(bench.store.state.withLock { $0.newest.log }))
    for _ in 0..<2 { #expect(bench.isInLog(try bench.commit())) }
    var image = bench.image()
    image[log.byteOffset(behind: tail) + 100] ^= 1
    var options = StoredLogBench.options(SimulatedDevice(image))
    options.access = .buffered
    let file = try SalvageFile(path: StoredLogBench.path, options: options)
    #expect(file.heads.first?.version == tail.version)
    let destination = try Database(store: MemoryStore())
    let report = try Salvage(store: file).run(into: destination)
    #expect(report.losses == file.lostCommits && report.losses.count == 1)
    for lost in ["from version \(tail.version + 1) on", "to version \(tail.version + 2)"] {
      #expect(report.losses.first?.reason.contains(lost) ?? false, "\(report.losses)")
    }
    #expect(try DatabaseContent(of: destination.snapshot()) == before)
  }
}
