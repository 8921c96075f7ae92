import TestSupport
import Testing

@testable import CambiumCore

/// Leaves that fill in an unusual order, and leaves with few rows beside leaves with many.
@Suite struct UnevenLeavesWhiteBoxTests {
  @Test(arguments: [0, 1, 4096])
  func `a batch that is inserted into a full tree by position fills few leaves`(
    first: Int
  ) throws {
    let bench = ColumnWorkbench(
      [ColumnSpec(id: 1, type: .int, isNullable: true)], kind: .position)
    try bench.write { editor, _ in
      for place in 0..<20_000 {
        try lendRow([.int(Int64(place))]) { try editor.insert(at: place, values: $0) }
      }
    }
    let leafCount = try bench.snapshot().tree.statistics().leafCount
    try bench.write { editor, context in
      for place in 0..<2_000 {
        try lendRow([.int(Int64(-place))]) { try editor.insert(at: first + place, values: $0) }
      }
      #expect(context.dirty.byteCount < 1 << 20)
    }
    let tree = try bench.snapshot().tree
    let found = try tree.statistics().leafCount
    #expect(found <= leafCount + 4)
    var values: [Int64] = []
    var cursor = tree.leafCursor()
    var isValid = try cursor.first()
    while isValid {
      let column = try #require(cursor.leaf.column(1))
      values += (0..<cursor.leaf.rowCount).map { column.int($0) }
      isValid = try cursor.next()
    }
    var expected = (0..<20_000).map { Int64($0) }
    expected.insert(contentsOf: (0..<2_000).map { Int64(-$0) }, at: first)
    #expect(values == expected)
  }

  @Test func `texts that begin alike are sorted in leaves of any size`() throws {
    let columns = [
      ColumnSpec(id: 1, type: .bytes, isNullable: false),
      ColumnSpec(id: 2, type: .bytes, isNullable: false),
    ]
    let bench = ColumnWorkbench(columns)
    var generator = SeededGenerator(seed: 7)
    var texts: [(text: [UInt8], key: Int64)] = []
    try bench.write { editor, _ in
      for key in 0..<Int64(4_000) {
        // Longer than what is compared without looking at the rows again.
        let group = key * 79 % 4_000 / 16
        let text = Array(
          "\(100_000_000_000 + group)-a-tail-of-some-length-\(key * 31 % 97)".utf8)
        let wide = (0..<(key < 2_400 ? 0 : 1000)).map { _ in
          UInt8.random(in: 0...255, using: &generator)
        }
        try lendRow([.bytes(text), .bytes(wide)]) {
          _ = try editor.insert(key: key, values: $0)
        }
        texts.append((text, key))
      }
    }
    let held = try bench.snapshot()
    texts.sort { one, other in
      one.text == other.text
        ? one.key < other.key : one.text.lexicographicallyPrecedes(other.text)
    }
    #expect(
      try held.tree.keys(sortedBy: [SortTerm(columns[0])], limit: nil, partCount: 1)
        == texts.map(\.key))
  }
}
