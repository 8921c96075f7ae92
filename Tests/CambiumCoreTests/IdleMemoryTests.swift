import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CambiumCore

/// A database that nobody uses gives back what it keeps to read faster.
struct IdleMemoryTests {
  /// A database of some pages through a codec, on a time by hand, and a store that counts what is read.
  private struct Bench: Sendable {
    let time = TimeByHand()
    let store: DistantStore
    let database: Database
    static let rowCount: Int64 = 20_000

    init() throws {
      let codec = MaskCodec()
      store = DistantStore(HeapStore(codec: codec.name), readAheadCount: 32)
      database = try Database(store: store, codec: codec, lane: time.lane)
      let filling = try database.beginWrite()
      let table = try filling.createTable(
        "rows", columns: [ColumnDescriptor(type: .int, isNullable: false, name: "a")])
      for key in 0..<Self.rowCount {
        _ = try table.insert(key: key, values: [(1, .int(key &* 0x9E37_79B9))])
      }
      _ = try filling.commit()
    }

    /// Reads some rows of the newest version; how many pages came from the store.
    func read() throws -> Int {
      let snapshot = try database.snapshot()
      return try store.time { try Self.read(snapshot) }.oneByOne
    }

    static func read(_ snapshot: Snapshot) throws {
      let tree = try #require(try snapshot.table("rows")?.groups[0])
      for key in stride(from: 0, to: rowCount, by: 997) {
        let found = try #require(try tree.seek(key))
        let cell = try #require(found.column(1))
        #expect(cell.int(found.row) == key &* 0x9E37_79B9)
      }
    }

    func passMinute() { time.pass(milliseconds: 60_000) }
  }

  @Test func `after two minutes without use pages are read from the store again`() throws {
    let bench = try Bench()
    _ = try bench.read()
    #expect(try bench.read() == 0)
    bench.passMinute()
    bench.passMinute()
    #expect(try bench.read() > 0)
    #expect(try bench.read() == 0)
    // And once more, by another look.
    bench.passMinute()
    bench.passMinute()
    #expect(try bench.read() > 0)
  }

  @Test func `what is used every minute stays`() throws {
    let bench = try Bench()
    _ = try bench.read()
    for _ in 0..<10 {
      bench.passMinute()
      #expect(try bench.read() == 0)
    }
  }

  @Test func `a snapshot that is held reads on`() throws {
    let bench = try Bench()
    let snapshot = try bench.database.snapshot()
    try Bench.read(snapshot)
    for _ in 0..<3 { bench.passMinute() }
    try Bench.read(snapshot)
    #expect(try bench.database.verify().findings.isEmpty)
  }

  @Test func `pages in memory end, and tags are forgotten`() throws {
    let cache = PageCache(byteCount: 1 << 20)
    let trust = TrustTable(bitCount: 12)
    let reference = PageReference(
      checksum: 7, extent: Extent(address: 9, unitCount: 1), kind: .columnLeaf, born: 1)
    weak var page: PageBuffer?
    weak var held: HeldPages?
    do {
      let buffer = PageBuffer(byteCount: 64)
      page = buffer
      cache.insert(buffer, for: reference)
      let pages = try #require(cache.heldPages())
      #expect(pages.insert(buffer, for: reference, isBranch: false))
      held = pages
    }
    trust.insert(reference)
    #expect(page != nil && held != nil && trust.contains(reference))
    cache.letGo()
    trust.letGo()
    #expect(page == nil && held == nil && !trust.contains(reference))
    trust.insert(reference)
    #expect(trust.contains(reference))
  }

  @Test func `held pages stay for the source that was lent them`() throws {
    let cache = PageCache(byteCount: 1 << 20)
    let pages = try #require(cache.heldPages())
    cache.letGo()
    #expect(cache.heldPages() === pages)
  }

  @Test func `readers see their rows while memory is given back all the time`() throws {
    let bench = try Bench()
    let state = GivingBack()
    Thread.detachNewThread {
      while !state.isOver.load(ordering: .relaxed) { bench.passMinute() }
      state.ended.signal()
    }
    defer {
      state.isOver.store(true, ordering: .relaxed)
      state.ended.wait()
    }
    for _ in 0..<200 { try Bench.read(try bench.database.snapshot()) }
  }

  private final class GivingBack: Sendable {
    let isOver = Atomic(false)
    let ended = DispatchSemaphore(value: 0)
  }
}
