import CambiumCore
import CambiumFile
import CambiumMemory
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CambiumCore

/// A snapshot that is asked for again and again is kept in between, but not for long.
struct CachedSnapshotTests {
  /// Two databases on one store or file, as two programs have them, and the time they believe in.
  private final class Bench: Sendable {
    let folder: TemporaryFolder
    private let time = TimeByHand()
    var lane: BackgroundLane { time.lane }
    let stores: [any PageStore]
    let databases: [Database]

    init(inMemory: Bool = false) throws {
      folder = try TemporaryFolder()
      let (lane, path) = (time.lane, folder.file("a.cambium"))
      let name = "cached \(UInt64.random(in: 0 ... .max))"
      stores = try (0..<2).map { _ in
        if inMemory { return MemoryStore(name: name) }
        return try FileStore(path: path, options: .withoutTimers)
      }
      databases = try stores.map { try Database(store: $0, lane: lane) }
    }

    /// Lets time pass.
    func pass(milliseconds: Int64) { time.pass(milliseconds: milliseconds) }

    @discardableResult
    func commit(by index: Int = 0) throws -> Snapshot {
      let transaction = try databases[index].beginWrite()
      try transaction.setValue("a", [1])
      return try transaction.commit(durability: .full)
    }

    /// Commits, and keeps nothing of it.
    func commitAndLetGo(by index: Int) throws {
      try commit(by: index)
      _ = try databases[index].statistics()
    }

    /// Reads until the version is cached.
    func read(by index: Int = 0) throws {
      for _ in 0..<3 { _ = try databases[index].snapshot() }
    }

    /// What is pinned, asked without letting go of anything.
    func pinned() throws -> [Version] { try stores[0].statistics().pinnedVersions }
  }

  @Test(arguments: [false, true])
  func `a version that is read again and again stays pinned in between`(inMemory: Bool) throws {
    let bench = try Bench(inMemory: inMemory)
    try bench.commitAndLetGo(by: 1)
    _ = try bench.databases[0].snapshot()
    #expect(try bench.pinned() == [])
    _ = try bench.databases[0].snapshot()
    #expect(try bench.pinned() == [1])
    let cached = try bench.databases[0].snapshot()
    #expect(cached === (try bench.databases[0].snapshot()))
    for _ in 0..<8 {
      bench.pass(milliseconds: 250)
      #expect(cached === (try bench.databases[0].snapshot()))
    }
  }

  @Test(arguments: [false, true])
  func `half a second after the last read nothing is pinned`(inMemory: Bool) throws {
    let bench = try Bench(inMemory: inMemory)
    try bench.commit()
    try bench.read()
    #expect(try bench.pinned() == [1])
    bench.pass(milliseconds: 250)
    #expect(try bench.pinned() == [1])
    bench.pass(milliseconds: 250)
    #expect(try bench.pinned() == [])
    // And again, with a timer that had come to an end.
    try bench.read()
    #expect(try bench.pinned() == [1])
    bench.pass(milliseconds: 500)
    bench.pass(milliseconds: 500)
    #expect(try bench.pinned() == [])
  }

  @Test func `a commit of the same database lets go of the version before`() throws {
    let bench = try Bench()
    try bench.commit()
    try bench.read()
    #expect(try bench.pinned() == [1])
    try bench.commit()
    #expect(try bench.pinned() == [2])
    #expect(try bench.databases[0].snapshot().version == 2)
  }

  @Test(arguments: [false, true])
  func `what a commit makes is cached in place of the version before`(inMemory: Bool) throws {
    let bench = try Bench(inMemory: inMemory)
    for version in 1...9 as ClosedRange<Version> {
      weak let published = try bench.commit()
      #expect(try bench.pinned() == [version])
      #expect(published != nil)
      if version < 5 { continue }
      #expect(published === (try bench.databases[0].snapshot()))
    }
    bench.pass(milliseconds: 250)
    bench.pass(milliseconds: 250)
    #expect(try bench.pinned() == [])
  }

  @Test(arguments: [false, true])
  func `a transaction begins with the pin of what the one before has made`(inMemory: Bool) throws {
    let bench = try Bench(inMemory: inMemory)
    let published = try bench.commit().pin
    let transaction = try bench.databases[0].beginWrite()
    #expect(transaction.source.pin === published)
    transaction.rollback()
  }

  @Test func `a published version that nobody reads is let go at the first look`() throws {
    let bench = try Bench()
    try bench.commit()
    try bench.read()
    try bench.commit()
    #expect(try bench.pinned() == [2])
    bench.pass(milliseconds: 250)
    #expect(try bench.pinned() == [])
  }

  @Test(arguments: [false, true])
  func `a transaction begins at the newest version, whatever is cached`(inMemory: Bool) throws {
    let bench = try Bench(inMemory: inMemory)
    try bench.commit()
    try bench.read()
    try bench.commit(by: 1)
    let transaction = try bench.databases[0].beginWrite()
    #expect(transaction.baseVersion == 2)
    #expect(try bench.pinned() == [1, 2])
    transaction.rollback()
  }

  @Test func `a transaction that begins at a cached version keeps it when it is let go`() throws {
    let bench = try Bench()
    try bench.commit()
    try bench.read()
    let transaction = try bench.databases[0].beginWrite()
    bench.pass(milliseconds: 250)
    bench.pass(milliseconds: 250)
    #expect(try bench.pinned() == [1])
    #expect(try transaction.value("a") == [1])
    transaction.rollback()
    #expect(try bench.pinned() == [])
  }

  @Test(arguments: [false, true])
  func `a version superseded by somebody else goes a quarter of a second later`(
    inMemory: Bool
  ) throws {
    let bench = try Bench(inMemory: inMemory)
    try bench.commit()
    try bench.read()
    try bench.commit(by: 1)
    #expect(try bench.pinned() == [1, 2])
    bench.pass(milliseconds: 250)
    #expect(try bench.pinned() == [])
  }

  @Test(arguments: [false, true])
  func `who reads after somebody else's commit sees it and lets go`(inMemory: Bool) throws {
    let bench = try Bench(inMemory: inMemory)
    try bench.commit()
    try bench.read()
    for version in 2...5 as ClosedRange<Version> {
      try bench.commitAndLetGo(by: 1)
      #expect(try bench.databases[0].snapshot().version == version)
      #expect(try bench.pinned() == [])
      #expect(try bench.databases[0].snapshot().version == version)
      #expect(try bench.pinned() == [version])
    }
  }

  @Test func `a snapshot that is held outlives the cache`() throws {
    let bench = try Bench()
    try bench.commit()
    try bench.read()
    var held: Snapshot? = try bench.databases[0].snapshot()
    try bench.commit()
    bench.pass(milliseconds: 1000)
    #expect(try bench.pinned() == [1])
    #expect(held?.version == 1)
    held = nil
    #expect(try bench.pinned() == [])
  }

  @Test func `a snapshot that is held is handed out again when it is cached no longer`() throws {
    let bench = try Bench()
    try bench.commit()
    try bench.read()
    let held = try bench.databases[0].snapshot()
    bench.pass(milliseconds: 250)
    bench.pass(milliseconds: 250)
    #expect(held === (try bench.databases[0].snapshot()))
    #expect(try bench.databases[0].statistics().pinnedVersions == [1])
    #expect(held === (try bench.databases[0].snapshot()))
  }

  @Test func `statistics do not count what is cached`() throws {
    let bench = try Bench()
    try bench.commit()
    try bench.read()
    #expect(try bench.databases[0].statistics().pinnedVersions == [])
  }

  @Test(arguments: [false, true])
  func `a closed database lets go, and nothing is read from it`(inMemory: Bool) throws {
    let bench = try Bench(inMemory: inMemory)
    try bench.commit(by: 1)
    try bench.read(by: 1)
    try bench.databases[1].close()
    #expect(try bench.pinned() == [])
    #expect(throws: StoreError.self) { try bench.databases[1].snapshot() }
    // The store below closed by somebody else.
    try bench.read()
    try bench.stores[0].close()
    #expect(throws: StoreError.self) { try bench.databases[0].snapshot() }
    bench.pass(milliseconds: 250)
    if !inMemory {
      let again = try FileStore(path: bench.folder.file("a.cambium"))
      #expect(try again.newestHead().version == 1)
    }
  }

  @Test func `a database that goes takes what is cached with it`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.cambium")
    var database: Database? = try Database(
      store: FileStore(path: path), lane: BackgroundLane(byHand: MonotonicClock { 0 }))
    for _ in 0..<3 { _ = try database?.snapshot() }
    database = nil
    #expect(try FileStore.inspect(path: path).pins.isEmpty)
  }

  @Test func `readers and writers on many threads see versions that only rise`() throws {
    let bench = try Bench()
    try bench.commit()
    let group = DispatchGroup()
    let isDone = Atomic(false)
    let failures = Atomic(0)
    for _ in 0..<3 {
      group.enter()
      Thread {
        defer { group.leave() }
        var last: Version = 0
        while !isDone.load(ordering: .acquiring) {
          let version = (try? bench.databases[0].snapshot().version) ?? 0
          if version < last { failures.wrappingAdd(1, ordering: .relaxed) }
          last = version
        }
      }.start()
    }
    for round in 0..<100 {
      try bench.commit(by: round % 2)
      let version = try bench.databases[0].snapshot().version
      if version < Version(round + 2) { failures.wrappingAdd(1, ordering: .relaxed) }
      if round % 10 == 0 { bench.pass(milliseconds: 250) }
    }
    isDone.store(true, ordering: .releasing)
    group.wait()
    #expect(failures.load(ordering: .relaxed) == 0)
    bench.pass(milliseconds: 250)
    bench.pass(milliseconds: 250)
    #expect(try bench.pinned() == [])
  }
}
