import CambiumCore
import CambiumFile
import TestSupport
import Testing

/// A small database to damage and to save, and what is in it.
enum SalvageSample {
  /// What a database holds: rows by table and key, values by tree and key.
  typealias Content = [String: [String: String]]

  static func open(_ bytes: [UInt8]) throws(StoreError) -> (Database, SimulatedDevice) {
    let device = SimulatedDevice(bytes)
    return (try Database(store: FileStore(path: "simulated", options: options(device))), device)
  }

  static func options(_ device: SimulatedDevice) -> FileStoreOptions {
    var options = FileStoreOptions(access: .buffered)
    options.device = { _ throws(StoreError) in device }
    return options
  }

  /// A table of several leaves with large values and lists, one of two column groups, an index, a
  /// value.
  static func makeFile() throws -> [UInt8] {
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

  static func makeList(
    _ transaction: Transaction, count: Int, _ generator: inout SeededGenerator
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

  static func content(_ database: Database) throws -> Content {
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

  static func hash(_ bytes: [UInt8]) -> String {
    String(bytes.withUnsafeBytes { Checksum.hash($0) })
  }

  /// The rows without the elements of lists.
  static func rows(_ table: Table) throws -> [String: String] {
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
  static func list(_ database: Database, _ key: Int64) throws -> (ColumnTree, [Int64]) {
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
  static func pages(_ database: Database) throws -> [(PageReference, PageKind, String)] {
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

  static func salvage(
    _ bytes: [UInt8], progress: @escaping (Int) -> Void = { _ in }
  ) throws -> (SalvageReport, Database) {
    let file = try SalvageFile(path: "simulated", options: options(SimulatedDevice(bytes)))
    let (database, _) = try open([])
    let report = try Salvage(store: file).run(into: database, progress: progress)
    #expect(try database.verify().findings == [])
    return (report, database)
  }
}
