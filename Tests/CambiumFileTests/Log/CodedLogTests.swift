import CambiumCore
import Foundation
import TestSupport
import Testing

@testable import CambiumCore
@testable import CambiumFile

/// Small commits of a file whose pages go through a codec: they leave their pages in memory like others, and what
/// they write down of them is sealed where the codec seals.
struct CodedLogTests {
  // MARK: In the file

  @Test(arguments: [LogCoding.masked, .sealed])
  func `what is salvaged has what lies in the log`(coding: LogCoding) throws {
    try coding {
      var bench = try StoredLogBench(seed: 4)
      try bench.commitInLog()
      var image = bench.image()
      // What seals needs what the file says of itself.
      if coding == .masked { for index in 0..<FileLayout.sectorByteCount { image[index] = 0 } }
      let file = try SalvageFile(
        path: "simulated", options: StoredLogBench.options(SimulatedDevice(image)))
      let newest = try #require(file.heads.first)
      #expect(newest.version == (try bench.database.snapshot().version))
      #expect(newest.residence != nil)
    }
  }

  // MARK: In memory

  @Test(arguments: LogCoding.cases(20, few: 3))
  func `two users that take turns see in memory what the other has done`(
    seed: UInt64, coding: LogCoding
  ) throws {
    let fixture = try LogFixture()
    var options = fixture.options()
    options.codec = coding.codec
    let users = [try fixture.open(options).1, try fixture.open(options).1]
    var content = DatabaseContent()
    var random = SeededGenerator(seed: seed)
    let filling = try users[0].beginWrite()
    try content.fill(0..<60, filling)
    _ = try filling.commit()
    var residentCount = 0
    for _ in 0..<60 {
      let writer = users[Int.random(in: 0...1, using: &random)]
      let snapshot = try fixture.change(writer, &content, &random)
      if snapshot.head.residence != nil { residentCount += 1 }
      for user in users { #expect(try DatabaseContent(of: user.snapshot()) == content) }
      if Int.random(in: 0..<12, using: &random) == 0 { try users[0].sync() }
    }
    #expect(residentCount > 20)
    for user in users {
      #expect(try user.verify().findings == [])
      try user.close()
    }
    let (_, reopened) = try fixture.open(options)
    #expect(try DatabaseContent(of: reopened.snapshot()) == content)
    try reopened.close()
  }

  @Test func `decoded pages that were replaced in memory leave the cache once that is stored`()
    throws
  {
    let fixture = try LogFixture()
    var options = fixture.options()
    options.codec = MaskCodec(needsPlace: false)
    var databaseOptions = DatabaseOptions()
    databaseOptions.pageCacheByteCount = 4 << 20
    let database = try Database(
      store: FileStore(path: fixture.path, options: options), options: databaseOptions)
    var content = DatabaseContent()
    var random = SeededGenerator(seed: 6)
    let filling = try database.beginWrite()
    try content.fill(0..<60, filling)
    _ = try filling.commit()
    let snapshot = try fixture.changeInMemory(database, &content, &random)
    let cache = snapshot.source.cache
    let replaced = try #require(snapshot.head.residence).freedReferences
    #expect(replaced.contains { cache.contains($0) })
    // A sixteenth of the cache is kept for readers of versions before.
    for _ in 0..<300 {
      _ = try fixture.changeInMemory(database, &content, &random)
      try database.sync()
    }
    #expect(!replaced.contains { cache.contains($0) })
    try database.close()
  }

  // MARK: Secrets

  @Test func `nothing is written down where pages may be secret, and records are not sealed`()
    throws
  {
    let fixture = try LogFixture()
    var options = fixture.options()
    options.codec = MaskCodec()
    options.unloggedCommitCount = 0
    let (store, database) = try fixture.open(options)
    var content = DatabaseContent()
    var random = SeededGenerator(seed: 5)
    for number in 0..<20 {
      let durability = number % 2 == 0 ? Durability.full : .relaxed
      #expect(
        try fixture.change(database, &content, &random, durability).head.residence == nil)
    }
    #expect(try store.memory.file?.byteCount() == SharedLayout.byteCount)
    try database.close()
  }

  @Test func `of what small commits write down nothing is in the clear`() throws {
    let fixture = try LogFixture()
    var options = fixture.options()
    options.codec = SealCodec()
    options.unloggedCommitCount = 0
    let (store, database) = try fixture.open(options)
    let secret = Array("nobody is to read this".utf8)
    let first = try database.beginWrite()
    _ = try first.createTable(
      "a", columns: [ColumnDescriptor(type: .bytes, isNullable: false, name: "text")])
    _ = try first.commit()
    for (number, durability) in [Durability.full, .relaxed, .full, .relaxed].enumerated() {
      let transaction = try database.beginWrite(expecting: durability)
      let editor = try #require(try transaction.editTable("a"))
      try secret.withBytes { bytes throws(StoreError) in
        _ = try editor.insert(key: Int64(number), values: [(1, .bytes(bytes))])
      }
      _ = try transaction.commit(durability: durability, metadata: secret)
    }
    #expect(try database.snapshot().head.residence != nil)
    #expect(store.state.withLock { $0.mark.log } != nil)
    for path in [fixture.path, fixture.path + ".lock"] {
      let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      #expect(bytes.range(of: Data(secret)) == nil, "\(path)")
    }
    // It would be found.
    #expect(Data([1] + secret + [2]).range(of: Data(secret)) != nil)
    try database.close()
  }

  @Test func `a sealed record counts for its version and what it changes alone`() throws {
    let codec = SealCodec()
    let number = StoreNumber(high: 1, low: 2)
    let seal = try #require(
      RecordSeal(codec.bound(to: number, parameters: codec.makeParameters(for: number))))
    let record = SharedLog.record(
      of: 9, after: 7, behind: 99, sealedBy: seal, metadata: [1, 2], byteLimit: 3
    ) { $0.append(copying: [4, 5, 6]) }
    let count = 4 + 2 + 3 + seal.contentByteCount
    let content = Array(record[SharedLog.headerByteCount...].prefix(count))
    let parts = SharedLog.parts(content, of: 9, behind: 99, sealedBy: seal)
    #expect(parts?.metadata == [1, 2] && parts?.record == [4, 5, 6])
    #expect(SharedLog.parts(content, of: 10, behind: 99, sealedBy: seal) == nil)
    #expect(SharedLog.parts(content, of: 9, behind: 98, sealedBy: seal) == nil)
    // Bytes that it does not cover are not there.
    let log = SharedLog(memory: SharedMemory())
    _ = try #require(log.put(record, at: 0))
    #expect(log.record(of: 9, after: 7, at: 0)?.record == content)
    var padded = StoredBytes(Array(record.dropLast(9)) + [1])
    padded.bytes += withUnsafeBytes(of: padded.checksum(before: record.count - 8).littleEndian) {
      Array($0)
    }
    _ = try #require(log.put(padded.bytes, at: 0))
    #expect(log.record(of: 9, after: 7, at: 0) == nil)
    for index in content.indices {
      var changed = content
      changed[index] ^= 1
      #expect(SharedLog.parts(changed, of: 9, behind: 99, sealedBy: seal) == nil)
    }
  }

  @Test func `a sealed record of another history is refused, and opening says so`() throws {
    try LogCoding.sealed {
      let fixture = try LogFixture()
      let left = try fixture.killed()
      // Two histories go on from there, and make the same two versions.
      var version: Version = 0
      let histories = try (1...2 as ClosedRange<UInt64>).map { seed in
        let (device, memory) = (SimulatedDevice(left.image), LogFixture.copy(of: left.memory))
        var options = fixture.simulated(device, memory)
        // No commit stores its pages so that some are moved.
        options.leastRelocatedByteCount = 1 << 40
        let store = try FileStore(path: "simulated", options: options)
        let database = try Database(store: store)
        var (content, random) = (left.content, SeededGenerator(seed: seed))
        let base = store.state.withLock { $0.newest.head.version }
        version = try store.newestHead().version
        var ends = [store.state.withLock { $0.logged?.end ?? 0 }]
        for _ in 0..<2 {
          _ = try fixture.change(database, &content, &random)
          ends.append(store.state.withLock { $0.logged?.end ?? 0 })
        }
        #expect(store.state.withLock { $0.newest.head.version } == base)
        let log = SharedLog(memory: memory)
        return (
          image: device.bytes, memory: LogFixture.copy(of: memory),
          before: try #require(log.bytes(0..<ends[1])),
          last: try #require(log.bytes(ends[1]..<ends[2]))
        )
      }
      for (index, last) in histories.map(\.last).enumerated() {
        let memory = LogFixture.copy(of: histories[0].memory)
        _ = try #require(SharedLog(memory: memory).put(histories[0].before + last, at: 0))
        let store = try FileStore(
          path: "simulated",
          options: fixture.simulated(SimulatedDevice(histories[0].image), memory))
        #expect(try (store.newestHead().version == version + 2) == (index == 0))
        #expect(store.recoveryNotes.contains { $0.contains("small commits") } == (index == 1))
      }
    }
  }
}
