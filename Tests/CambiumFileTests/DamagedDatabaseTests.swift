import CambiumCore
import CambiumFile
import TestSupport
import Testing

/// Damages a small file with every kind of page, one byte at a time.
@Suite struct DamagedDatabaseTests {
  private static let rowCount: Int64 = 120

  private static func open(_ bytes: [UInt8]) throws(StoreError) -> (Database, SimulatedDevice) {
    let device = SimulatedDevice(bytes)
    var options = FileStoreOptions(access: .buffered)
    options.device = { _ throws(StoreError) in device }
    return (try Database(store: FileStore(path: "simulated", options: options)), device)
  }

  private static func makeFile() throws -> [UInt8] {
    let (database, device) = try open([])
    for part in 0..<3 as Range<Int64> {
      let transaction = try database.beginWrite()
      let table =
        try transaction.editTable("class/T")
        ?? transaction.createTable(
          "class/T",
          columns: [
            ColumnDescriptor(type: .int, isNullable: true, name: "int"),
            ColumnDescriptor(type: .bool, isNullable: false, name: "bool"),
            ColumnDescriptor(type: .float, isNullable: true, name: "float"),
            ColumnDescriptor(type: .double, isNullable: false, name: "double"),
            ColumnDescriptor(type: .wide, isNullable: true, name: "wide"),
            ColumnDescriptor(type: .bytes, isNullable: true, name: "text"),
            ColumnDescriptor(type: .bytes, isNullable: false, name: "large"),
          ])
      let keys = try transaction.editKeyTree("index/T")
      for step in 0..<rowCount / 3 {
        let key = part * rowCount / 3 + step
        try insert(key, into: table)
        try keys.set(Array("key \(key * 37 % 101)".utf8), [UInt8(key & 0xff)])
      }
      _ = try transaction.commit()
    }
    try database.close()
    return device.bytes
  }

  private static func insert(_ key: Int64, into table: TableEditor) throws {
    let text = Array("text \(key % 7)".utf8)
    let large = [UInt8](repeating: UInt8(key & 0xff), count: key == 50 ? 3_000 : Int(key % 5))
    try text.withUnsafeBytes { text in
      try large.withUnsafeBytes { large in
        _ = try table.insert(
          key: key,
          values: [
            (1, key % 5 == 0 ? .null : .int(key * 1_000_003)), (2, .bool(key % 3 == 0)),
            (3, .float(Float(key) / 3)), (4, .double(Double(key) / 7)),
            (5, .wide(low: UInt64(key), high: ~UInt64(key))), (6, .bytes(text)), (7, .bytes(large)),
          ])
      }
    }
  }

  /// Everything that can be read, as one hash of its text; throws where damage is met.
  private static func content(_ database: Database) throws(StoreError) -> UInt64 {
    var text = ""
    let snapshot = try database.snapshot()
    for name in try snapshot.names(withPrefix: "") {
      if let table = try snapshot.table(name) { try describe(table, &text) }
      guard let keys = try snapshot.keyTree(name) else { continue }
      var cursor = keys.cursor()
      var isValid = try cursor.seekFirst()
      while isValid {
        text += "\(cursor.key) \(try cursor.copyValue())\n"
        isValid = try cursor.next()
      }
    }
    return Array(text.utf8).withUnsafeBytes { Checksum.hash($0) }
  }

  private static func describe(_ table: Table, _ text: inout String) throws(StoreError) {
    let tree = table.groups[0]
    var cursor = tree.leafCursor()
    var isValid = try cursor.first()
    while isValid {
      let leaf = cursor.leaf
      for row in 0..<leaf.rowCount {
        text += "\(leaf.key(at: row))"
        for column in table.record.columns {
          guard let cells = leaf.column(column.id), !cells.isNull(row) else {
            text += " -"
            continue
          }
          switch cells.type {
          case .int: text += " \(cells.int(row))"
          case .bool: text += " \(cells.bool(row))"
          case .float: text += " \(cells.float(row))"
          case .double: text += " \(cells.double(row))"
          case .wide: text += " \(cells.wide(row))"
          case .bytes: text += " \(try tree.bytes(of: cells.bytes(row)) ?? [])"
          }
        }
        text += "\n"
      }
      isValid = try cursor.next()
    }
  }

  @Test(arguments: 0..<8)
  func `any damaged byte gives an error or the right answer`(remainder: Int) throws {
    let bytes = try Self.makeFile()
    let expected = try Self.content(Self.open(bytes).0)
    var errorCount = 0
    var random = SeededGenerator(seed: UInt64(remainder))
    // An eighth of the bytes that are not zero, a different one for each argument.
    let places = bytes.indices.filter { bytes[$0] != 0 }
    for index in stride(from: remainder, to: places.count, by: 8 * 5) {
      var damaged = bytes
      damaged[places[index]] ^= UInt8.random(in: 1...255, using: &random)
      do throws(StoreError) {
        let (database, _) = try Self.open(damaged)
        let content = try Self.content(database)
        #expect(content == expected, "byte \(places[index])")
        // Where an answer is right although a byte is wrong, verify may still see it.
        _ = try database.verify()
      } catch {
        errorCount += 1
      }
    }
    #expect(errorCount > 10)
  }
}
