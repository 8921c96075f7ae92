import CambiumCore
import CambiumFile
import TestSupport
import Testing

/// Damages each page of a small database in turn and saves what is left.
@Suite struct SalvageTests {
  /// What a database holds: rows by table and key, values by tree and key.
  typealias Content = [String: [String: String]]

  private static func open(_ bytes: [UInt8]) throws(StoreError) -> (Database, SimulatedDevice) {
    let device = SimulatedDevice(bytes)
    return (try Database(store: FileStore(path: "simulated", options: options(device))), device)
  }

  private static func options(_ device: SimulatedDevice) -> FileStoreOptions {
    var options = FileStoreOptions(access: .buffered)
    options.device = { _ throws(StoreError) in device }
    return options
  }

  /// A table of several leaves with large values and lists, one of two column groups, an index, a
  /// value.
  private static func makeFile() throws -> [UInt8] {
    let (database, device) = try open([])
    var generator = SeededGenerator(seed: 4)
    let transaction = try database.beginWrite()
    let people = try transaction.createTable(
      "class/People",
      columns: [
        ColumnDescriptor(type: .int, isNullable: true, name: "number"),
        ColumnDescriptor(type: .wide, isNullable: false, name: "wide"),
        ColumnDescriptor(type: .bytes, isNullable: false, name: "large"),
        ColumnDescriptor(type: .bytes, isNullable: true, name: "list"),
      ])
    for key in 0..<900 as Range<Int64> {
      let size = key == 100 || key == 500 ? 3000 : 40
      let large = (0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) }
      var list = ColumnValue.null
      if key == 300 { list = .tree(try makeList(transaction, count: 6000, &generator)) }
      try large.withUnsafeBytes { large in
        _ = try people.insert(
          key: key,
          values: [
            (1, .int(Int64(bitPattern: generator.next()))),
            (2, .wide(low: generator.next(), high: generator.next())), (3, .bytes(large)),
            (4, list),
          ])
      }
    }
    let wide = try transaction.createTable(
      "class/Wide",
      columns: (1...40).map { ColumnDescriptor(type: .int, isNullable: false, name: "c\($0)") })
    for key in 0..<300 as Range<Int64> {
      try wide.insert(
        key: key * 3,
        values: (1...40).map { ($0, .int(Int64(bitPattern: generator.next()))) })
    }
    let keys = try transaction.editKeyTree("index/People")
    for key in 0..<900 {
      let size = key == 77 ? 2500 : 30
      try keys.set(
        Array("key \(key * 7919 % 1009)".utf8),
        (0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
    try transaction.setValue("settings", [1, 2, 3])
    _ = try transaction.commit()
    try database.close()
    return device.bytes
  }

  private static func makeList(
    _ transaction: WriteTransaction, count: Int, _ generator: inout SeededGenerator
  ) throws -> TreeRoot {
    let editor = ColumnTreeEditor(
      root: .empty(.position),
      layout: ColumnLayout([ColumnSpec(id: 1, type: .int, isNullable: false)]),
      context: transaction.context)
    for index in 0..<count {
      try editor.insert(at: index, values: [.int(Int64(bitPattern: generator.next()))])
    }
    return try editor.flush()
  }

  // MARK: Reading

  private static func content(_ database: Database) throws -> Content {
    var content: Content = [:]
    let snapshot = try database.snapshot()
    for name in try snapshot.names(withPrefix: "") {
      if let table = try snapshot.table(name) {
        content[name] = try rows(table)
      } else if let tree = try snapshot.keyTree(name) {
        var cursor = tree.cursor()
        var isValid = try cursor.seekFirst()
        content[name] = [:]
        while isValid {
          content[name]?[String(decoding: cursor.key, as: UTF8.self)] = hash(try cursor.copyValue())
          isValid = try cursor.next()
        }
      } else if let value = try snapshot.value(name) {
        content[name] = ["": hash(value)]
      }
    }
    return content
  }

  private static func hash(_ bytes: [UInt8]) -> String {
    String(bytes.withUnsafeBytes { Checksum.hash($0) })
  }

  /// The rows without the elements of lists.
  private static func rows(_ table: Table) throws -> [String: String] {
    var rows: [String: String] = [:]
    for tree in table.groups {
      var cursor = tree.leafCursor()
      var isValid = try cursor.first()
      while isValid {
        for row in 0..<cursor.leaf.rowCount {
          let cells = try table.record.columns.map { column -> String in
            guard let cells = cursor.leaf.column(column.id), !cells.isNull(row) else { return "-" }
            switch cells.type {
            case .int: return "\(cells.int(row))"
            case .wide: return "\(cells.wide(row))"
            default:
              let cell = cells.bytes(row)
              return cell.form == .tree ? "list" : hash(try tree.bytes(of: cell) ?? [])
            }
          }
          rows["\(cursor.leaf.key(at: row))", default: ""] += cells.joined(separator: " ")
        }
        isValid = try cursor.next()
      }
    }
    return rows
  }

  /// The elements of the list that the row `key` of people has.
  private static func list(_ database: Database, _ key: Int64) throws -> (ColumnTree, [Int64]) {
    let snapshot = try database.snapshot()
    let row = try #require(try snapshot.table("class/People")?.seek(key))
    let root = try #require(row.column(4)?.bytes(row.row).tree)
    let tree = ColumnTree(root: root, source: snapshot.source)
    var elements: [Int64] = []
    var cursor = tree.leafCursor()
    var isValid = try cursor.first()
    while isValid {
      let column = try #require(cursor.leaf.column(1))
      elements += (0..<cursor.leaf.rowCount).map { column.int($0) }
      isValid = try cursor.next()
    }
    return (tree, elements)
  }

  /// Every page of the newest version, and the name of the tree it belongs to.
  private static func pages(_ database: Database) throws -> [(PageReference, PageKind, String)] {
    let snapshot = try database.snapshot()
    var pages: [(PageReference, PageKind, String)] = []
    for name in try snapshot.names(withPrefix: "") {
      var roots = try snapshot.keyTree(name).map { [$0.root] } ?? []
      roots += try snapshot.table(name)?.groups.map(\.root) ?? []
      while let root = roots.popLast() {
        if root.kind == .key {
          try KeyTree(root: root, source: snapshot.source)
            .walk({ pages.append(($0, $1, name)) }, damage: { Issue.record("\($0)") })
        } else {
          try ColumnTree(root: root, source: snapshot.source)
            .walk(
              { pages.append(($0, $1, name)) }, tree: { roots.append($0) },
              damage: { Issue.record("\($0)") })
        }
      }
    }
    return pages
  }

  private static func salvage(
    _ bytes: [UInt8], progress: @escaping (Int) -> Void = { _ in }
  ) throws -> (SalvageReport, Database) {
    let file = try SalvageFile(path: "simulated", options: options(SimulatedDevice(bytes)))
    let (database, _) = try open([])
    let report = try Salvage(store: file).run(into: database, progress: progress)
    #expect(try database.verify().findings == [])
    return (report, database)
  }

  // MARK: Tests

  @Test func `whatever page is damaged, only its rows are lost`() throws {
    let bytes = try Self.makeFile()
    let (original, _) = try Self.open(bytes)
    let expected = try Self.content(original)
    let pages = try Self.pages(original)
    #expect(Set(pages.map(\.1)) == Set(PageKind.allCases))
    for (page, kind, name) in pages {
      var damaged = bytes
      damaged[page.byteOffset + page.byteCount / 2] ^= 0x55
      let (report, database) = try Self.salvage(damaged)
      let content = try Self.content(database)
      let place = "\(kind) of \(name)"
      #expect(!report.losses.isEmpty, "\(place)")
      #expect(report.losses.allSatisfy { $0.name == name }, "\(place)")
      for (other, rows) in expected where other != name {
        #expect(content[other] == rows, "\(place): \(other)")
      }
      let left = content[name] ?? [:]
      for (key, row) in left { #expect(expected[name]?[key] == row, "\(place): \(key)") }
      let lost = (expected[name]?.count ?? 0) - left.count
      #expect(lost == report.lostRowCount, "\(place)")
      if kind == .columnLeaf, name != "class/Wide", lost > 0 { #expect(lost < 400, "\(place)") }
    }
  }

  @Test func `a list keeps the elements that can be read`() throws {
    let bytes = try Self.makeFile()
    let (original, _) = try Self.open(bytes)
    let (tree, elements) = try Self.list(original, 300)
    var leaves: [PageReference] = []
    try tree.walk({ if $1 == .columnLeaf { leaves.append($0) } }, tree: { _ in }, damage: { _ in })
    try #require(leaves.count > 1)
    var damaged = bytes
    damaged[leaves[1].byteOffset + 100] ^= 1
    let (report, database) = try Self.salvage(damaged)
    #expect(report.losses.count == 1)
    #expect(report.losses.first?.keys.contains("elements") == true)
    var cursor = tree.leafCursor()
    #expect(try cursor.first() && cursor.next())
    let lost = cursor.firstIndex..<cursor.firstIndex + cursor.leaf.rowCount
    let (_, saved) = try Self.list(database, 300)
    #expect(saved == Array(elements[..<lost.lowerBound] + elements[lost.upperBound...]))
  }

  @Test func `without heads and identity everything is found by scanning`() throws {
    let bytes = try Self.makeFile()
    let expected = try Self.content(Self.open(bytes).0)
    var damaged = bytes
    for offset in [4096 + 30, 8192 + 30] { damaged[offset] ^= 1 }
    let (report, database) = try Self.salvage(damaged)
    #expect(report.version == nil)
    #expect(try Self.content(database) == expected)
    #expect(report.saved.allSatisfy { $0.origin != nil })
    damaged[100] ^= 1
    #expect(throws: StoreError.self) {
      _ = try SalvageFile(path: "simulated", options: Self.options(SimulatedDevice(damaged)))
    }
    // One head is enough to know that it is a store.
    damaged[4096 + 30] ^= 1
    #expect(try Self.content(Self.salvage(damaged).1) == expected)
  }

  @Test func `a damaged catalog is replaced by an older one, and dropped names stay dropped`()
    throws
  {
    let (database, device) = try Self.open(Self.makeFile())
    let dropping = try database.beginWrite()
    try dropping.drop("settings")
    _ = try dropping.commit()
    let adding = try database.beginWrite()
    try adding.editKeyTree("later").set([1], [2])
    _ = try adding.commit()
    try database.close()
    let sound = device.bytes
    #expect(try Self.salvage(sound).1.snapshot().value("settings") == nil)
    let root = try Self.open(sound).0.snapshot().version
    #expect(root == 3)
    let file = try SalvageFile(path: "simulated", options: Self.options(device))
    var damaged = sound
    for head in Set(file.heads.map(\.root.reference)) { damaged[head.byteOffset + 20] ^= 1 }
    let (report, saved) = try Self.salvage(damaged)
    #expect(report.losses.contains { $0.name == "catalog" })
    // The tables did not change since, so that any older catalog leads to all of them.
    #expect(try saved.snapshot().table("class/People")?.count == 900)
  }

  @Test func `an error of the system ends it, also while scanning, and nothing is kept`()
    throws
  {
    var damaged = try Self.makeFile()
    for offset in [4096 + 30, 8192 + 30] { damaged[offset] ^= 1 }
    // No such device.
    let code: Int32 = 6
    let failure = StoreError.system(operation: "read", path: "simulated", code: code)
    func run(failingRead index: Int?) throws -> (Int, Database, Result<SalvageReport, any Error>) {
      let device = SimulatedDevice(damaged)
      if let index { device.failRead(index, code: code) }
      let (database, _) = try Self.open([])
      let result = Result {
        let file = try SalvageFile(path: "simulated", options: Self.options(device))
        return try Salvage(store: file).run(into: database)
      }
      return (device.readCount, database, result)
    }
    let (readCount, _, success) = try run(failingRead: nil)
    #expect(try success.get().saved.count > 3)
    for index in 0..<readCount {
      let (count, database, result) = try run(failingRead: index)
      #expect(count == index + 1, "read \(index)")
      #expect(throws: failure, "read \(index)") { try result.get() }
      #expect(try database.snapshot().names(withPrefix: "") == [], "read \(index)")
      #expect(try database.snapshot().version == 0, "read \(index)")
    }
  }

  @Test func `a block that the medium has lost is damage like any other`() throws {
    let bytes = try Self.makeFile()
    var lostCount = 0
    for block in 0..<bytes.count / 4096 {
      let range = block * 4096..<(block + 1) * 4096
      var zeroed = bytes
      zeroed.replaceSubrange(range, with: repeatElement(0, count: range.count))
      func salvage(_ device: SimulatedDevice) throws -> (SalvageReport, Content) {
        let (database, _) = try Self.open([])
        let file = try SalvageFile(path: "simulated", options: Self.options(device))
        let report = try Salvage(store: file).run(into: database)
        return (report, try Self.content(database))
      }
      let device = SimulatedDevice(bytes)
      device.lose(range)
      var (report, content) = try salvage(device)
      #expect(report.unreadable == [range] || report.unreadable == [], "block \(block)")
      if report.unreadable.isEmpty { #expect(report.losses == [], "block \(block)") }
      if !report.losses.isEmpty { lostCount += 1 }
      report.unreadable = []
      let (expected, rest) = try salvage(SimulatedDevice(zeroed))
      #expect(report == expected, "block \(block)")
      #expect(content == rest, "block \(block)")
    }
    #expect(lostCount > 20)
  }

  @Test func `a read that fails once loses nothing`() throws {
    let bytes = try Self.makeFile()
    let (whole, database) = try Self.salvage(bytes)
    let content = try Self.content(database)
    var index = 0
    while true {
      let device = SimulatedDevice(bytes)
      device.failRead(index)
      let (database, _) = try Self.open([])
      let file = try SalvageFile(path: "simulated", options: Self.options(device))
      let report = try Salvage(store: file).run(into: database)
      #expect(report == whole, "read \(index)")
      #expect(try Self.content(database) == content, "read \(index)")
      index += 1
      if index >= device.readCount { break }
    }
    #expect(index > 20)
  }

  @Test func `a medium that gives nothing back is named, not the file`() throws {
    let bytes = try Self.makeFile()
    let device = SimulatedDevice(bytes)
    device.lose(0..<bytes.count)
    #expect(throws: StoreError.system(operation: "read", path: "simulated", code: 5)) {
      _ = try SalvageFile(path: "simulated", options: Self.options(device))
    }
  }

  @Test func `a sound store is copied without losses`() throws {
    let bytes = try Self.makeFile()
    let (original, _) = try Self.open(bytes)
    var counts: [Int] = []
    let (report, database) = try Self.salvage(bytes) { counts.append($0) }
    #expect(report.losses == [])
    #expect(report.version == 1)
    #expect(try Self.content(database) == Self.content(original))
    #expect(try Self.list(database, 300).1 == Self.list(original, 300).1)
    // Two tables, a tree of keys and a value.
    #expect(counts == counts.sorted() && counts.last == 900 + 300 + 900 + 1)
  }

  @Test func `a salvaged store goes on numbering keys, columns and tables`() throws {
    let (original, device) = try Self.open(Self.makeFile())
    let creating = try original.beginWrite()
    let full = try creating.createTable(
      "full", columns: [ColumnDescriptor(type: .bool, isNullable: false, name: "flag")])
    try full.insert(key: .max, values: [(1, .bool(true))])
    let dropped = try creating.createTable("dropped", columns: []).record.id
    #expect(dropped > full.record.id)
    _ = try creating.commit()
    let dropping = try original.beginWrite()
    try dropping.drop("dropped")
    _ = try dropping.commit()
    try original.close()
    let (_, database) = try Self.salvage(device.bytes)
    let transaction = try database.beginWrite()
    let people = try #require(try transaction.editTable("class/People"))
    #expect(try people.generateKey() == 900)
    #expect(try people.addColumn(name: "new", type: .int, isNullable: true) == 5)
    let table = try transaction.createTable("new", columns: [])
    #expect(table.record.id > dropped)
    #expect(try transaction.table("full")?.seek(.max) != nil)
    _ = try transaction.commit()
    #expect(try database.verify().findings == [])
  }
}
