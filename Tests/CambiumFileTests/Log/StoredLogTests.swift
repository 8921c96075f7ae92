import CambiumCore
import TestSupport
import Testing

@testable import CambiumCore
@testable import CambiumFile

/// Small durable commits, which leave what they change in the log of the file.
struct StoredLogTests {
  @Test func `a small durable commit is one write of whole blocks and one sync`() throws {
    var bench = try StoredLogBench(seed: 1)
    var count = 0
    for _ in 0..<60 where bench.isInLog(try bench.commit()) { count += 1 }
    #expect(count > 30)
  }

  @Test(arguments: LogCoding.cases(20, few: 3))
  func `what it returned for is there after a power failure, with the relaxed commits before it`(
    seed: UInt64, coding: LogCoding
  ) throws {
    try coding {
      var bench = try StoredLogBench(seed: seed)
      var wasInLog = 0
      for number in 0..<60 as Range<UInt8> {
        let relaxedCount = Int.random(in: 0...2, using: &bench.random)
        for _ in 0..<relaxedCount { _ = try bench.commit(.relaxed) }
        if bench.isInLog(try bench.commit(metadata: [number, 7])) { wasInLog += 1 }
        let version = try bench.database.snapshot().version
        #expect(try bench.store.statistics().durableVersion == version)
        let after = try StoredLogBench.open(bench.image())
        let snapshot = try after.snapshot()
        #expect(snapshot.version == version)
        #expect(try DatabaseContent(of: snapshot) == bench.content)
        #expect(try after.metadata(from: version, through: snapshot)?.last?.bytes == [number, 7])
        #expect(try after.verify().findings == [])
      }
      #expect(wasInLog > 15, "\(wasInLog)")
      #expect(try bench.database.verify().findings == [])
    }
  }

  @Test(arguments: LogCoding.cases(20, few: 3))
  func `who opens it after a power failure goes on, and loses nothing in the next one`(
    seed: UInt64, coding: LogCoding
  ) throws {
    try coding {
      var bench = try StoredLogBench(seed: seed)
      var (image, content) = (bench.image(), bench.content)
      for round in 0..<12 as Range<UInt64> {
        try bench.commitInLog()
        for _ in 0..<Int.random(in: 0...3, using: &bench.random) { _ = try bench.commit() }
        (image, content) = (bench.image(mood: 0.5), bench.content)
        bench = try StoredLogBench(seed: seed * 100 + round, SimulatedDevice(image))
        #expect(bench.content == content)
      }
      let database = try StoredLogBench.open(image)
      #expect(try database.verify().findings == [])
      try database.close()
    }
  }

  @Test
  func
    `what commits were given is told of versions in the log, before and after it is opened again`()
    throws
  {
    var bench = try StoredLogBench(seed: 3)
    try bench.commitInLog()
    let first = try bench.database.snapshot().version + 1
    for number in 0..<4 as Range<UInt8> { _ = try bench.commit(metadata: [number, 7]) }
    for database in [bench.database, try StoredLogBench.open(bench.image())] {
      let found = try database.metadata(from: first, through: database.snapshot())
      #expect(found?.map(\.bytes) == (0..<4).map { [$0, 7] })
    }
  }

  @Test func `what lies in memory and in the log is told`() throws {
    var bench = try StoredLogBench(seed: 18)
    #expect(try bench.store.smallCommitStatistics().versionsInMemory == nil)
    try bench.commitInLog()
    let first = try bench.database.snapshot().version
    #expect(bench.isInLog(try bench.commit()))
    _ = try bench.commit(.relaxed)
    let statistics = try bench.store.smallCommitStatistics()
    #expect(statistics.versionsInMemory == first...first + 2)
    #expect(statistics.pageByteCount > 0)
    let log = try #require(statistics.log)
    #expect(log.versions == first...first + 1)
    #expect(log.byteCount >= 128 << 10 && log.usedByteCount >= 8 << 10)
    let batch = bench.device.bytes[log.byteOffset...].prefix(FileLayout.Batch.magicBytes.count)
    #expect(Array(batch) == FileLayout.Batch.magicBytes)
    bench.time.pass(milliseconds: 1_100)
    let after = try bench.store.smallCommitStatistics()
    #expect(after.versionsInMemory == nil && after.pageByteCount == 0)
    #expect(after.log?.versions == nil && after.log?.byteOffset == log.byteOffset)
    try bench.database.close()
    #expect(throws: StoreError.closed(path: StoredLogBench.path)) {
      try bench.store.smallCommitStatistics()
    }
  }

  @Test func `closing stores what is in the log, and opening needs it no more`() throws {
    var bench = try StoredLogBench(seed: 4)
    try bench.commitInLog()
    try bench.database.close()
    let head = try FileStore(
      path: StoredLogBench.path,
      options: StoredLogBench.options(SimulatedDevice(bench.device.bytes))
    ).newestHead()
    #expect(head.residence == nil)
    #expect(try StoredLogBench.content(bench.device.bytes) == bench.content)
  }

  @Test
  func `what a crash has left in the log is stored soon by who opens the file and only reads`()
    throws
  {
    var bench = try StoredLogBench(seed: 6)
    try bench.commitInLog()
    let device = SimulatedDevice(bench.image())
    let opened = try StoredLogBench(seed: 6, device)
    #expect(try opened.store.newestHead().residence != nil)
    // A sync, which finds that all is durable, and then the second without a commit.
    opened.time.pass(milliseconds: 3_600_000)
    opened.time.pass(milliseconds: 2_000)
    #expect(try opened.store.newestHead().residence == nil)
    let left = device.crashImage(
      afterOperations: device.operationCount, mood: 0, generator: &bench.random)
    #expect(try StoredLogBench.open(left).snapshot().head.residence == nil)
    #expect(try StoredLogBench.content(left) == bench.content)
  }

  @Test func `what another user has left in the log who is gone is stored soon`() throws {
    let fixture = try LogFixture()
    var content = try fixture.load()
    // Nothing becomes due to the one.
    var options = FileStoreOptions()
    options.lane = TimeByHand().lane
    options.unloggedCommitCount = 0
    let (first, database) = try fixture.open(options)
    var random = SeededGenerator(seed: 23)
    for _ in 0..<20 where first.memory.durableMark?.log == nil {
      _ = try fixture.change(database, &content, &random, .full)
    }
    #expect(try first.newestHead().residence != nil)
    let time = TimeByHand()
    let (second, other) = try fixture.open(time)
    #expect(try second.newestHead().residence != nil)
    first.writerLock?.giveBack()
    time.pass(milliseconds: 100)
    time.pass(milliseconds: 1_100)
    #expect(try second.newestHead().residence == nil)
    #expect(try DatabaseContent(of: other.snapshot()) == content)
    try other.close()
    try database.close()
  }

  @Test func `a second after the last of them their pages are stored`() throws {
    var bench = try StoredLogBench(seed: 5)
    try bench.commitInLog()
    bench.time.pass(milliseconds: 500)
    #expect(try bench.store.newestHead().residence != nil)
    bench.time.pass(milliseconds: 600)
    #expect(try bench.store.newestHead().residence == nil)
    let after = try StoredLogBench.open(bench.image())
    #expect(try after.snapshot().head.residence == nil)
    #expect(try DatabaseContent(of: after.snapshot()) == bench.content)
  }

  @Test func `a file that shall not have a log makes durable commits without one`() throws {
    var bench = try StoredLogBench(seed: 11, byteCount: 0)
    for _ in 0..<20 { #expect(!bench.isInLog(try bench.commit())) }
    #expect(bench.store.state.withLock { $0.newest.log } == nil)
  }
}
