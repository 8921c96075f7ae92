import CambiumCore
import CambiumFile
import TestSupport
import Testing

/// Damages a file of rows with lists everywhere, and holds what is saved against what is reported.
@Suite struct SalvageListTests {
  /// The elements of each row's list.
  typealias Lists = [Int64: [[UInt8]]]

  private static let name = "class/Notes"
  private let bytes: [UInt8]
  private let lists: Lists

  init() throws {
    let device = SimulatedDevice([])
    let database = try Database(
      store: FileStore(path: "simulated", options: SalvageSample.options(device)))
    var generator = SeededGenerator(seed: 11)
    let transaction = try database.beginWrite()
    let table = try transaction.createTable(
      Self.name,
      columns: [
        ColumnDescriptor(type: .bytes, isNullable: true, name: "list"),
        ColumnDescriptor(type: .bytes, isNullable: false, name: "text"),
      ])
    for key in 0..<12 as Range<Int64> {
      // Short ones, long ones, long values, and none.
      let count = [0, 30, 700][Int(key % 3)]
      let elements = (0..<count).map { element in
        let size = element % 11 == 5 && element < 60 ? 1500 : 25
        return (0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) }
      }
      let root = try Self.write(elements, transaction.context)
      let text = [UInt8](repeating: UInt8(key), count: key == 5 ? 2000 : 10)
      try text.withUnsafeBytes { text in
        _ = try table.insert(
          key: key, values: [(1, count == 0 ? .null : .tree(root)), (2, .bytes(text))])
      }
    }
    _ = try transaction.commit()
    lists = try Self.lists(database)
    try database.close()
    bytes = device.bytes
  }

  private static func write(
    _ elements: [[UInt8]], _ context: WriteContext
  ) throws -> TreeRoot {
    let editor = ColumnTreeEditor(
      root: .empty(.position),
      layout: ColumnLayout([ColumnSpec(id: 1, type: .bytes, isNullable: false)]),
      context: context)
    for (index, element) in elements.enumerated() {
      try element.withUnsafeBytes { try editor.insert(at: index, values: [.bytes($0)]) }
    }
    return try editor.flush()
  }

  private static func lists(_ database: Database) throws -> Lists {
    let snapshot = try database.snapshot()
    guard let table = try snapshot.table(name) else { return [:] }
    var lists: Lists = [:]
    for index in 0..<table.count {
      let row = try #require(try table.groups[0].select(index))
      let key = row.leaf.key(at: row.row)
      lists[key] = []
      guard let root = row.column(1)?.bytes(row.row).tree else { continue }
      let tree = ColumnTree(root: root, source: snapshot.source)
      var cursor = tree.leafCursor()
      var isValid = try cursor.first()
      while isValid {
        let column = try #require(cursor.leaf.column(1))
        for row in 0..<cursor.leaf.rowCount {
          lists[key]?.append(try tree.bytes(of: column.bytes(row)) ?? [])
        }
        isValid = try cursor.next()
      }
    }
    return lists
  }

  /// Every page of the newest version, of the catalog and of what rows own too.
  private func pages() throws -> [PageReference] {
    let device = SimulatedDevice(bytes)
    let file = try SalvageFile(path: "simulated", options: SalvageSample.options(device))
    let database = try Database(
      store: FileStore(path: "simulated", options: SalvageSample.options(device)))
    let snapshot = try database.snapshot()
    var pages: [PageReference] = []
    try KeyTree(root: try #require(file.heads.first).root, source: snapshot.source)
      .walk({ page, _ in pages.append(page) }, damage: { Issue.record("\($0)") })
    var roots = try #require(try snapshot.table(Self.name)).groups.map(\.root)
    while let root = roots.popLast() {
      try ColumnTree(root: root, source: snapshot.source)
        .walk(
          { page, _ in pages.append(page) }, tree: { roots.append($0) },
          damage: { Issue.record("\($0)") })
    }
    return pages
  }

  /// What a report leaves of the lists, by its words.
  private func remainder(_ report: SalvageReport) throws -> Lists {
    var lists: [Int64: [[UInt8]?]] = lists.mapValues { $0 }
    var (rowCount, elementCount) = (0, 0)
    for loss in report.losses where loss.name == Self.name {
      let words = loss.keys.split(separator: " ").map(String.init)
      if let start = words.firstIndex(of: "of") {
        #expect(words[(start + 1)...].dropLast() == ["'list'", "in", "row"])
        let key = try #require(words.last.flatMap { Int64($0) })
        let lost: ClosedRange<Int>
        switch (words[0], words[1]) {
        case ("all", "elements"): lost = 0...(try #require(lists[key]).count - 1)
        case ("element", let index):
          lost = try #require(Int(index))...(try #require(Int(index)))
        default:
          #expect(words[0] == "elements" && words[2] == "to")
          lost = try #require(Int(words[1]))...(try #require(Int(words[3])))
        }
        for index in lost {
          #expect(lists[key]?[index] != nil, "reported twice")
          lists[key]?[index] = nil
        }
        #expect(loss.elementCount == lost.count && loss.rowCount == nil)
        elementCount += lost.count
      } else if words[0] == "all", words.count == 1 {
        rowCount += lists.count
        lists = [:]
      } else {
        let key = try #require(Int64(loss.keys))
        #expect(lists[key] != nil)
        lists[key] = nil
        rowCount += 1
        #expect(loss.rowCount == 1 && loss.elementCount == nil)
      }
    }
    #expect(report.lostElementCount == elementCount)
    return lists.mapValues { $0.compactMap { $0 } }
  }

  private func expectRemainder(_ damaged: [PageReference]) throws -> SalvageReport {
    var bytes = bytes
    for page in damaged { bytes[page.byteOffset + page.byteCount / 2] ^= 0x55 }
    let file = try SalvageFile(
      path: "simulated", options: SalvageSample.options(SimulatedDevice(bytes)))
    let database = try Database(
      store: FileStore(path: "simulated", options: SalvageSample.options(SimulatedDevice([]))))
    let report = try Salvage(store: file).run(into: database)
    #expect(try database.verify().findings == [])
    if try database.snapshot().table(Self.name) == nil {
      #expect(report.losses.contains { $0.name == Self.name || $0.name == "catalog" })
    } else {
      #expect(try Self.lists(database) == remainder(report))
    }
    return report
  }

  @Test func `whatever page is damaged, rows and elements are there or reported`() throws {
    #expect(try expectRemainder([]).losses == [])
    let pages = try pages()
    #expect(pages.count > 40)
    for page in pages {
      let report = try expectRemainder([page])
      #expect(report.losses.count > 0, "\(page)")
    }
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `whatever pages are damaged, rows and elements are there or reported`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let pages = try pages()
    let chance = Int.random(in: 2...20, using: &generator)
    _ = try expectRemainder(
      pages.filter { _ in Int.random(in: 0..<chance, using: &generator) == 0 })
  }

  @Test func `a destination that fails ends it with that error`() throws {
    let page = try #require(try pages().last)
    var bytes = bytes
    bytes[page.byteOffset + page.byteCount / 2] ^= 0x55
    func run(failingOperation index: Int?) throws -> (operationCount: Int, error: StoreError?) {
      let device = SimulatedDevice([])
      let database = try Database(
        store: FileStore(path: "simulated", options: SalvageSample.options(device)))
      let before = device.operationCount
      if let index { device.fail(before + index, .full) }
      let file = try SalvageFile(
        path: "simulated", options: SalvageSample.options(SimulatedDevice(bytes)))
      do {
        _ = try Salvage(store: file).run(into: database)
        return (device.operationCount - before, nil)
      } catch {
        return (device.operationCount - before, error)
      }
    }
    let sound = try run(failingOperation: nil)
    #expect(sound.error == nil && sound.operationCount > 0)
    var fullCount = 0
    for index in 0..<sound.operationCount {
      switch try run(failingOperation: index).error {
      case .mediumFull: fullCount += 1
      // A sync, or room that was only asked for in advance.
      case .system, .poisoned, .indeterminate, nil: break
      case .some(let error): Issue.record("operation \(index): \(error)")
      }
    }
    #expect(fullCount > 0)
  }
}
