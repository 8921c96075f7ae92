import TestSupport
import Testing

@testable import CambiumCore

/// What a sort of a whole tree keeps of pages that were decoded for it.
struct LeafCopiesWhiteBoxTests {
  @Test func `of decoded pages a sort keeps what it compares`() throws {
    let columns = [
      ColumnSpec(id: 1, type: .int, isNullable: false),
      ColumnSpec(id: 2, type: .bytes, isNullable: true),
      ColumnSpec(id: 3, type: .bytes, isNullable: false),
    ]
    // Pages of a larger cache would be held by it.
    let bench = ColumnWorkbench(columns, cache: PageCache(byteCount: 1 << 16), codec: MaskCodec())
    let count = 20_000
    try bench.write { editor, _ in
      for index in 0..<count {
        let text = Array("a text of some length \(index * 7919 % count)".utf8)
        try lendRow([.int(Int64(index % 10)), .bytes(text), .bytes(text + text + text + text)]) {
          _ = try editor.insert(key: Int64(index * 3), values: $0)
        }
      }
    }
    let tree = try bench.snapshot()
    for (terms, byteCountPerRow) in [
      ([SortTerm(columns[0])], 14), ([SortTerm(columns[1], isAscending: false)], 64),
      ([SortTerm(columns[0]), SortTerm(columns[1])], 64),
    ] {
      let plan = try SortPlan(terms, of: tree.tree, looksForBounds: true)
      let list = LeafList(plan)
      var cursor = tree.tree.leafCursor()
      var isValid = try cursor.first()
      while isValid {
        list.append(cursor.leaf, at: cursor.firstIndex)
        isValid = try cursor.next()
      }
      var owners: [ObjectIdentifier: Int] = [:]
      for leaf in list.leaves {
        guard let owner = leaf.page.owner as? PageBuffer else { continue }
        owners[ObjectIdentifier(owner)] = owner.byteCount
      }
      #expect(!owners.isEmpty)
      #expect(owners.values.reduce(0, +) < byteCountPerRow * count)
      #expect(try tree.tree.keys(sortedBy: terms).count == count)
    }
  }
}
