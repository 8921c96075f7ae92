import TestSupport
import Testing

@testable import CambiumCore

/// What is read in order is asked for ahead, as far as the store likes.
@Suite struct ReadAheadTests {
  private static let rowCount: Int64 = 60_000

  /// A store with a table of numbers and texts, a tree of keys and a value of some megabytes.
  private static func filled() throws -> HeapStore {
    let store = HeapStore()
    let filling = try Database(store: store).beginWrite()
    let table = try filling.createTable(
      "table",
      columns: [
        ColumnDescriptor(type: .int, isNullable: false, name: "number"),
        ColumnDescriptor(type: .bytes, isNullable: false, name: "text"),
      ])
    let tree = try filling.editKeyTree("tree")
    var generator = SeededGenerator(seed: 3)
    for key in 0..<rowCount {
      let text = generator.bytes(count: 24)
      try text.withUnsafeBytes {
        _ = try table.insert(
          key: key,
          values: [(1, .int(Int64.random(in: 0..<1000, using: &generator))), (2, .bytes($0))])
      }
      let bytes = withUnsafeBytes(of: key.bigEndian) { Array($0) }
      _ = try tree.set(bytes, text)
    }
    try filling.setValue("value", generator.bytes(count: 6 << 20))
    _ = try filling.commit()
    return store
  }

  /// Work that goes through many pages.
  enum Work: CaseIterable {
    case scan, sum, equal, sort, firstRows, cursor, backwards, keys, keysBackwards, value
    case verify, copy, storedPages, digest, updateInts, removeMany, removeKeys

    func run(_ database: Database) throws {
      let snapshot = try database.snapshot()
      let table = try #require(try snapshot.table("table"))
      let rows = table.groups[0]
      let number = ColumnSpec(id: 1, type: .int, isNullable: false)
      switch self {
      case .scan: _ = try rows.countInts(of: number, in: 5...9, partCount: 1)
      case .sum:
        var sum: Int64 = 0
        var cursor = rows.leafCursor(reading: [1])
        var isValid = try cursor.first()
        while isValid {
          sum &+= cursor.leaf.column(1)?.int(0) ?? 0
          isValid = try cursor.next()
        }
        #expect(sum > 0)
      case .equal:
        _ = try [UInt8](repeating: 1, count: 24).withUnsafeBytes {
          try rows.countBytes(
            of: ColumnSpec(id: 2, type: .bytes, isNullable: false), equalTo: $0, partCount: 1)
        }
      case .sort:
        _ = try rows.keys(sortedBy: [SortTerm(number, isAscending: true)])
      case .firstRows:
        _ = try rows.keys(sortedBy: [SortTerm(number, isAscending: true)], limit: 5)
      case .cursor, .backwards:
        var cursor = rows.leafCursor()
        var isValid = try self == .cursor ? cursor.first() : cursor.last()
        while isValid { isValid = try self == .cursor ? cursor.next() : cursor.previous() }
      case .keys, .keysBackwards:
        var cursor = KeyCursor(try #require(try snapshot.keyTree("tree")))
        var isValid = try self == .keys ? cursor.seekFirst() : cursor.seekLast()
        while isValid { isValid = try self == .keys ? cursor.next() : cursor.previous() }
      case .value: _ = try snapshot.value("value")
      case .verify: #expect(try database.verify().findings.isEmpty)
      case .copy: try database.copy(to: Database(store: HeapStore()))
      case .storedPages:
        try database.forEachStoredPage(of: snapshot, unless: { _ in false }) { _, _ in }
      case .digest: _ = try snapshot.contentDigest()
      case .updateInts, .removeMany, .removeKeys:
        let transaction = try database.beginWrite()
        let table = try #require(try transaction.editTable("table"))
        if self == .updateInts {
          try table.editor(of: 1).updateInts(of: 1) { _, integers in integers[0] += 1 }
        }
        if self == .removeMany {
          try table.remove(keys: (0..<ReadAheadTests.rowCount).filter { $0 % 3 == 0 })
        }
        if self == .removeKeys { _ = try transaction.drop("tree") }
        _ = try transaction.commit(durability: .relaxed)
      }
    }
  }

  @Test(arguments: Work.allCases)
  func `pages that are read in order are waited for together`(work: Work) throws {
    let near = DistantStore(try Self.filled(), readAheadCount: 0)
    let plain = try near.time { try work.run(Database(store: near)) }
    #expect(plain.elapsed == plain.oneByOne && plain.unread == 0)
    let store = DistantStore(try Self.filled(), readAheadCount: 32)
    let (elapsed, oneByOne, unread) = try store.time { try work.run(Database(store: store)) }
    #expect(store.misuse == [])
    #expect(elapsed * 8 < oneByOne)
    #expect(unread < 32)
  }

  @Test(arguments: [true, false])
  func `leaves are announced below every branch of a high tree`(isForward: Bool) throws {
    let heap = HeapStore()
    let filling = try Database(store: heap).beginWrite()
    let tree = try filling.editKeyTree("tree")
    var generator = SeededGenerator(seed: 4)
    for key in 0..<40_000 as Range<UInt64> {
      // Few of them fit into a leaf, and what separates them is short.
      let tail = generator.bytes(count: 400)
      _ = try tree.set(withUnsafeBytes(of: key.bigEndian) { Array($0) } + tail, [])
    }
    _ = try filling.commit()
    let store = DistantStore(heap, readAheadCount: 32)
    let (elapsed, oneByOne, unread) = try store.time {
      let snapshot = try Database(store: store).snapshot()
      let tree = try #require(try snapshot.keyTree("tree"))
      #expect(tree.root.height > 2)
      var cursor = KeyCursor(tree)
      var isValid = try isForward ? cursor.seekFirst() : cursor.seekLast()
      while isValid { isValid = try isForward ? cursor.next() : cursor.previous() }
    }
    #expect(store.misuse == [])
    #expect(elapsed * 12 < oneByOne)
    #expect(unread < 32)
  }

  /// Ways over all leaves of a tree of rows.
  enum Walk: CaseIterable { case forward, backward, fromTheMiddle, turning, scan }

  @Test(arguments: Walk.allCases)
  func `a walk goes from branch to branch without waiting`(walk: Walk) throws {
    let column = ColumnSpec(id: 1, type: .int, isNullable: false)
    let bench = ColumnWorkbench([column], options: smallShape(rows: 3, room: 20))
    let rowCount: Int64 = 15_000
    try bench.write { editor, _ in
      for key in 0..<rowCount {
        try lendRow([.int(key)]) { _ = try editor.insert(key: key, values: $0) }
      }
    }
    let store = DistantStore(bench.store, readAheadCount: 256)
    let (elapsed, oneByOne, unread) = try store.time {
      let source = PageSource(
        pin: try store.pin(), store: store, codec: nil, trust: bench.trust, cache: PageCache())
      let tree = ColumnTree(root: bench.root, source: source)
      #expect(tree.root.height == 4)
      var cursor = tree.leafCursor()
      switch walk {
      case .forward:
        #expect(try cursor.first())
        while try cursor.next() {}
      case .backward:
        #expect(try cursor.last())
        while try cursor.previous() {}
      case .fromTheMiddle:
        #expect(try cursor.seek(toKey: rowCount / 3))
        while try cursor.next() {}
      case .turning:
        #expect(try cursor.seek(toKey: rowCount / 3))
        while try cursor.next() {}
        #expect(try cursor.last())
        while try cursor.previous() {}
      case .scan: #expect(try tree.countInts(of: column, in: 5...9, partCount: 1) == 5)
      }
    }
    #expect(store.misuse == [])
    #expect(unread < 32)
    let readCount = oneByOne / (DistantStore.latency + 1)
    #expect(readCount > 2000)
    // There are 13 branches or more above the lowest ones, which are more than 200.
    #expect(elapsed < readCount + 40 * DistantStore.latency)
  }

  @Test func `of a large value only a part is on its way`() throws {
    let heap = HeapStore()
    let filling = try Database(store: heap).beginWrite()
    // 160 pages of 256 KiB.
    try filling.setValue("value", [UInt8](repeating: 7, count: 40 << 20))
    _ = try filling.commit()
    let store = DistantStore(heap, readAheadCount: 1024)
    let (elapsed, oneByOne, unread) = try store.time {
      let value = try Database(store: store).snapshot().value("value")
      #expect(value?.count == 40 << 20)
    }
    #expect(unread == 0 && oneByOne > 160 * DistantStore.latency)
    #expect(elapsed * 8 < oneByOne)
    #expect(store.largestAheadByteCount > 8 << 20)
    #expect(store.largestAheadByteCount <= 32 << 20)
  }

  @Test func `what is not read is hardly announced`() throws {
    let store = DistantStore(try Self.filled(), readAheadCount: 32)
    // Keys far apart.
    let removal = try store.time {
      let transaction = try Database(store: store).beginWrite()
      try #require(try transaction.editTable("table")).remove(keys: [10, 30_000, 59_000])
      _ = try transaction.commit(durability: .relaxed)
    }
    #expect(removal.unread < 16)
    let seeks = try store.time {
      let snapshot = try Database(store: store).snapshot()
      var cursor = try #require(try snapshot.table("table")).groups[0].leafCursor()
      for key in stride(from: Int64(0), to: Self.rowCount, by: 700) {
        #expect(try cursor.seek(toKey: key))
      }
    }
    #expect(seeks.unread == 0)
    // A second walk knows all but what one change has written.
    let database = try Database(store: store)
    var known: Set<PageReference> = []
    try database.forEachStoredPage(of: try database.snapshot(), unless: { _ in false }) { page, _ in
      known.insert(page)
    }
    let transaction = try database.beginWrite()
    try #require(try transaction.editTable("table")).update(key: 7, column: 1, value: .int(1))
    let snapshot = try transaction.commit()
    var count = 0
    let walk = try store.time {
      try Database(store: store).forEachStoredPage(of: snapshot, unless: known.contains) { _, _ in
        count += 1
      }
    }
    #expect(count > 0 && walk.unread == 0)
    #expect(store.misuse == [])
  }

  @Test func `pages of the running write are not announced`() throws {
    let store = DistantStore(HeapStore(), readAheadCount: 32)
    let database = try Database(store: store)
    let transaction = try database.beginWrite()
    let tree = try transaction.editKeyTree("new")
    for key in 0..<20_000 as Range<UInt64> {
      _ = try tree.set(withUnsafeBytes(of: key.bigEndian) { Array($0) }, [1, 2, 3])
    }
    #expect(try transaction.drop("new"))
    _ = try transaction.commit()
    #expect(store.misuse == [])
  }
}
