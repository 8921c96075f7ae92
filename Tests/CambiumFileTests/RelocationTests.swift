import CambiumCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CambiumFile

/// Giving space back to the system while the file is in use.
struct RelocationTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("a.cambium") }

  init() throws { folder = try TemporaryFolder() }

  /// What every kind of tree and value holds: rows with text, an index, large values, and lists that
  /// rows own.
  private struct Content {
    var names: [Int64: [UInt8]] = [:]
    var lists: [Int64: Int] = [:]
    var values: [String: [UInt8]] = [:]
    static let listLayout = ColumnLayout([ColumnSpec(id: 1, type: .int, isNullable: false)])
  }

  private func open(
    codec: (any PageCodec)? = nil, moved: Int = 64 << 10
  ) throws -> Database {
    var options = FileStoreOptions(codec: codec)
    options.largestSlackByteCount = 32 << 10
    options.growthByteCount = 32 << 10
    options.leastRelocatedByteCount = 64 << 10
    options.checkpointAfterRecordCount = 8
    var databaseOptions = DatabaseOptions()
    databaseOptions.relocatedByteCountPerCommit = moved
    return try Database(
      store: FileStore(path: path, options: options), options: databaseOptions)
  }

  private func bytes(_ random: inout SeededGenerator, count: ClosedRange<Int>) -> [UInt8] {
    let words = (0...Int.random(in: count, using: &random) / 8).map { _ in random.next() }
    return words.withUnsafeBytes { Array($0) }
  }

  private func load(_ database: Database, seed: UInt64) throws -> Content {
    var random = SeededGenerator(seed: seed)
    var content = Content()
    let transaction = try database.beginWrite()
    let table = try transaction.createTable(
      "Person",
      columns: [
        ColumnDescriptor(type: .bytes, isNullable: false, name: "name"),
        ColumnDescriptor(type: .bytes, isNullable: false, name: "list"),
      ])
    let index = try transaction.editKeyTree("index")
    for key in 0..<2000 as Range<Int64> {
      let name = bytes(&random, count: key % 50 == 0 ? 1500...300_000 : 200...300)
      content.names[key] = name
      try name.withUnsafeBytes { name in
        _ = try table.insert(key: key, values: [(1, .bytes(name))])
      }
      try index.set(Array("key \(key)".utf8), Array(name.prefix(1200)))
      if key % 20 == 0 {
        let list = ColumnTreeEditor(
          root: .empty(.position), layout: Content.listLayout, context: transaction.context)
        let count = Int.random(in: 1...1500, using: &random)
        for place in 0..<count { try list.insert(at: place, values: [.int(key + Int64(place))]) }
        content.lists[key] = count
        try table.update(key: key, column: 2, value: .tree(try list.flush()))
      }
    }
    for number in 0..<40 {
      let value = bytes(&random, count: 10...3000)
      content.values["value/\(number)"] = value
      try transaction.setValue("value/\(number)", value)
    }
    _ = try transaction.commit()
    return content
  }

  /// Deletes `share` of all rows with their entries in the index.
  private func thinOut(
    _ database: Database, _ content: inout Content, share: Double, seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let transaction = try database.beginWrite()
    let table = try #require(try transaction.editTable("Person"))
    let index = try transaction.editKeyTree("index")
    for key in content.names.keys.sorted() where Double.random(in: 0..<1, using: &random) < share {
      try table.remove(key: key)
      try index.remove(Array("key \(key)".utf8))
      content.names[key] = nil
      content.lists[key] = nil
    }
    _ = try transaction.commit()
  }

  private func expect(_ content: Content, in snapshot: Snapshot) throws {
    let table = try #require(try snapshot.table("Person")).groups[0]
    let index = try #require(try snapshot.keyTree("index"))
    #expect(table.count == content.names.count)
    #expect(index.count == content.names.count)
    for (key, name) in content.names {
      let row = try #require(try table.seek(key))
      let column = try #require(row.leaf.column(1))
      guard try table.bytes(of: column.bytes(row.row)) == name,
        try index.value(for: Array("key \(key)".utf8)) == Array(name.prefix(1200))
      else {
        Issue.record("Row \(key) is another one.")
        return
      }
      guard let count = content.lists[key] else { continue }
      let owner = try #require(row.leaf.column(2))
      let root = try #require(owner.bytes(row.row).tree)
      let list = ColumnTree(root: root, source: snapshot.source)
      #expect(list.count == count)
      let last = try #require(try list.select(count - 1))
      #expect(last.leaf.column(1)?.int(last.row) == key + Int64(count - 1))
    }
    for (name, value) in content.values { #expect(try snapshot.value(name) == value) }
  }

  private func byteCount() throws -> Int { try FileStore.inspect(path: path).fileByteCount }

  @Test(arguments: LogCoding.allCases)
  func `a file of which most was deleted shrinks with small commits while a reader goes on`(
    coding: LogCoding
  ) throws {
    let database = try open(codec: coding.codec)
    var content = try load(database, seed: 1)
    let full = try byteCount()
    try thinOut(database, &content, share: 0.8, seed: 2)
    let reading = Mutex((rounds: 0, isDone: false, failures: [String]()))
    let ended = DispatchSemaphore(value: 0)
    let expected = content
    let count = expected.names.count
    Thread {
      while !reading.withLock({ $0.isDone }) {
        do {
          let snapshot = try database.snapshot()
          let table = try snapshot.table("Person")?.groups[0]
          var rows = 0
          var cursor = table?.leafCursor()
          var isValid = try cursor?.first() ?? false
          while isValid, let leaf = cursor?.leaf {
            rows += leaf.rowCount
            isValid = try cursor?.next() ?? false
          }
          if rows != count { throw StoreError.versionGone(snapshot.version) }
        } catch {
          reading.withLock { $0.failures.append("\(error)") }
        }
        reading.withLock { $0.rounds += 1 }
      }
      ended.signal()
    }.start()
    func commit(_ number: Int, _ durability: Durability) throws {
      let transaction = try database.beginWrite()
      try transaction.setValue("counter", Array("\(number)".utf8))
      _ = try transaction.commit(durability: durability)
    }
    for number in 0..<400 { try commit(number, number % 4 == 0 ? .full : .relaxed) }
    reading.withLock { $0.isDone = true }
    ended.wait()
    #expect(reading.withLock { $0.failures } == [])
    // What is free may be three quarters of a megabyte and a sixteenth that commits need to find room: less is not worth
    // moving. The log has 128 KiB, and a megabyte behind the end is kept for what lies in memory and for deletions.
    func limit(_ reachable: Int) -> Int { reachable * 3 / 2 + (768 + 128 + 1024) << 10 }
    // What the reader saw last is moved after its end; how far it got before depends on its speed. Beside what waits
    // for a sync no pages are moved in a small file.
    let aim = limit(try database.verify().reachableByteCount)
    #expect(aim < full * 2 / 3)
    var number = 400
    while try byteCount() >= aim, number < 20_000 {
      for _ in 0..<50 { try commit(number, .full) }
      number += 50
    }
    try database.sync()
    let report = try database.verify()
    #expect(report.findings == [])
    try expect(content, in: database.snapshot())
    let end = try byteCount()
    #expect(end < limit(report.reachableByteCount), "after \(number) commits; the aim was \(aim)")
    try database.close()
  }

  @Test func `pages that a lasting pin sees are not moved, and are when it ends`() throws {
    let database = try open()
    var content = try load(database, seed: 3)
    var pinned: Snapshot? = try database.snapshot()
    let old = content
    try thinOut(database, &content, share: 0.8, seed: 4)
    func commit(_ count: Int) throws {
      for number in 0..<count {
        let transaction = try database.beginWrite()
        try transaction.setValue("counter", Array("\(number)".utf8))
        _ = try transaction.commit(durability: .relaxed)
      }
    }
    try commit(600)
    let held = try byteCount()
    try expect(old, in: try #require(pinned))
    pinned = nil
    // It rests for a while after it has found nothing to move, and the end is cut when no head on the
    // medium needs it any more.
    var commitCount = 0
    while try byteCount() >= held / 2, commitCount < 4_000 {
      try commit(100)
      try database.sync()
      commitCount += 100
    }
    #expect(try byteCount() < held / 2)
    #expect(try database.verify().findings == [])
    try expect(content, in: database.snapshot())
    try database.close()
  }

  @Test func `nothing is moved when that is not wanted`() throws {
    let database = try open(moved: 0)
    var content = try load(database, seed: 5)
    try thinOut(database, &content, share: 0.8, seed: 6)
    let before = try #require(try database.snapshot().table("Person")).groups.map(\.root)
    for number in 0..<100 {
      let transaction = try database.beginWrite()
      try transaction.setValue("counter", Array("\(number)".utf8))
      _ = try transaction.commit(durability: .relaxed)
    }
    let after = try #require(try database.snapshot().table("Person")).groups.map(\.root)
    #expect(after == before)
    try database.close()
  }

  @Test func `while relaxed commits wait for a sync no page is moved for them`() throws {
    var options = FileStoreOptions()
    options.leastRelocatedByteCount = 64 << 10
    options.stopTimers()
    options.storedLogByteCount = 0
    var databaseOptions = DatabaseOptions()
    databaseOptions.relocatedByteCountPerCommit = 0
    let store = try FileStore(path: path, options: options)
    let database = try Database(store: store, options: databaseOptions)
    func commit(_ durability: Durability, _ body: (Transaction) throws -> Void) throws {
      let transaction = try database.beginWrite()
      try body(transaction)
      _ = try transaction.commit(durability: durability)
    }
    func isRelocating() throws -> Bool {
      let writer = try store.beginWrite()
      defer { writer.abort() }
      return writer.relocation != nil
    }
    try commit(.full) { transaction in
      for number in 0..<20 {
        try transaction.setValue("\(number)", [UInt8](repeating: 1, count: 100_000))
      }
    }
    try commit(.full) { transaction in
      for number in 1..<20 { try transaction.setValue("\(number)", nil) }
    }
    #expect(try isRelocating())
    try commit(.relaxed) { try $0.setValue("counter", [1]) }
    #expect(try !isRelocating())
    try database.sync()
    #expect(try isRelocating())
    try database.close()
  }

  @Test func `a free end is cut off in ordinary operation`() throws {
    let store = try FileStore(path: path)
    let database = try Database(store: store)
    let filling = try database.beginWrite()
    for number in 0..<20 {
      try filling.setValue("\(number)", [UInt8](repeating: UInt8(number), count: 300_000))
    }
    _ = try filling.commit()
    #expect(try byteCount() > 6_000_000)
    for number in 1..<20 {
      let transaction = try database.beginWrite()
      try transaction.setValue("\(number)", nil)
      _ = try transaction.commit()
    }
    // What the log has is stored first, and 64 records at the end have to go: one in 128 is there for that.
    for number in 0..<9_000 {
      let transaction = try database.beginWrite()
      try transaction.setValue("counter", Array("\(number)".utf8))
      _ = try transaction.commit()
    }
    // Some room is kept for what small commits leave in memory.
    #expect(try byteCount() < 3_500_000)
    #expect(try database.verify().findings == [])
    #expect(try database.snapshot().value("0") == [UInt8](repeating: 0, count: 300_000))
    try database.close()
    #expect(try Database(store: FileStore(path: path)).verify().findings == [])
  }

  @Test func `cutting off a free end waits for no sync`() throws {
    let store = try FileStore(path: path, options: .withoutTimers)
    var generator = SeededGenerator(seed: 1)
    let writer = try store.beginWrite()
    let (root, _) = try FakeTree.change(writer, store, changeCount: 8, generator: &generator)
    _ = try writer.publish(root: root, durability: .full, metadata: [])
    let long = 64 << 20
    try store.device.truncate(to: long)
    store.state.withLock { $0.fileByteCount = long }
    // A sync holds the slots all the time.
    try store.withSlots { () throws(StoreError) in store.cutFreeTail() }
    #expect(try byteCount() == long)
    store.books.withLock { $0.nextCut = 0 }
    store.cutFreeTail()
    #expect(try byteCount() < 4 << 20)
    try store.close()
  }
}
