import TestSupport
import Testing

@testable import CambiumCore

/// Scans and readers over whole trees, against the rows one by one.
struct ColumnScanWhiteBoxTests {
  /// A tree whose leaves differ in their encodings, and whose first leaves lack columns.
  private func makeTree(
    seed: UInt64, options: ColumnTreeOptions
  ) throws -> (bench: ColumnWorkbench, model: [Int64: [ModelValue]]) {
    let bench = ColumnWorkbench(Array(everyColumn.prefix(2)), options: options)
    var maker = CellMaker(generator: SeededGenerator(seed: seed))
    var model: [Int64: [ModelValue]] = [:]
    var key: Int64 = -300
    for round in 0..<6 {
      try bench.write { editor, _ in
        if round == 1 { editor.layout = ColumnLayout(everyColumn) }
        for row in 0..<(200 + maker.number(400)) {
          if row % 40 == 0, maker.number(2) == 0 { maker.mood = maker.number(56) }
          key += seed % 2 == 0 || maker.number(9) > 0 ? 1 : Int64(1 + maker.number(1000))
          let cells = editor.layout.columns.map { maker.cell($0) }
          try lendRow(cells) { _ = try editor.insert(key: key, values: $0) }
          let rest = everyColumn.dropFirst(cells.count).map { ModelValue(defaultOf: $0) }
          model[key] = cells + rest
        }
      }
    }
    return (bench, model)
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `values are counted that equal some bytes, whatever the leaves look like`(
    seed: UInt64
  ) throws {
    let small = smallShape(rows: 40, room: 5)
    let (bench, model) = try makeTree(
      seed: seed, options: seed % 3 == 0 ? ColumnTreeOptions() : small)
    let held = try bench.snapshot()
    for place in [6, 7] {
      var counts: [[UInt8]: Int] = [:]
      for row in model.values {
        if case .bytes(let bytes) = row[place] { counts[bytes, default: 0] += 1 }
      }
      // Those that are there, and those that have their length, or nearly.
      var needles: Set<[UInt8]> = [[], Array("constant".utf8)]
      for bytes in counts.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }).prefix(200) {
        needles.insert(bytes)
        needles.insert(bytes.dropLast() + [0])
        needles.insert(bytes + [97])
      }
      for needle in needles {
        let count = try needle.withUnsafeBytes {
          try held.tree.countBytes(of: everyColumn[place], equalTo: $0)
        }
        #expect(count == counts[needle] ?? 0)
        let sameCount = try needle.withUnsafeBytes {
          try held.tree.countBytes(of: everyColumn[place], equalTo: $0, partCount: 3)
        }
        #expect(sameCount == count)
      }
    }
  }

  @Test func `a sum is the same to the last bit, however many threads add it up`() throws {
    let column = ColumnSpec(id: 1, type: .double, isNullable: false)
    let bench = ColumnWorkbench([column], options: smallShape(rows: 5, room: 4))
    var generator = SeededGenerator(seed: 11)
    try bench.write { editor, _ in
      for key in 0..<3_000 as Range<Int64> {
        let value = Double.random(in: -1...1, using: &generator) * Double(1 + key % 1_000_003)
        try lendRow([.double(value.bitPattern)]) { _ = try editor.insert(key: key, values: $0) }
      }
    }
    let tree = try bench.snapshot().tree
    let sum = try tree.sumDoubles(of: column, partCount: 1)
    for partCount in 2...9 {
      #expect(try tree.sumDoubles(of: column, partCount: partCount).bitPattern == sum.bitPattern)
    }
  }

  @Test func `a tree without rows counts nothing`() throws {
    let tree = try ColumnWorkbench(everyColumn).snapshot().tree
    for partCount in [1, 3] {
      #expect(try tree.countInts(of: everyColumn[0], in: -1...1, partCount: partCount) == 0)
      #expect(try tree.sumDoubles(of: everyColumn[3], partCount: partCount) == 0)
      let needle = UnsafeRawBufferPointer(start: nil, count: 0)
      #expect(
        try tree.countBytes(of: everyColumn[6], equalTo: needle, partCount: partCount) == 0)
    }
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `counts and sums over a tree are those of its rows`(seed: UInt64) throws {
    let small = smallShape(rows: 40, room: 5)
    let (bench, model) = try makeTree(
      seed: seed, options: seed % 3 == 0 ? ColumnTreeOptions() : small)
    var generator = SeededGenerator(seed: seed)
    let held = try bench.snapshot()
    for place in [0, 1] {
      for _ in 0..<40 {
        let bounds: [Int64] = [.min, -3, 0, 1, 42, 100, 255, 256, 1_000_100, 1 << 40, .max]
        let ends = (0..<2).map { _ in
          (bounds.randomElement(using: &generator) ?? 0)
            &+ Int64.random(in: 0...20, using: &generator)
        }
        let range = min(ends[0], ends[1])...max(ends[0], ends[1])
        let expected = model.values.count { row in
          if case .int(let value) = row[place] { return range.contains(value) }
          return false
        }
        #expect(try held.tree.countInts(of: everyColumn[place], in: range) == expected)
        #expect(
          try held.tree.countInts(of: everyColumn[place], in: range, partCount: 3) == expected)
      }
    }
    for place in [3, 4] {
      let values = model.values.compactMap { row -> Double? in
        switch row[place] {
        case .double(let bits): return Double(bitPattern: bits)
        case .float(let bits): return Double(Float(bitPattern: bits))
        default: return nil
        }
      }
      let sum = try held.tree.sumDoubles(of: everyColumn[place])
      let expected = values.reduce(0, +)
      #expect(sum == expected || sum.isNaN && expected.isNaN)
      for partCount in [2, 3, 100] {
        let sameSum = try held.tree.sumDoubles(of: everyColumn[place], partCount: partCount)
        #expect(sameSum.bitPattern == sum.bitPattern, "the same to the last bit")
      }
    }
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `the search among separators counts those at or below a key`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<50 {
      let count = Int.random(in: 0...120, using: &generator)
      let spread: ClosedRange<Int64> =
        [0...Int64(count), -1000...1000, .min ... .max].randomElement(using: &generator) ?? 0...1
      let isEven = Bool.random(using: &generator)
      let values = (0..<count).map { index in
        isEven ? Int64(index) * 208 - 500 : Int64.random(in: spread, using: &generator)
      }.sorted()
      for _ in 0..<50 {
        let near = values.randomElement(using: &generator) ?? 0
        let key = near &+ Int64.random(in: -2...2, using: &generator)
        let found = values.withUnsafeBytes { bytes in
          bytes.baseAddress.map { ColumnBranch.upperBound($0, count: count, key) } ?? 0
        }
        #expect(found == values.count { $0 <= key })
      }
    }
  }
}
