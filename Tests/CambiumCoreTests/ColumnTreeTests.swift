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
        let text = key % 5 == 0 ? ModelValue.null : .bytes(Array("row \(key)".utf8))
        _ = try lendRow([.int(key * key), text]) { try editor.insert(key: key * 3, values: $0) }
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

  /// Such a leaf takes two units, whatever its number of rows: less than a bitmap of them would.
  @Test(arguments: [8, 800, 4_096, 9_000] as [Int64])
  func `columns of one value in all rows are read, changed and copied`(rows: Int64) throws {
    let text = Array("same".utf8)
    let bench = ColumnWorkbench([
      ColumnSpec(id: 1, type: .int, isNullable: false),
      ColumnSpec(id: 2, type: .bool, isNullable: false),
      ColumnSpec(id: 3, type: .double, isNullable: true),
      ColumnSpec(id: 4, type: .bytes, isNullable: true),
      ColumnSpec(id: 5, type: .float, isNullable: false),
    ])
    try bench.write { editor, _ in
      for key in 0..<rows {
        try text.withUnsafeBytes { text in
          _ = try editor.insert(
            key: key, values: [.int(-7), .bool(true), .double(2.5), .bytes(text), .float(0.5)])
        }
      }
    }
    func check(_ changed: Int64?) throws {
      let tree = try bench.snapshot().tree
      #expect(tree.count == Int(rows))
      for key in stride(from: 0, to: rows, by: 7) {
        let found = try #require(try tree.seek(key))
        let expected: Int64 = key == changed ? 8 : -7
        #expect(try #require(found.column(1)).int(found.row) == expected)
        #expect(try #require(found.column(2)).bool(found.row))
        #expect(try #require(found.column(3)).double(found.row) == 2.5)
        #expect(try #require(found.column(4)).bytes(found.row).array == text)
        #expect(try #require(found.column(5)).float(found.row) == 0.5)
      }
    }
    try check(nil)
    try bench.write { editor, _ in
      let isThere = try editor.update(key: 7, column: 1, value: .int(8))
      #expect(isThere == (rows > 7))
    }
    try check(7)
    // A leaf with one column of one value is the shortest.
    let narrow = ColumnWorkbench([ColumnSpec(id: 1, type: .int, isNullable: false)])
    try narrow.write { editor, _ in
      for key in 0..<rows { _ = try editor.insert(key: key, values: [.int(-7)]) }
    }
    try narrow.write { editor, _ in try editor.update(key: 0, column: 1, value: .int(8)) }
    let tree = try narrow.snapshot().tree
    for key in 0..<rows {
      let found = try #require(try tree.seek(key))
      #expect(try #require(found.column(1)).int(found.row) == (key == 0 ? 8 : -7))
    }
  }
}
