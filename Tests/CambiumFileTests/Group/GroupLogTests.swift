import CambiumCore
import TestSupport
import Testing

@testable import CambiumCore
@testable import CambiumFile

/// Small commits that wait for the medium together, and what they leave in the log of the file.
struct GroupLogTests {
  /// What the device was asked for in `body`.
  private func operations(
    _ bench: StoredLogBench, _ body: () throws -> Void
  ) rethrows -> [SimulatedDevice.Operation] {
    let before = bench.device.operationCount
    try body()
    return Array(bench.device.operations[before...])
  }

  @Test(arguments: LogCoding.cases(20, few: 3))
  func `they are one batch and one sync, and all are there after a power failure`(
    seed: UInt64, coding: LogCoding
  ) throws {
    try coding {
      var bench = try StoredLogBench(seed: seed)
      try bench.commitInLog()
      var batchCount = 0
      for _ in 0..<20 {
        var versions: [Version] = []
        for _ in 0..<Int.random(in: 1...6, using: &bench.random) {
          versions.append(try bench.commitAwaited())
        }
        let last = try #require(versions.last)
        let asked = try operations(bench) { try bench.database.makeDurable(last) }
        if bench.isInLog(asked) { batchCount += 1 }
        #expect(try bench.store.statistics().durableVersion == last)
        #expect(try operations(bench) { try bench.database.makeDurable(versions[0]) }.isEmpty)
        let after = try StoredLogBench.open(bench.image())
        #expect(try after.snapshot().version == last)
        #expect(try DatabaseContent(of: after.snapshot()) == bench.content)
        #expect(try after.verify().findings == [])
      }
      #expect(batchCount > 10, "\(batchCount)")
      #expect(try bench.database.verify().findings == [])
    }
  }

  @Test func `they follow a version of the file that is not durable, which is synced before them`()
    throws
  {
    var bench = try StoredLogBench(seed: 2)
    try bench.commitInLog()
    let filling = try bench.database.beginWrite(expecting: .relaxed)
    try bench.content.fill(100..<400, filling)
    _ = try filling.commit(durability: .relaxed)
    // The first makes room for what the next ones leave in memory.
    let versions = try (0..<3).map { _ in try bench.commitAwaited() }
    #expect(!bench.store.isFileVersionDurable)
    let inMemory = try bench.store.smallCommitStatistics().versionsInMemory
    #expect(inMemory == versions[1]...versions[2])
    let asked = try operations(bench) { try bench.database.makeDurable(versions[2]) }
    #expect(bench.isInLog(Array(asked.suffix(2))))
    #expect(asked.count { if case .sync = $0 { true } else { false } } == 2)
    #expect(try StoredLogBench.content(bench.image()) == bench.content)
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `pages are stored where the log of the file has no room for what lies in memory`(
    seed: UInt64
  ) throws {
    var bench = try StoredLogBench(seed: seed, byteCount: 4 * FileLayout.blockByteCount)
    try bench.commitInLog()
    var storedCount = 0
    for _ in 0..<30 {
      // Nobody has asked whether there is room for these.
      for _ in 0..<Int.random(in: 0...40, using: &bench.random) { _ = try bench.commit(.relaxed) }
      let version = try bench.database.snapshot().version
      try bench.database.makeDurable(version)
      if try bench.store.smallCommitStatistics().versionsInMemory == nil { storedCount += 1 }
      #expect(try bench.store.statistics().durableVersion == version)
      #expect(try StoredLogBench.content(bench.image()) == bench.content)
    }
    #expect(storedCount > 3)
    #expect(try bench.database.verify().findings == [])
  }

  @Test
  func `where there was room for a commit there is, whoever makes durable what was before it`()
    throws
  {
    let blockCount = 10
    var count = 0
    for seed in Exhaustive.seeds(400, few: 80) {
      var random = SeededGenerator(seed: seed)
      let (filled, first, second) = (
        Int.random(in: 0...6, using: &random), Int.random(in: 0...10, using: &random),
        Int.random(in: 1...10, using: &random)
      )
      let byteCount = 8 * Int.random(in: 1...3000, using: &random)
      // The one looks while nothing of what is in memory was made durable; in the other all of it is, in two batches.
      let benches = try [false, true].map { isSynced in
        var bench = try StoredLogBench(
          seed: seed, byteCount: blockCount * FileLayout.blockByteCount)
        try bench.commitInLog()
        for _ in 0..<filled { _ = try bench.commit() }
        for relaxedCount in [first, second] {
          for _ in 0..<relaxedCount { _ = try bench.commit(.relaxed) }
          if isSynced { try bench.database.makeDurable(bench.database.snapshot().version) }
        }
        return bench
      }
      #expect(benches[0].content == benches[1].content)
      let newest = benches[1].store.state.withLock { $0.newest }
      guard benches[0].store.mayStoreInLog(byteCount),
        let tail = benches[1].store.memory.durableMark?.log
      else { continue }
      let left = StoredLog(try #require(newest.log)).blocks.count - tail.blockCount
      #expect(StoredLog.blockCount(ofBatch: byteCount) <= left, "seed \(seed)")
      if StoredLog.blockCount(ofBatch: byteCount) + 2 >= left { count += 1 }
    }
    #expect(count > 5, "\(count)")
  }

  @Test func `who waits for the medium does not wait for who writes, whatever was committed since`()
    throws
  {
    var partlyCount = 0
    for seed in 0..<12 as Range<UInt64> {
      var bench = try StoredLogBench(seed: seed, byteCount: 4 * FileLayout.blockByteCount)
      for round in 0..<8 {
        try bench.database.sync()
        try bench.commitInLog()
        // More than the log of the file has room for, before it or behind it.
        let counts = round % 2 == 0 ? [0, 150] : [150, 0]
        for _ in 0..<counts[0] { _ = try bench.commit(.relaxed) }
        let version = try bench.commitAwaited()
        for _ in 0..<counts[1] { _ = try bench.commit(.relaxed) }
        let database = bench.database
        let transaction = try database.beginWrite()
        let waiting = WatchedThread {
          do { try database.makeDurable(version) } catch { Issue.record(error) }
        }
        #expect(!waiting.waitsForSomebody())
        transaction.rollback()
        waiting.waitForEnd()
        let durable = try bench.store.statistics().durableVersion
        #expect(durable >= version)
        if let log = bench.memory.durableMark?.log, log.version == durable,
          durable < (try database.snapshot().version)
        {
          partlyCount += 1
        }
        #expect(try StoredLogBench.open(bench.image()).snapshot().version == durable)
      }
    }
    #expect(partlyCount > 5, "\(partlyCount)")
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `what others commit during the sync waits for the next one, whatever it is`(seed: UInt64)
    throws
  {
    // Unchecked: the device calls on the thread that syncs.
    final class Course: @unchecked Sendable {
      var bench: StoredLogBench
      /// What the latest versions hold.
      var contents: [DatabaseContent] = []

      init(_ bench: StoredLogBench) { self.bench = bench }

      func commitDuringSync(_ keys: Range<Int64>) throws {
        if Bool.random(using: &bench.random),
          let filling = try bench.database.beginWriteIfFree(expecting: .relaxed)
        {
          try bench.content.fill(keys, filling)
          _ = try filling.commit(durability: .relaxed)
          contents.append(bench.content)
        }
        for _ in 0..<2 {
          // Nobody can wait for the sync that this runs in.
          guard let transaction = try bench.database.beginWriteIfFree(expecting: .relaxed) else {
            return
          }
          var changed = bench.content
          try changed.changeRow(transaction, &bench.random)
          _ = try transaction.commitAwaited()
          bench.content = changed
          contents.append(changed)
        }
      }
    }
    let course = Course(try StoredLogBench(seed: seed))
    let database = course.bench.database
    try course.bench.commitInLog()
    for round in 10..<22 as Range<Int64> {
      let version = try course.bench.commitAwaited()
      course.contents = [course.bench.content]
      course.bench.device.duringNextSync {
        do { try course.commitDuringSync(round * 100..<round * 100 + 100) } catch {
          Issue.record(error)
        }
      }
      try database.makeDurable(version)
      // The sync may be that of the version of the file, which another one follows.
      let found = try StoredLogBench.content(course.bench.image())
      #expect(course.contents.contains(found))
      try database.makeDurable(database.snapshot().version)
      #expect(try StoredLogBench.content(course.bench.image()) == course.bench.content)
    }
    #expect(try database.verify().findings == [])
  }

  @Test func `when the sync fails all are told, nothing is lost for readers, and nobody writes`()
    throws
  {
    var bench = try StoredLogBench(seed: 4)
    try bench.commitInLog()
    let (durable, version) = (bench.content, try bench.commitAwaited())
    bench.device.fail(bench.device.operationCount + 1, .refused)
    #expect(throws: StoreError.self) { try bench.database.makeDurable(version) }
    _ = bench.device.endFault()
    #expect(try DatabaseContent(of: bench.database.snapshot()) == bench.content)
    #expect(throws: StoreError.poisoned(path: StoredLogBench.path)) {
      try bench.database.beginWrite()
    }
    // It may have come through.
    #expect(try [durable, bench.content].contains(StoredLogBench.content(bench.image())))
  }

  @Test(arguments: [SimulatedDevice.Fault.refused, .partial, .whole])
  func `when the batch cannot be written all are told, and the next one makes them durable`(
    fault: SimulatedDevice.Fault
  ) throws {
    var bench = try StoredLogBench(seed: 5)
    try bench.commitInLog()
    let version = try bench.commitAwaited()
    bench.device.fail(bench.device.operationCount, fault)
    #expect(throws: StoreError.self) { try bench.database.makeDurable(version) }
    _ = bench.device.endFault()
    #expect(bench.memory.headWriter == nil)
    try bench.database.makeDurable(bench.commitAwaited())
    #expect(try StoredLogBench.content(bench.image()) == bench.content)
  }

  @Test func `who has pages stored for one version leaves those of later ones in memory`() throws {
    var bench = try StoredLogBench(seed: 8)
    try bench.commitInLog()
    try bench.database.sync()
    for _ in 0..<6 { _ = try bench.commit(.relaxed) }
    func inMemory() throws -> ClosedRange<Version>? {
      try bench.store.smallCommitStatistics().versionsInMemory
    }
    let versions = try #require(try inMemory())
    try bench.store.storeLogged(waits: true, through: versions.lowerBound - 1)
    #expect(try inMemory() == versions)
    try bench.store.storeLogged(waits: true, through: versions.lowerBound)
    #expect(try inMemory() == nil)
  }

  @Test func `closing makes durable what others wait for, also while somebody writes`() throws {
    var bench = try StoredLogBench(seed: 7)
    try bench.commitInLog()
    let version = try bench.commitAwaited()
    #expect(try bench.store.smallCommitStatistics().versionsInMemory?.contains(version) == true)
    let writing = try bench.store.beginWrite()
    try bench.store.close()
    try bench.store.makeDurable(version)
    #expect(try StoredLogBench.content(bench.image()) == bench.content)
    writing.abort()
    let again = try StoredLogBench.open(bench.image())
    #expect(try DatabaseContent(of: again.snapshot()) == bench.content)
    #expect(try again.verify().findings == [])
  }

  @Test(arguments: [false, true])
  func `a batch of one who died over it without the writer lock is gone before others write`(
    syncs: Bool
  ) throws {
    var bench = try StoredLogBench(seed: 6)
    try bench.commitInLog()
    let (store, device, version) = (bench.store, bench.device, try bench.commitAwaited())
    let (tail, offset) = try bench.next()
    let end = try #require(store.state.withLock { $0.logged?.end })
    let records = try #require(SharedLog(memory: bench.memory).bytes(tail.byteCount..<end))
    let epoch = store.state.withLock { $0.newest.head.epoch }
    let batch = StoredLog.batch(
      records, making: version, epoch: epoch, behind: tail, in: store.sector
    ).stored
    try store.withSlots { () throws(StoreError) in
      store.announceHead(holdsWriterLock: false)
      do throws(DeviceError) {
        try device.write(batch, at: offset)
        if syncs { try device.sync() }
      } catch {
        throw StoreError(error, path: StoredLogBench.path)
      }
    }
    for _ in 0..<3 {
      try bench.database.makeDurable(bench.commitAwaited())
      #expect(try StoredLogBench.content(bench.image(mood: 0.5)) == bench.content)
    }
    #expect(try bench.database.verify().findings == [])
  }
}
