import Testing

@testable import CambiumCore

/// Damages a small file with every kind of page, one byte at a time.
@Suite struct DamagedFileTests {
  /// A file whose heads are settled: none of them gives way to an older version.
  private static func closedFile() throws(StoreError) -> [UInt8] {
    let device = MemoryDevice(try DamagedFile.makeFile(rowCount: 40))
    let database = try DamagedFile.open(device)
    try database.beginWrite().rollback()
    try database.close()
    return device.bytes
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
    let bytes = try Self.closedFile()
    let expected = try Self.content(DamagedFile.open(MemoryDevice(bytes)))
    var errorCount = 0
    // An eighth of the bytes that are not zero, a different one for each argument.
    let places = bytes.indices.filter { bytes[$0] != 0 }
    for index in stride(from: remainder, to: places.count, by: 8 * 17) {
      var damaged = bytes
      // Any change but none.
      damaged[places[index]] ^= UInt8(truncatingIfNeeded: 1 + index * 89 % 255)
      do throws(StoreError) {
        let database = try DamagedFile.open(MemoryDevice(damaged))
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
