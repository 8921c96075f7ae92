import CambiumCore
import CambiumMemory
import CambiumStoreContract
import Dispatch
import Synchronization
import TestSupport
import Testing

/// Small commits to a store in memory leave their pages where they are.
struct ResidenceTests {
  private static let columns = [
    ColumnDescriptor(type: .int, isNullable: false, name: "age"),
    ColumnDescriptor(type: .bytes, isNullable: false, name: "name"),
  ]

  private func database(rows: Int, in store: any PageStore = MemoryStore()) throws -> Database {
    let database = try Database(store: store)
    let transaction = try database.beginWrite()
    let table = try transaction.createTable("People", columns: Self.columns)
    for key in 0..<Int64(rows) { try insert(key, age: Int(key % 90), into: table) }
    _ = try transaction.commit()
    return database
  }

  private func insert(_ key: Int64, age: Int, into table: TableEditor) throws {
    // Nothing that leaves could leave out.
    let words = (1...5).map { UInt64(key + 1) &* (0x9e37_79b9_7f4a_7c15 &+ UInt64($0 * 2)) }
    let name = Array(words.map { String($0, radix: 16) }.joined().utf8)
    try name.withUnsafeBytes { name in
      _ = try table.insert(
        key: key, values: [(column: 1, value: .int(Int64(age))), (column: 2, value: .bytes(name))])
    }
  }

  private func setAge(_ age: Int64, of key: Int64, in database: Database) throws -> Snapshot {
    let transaction = try database.beginWrite()
    _ = try transaction.editTable("People")?.update(key: key, column: 1, value: .int(age))
    return try transaction.commit()
  }

  private func edit(_ database: Database) throws -> (Transaction, TableEditor) {
    let transaction = try database.beginWrite()
    return (transaction, try #require(try transaction.editTable("People")))
  }

  private func age(of key: Int64, in view: some ReadTransaction) throws -> Int64? {
    guard let row = try view.table("People")?.seek(key) else { return nil }
    return row.column(1)?.int(row.row) ?? 0
  }

  @Test func `a small commit takes and gives back no room, until much has gathered`() throws {
    let store = MemoryStore()
    let database = try database(rows: 60_000, in: store)
    var former = try store.statistics()
    var stored = 0
    for number in 0..<2_000 {
      let snapshot = try setAge(Int64(number), of: Int64(number * 37 % 60_000), in: database)
      let now = try store.statistics()
      #expect(now.newestVersion == former.newestVersion + 1)
      if snapshot.head.residence == nil {
        stored += 1
      } else {
        #expect(now.totalByteCount == former.totalByteCount)
        #expect(now.freeByteCount == former.freeByteCount)
      }
      former = now
    }
    #expect(stored > 0 && stored < 40)
    #expect(try database.verify().findings == [])
  }

  @Test func `a kept version reads as it was, whether its pages were stored meanwhile or not`()
    throws
  {
    let database = try database(rows: 3_000)
    var kept: [(snapshot: Snapshot, age: Int64)] = []
    for number in 0..<400 {
      let snapshot = try setAge(Int64(number), of: 5, in: database)
      if number % 7 == 0 { kept.append((snapshot, Int64(number))) }
      if number % 100 == 99 {
        let transaction = try database.beginWrite()
        let table = try #require(try transaction.editTable("People"))
        for key in 0..<Int64(30_000) {
          try insert(100_000 + Int64(number) * 30_000 + key, age: 1, into: table)
        }
        #expect(try transaction.commit().head.residence == nil)
      }
    }
    for (snapshot, expected) in kept { #expect(try age(of: 5, in: snapshot) == expected) }
    #expect(try database.store.statistics().pinnedVersions.count >= kept.count)
    #expect(try database.verify().findings == [])
    kept = []
    _ = try setAge(0, of: 5, in: database)
    #expect(try database.verify().findings == [])
  }

  @Test func `what was rolled back is gone, and the next transaction goes on from what was there`()
    throws
  {
    let database = try database(rows: 500)
    _ = try setAge(1, of: 7, in: database)
    let (transaction, table) = try edit(database)
    _ = try table.update(key: 7, column: 1, value: .int(2))
    for key in 0..<Int64(400) { _ = try table.remove(key: key) }
    for key in 0..<Int64(300) { try insert(9_000 + key, age: 3, into: table) }
    transaction.rollback()
    let snapshot = try setAge(4, of: 8, in: database)
    #expect(snapshot.head.residence != nil)
    #expect(try age(of: 7, in: snapshot) == 1)
    #expect(try age(of: 8, in: snapshot) == 4)
    #expect(try snapshot.table("People")?.count == 500)
    #expect(try database.verify().findings == [])
  }

  @Test func `versions whose pages have the same numbers differ where they were changed`() throws {
    let database = try database(rows: 5_000)
    let old = try setAge(1, of: 7, in: database)
    let new = try setAge(2, of: 7, in: database)
    let other = try setAge(2, of: 4_000, in: database)
    let trees = try [old, new, other].map { try #require(try $0.table("People")).groups[0] }
    #expect(trees[0].root == trees[1].root)
    #expect(try ColumnTree.diff(old: trees[0], new: trees[1]).modified == [7])
    #expect(try ColumnTree.diff(old: trees[0], new: trees[2]).modified == [7, 4_000])
    #expect(try ColumnTree.diff(old: trees[0], new: trees[0]).modified == [])
  }

  @Test func `a commit that is refused leaves everything as it was`() throws {
    let database = try database(rows: 500)
    _ = try setAge(1, of: 7, in: database)
    let (transaction, table) = try edit(database)
    _ = try table.update(key: 7, column: 1, value: .int(2))
    _ = try table.remove(key: 8)
    #expect(throws: StoreError.self) {
      try transaction.commit(metadata: [UInt8](repeating: 0, count: 1 << 17))
    }
    let snapshot = try setAge(3, of: 9, in: database)
    #expect(try age(of: 7, in: snapshot) == 1)
    #expect(try age(of: 8, in: snapshot) == 8)
    #expect(try age(of: 9, in: snapshot) == 3)
    #expect(try database.verify().findings == [])
  }

  @Test func `threads that read see whole versions beside threads that write`() throws {
    let accounts = Int64(64)
    let database = try database(rows: 4_000)
    let (begin, table) = try edit(database)
    for key in 0..<accounts { _ = try table.update(key: key, column: 1, value: .int(100)) }
    _ = try begin.commit()
    // Each is moved between two accounts, so that no version has more or less.
    let findings = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      var generator = SeededGenerator(seed: UInt64(thread + 1))
      do {
        for step in 0..<300 {
          if thread < 2 {
            let (from, to) = (
              Int64.random(in: 0..<accounts, using: &generator),
              Int64.random(in: 0..<accounts, using: &generator)
            )
            let transaction = try database.beginWrite()
            let table = try transaction.editTable("People")
            for (key, change) in [(from, Int64(-1)), (to, 1)] {
              let present = try age(of: key, in: transaction) ?? 0
              _ = try table?.update(key: key, column: 1, value: .int(present + change))
            }
            if step % 5 == 4 { transaction.rollback() } else { _ = try transaction.commit() }
          } else {
            let snapshot = try database.snapshot()
            var sum = Int64(0)
            for key in 0..<accounts { sum += try age(of: key, in: snapshot) ?? 0 }
            if sum != accounts * 100 {
              findings.withLock { $0.append("version \(snapshot.version) has \(sum)") }
            }
          }
        }
      } catch {
        findings.withLock { $0.append("\(error)") }
      }
    }
    #expect(findings.withLock { $0 } == [])
    #expect(try database.snapshot().head.residence != nil)
    #expect(try database.verify().findings == [])
  }

  @Test func `a stored commit that is refused leaves everything as it was to a writer that waits`()
    throws
  {
    let database = try database(rows: 500)
    _ = try setAge(1, of: 7, in: database)
    let (transaction, table) = try edit(database)
    _ = try table.update(key: 7, column: 1, value: .int(2))
    // More than stays in memory.
    for key in 0..<Int64(20_000) { try insert(1_000 + key, age: 3, into: table) }
    let outcome = Mutex<Snapshot?>(nil)
    let hasEnded = DispatchSemaphore(value: 0)
    let writer = WatchedThread {
      let snapshot = try? setAge(3, of: 9, in: database)
      outcome.withLock { $0 = snapshot }
      hasEnded.signal()
    }
    #expect(writer.waitsForSomebody())
    #expect(throws: StoreError.self) {
      try transaction.commit(metadata: [UInt8](repeating: 0, count: 1 << 17))
    }
    hasEnded.wait()
    let snapshot = try #require(outcome.withLock { $0 })
    #expect(snapshot.head.residence != nil)
    #expect(try age(of: 7, in: snapshot) == 1)
    #expect(try age(of: 9, in: snapshot) == 3)
    #expect(try snapshot.table("People")?.count == 500)
    #expect(try database.verify().findings == [])
  }

  @Test func `a description that does not fit beside its name is stored with all else`() throws {
    let database = try database(rows: 50)
    for number in 0..<120 {
      let transaction = try database.beginWrite()
      let table = try #require(try transaction.editTable("People"))
      _ = try table.addColumn(name: "a long name \(number)", type: .int, isNullable: true)
      _ = try transaction.commit()
      _ = try setAge(Int64(number), of: 7, in: database)
      #expect(try database.verify().findings == [])
    }
    #expect(try age(of: 7, in: database.snapshot()) == 119)
  }

  @Test func `room of large values that are removed one by one is given back`() throws {
    let store = MemoryStore()
    let database = try database(rows: 3_000, in: store)
    let (transaction, table) = try edit(database)
    let name = [UInt8](repeating: 7, count: 5_000)
    for key in 0..<Int64(3_000) {
      try name.withUnsafeBytes { _ = try table.update(key: key, column: 2, value: .bytes($0)) }
    }
    _ = try transaction.commit()
    let before = try store.statistics()
    for key in 0..<Int64(3_000) {
      let transaction = try database.beginWrite()
      _ = try transaction.editTable("People")?.remove(key: key)
      _ = try transaction.commit()
    }
    let after = try store.statistics()
    #expect(after.freeByteCount - before.freeByteCount > 9 << 20)
    #expect(try database.verify().findings == [])
  }

  @Test func `a transaction with rows out of order that is rolled back is not counted`() throws {
    let database = try database(rows: 5_000)
    _ = try setAge(1, of: 7, in: database)
    for _ in 0..<3 {
      let transaction = try database.beginWrite()
      let table = try #require(try transaction.editTable("People"))
      for number in 0..<Int64(4_000) {
        try insert(10_000 + number * 7_919 % 4_001, age: 1, into: table)
      }
      transaction.rollback()
      #expect(try setAge(2, of: 8, in: database).head.residence != nil)
    }
    #expect(try database.snapshot().table("People")?.count == 5_000)
    #expect(try database.verify().findings == [])
  }

  @Test func `a store whose size is limited keeps nothing beside it`() throws {
    let database = try database(rows: 100, in: MemoryStore(maximumByteCount: 8 << 20))
    #expect(try setAge(1, of: 7, in: database).head.residence == nil)
  }

  @Test(arguments: UInt64(1)...24)
  func `two databases over one store hold what a dictionary would`(seed: UInt64) throws {
    let model = try ResidenceModel(seed: seed)
    for step in 0..<150 {
      try model.transaction()
      if step % 10 == 0 { try model.check() }
    }
    try model.check()
    #expect(model.residentCount > 50)
    #expect(model.storedCount > 5)
  }
}

/// A store in memory that two databases change, beside dictionaries.
private final class ResidenceModel {
  private struct Content: Equatable {
    var rows: [Int64: [UInt8]] = [:]
    var ages: [Int64: Int64] = [:]
    var keys: [[UInt8]: [UInt8]] = [:]
    var value: [UInt8]?

    /// The first few things that are not as in `other`.
    func differences(from other: Content) -> [String] {
      var found: [String] = []
      for key in Set(rows.keys).union(other.rows.keys).sorted()
      where rows[key] != other.rows[key] || ages[key] != other.ages[key] {
        found.append(
          "row \(key): \(rows[key]?.count ?? -1) \(ages[key] ?? -1), not \(other.rows[key]?.count ?? -1) \(other.ages[key] ?? -1)"
        )
      }
      for key in Set(keys.keys).union(other.keys.keys) where keys[key] != other.keys[key] {
        found.append("\(String(decoding: key, as: UTF8.self))")
      }
      if value != other.value { found.append("the value") }
      return Array(found.prefix(5))
    }
  }

  private var generator: SeededGenerator
  private let databases: [Database]
  private var newest = Content()
  private var kept: [(snapshot: Snapshot, content: Content)] = []
  private(set) var residentCount = 0
  private(set) var storedCount = 0

  init(seed: UInt64) throws {
    generator = SeededGenerator(seed: seed)
    let store = MemoryStore()
    databases = try (0..<2).map { _ in try Database(store: store) }
    let transaction = try databases[0].beginWrite()
    _ = try transaction.createTable(
      "People",
      columns: [
        ColumnDescriptor(type: .int, isNullable: false, name: "age"),
        ColumnDescriptor(type: .bytes, isNullable: false, name: "name"),
      ])
    _ = try transaction.editKeyTree("keys")
    kept.append((try transaction.commit(), newest))
  }

  private func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }

  func transaction() throws {
    let transaction = try databases[number(2)].beginWrite()
    var content = newest
    for _ in 0..<(1 + number(4)) { try change(transaction, &content) }
    if number(6) == 0 {
      let savepoint = try transaction.mark()
      var undone = content
      for _ in 0..<(1 + number(4)) { try change(transaction, &undone) }
      if number(2) == 0 {
        try transaction.rollback(to: savepoint)
      } else {
        content = undone
      }
      try change(transaction, &content)
    }
    if number(8) == 0 { return transaction.rollback() }
    let snapshot = try transaction.commit()
    newest = content
    if snapshot.head.residence == nil { storedCount += 1 } else { residentCount += 1 }
    if number(3) == 0 { kept.append((snapshot, content)) }
    if kept.count > 6 { kept.remove(at: number(kept.count)) }
  }

  private func change(_ transaction: Transaction, _ content: inout Content) throws {
    guard let table = try transaction.editTable("People") else { return }
    let key = Int64(number(400))
    switch number(20) {
    case 0..<7:
      // A long one has a page of its own, which only the store keeps.
      let name = generator.bytes(count: number(6) == 0 ? 5_000 : number(40))
      let isNew = try name.withUnsafeBytes { bytes in
        try table.insert(
          key: key, values: [(column: 1, value: .int(key)), (column: 2, value: .bytes(bytes))])
      }
      #expect(isNew == (content.rows[key] == nil))
      if isNew { (content.rows[key], content.ages[key]) = (name, key) }
    case 7..<11:
      let age = Int64(number(1_000_000))
      let isThere = try table.update(key: key, column: 1, value: .int(age))
      #expect(isThere == (content.rows[key] != nil))
      if isThere { content.ages[key] = age }
    case 11..<13:
      #expect(try table.remove(key: key) == (content.rows[key] != nil))
      (content.rows[key], content.ages[key]) = (nil, nil)
    case 13..<17:
      let key = Array("key \(number(300))".utf8)
      let tree = try transaction.editKeyTree("keys")
      if number(4) == 0 {
        let isRemoved = try tree.remove(key)
        #expect(isRemoved == (content.keys[key] != nil))
        content.keys[key] = nil
      } else {
        let value = generator.bytes(count: number(60))
        _ = try tree.set(key, value)
        content.keys[key] = value
      }
    case 17:
      content.value = generator.bytes(count: number(30))
      try transaction.setValue("value", content.value)
    case 18:
      // Does not fit into its leaf.
      let name = generator.bytes(count: 3_000)
      let isThere = try name.withUnsafeBytes { bytes in
        try table.update(key: key, column: 2, value: .bytes(bytes))
      }
      if isThere { content.rows[key] = name }
    default:
      let first = 1_000 + Int64(number(50)) * 100
      for key in first..<first + 100 where content.rows[key] == nil {
        let name = generator.bytes(count: 500)
        _ = try name.withUnsafeBytes { bytes in
          try table.insert(
            key: key, values: [(column: 1, value: .int(0)), (column: 2, value: .bytes(bytes))])
        }
        (content.rows[key], content.ages[key]) = (name, 0)
      }
    }
  }

  func check() throws {
    for (snapshot, content) in kept { try check(snapshot, content) }
    for database in databases {
      try check(database.snapshot(), newest)
      #expect(try database.verify().findings == [])
    }
    // What differs between two of them.
    let (old, new) = (kept[number(kept.count)], kept[number(kept.count)])
    guard let left = try old.snapshot.table("People"), let right = try new.snapshot.table("People")
    else { return }
    let keys = Set(old.content.rows.keys).union(new.content.rows.keys)
    let expected = keys.filter {
      old.content.rows[$0] != new.content.rows[$0] || old.content.ages[$0] != new.content.ages[$0]
    }
    let found = try ColumnTree.diff(old: left.groups[0], new: right.groups[0])
    #expect(Set(found.inserted + found.removed + found.modified) == expected)
  }

  private func check(_ snapshot: Snapshot, _ expected: Content) throws {
    var content = Content()
    if let tree = try snapshot.table("People")?.groups[0] {
      var cursor = tree.leafCursor()
      var isValid = try cursor.first()
      while isValid {
        let leaf = cursor.leaf
        for row in 0..<leaf.rowCount {
          // A column of nothing but zeros is left out.
          content.ages[leaf.key(at: row)] = leaf.column(1)?.int(row) ?? 0
          let cell = try #require(leaf.column(2)).bytes(row)
          content.rows[leaf.key(at: row)] = try tree.bytes(of: cell) ?? []
        }
        isValid = try cursor.next()
      }
    }
    if let tree = try snapshot.keyTree("keys") {
      var cursor = tree.cursor()
      var isValid = try cursor.seekFirst()
      while isValid {
        content.keys[cursor.key] = try cursor.copyValue()
        isValid = try cursor.next()
      }
    }
    content.value = try snapshot.value("value")
    #expect(content.differences(from: expected) == [])
  }
}
