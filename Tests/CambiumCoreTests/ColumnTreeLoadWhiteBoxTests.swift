import TestSupport
import Testing

@testable import CambiumCore

/// Shapes that leaves and branches take under unusual loads.
struct ColumnTreeLoadWhiteBoxTests {
  private let text = (1...16).map { ColumnSpec(id: $0, type: .bytes, isNullable: false) }

  private func insert(
    _ editor: ColumnTreeEditor, _ key: Int64, _ bytes: [UInt8]
  ) throws {
    try lendRow([ModelValue](repeating: .bytes(bytes), count: text.count)) {
      _ = try editor.insert(key: key, values: $0)
    }
  }

  @Test func `leaves that would lose what their rows share are not made one`() throws {
    let bench = ColumnWorkbench(text)
    // One leaf of very many equal rows …
    let long = [UInt8](repeating: 120, count: 100)
    try bench.write { editor, _ in
      for key in 1_000..<5_000 as Range<Int64> { try insert(editor, key, long) }
    }
    // … beside a small one of different rows.
    try bench.write { editor, _ in
      for key in (0..<60 as Range<Int64>).reversed() {
        try insert(editor, key, Array(String(key).utf8))
      }
    }
    let walk = try bench.snapshot().tree.walked()
    #expect(walk.findings.isEmpty)
    #expect(walk.extents.allSatisfy { $0.byteCount <= bench.options.leafByteLimit })
    let contents = try bench.snapshot().tree.contents(bench.layout)
    #expect(contents.count == 4_060)
    #expect(contents[59].row[3] == .bytes(Array("59".utf8)))
    #expect(contents[60].row[15] == .bytes(long))
  }

  @Test func `a tree written with wider branches can be changed`() throws {
    var wide = smallShape(rows: 4, room: 300)
    let column = [ColumnSpec(id: 1, type: .int, isNullable: false)]
    let bench = ColumnWorkbench(column, options: wide)
    try bench.write { editor, _ in
      for key in 0..<4_000 as Range<Int64> {
        try editor.insert(key: key * 4, values: [.int(key)])
      }
    }
    wide.branchRoom = 12
    bench.options = wide
    var expected = Set((0..<4_000 as Range<Int64>).map { $0 * 4 })
    for round in 0..<4 as Range<Int64> {
      try bench.write { editor, _ in
        for key in 0..<4_000 as Range<Int64> where key / 500 % 2 == round % 2 {
          if round < 2 {
            try editor.insert(key: key * 4 + 1, values: [.int(0)])
            expected.insert(key * 4 + 1)
          } else if key % 100 != 0 {
            for other in [key * 4, key * 4 + 1] {
              try editor.remove(key: other)
              expected.remove(other)
            }
          }
        }
      }
      let tree = try bench.snapshot().tree
      #expect(try tree.walked().findings.isEmpty)
      #expect(try tree.contents(bench.layout).map(\.key) == expected.sorted())
    }
  }

  @Test func `rows that come and go leave no bytes behind in their leaf`() throws {
    let builder = LeafBuilder(layout: ColumnLayout([text[0]]), isPositional: false)
    let bytes = [UInt8](repeating: 1, count: 1_000)
    for row in [0] + [Int](repeating: 1, count: 5_000) {
      try lendRow([.bytes(bytes)]) {
        builder.insert(at: row, key: Int64(row), values: $0, overflow: nil)
      }
      if row == 1 { builder.remove(row: 1) }
    }
    #expect(builder.columns[0].heapCapacity < 64 << 10)
    #expect(Array(builder.columns[0].bytes(0)) == bytes)
  }

  @Test func `a dictionary of more values than rows is damage`() throws {
    let bench = ColumnWorkbench([text[0]])
    try bench.write { editor, _ in
      for key in 0..<200 as Range<Int64> {
        try lendRow([.bytes(Array("value \(key % 3)".utf8))]) {
          _ = try editor.insert(key: key, values: $0)
        }
      }
    }
    let root = try bench.snapshot().tree.root
    let stored = try bench.store.read(root.reference, at: bench.store.pin())
    let copy = PageBuffer(byteCount: stored.byteCount)
    copy.bytes.copyMemory(from: stored.bytes, byteCount: stored.byteCount)
    try ColumnLeaf.validate(copy.page, root.reference)
    let entry = copy.bytes + LeafHeader.byteCount
    #expect(UnsafeRawPointer(entry).byte(LeafEntry.encoding) == ColumnEncoding.dictionary.rawValue)
    let column = try #require(ColumnLeaf(copy.page).column(text[0].id)?.bytesColumn)
    // All bytes of the heap become the prefix of four thousand million empty values.
    entry.put(single: UInt32(column.prefix.count + column.heapByteCount), LeafEntry.prefix)
    entry.put(single: 0, LeafEntry.fixedLength)
    entry.put(single: .max, LeafEntry.entryCount)
    #expect(throws: StoreError.self) { try ColumnLeaf.validate(copy.page, root.reference) }
  }

  @Test func `a root that claims more rows than can be counted is no trap`() throws {
    let bench = ColumnWorkbench([text[0]])
    try bench.write { editor, _ in
      try lendRow([.bytes([1])]) { _ = try editor.insert(key: 1, values: $0) }
    }
    var tree = try bench.snapshot().tree
    for claim in [1 << 63, .max, (1 << 63) - 1] as [UInt64] {
      tree.root.rowCount = claim
      var cursor = tree.leafCursor()
      #expect(throws: StoreError.self) { try cursor.last() }
      #expect(throws: StoreError.self) { try tree.select(tree.count - 1) }
    }
  }
}
