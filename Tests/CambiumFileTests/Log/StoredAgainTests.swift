import CambiumCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CambiumCore
@testable import CambiumFile

/// What storing a version that lay in memory leaves as it was: for its readers, for the next write, and of what is
/// told of it.
struct StoredAgainTests {
  private let fixture: LogFixture
  private var random = SeededGenerator(seed: 1)

  init() throws { fixture = try LogFixture() }

  /// A table of integers that have nothing in common.
  private func fill(_ database: Database, rowCount: Int64) throws {
    let filling = try database.beginWrite()
    let editor = try filling.createTable(
      "t", columns: [ColumnDescriptor(type: .int, isNullable: false, name: "number")])
    for key in 0..<rowCount {
      _ = try editor.insert(key: key, values: [(1, .int(key &* 0x1e37_79b9_7f4a_7c15))])
    }
    _ = try filling.commit()
  }

  @Test func `storing a version leaves the pages that its readers see in its other form`() throws {
    let (_, database) = try fixture.open()
    try fill(database, rowCount: 40_000)
    try database.sync()
    var cursor = try #require(try database.snapshot().table("t")).groups[0].leafCursor()
    #expect(try cursor.first() && cursor.next())
    let keys = (0..<cursor.leaf.rowCount).map { cursor.leaf.key(at: $0) }
    // A leaf that is small in the end lies between stored ones.
    var newest = try database.snapshot()
    for part in stride(from: 0, to: keys.count - 4, by: 16) {
      let transaction = try database.beginWrite(expecting: .relaxed)
      let editor = try #require(try transaction.editTable("t"))
      for key in keys[part..<min(part + 16, keys.count - 4)] { try editor.remove(key: key) }
      newest = try transaction.commit(durability: .relaxed)
    }
    let residence = try #require(newest.head.residence)
    #expect(!residence.freedReferences.isEmpty)
    func sum(_ snapshot: Snapshot) throws -> (Int, Int64) {
      var (count, sum) = (0, Int64(0))
      let tree = try #require(try snapshot.table("t")).groups[0]
      var cursor = tree.leafCursor()
      var isValid = try cursor.first()
      while isValid {
        count += cursor.leaf.rowCount
        for row in 0..<cursor.leaf.rowCount { sum &+= cursor.leaf.column(1)?.int(row) ?? 0 }
        isValid = try cursor.next()
      }
      return (count, sum)
    }
    let before = try sum(newest)
    try database.sync()
    #expect(try database.snapshot().version == newest.version)
    // What was given up is used again.
    for step in 0..<40 as Range<Int64> {
      let transaction = try database.beginWrite()
      let editor = try #require(try transaction.editTable("t"))
      for key in stride(from: step * 1000, to: step * 1000 + 1000, by: 3) where key > keys.count * 2
      {
        try editor.update(key: key, column: 1, value: .int(key))
      }
      _ = try transaction.commit()
    }
    #expect(try sum(newest) == before)
    #expect(try database.verify().findings == [])
    try database.close()
  }

  @Test func `a root that has come to have one stored branch is stored with it`() throws {
    let (_, database) = try fixture.open()
    try fill(database, rowCount: 200_000)
    // Makes room for what lies in memory.
    let small = try database.beginWrite(expecting: .relaxed)
    try small.setValue("room", [1])
    _ = try small.commit(durability: .relaxed)
    try database.sync()
    let tree = try #require(try database.snapshot().table("t")).groups[0]
    try #require(tree.root.height == 3)
    let page = try tree.source.page(tree.root.reference, .columnBranch)
    let second = ColumnBranch(page).separator(1)
    // Of the first branch one leaf is left, and then of the tree that branch.
    func remove(_ keys: Range<Int64>) throws -> Snapshot {
      let transaction = try database.beginWrite(expecting: .relaxed)
      try #require(try transaction.editTable("t")).remove(keys: Array(keys))
      let snapshot = try transaction.commit(durability: .relaxed)
      #expect(snapshot.head.residence != nil)
      return snapshot
    }
    _ = try remove(400..<second)
    try database.sync()
    let newest = try remove(second..<200_000)
    func keys(_ snapshot: Snapshot) throws -> [Int64] {
      var cursor = try #require(try snapshot.table("t")).groups[0].leafCursor()
      var keys: [Int64] = []
      var isValid = try cursor.first()
      while isValid {
        keys += (0..<cursor.leaf.rowCount).map { cursor.leaf.key(at: $0) }
        isValid = try cursor.next()
      }
      return keys
    }
    try database.sync()
    #expect(try database.snapshot().version == newest.version)
    for step in 0..<40 as Range<Int64> {
      let transaction = try database.beginWrite()
      try #require(try transaction.editTable("t")).update(key: step, column: 1, value: .int(step))
      _ = try transaction.commit()
    }
    #expect(try keys(newest) == Array(0..<400))
    #expect(try keys(database.snapshot()) == Array(0..<400))
    #expect(try database.verify().findings == [])
    try database.close()
  }

  @Test mutating func `metadata is whole where small commits and others take turns`() throws {
    var content = try fixture.load()
    let (_, database) = try fixture.open()
    let (_, other) = try fixture.open()
    let base = try fixture.changeInMemory(database, &content, &random).version
    var expected: [[UInt8]] = []
    for byte in 1...12 as ClosedRange<UInt8> {
      let user = byte % 5 == 0 ? other : database
      _ = try fixture.change(
        user, &content, &random, byte % 3 == 0 ? .full : .relaxed, metadata: [byte])
      expected.append([byte])
      if byte % 4 == 0 { try database.sync() }
    }
    for database in [database, other] {
      let commits = try database.metadata(from: base + 1, through: try database.snapshot())
      #expect(commits?.map(\.bytes) == expected)
    }
    try database.close()
    try other.close()
  }

  @Test func `a version that cannot be stored is read as it is`() throws {
    let left = try fixture.killed()
    let store = try FileStore(
      path: "simulated",
      options: fixture.simulated(SimulatedDevice(left.image), left.memory))
    let database = try Database(store: store)
    let snapshot = try database.snapshot()
    store.poison()
    #expect(try DatabaseContent(of: snapshot) == left.content)
    let stored = try database.storedForm(of: snapshot)
    #expect(stored.snapshot.areAllPagesStored)
    #expect(try DatabaseContent(of: stored.snapshot) == left.content)
    #expect(try stored.database.verify().findings == [])
    try? database.close()
  }

  @Test(arguments: [false, true])
  func `what lies in memory is put into stored form while others change and store it`(
    hasCodec: Bool
  ) throws {
    var options = fixture.options()
    options.codec = hasCodec ? SealCodec() : nil
    let (_, database) = try fixture.open(options)
    var content = DatabaseContent()
    let filling = try database.beginWrite()
    try content.fill(0..<100, filling)
    _ = try filling.commit()
    let isDone = Atomic(false)
    let (isResident, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread { [fixture, content] in
      defer {
        isResident.signal()
        ended.signal()
      }
      var (content, random) = (content, SeededGenerator(seed: 3))
      do {
        var number = 0
        while !isDone.load(ordering: .relaxed) {
          let snapshot = try fixture.change(database, &content, &random)
          if !snapshot.areAllPagesStored { isResident.signal() }
          number += 1
          if number % 50 == 0 { try database.sync() }
        }
      } catch {
        Issue.record(error)
      }
    }.start()
    var residentCount = 0
    for _ in 0..<10_000 where residentCount < 60 {
      isResident.wait()
      let snapshot = try database.snapshot()
      // Some have been stored since.
      if snapshot.areAllPagesStored { continue }
      residentCount += 1
      let stored = try database.storedForm(of: snapshot)
      #expect(stored.snapshot.areAllPagesStored)
      #expect(try DatabaseContent(of: stored.snapshot) == DatabaseContent(of: snapshot))
      var count = 0
      try unsafe stored.database.forEachStoredPage(of: stored.snapshot, unless: { _ in false }) {
        _, _ in count += 1
      }
      #expect(count > 0)
    }
    isDone.store(true, ordering: .relaxed)
    ended.wait()
    #expect(residentCount == 60)
    #expect(try database.verify().findings == [])
    try database.close()
  }

  @Test func `no word of the live version comes again soon`() {
    var word = UInt64.max
    var seen: Set<UInt64> = []
    for step in 0..<20_000 {
      word = SharedMemory.LiveWord(7, after: word, changesHead: step % 3 == 0).word
      seen.insert(word)
    }
    #expect(seen.count == 20_000)
  }

  @Test func `a small leaf beside a damaged one does not stop what is stored`() throws {
    var keys: [Int64] = []
    var neighbour = PageReference.none
    do {
      let (_, database) = try fixture.open()
      let filling = try database.beginWrite()
      let editor = try filling.createTable(
        "t", columns: [ColumnDescriptor(type: .int, isNullable: false, name: "number")])
      for key in 0..<40_000 as Range<Int64> {
        _ = try editor.insert(key: key, values: [(1, .int(key &* 0x1e37_79b9_7f4a_7c15))])
      }
      let snapshot = try filling.commit()
      let tree = try #require(try snapshot.table("t")).groups[0]
      var leaves: [PageReference] = []
      try tree.walk(
        { if $1 == .columnLeaf { leaves.append($0) } }, tree: { _ in }, damage: { _ in })
      var cursor = tree.leafCursor()
      #expect(try cursor.first() && cursor.next())
      keys = (0..<cursor.leaf.rowCount).map { cursor.leaf.key(at: $0) }
      neighbour = leaves[2]
      try database.close()
    }
    var bytes = try Data(contentsOf: URL(fileURLWithPath: fixture.path))
    bytes[neighbour.byteOffset + 100] ^= 1
    try bytes.write(to: URL(fileURLWithPath: fixture.path))
    let (_, database) = try fixture.open()
    for durability in [Durability.relaxed, .full] {
      let transaction = try database.beginWrite(expecting: durability)
      let editor = try #require(try transaction.editTable("t"))
      let part = durability == .full ? keys[100..<keys.count - 2] : keys[..<100]
      for key in part { try editor.remove(key: key) }
      _ = try transaction.commit(durability: durability)
      try database.sync()
    }
    let findings = try database.verify().findings
    #expect(findings.count == 1)
    try database.close()
  }
}
