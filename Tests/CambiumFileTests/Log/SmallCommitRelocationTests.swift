import CambiumCore
import TestSupport
import Testing

@testable import CambiumCore
@testable import CambiumFile

/// Moving pages, and the log, to the front of a file by small commits, most of which write no page.
struct SmallCommitRelocationTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("a.cambium") }

  init() throws { folder = try TemporaryFolder() }

  @Test func `among small commits one in 128, or the first in a second, moves pages`() throws {
    let time = TimeByHand()
    var options = FileStoreOptions()
    options.lane = time.lane
    let store = try FileStore(path: path, options: options)
    func moving(_ versions: ClosedRange<Version>) -> [Version] {
      versions.filter { store.isTimeToMove($0) }
    }
    #expect(moving(5...300) == [5, 128, 256])
    time.pass(milliseconds: 999)
    #expect(moving(301...320) == [])
    time.pass(milliseconds: 1)
    #expect(moving(321...400) == [321, 384])
    time.pass(milliseconds: 1_000)
    #expect(moving(401...410) == [401])
    try store.close()
  }

  @Test func `a small commit that moves pages stores its own`() throws {
    let time = TimeByHand()
    var options = FileStoreOptions()
    options.lane = time.lane
    options.leastRelocatedByteCount = 64 << 10
    let store = try FileStore(path: path, options: options)
    let database = try Database(store: store, lane: time.lane)
    func commit(_ number: Int) throws -> Bool {
      let transaction = try database.beginWrite()
      try transaction.setValue("counter", Array("\(number)".utf8))
      let moves = (transaction.writer as? FileWriter)?.movesPages ?? false
      let isStored = try transaction.commit().head.residence == nil
      #expect(isStored || !moves)
      return moves
    }
    let filling = try database.beginWrite()
    for number in 0..<20 {
      try filling.setValue("\(number)", [UInt8](repeating: 1, count: 100_000))
    }
    _ = try filling.commit()
    #expect(try !commit(0), "nothing is to be moved")
    let emptying = try database.beginWrite()
    for number in 1..<20 { try emptying.setValue("\(number)", nil) }
    _ = try emptying.commit()
    #expect(try commit(1))
    #expect(try !commit(2))
    time.pass(milliseconds: 1_000)
    #expect(try commit(3))
    try database.close()
  }

  @Test func `the log moves down where pages leave it no room before the end`() throws {
    let time = TimeByHand()
    var options = FileStoreOptions()
    options.lane = time.lane
    options.leastRelocatedByteCount = 64 << 10
    // Pages stay where they are: the log alone can move.
    var databaseOptions = DatabaseOptions()
    databaseOptions.relocatedByteCountPerCommit = 0
    let store = try FileStore(path: path, options: options)
    let database = try Database(store: store, options: databaseOptions, lane: time.lane)
    func change(_ edit: (Transaction) throws -> Void) throws {
      let transaction = try database.beginWrite()
      try edit(transaction)
      _ = try transaction.commit()
    }
    func commit(_ number: Int) throws {
      time.pass(milliseconds: 1_000)
      try change { try $0.setValue("counter", Array("\(number)".utf8)) }
    }
    let block = [UInt8](repeating: 1, count: 4000)
    try change { for number in 0..<2000 { try $0.setValue("\(number)", block) } }
    for number in 0..<3 { try commit(number) }
    let log = try #require(try store.smallCommitStatistics().log)
    #expect(log.byteOffset > 6 << 20)
    // Holes of a block each remain, and a long one before the log.
    try change {
      for number in 0..<2000 where number % 2 > 0 || number > 1500 {
        try $0.setValue("\(number)", nil)
      }
    }
    for number in 3..<8 { try commit(number) }
    let moved = try #require(try store.smallCommitStatistics().log)
    #expect(moved.byteOffset + moved.byteCount <= log.byteOffset)
    #expect(moved.byteOffset > 5 << 20)
    #expect(try database.verify().findings == [])
    try database.close()
    // What is in it is found behind its new place.
    let again = try Database(store: FileStore(path: path))
    #expect(try again.snapshot().value("counter") == Array("7".utf8))
    #expect(try again.verify().findings == [])
    try again.close()
  }
}
