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
    var cursor = tree.leafCursor()
    #expect(try cursor.first() && cursor.next())
    let lost = cursor.firstIndex..<cursor.firstIndex + cursor.leaf.rowCount
    #expect(
      report.losses.first?.keys
        == "elements \(lost.lowerBound) to \(lost.upperBound - 1) of 'list' in row 300")
    #expect(report.lostElementCount == lost.count && report.lostRowCount == 0)
    let (_, saved) = try Self.list(database, 300)
    #expect(saved == Array(elements[..<lost.lowerBound] + elements[lost.upperBound...]))
  }

  @Test func `a list loses the elements whose values cannot be read`() throws {
    let (original, device) = try Self.open([])
    let transaction = try original.beginWrite()
    let table = try transaction.createTable(
      "class/Notes", columns: [ColumnDescriptor(type: .bytes, isNullable: true, name: "list")])
    let editor = ColumnTreeEditor(
      root: .empty(.position),
      layout: ColumnLayout([ColumnSpec(id: 1, type: .bytes, isNullable: false)]),
      context: transaction.context)
    for index in 0..<40 {
      // Some live in pages of their own.
      let value = [UInt8](repeating: UInt8(index), count: index % 10 == 5 ? 3000 : 20)
      try value.withUnsafeBytes { try editor.insert(at: index, values: [.bytes($0)]) }
    }
    for key in 0..<3 as Range<Int64> {
      try table.insert(key: key, values: [(1, key == 1 ? .tree(try editor.flush()) : .null)])
    }
    let tree = ColumnTree(root: try editor.flush(), source: try transaction.commit().source)
    var values: [PageReference] = []
    try tree.walk({ if $1 == .overflow { values.append($0) } }, tree: { _ in }, damage: { _ in })
    try #require(values.count == 4)
    try original.close()
    var damaged = device.bytes
    damaged[values[1].byteOffset + 500] ^= 1
    let (report, database) = try Self.salvage(damaged)
    let snapshot = try database.snapshot()
    let saved = try #require(try snapshot.table("class/Notes"))
    #expect(saved.count == 3)
    let row = try #require(try saved.seek(1))
    let list = ColumnTree(
      root: try #require(row.column(1)?.bytes(row.row).tree), source: snapshot.source)
    #expect(list.count == 39)
    #expect(report.losses.count == 1)
    #expect(report.losses.first?.keys == "element 15 of 'list' in row 1")
    #expect(report.lostElementCount == 1 && report.lostRowCount == 0)
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

  /// Commits a table of few columns, then as many more as fill another column group.
  private static func makeGrowingFile() throws -> ([UInt8], Database) {
    let (database, device) = try open([])
    let first = try database.beginWrite()
    let table = try first.createTable(
      "class/Growing", columns: [ColumnDescriptor(type: .int, isNullable: false, name: "number")])
    for key in 0..<50 as Range<Int64> { try table.insert(key: key, values: [(1, .int(key * 7))]) }
    _ = try first.commit()
    let second = try database.beginWrite()
    let growing = try #require(try second.editTable("class/Growing"))
    for index in 0..<60 {
      try growing.addColumn(
        name: "column \(index) \(index * 7919) \(index * 104_729)", type: .int, isNullable: false)
    }
    _ = try growing.update(key: 3, column: 40, value: .int(1))
    _ = try second.commit()
    try database.close()
    return (device.bytes, try open(device.bytes).0)
  }

  @Test func `a table goes back to the version whose description and pages can be read`() throws {
    let (bytes, original) = try Self.makeGrowingFile()
    let snapshot = try original.snapshot()
    let groups = try #require(try snapshot.table("class/Growing")?.groups)
    #expect(groups.count == 2)
    // The description is too large for the catalog's leaf.
    let file = try SalvageFile(path: "simulated", options: Self.options(SimulatedDevice(bytes)))
    var descriptions: [PageReference] = []
    try KeyTree(root: try #require(file.heads.first).root, source: snapshot.source)
      .walk({ if $1 == .overflow { descriptions.append($0) } }, damage: { Issue.record("\($0)") })
    #expect(descriptions.count == 1)
    for page in descriptions + [groups[1].root.reference] {
      var damaged = bytes
      damaged[page.byteOffset + 100] ^= 1
      let (report, database) = try Self.salvage(damaged)
      let table = try #require(try database.snapshot().table("class/Growing"))
      #expect(table.groups.count == 1 && table.record.columns.count == 1)
      #expect(table.count == 50)
      for key in 0..<50 as Range<Int64> {
        let row = try #require(try table.seek(key))
        #expect((row.column(1)?.int(row.row) ?? 0) == key * 7)
      }
      let origin = try #require(report.saved.first?.origin)
      #expect(report.saved.count == 1 && origin.contains("version 1"))
      #expect(report.losses.contains { $0.keys == "all changes since \(origin)" })
    }
  }

  @Test func `whatever a leaf of a catalog says that was found by scanning, nothing stops`()
    throws
  {
    let (database, device) = try Self.open([])
    let transaction = try database.beginWrite()
    for (name, count) in [("a", 2), ("b", 33)] {
      let table = try transaction.createTable(
        name,
        columns: (0..<count).map { _ in
          ColumnDescriptor(type: .int, isNullable: false, name: "c")
        })
      try table.insert(key: 7, values: (1...count).map { (UInt16($0), .int(1)) })
    }
    _ = try transaction.createTable("c", columns: []).insert(key: 1, values: [])
    try transaction.editKeyTree("keys").set([1], [2])
    try transaction.setValue("value", [3])
    _ = try transaction.commit()
    try database.close()
    var bytes = device.bytes
    let file = try SalvageFile(path: "simulated", options: Self.options(SimulatedDevice(bytes)))
    let catalog = try #require(file.heads.first).root.reference
    for offset in [4096 + 30, 8192 + 30] { bytes[offset] ^= 1 }
    let (report, sound) = try Self.salvage(bytes)
    #expect(report.saved.count == 5)
    #expect(try sound.snapshot().table("c")?.seek(1) != nil)
    var savedCount = 0
    for place in 0..<catalog.byteCount {
      var forged = bytes
      forged[catalog.byteOffset + place] ^= [0x01, 0x80, 0xff][place % 3]
      savedCount += try Self.salvage(forged).0.saved.count
    }
    // Most of what it says is not checked by anything.
    #expect(savedCount > catalog.byteCount)
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
