import TestSupport
import Testing

@testable import CambiumCore

/// The first rows of a large tree, which are looked at in batches.
struct FirstRowsWhiteBoxTests {
  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `each of the first rows is found once, wherever they lie`(seed: UInt64) throws {
    let columns = [
      ColumnSpec(id: 1, type: .int, isNullable: seed % 2 == 0),
      ColumnSpec(id: 2, type: seed % 3 == 0 ? .double : .bytes, isNullable: false),
    ]
    let bench = ColumnWorkbench(columns)
    var generator = SeededGenerator(seed: seed)
    var rows: [(key: Int64, number: Int64, detail: Int)] = []
    let count = 20_000
    try bench.write { editor, _ in
      for key in 0..<Int64(count) {
        // The later the lower, so that the best so far are passed again and again; or all alike.
        let number = seed < 4 ? (Int64(count) - key) / 500 : 7
        let detail = Int.random(in: 0..<1000, using: &generator)
        rows.append((key, number, detail))
        let text = String(10_000 + detail)
        let cells: [ModelValue] = [
          .int(number),
          seed % 3 == 0 ? .double(Double(detail).bitPattern) : .bytes(Array(text.utf8)),
        ]
        try lendRow(cells) { _ = try editor.insert(key: key, values: $0) }
      }
    }
    rows.sort { ($0.number, $0.detail, $0.key) < ($1.number, $1.detail, $1.key) }
    let held = try bench.snapshot()
    let terms = columns.map { SortTerm($0) }
    for limit in [1, 2, 63, 64, 65, 1000] {
      for partCount in 1...3 {
        #expect(
          try held.tree.keys(sortedBy: terms, limit: limit, partCount: partCount)
            == rows.prefix(limit).map(\.key),
          "seed \(seed), limit \(limit), \(partCount) parts")
      }
    }
  }
}
