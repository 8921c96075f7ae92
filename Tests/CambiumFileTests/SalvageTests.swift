import CambiumCore
import CambiumFile
import TestSupport
import Testing

/// Damages each page of a small database in turn and saves what is left.
@Suite struct SalvageTests {
  @Test func `whatever page is damaged, only its rows are lost`() throws {
    let bytes = try SalvageSample.makeFile()
    let (original, _) = try SalvageSample.open(bytes)
    let expected = try SalvageSample.content(original)
    let pages = try SalvageSample.pages(original)
    #expect(Set(pages.map(\.1)) == Set(PageKind.allCases))
    for (page, kind, name) in pages {
      var damaged = bytes
      damaged[page.byteOffset + page.byteCount / 2] ^= 0x55
      let (report, database) = try SalvageSample.salvage(damaged)
      let content = try SalvageSample.content(database)
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
    let bytes = try SalvageSample.makeFile()
    let (original, _) = try SalvageSample.open(bytes)
    let (tree, elements) = try SalvageSample.list(original, 300)
    var leaves: [PageReference] = []
    try tree.walk({ if $1 == .columnLeaf { leaves.append($0) } }, tree: { _ in }, damage: { _ in })
    try #require(leaves.count > 1)
    var damaged = bytes
    damaged[leaves[1].byteOffset + 100] ^= 1
    let (report, database) = try SalvageSample.salvage(damaged)
    #expect(report.losses.count == 1)
    var cursor = tree.leafCursor()
    #expect(try cursor.first() && cursor.next())
    let lost = cursor.firstIndex..<cursor.firstIndex + cursor.leaf.rowCount
    #expect(
      report.losses.first?.keys
        == "elements \(lost.lowerBound) to \(lost.upperBound - 1) of 'list' in row 300")
    #expect(report.lostElementCount == lost.count && report.lostRowCount == 0)
    let (_, saved) = try SalvageSample.list(database, 300)
    #expect(saved == Array(elements[..<lost.lowerBound] + elements[lost.upperBound...]))
  }

  @Test func `a list loses the elements whose values cannot be read`() throws {
    let (original, device) = try SalvageSample.open([])
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
    let (report, database) = try SalvageSample.salvage(damaged)
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
    let bytes = try SalvageSample.makeFile()
    let expected = try SalvageSample.content(SalvageSample.open(bytes).0)
    var damaged = bytes
    for offset in [4096 + 30, 8192 + 30] { damaged[offset] ^= 1 }
    let (report, database) = try SalvageSample.salvage(damaged)
    #expect(report.version == nil)
    #expect(try SalvageSample.content(database) == expected)
    #expect(report.saved.allSatisfy { $0.origin != nil })
    damaged[100] ^= 1
    #expect(throws: StoreError.self) {
      _ = try SalvageFile(
        path: "simulated", options: SalvageSample.options(SimulatedDevice(damaged)))
    }
    // One head is enough to know that it is a store.
    damaged[4096 + 30] ^= 1
    #expect(try SalvageSample.content(SalvageSample.salvage(damaged).1) == expected)
  }

  @Test func `a damaged catalog is replaced by an older one, and dropped names stay dropped`()
    throws
  {
    let (database, device) = try SalvageSample.open(SalvageSample.makeFile())
    let dropping = try database.beginWrite()
    try dropping.drop("settings")
    _ = try dropping.commit()
    let adding = try database.beginWrite()
    try adding.editKeyTree("later").set([1], [2])
    _ = try adding.commit()
    try database.close()
    let sound = device.bytes
    #expect(try SalvageSample.salvage(sound).1.snapshot().value("settings") == nil)
    let root = try SalvageSample.open(sound).0.snapshot().version
    #expect(root == 3)
    let file = try SalvageFile(path: "simulated", options: SalvageSample.options(device))
    var damaged = sound
    for head in Set(file.heads.map(\.root.reference)) { damaged[head.byteOffset + 20] ^= 1 }
    let (report, saved) = try SalvageSample.salvage(damaged)
    #expect(report.losses.contains { $0.name == "catalog" })
    // The tables did not change since, so that any older catalog leads to all of them.
    #expect(try saved.snapshot().table("class/People")?.count == 900)
  }

  /// Commits a table of few columns, then as many more as fill another column group.
  private static func makeGrowingFile() throws -> ([UInt8], Database) {
    let (database, device) = try SalvageSample.open([])
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
    return (device.bytes, try SalvageSample.open(device.bytes).0)
  }

  @Test func `a table goes back to the version whose description and pages can be read`() throws {
    let (bytes, original) = try Self.makeGrowingFile()
    let snapshot = try original.snapshot()
    let groups = try #require(try snapshot.table("class/Growing")?.groups)
    #expect(groups.count == 2)
    // The description is too large for the catalog's leaf.
    let file = try SalvageFile(
      path: "simulated", options: SalvageSample.options(SimulatedDevice(bytes)))
    var descriptions: [PageReference] = []
    try KeyTree(root: try #require(file.heads.first).root, source: snapshot.source)
      .walk({ if $1 == .overflow { descriptions.append($0) } }, damage: { Issue.record("\($0)") })
    #expect(descriptions.count == 1)
    for page in descriptions + [groups[1].root.reference] {
      var damaged = bytes
      damaged[page.byteOffset + 100] ^= 1
      let (report, database) = try SalvageSample.salvage(damaged)
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
    let (database, device) = try SalvageSample.open([])
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
    let file = try SalvageFile(
      path: "simulated", options: SalvageSample.options(SimulatedDevice(bytes)))
    let catalog = try #require(file.heads.first).root.reference
    for offset in [4096 + 30, 8192 + 30] { bytes[offset] ^= 1 }
    let (report, sound) = try SalvageSample.salvage(bytes)
    #expect(report.saved.count == 5)
    #expect(try sound.snapshot().table("c")?.seek(1) != nil)
    var savedCount = 0
    for place in 0..<catalog.byteCount {
      var forged = bytes
      forged[catalog.byteOffset + place] ^= [0x01, 0x80, 0xff][place % 3]
      savedCount += try SalvageSample.salvage(forged).0.saved.count
    }
    // Most of what it says is not checked by anything.
    #expect(savedCount > catalog.byteCount)
  }

  @Test func `a sound store is copied without losses`() throws {
    let bytes = try SalvageSample.makeFile()
    let (original, _) = try SalvageSample.open(bytes)
    var counts: [Int] = []
    let (report, database) = try SalvageSample.salvage(bytes) { counts.append($0) }
    #expect(report.losses == [])
    #expect(report.version == 1)
    #expect(try SalvageSample.content(database) == SalvageSample.content(original))
    #expect(try SalvageSample.list(database, 300).1 == SalvageSample.list(original, 300).1)
    // Two tables, a tree of keys and a value.
    #expect(counts == counts.sorted() && counts.last == 900 + 300 + 900 + 1)
  }

  @Test func `a salvaged store goes on numbering keys, columns and tables`() throws {
    let (original, device) = try SalvageSample.open(SalvageSample.makeFile())
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
    let (_, database) = try SalvageSample.salvage(device.bytes)
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
