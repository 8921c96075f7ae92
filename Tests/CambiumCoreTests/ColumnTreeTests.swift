import TestSupport
import Testing

@testable import CambiumCore

struct ColumnTreeTests {
  @Test func `rows that were inserted in order are found again`() throws {
    let bench = ColumnWorkbench([
      ColumnSpec(id: 1, type: .int, isNullable: false),
      ColumnSpec(id: 2, type: .bytes, isNullable: true),
    ])
    try bench.write { editor, _ in
      for key in 0..<5000 as Range<Int64> {
        let text = Array("row \(key)".utf8)
        try text.withUnsafeBytes { bytes in
          _ = try editor.insert(
            key: key * 3, values: [.int(key * key), key % 5 == 0 ? .null : .bytes(bytes)])
        }
      }
    }
    let tree = try bench.snapshot().tree
    #expect(tree.count == 5000)
    for key in 0..<5000 as Range<Int64> {
      let found = try #require(try tree.seek(key * 3))
      #expect(found.column(1)?.int(found.row) == key * key)
      let cell = try #require(found.column(2)).bytes(found.row)
      #expect(cell.isNull == (key % 5 == 0))
      if !cell.isNull { #expect(cell.string == "row \(key)") }
      #expect(try tree.seek(key * 3 + 1)?.row == nil)
      #expect(try tree.rank(of: key * 3) == Int(key))
    }
  }
}
