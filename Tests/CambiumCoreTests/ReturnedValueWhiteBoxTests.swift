import TestSupport
import Testing

@testable import CambiumCore

/// Values that an editor lends and is given back.
struct ReturnedValueWhiteBoxTests {
  private let columns = [
    ColumnSpec(id: 1, type: .bytes, isNullable: false),
    ColumnSpec(id: 2, type: .bytes, isNullable: false),
  ]

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `a value that was read is given back to any row, leaf and column`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    // Pages are decoded and not kept.
    let bench = ColumnWorkbench(
      columns, options: smallShape(rows: 24, room: 4), cache: PageCache(byteCount: 0))
    func text() -> [UInt8] {
      let count = Int.random(in: 0...300, using: &random)
      return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }
    var model: [Int64: [[UInt8]]] = [:]
    try bench.write { editor, _ in
      for key in 0..<200 as Range<Int64> {
        let row = [text(), text()]
        model[key * 3] = row
        try lendRow(row.map { .bytes($0) }) { _ = try editor.insert(key: key * 3, values: $0) }
      }
    }
    for round in 0..<20 {
      try bench.write { editor, _ in
        for _ in 0..<150 {
          // A few leaves that are changed much, and many that are changed little.
          let keys = model.keys.sorted().prefix(round % 2 == 0 ? 50 : .max)
          let key = keys[Int.random(in: keys.indices, using: &random)]
          let column = Int.random(in: 0...1, using: &random)
          let value = try #require(try editor.value(key: key, column: UInt16(column + 1)))
          let bytes = try #require(model[key]?[column])
          switch Int.random(in: 0..<3, using: &random) {
          case 0:
            let target = keys[Int.random(in: keys.indices, using: &random)]
            let other = Int.random(in: 0...1, using: &random)
            try editor.update(key: target, column: UInt16(other + 1), value: value)
            model[target]?[other] = bytes
          case 1:
            try editor.update(key: key, column: UInt16(2 - column), value: value)
            model[key]?[1 - column] = bytes
          default:
            let target = Int64.random(in: 0..<700, using: &random)
            if model[target] != nil { continue }
            try editor.insert(key: target, values: [value, value])
            model[target] = [bytes, bytes]
          }
        }
      }
      try bench.expectRows(model.keys.sorted()) { key in
        (model[key] ?? []).map { .bytes($0) }
      }
    }
  }
}
