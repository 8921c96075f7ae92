import CambiumCore
import Foundation
import TestSupport
import Testing

@testable import CambiumCore
@testable import CambiumFile

/// The room that the log of a file takes and what lies in memory has, and what is in the log.
struct StoredLogSpaceTests {
  @Test(arguments: Exhaustive.seeds(20, few: 4))
  func `however much a commit changes, its batch lies in the log or its pages are stored`(
    seed: UInt64
  ) throws {
    var bench = try StoredLogBench(seed: seed, byteCount: 128 << 10)
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
      let after = try StoredLogBench.open(bench.image())
      #expect(try DatabaseContent(of: after.snapshot()) == bench.content)
    }
    #expect(largest > 1)
    #expect(try bench.database.verify().findings == [])
    #expect(try StoredLogBench.open(bench.image()).verify().findings == [])
  }

  @Test func `a file keeps room for what lies in memory, a sixteenth of it once it is large`()
    throws
  {
    let fixture = try LogFixture()
    let (store, database) = try fixture.open()
    let kib = 1 << 10
    #expect(store.loggedByteCount(in: 64 << 20) == 0, "no small commit was made")
    let filling = try database.beginWrite()
    for number in 0..<24 {
      try filling.setValue("\(number)", [UInt8](repeating: 1, count: 1 << 20))
    }
    _ = try filling.commit()
    let transaction = try database.beginWrite(expecting: .relaxed)
    try transaction.setValue("counter", [1])
    _ = try transaction.commit(durability: .relaxed)
    // Who stores what lies in memory sees to room for the next ones.
    try database.sync()
    let sizes = [100, 700, 8 << 10, 24 << 10, 64 << 10].map { $0 * kib }
    #expect(
      sizes.map(store.loggedByteCount) == [256, 700, 1_024, 1_536, 2_048].map { $0 * kib })
    let used = store.state.withLock { $0.newest.byteCount }
    #expect(try FileStore.inspect(path: fixture.path).fileByteCount - used >= used / 16)
    try database.close()
    // Closing gives it back.
    #expect(try FileStore.inspect(path: fixture.path).fileByteCount - used < used / 16)
  }

  @Test func `its room counts as used, and its own books and a walk agree about it`() throws {
    var bench = try StoredLogBench(seed: 13)
    try bench.commitInLog()
    #expect(try bench.database.verify().findings == [])
    try bench.database.close()
    let database = try StoredLogBench.open(bench.device.bytes)
    #expect(try database.verify().findings == [])
    var content = bench.content
    let thinning = try database.beginWrite()
    try content.thinOut(thinning)
    _ = try thinning.commit()
    #expect(try database.verify().findings == [])
    #expect(try DatabaseContent(of: database.snapshot()) == content)
  }

  @Test func `the log gets another place when the file has outgrown it`() throws {
    var bench = try StoredLogBench(seed: 19, byteCount: 1 << 20)
    try bench.commitInLog()
    let log = { [store = bench.store] in store.state.withLock { $0.newest.log } }
    let first = try #require(log())
    for number in 0..<30 {
      let transaction = try bench.database.beginWrite()
      try transaction.setValue("large \(number)", [UInt8](repeating: 1, count: 300_000))
      _ = try transaction.commit()
    }
    for _ in 0..<200 where log() == first { _ = try bench.commit() }
    let second = try #require(log())
    #expect(StoredLog(second).blocks.count >= 2 * StoredLog(first).blocks.count)
    #expect(try bench.database.verify().findings == [])
    try bench.commitInLog()
    #expect(try StoredLogBench.open(bench.image()).verify().findings == [])
    #expect(try StoredLogBench.content(bench.image()) == bench.content)
  }

  @Test func `a repaired free map keeps the log and what it has`() throws {
    var bench = try StoredLogBench(seed: 20)
    try bench.commitInLog()
    var bytes = bench.image()
    // The record of the newest version of the file.
    let record = bench.store.state.withLock { $0.newest.record }
    bytes[record.byteOffset + 40] ^= 1
    let device = SimulatedDevice(bytes)
    var options = StoredLogBench.options(device)
    options.storesUnasked = false
    let findings = try FileStore.repairFreeMap(path: StoredLogBench.path, options: options)
    #expect(findings != [])
    var random = SeededGenerator(seed: 1)
    for count in 0...device.operationCount {
      let image = device.crashImage(afterOperations: count, mood: 0.5, generator: &random)
      #expect(try StoredLogBench.content(image) == bench.content, "operation \(count)")
    }
    let database = try StoredLogBench.open(device.bytes)
    #expect(try database.verify().findings == [])
  }

  @Test(arguments: [Durability.full, .relaxed])
  func
    `commits stay in memory also where pages would fill holes, and nothing is behind the end`(
      durability: Durability
    ) throws
  {
    let fixture = try LogFixture()
    var content = DatabaseContent()
    var random = SeededGenerator(seed: 21)
    do {
      let (_, database) = try fixture.open()
      for step in 0..<8 {
        let transaction = try database.beginWrite()
        switch step {
        case 0: try content.fill(0..<12_000, transaction)
        case 1: try content.thinOut(transaction)
        default: try content.changeRow(transaction, &random)
        }
        _ = try transaction.commit()
      }
      try database.close()
    }
    let (store, database) = try fixture.open()
    var logged = 0
    for _ in 0..<30 {
      let transaction = try database.beginWrite(expecting: durability)
      try content.changeRow(transaction, &random)
      _ = try transaction.commit(durability: durability)
      if try store.newestHead().residence != nil { logged += 1 }
    }
    #expect(logged > 15, "\(logged)")
    try database.close()
  }

  @Test
  func
    `one small commit leaves file and lock file as small as they were, and closing cuts what more have taken`()
    throws
  {
    let fixture = try LogFixture()
    var content = try fixture.load()
    func sizes() throws -> (file: Int, lock: Int) {
      func size(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
      }
      return (try size(fixture.path), try size(fixture.path + ".lock"))
    }
    let before = try sizes()
    var random = SeededGenerator(seed: 22)
    for count in [1, 1, 1, 1, 1, 30] {
      let (_, database) = try fixture.open()
      for _ in 0..<count {
        let transaction = try database.beginWrite()
        try content.changeRow(transaction, &random)
        _ = try transaction.commit()
        if count == 1 { #expect(try sizes().lock == before.lock) }
      }
      try database.close()
      let after = try sizes()
      #expect(after.lock == before.lock)
      // The log, and what is always kept behind the end.
      let kept = count == 1 ? 64 << 10 : (128 + 256) << 10
      #expect(after.file <= before.file + kept, "\(before) \(after)")
    }
  }
}
