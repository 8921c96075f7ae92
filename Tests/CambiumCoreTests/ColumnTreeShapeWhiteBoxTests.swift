import TestSupport
import Testing

@testable import CambiumCore

struct ColumnTreeShapeWhiteBoxTests {
  private let columns = [
    ColumnSpec(id: 1, type: .int, isNullable: false),
    ColumnSpec(id: 2, type: .bytes, isNullable: false),
  ]

  private func row(_ key: Int64) -> [ModelValue] { [.int(key * 7), .bytes(Array("v\(key)".utf8))] }

  private func check(_ bench: ColumnWorkbench, _ keys: [Int64]) throws {
    try bench.expectRows(keys, row)
    if keys.isEmpty { #expect(bench.root == .empty(.column)) }
  }

  /// All orders of the numbers below `count`.
  private func orders(_ count: Int) -> [[Int64]] {
    if count == 0 { return [[]] }
    return orders(count - 1).flatMap { order in
      (0...order.count).map { place in
        var longer = order
        longer.insert(Int64(count - 1), at: place)
        return longer
      }
    }
  }

  @Test(arguments: 1...3, 2...3)
  func `small trees hold in every order of inserts and removals`(rows: Int, room: Int) throws {
    for (number, order) in orders(6).enumerated() where number % 3 == 0 {
      let bench = ColumnWorkbench(columns, options: smallShape(rows: rows, room: room))
      var present: [Int64] = []
      // Some in one transaction, some with a commit after each.
      let step = number % 4 == 0 ? 1 : 6
      for start in stride(from: 0, to: 6, by: step) {
        try bench.write { editor, _ in
          for key in order[start..<(start + step)] {
            let isNew = try lendRow(row(key)) { try editor.insert(key: key, values: $0) }
            let isAgain = try lendRow(row(key)) { try editor.insert(key: key, values: $0) }
            #expect(isNew && !isAgain)
            present.append(key)
          }
        }
        try check(bench, present.sorted())
      }
      for start in stride(from: 0, to: 6, by: step) {
        try bench.write { editor, _ in
          for key in order.reversed()[start..<(start + step)] {
            let isRemoved = try editor.remove(key: key)
            let isAgain = try editor.remove(key: key)
            #expect(isRemoved && !isAgain)
            present.removeAll { $0 == key }
          }
        }
        try check(bench, present.sorted())
      }
    }
  }

  @Test(arguments: ["ascending", "descending", "middle"])
  func `a tree is whole at every boundary where it splits`(order: String) throws {
    let bench = ColumnWorkbench(columns, options: smallShape(rows: 3, room: 3))
    var present: [Int64] = []
    for number in 0..<70 as Range<Int64> {
      let key: Int64
      switch order {
      case "ascending": key = number
      case "descending": key = -number
      default: key = number % 2 == 0 ? number : 200 - number
      }
      try bench.write { editor, _ in
        try lendRow(row(key)) { _ = try editor.insert(key: key, values: $0) }
      }
      present.append(key)
      try check(bench, present.sorted())
    }
    while let key = present.popLast() {
      try bench.write { editor, _ in _ = try editor.remove(key: key) }
      try check(bench, present.sorted())
    }
  }

  @Test func `rows in order fill their leaves, and deleting most of them merges what is left`()
    throws
  {
    let bench = ColumnWorkbench(columns)
    try bench.write { editor, _ in
      for key in 0..<20000 as Range<Int64> {
        try lendRow(row(key)) { _ = try editor.insert(key: key, values: $0) }
      }
    }
    let full = try bench.snapshot().tree.statistics()
    #expect(full.leafByteCount / full.leafCount > 7000)
    try bench.write { editor, _ in
      for key in 0..<20000 as Range<Int64> where key % 20 != 0 { _ = try editor.remove(key: key) }
    }
    let rest = try bench.snapshot().tree.statistics()
    #expect(rest.leafCount <= full.leafCount / 8)
    try check(bench, Array(stride(from: 0, to: 20000, by: 20)))
  }

  @Test func `equal rows that come one a commit leave no leaf that each commit merges in vain`()
    throws
  {
    // Wide unpacked, next to nothing packed: leaves are full by their rows.
    let text = ModelValue.bytes([UInt8](repeating: 7, count: 900))
    var options = ColumnTreeOptions()
    options.maximumRowCount = 120
    let bench = ColumnWorkbench(columns, options: options)
    for key in 0..<400 as Range<Int64> {
      try bench.write { editor, _ in
        try lendRow([.int(5), text]) { _ = try editor.insert(key: key, values: $0) }
      }
      let tree = try bench.snapshot().tree
      var cursor = tree.leafCursor()
      guard try cursor.last(), key >= 120 else { continue }
      #expect(cursor.leaf.rowCount >= options.maximumRowCount / 3, "after key \(key)")
    }
    try bench.expectRows(Array(0..<400)) { _ in [.int(5), text] }
  }

  @Test func `a leaf of equal rows that commits append to leaves the varied rows before it alone`()
    throws
  {
    let columns = (1...5).map { ColumnSpec(id: $0, type: .int, isNullable: false) }
    let bench = ColumnWorkbench(columns)
    var generator = SeededGenerator(seed: 11)
    let varied = (0..<134).map { _ in
      (0..<5).map { _ in ModelValue.int(.random(in: .min ... .max, using: &generator)) }
    }
    let equal = [ModelValue](repeating: .int(3), count: 5)
    func row(_ key: Int64) -> [ModelValue] { key < 134 ? varied[Int(key)] : equal }
    // Enough of the equal rows to have a leaf of their own, of which few are left. Their bytes would fit
    // in with those of the varied rows, but not what they are beside them.
    try bench.write { editor, _ in
      for key in 0..<600 as Range<Int64> {
        try lendRow(row(key)) { _ = try editor.insert(key: key, values: $0) }
      }
    }
    try bench.write { editor, _ in
      for key in 270..<600 as Range<Int64> { _ = try editor.remove(key: key) }
    }
    var cursor = try bench.snapshot().tree.leafCursor()
    try #require(try cursor.last())
    try #require(cursor.leaf.rowCount < 150 && cursor.leaf.page.byteCount < 1_000)
    try #require(try bench.snapshot().tree.statistics().leafCount == 2)

    for key in 270..<300 as Range<Int64> {
      let before = try bench.snapshot().tree.walked().extents
      try bench.write { editor, _ in
        try lendRow(row(key)) { _ = try editor.insert(key: key, values: $0) }
      }
      let after = try bench.snapshot().tree.walked().extents
      #expect(Set(after.map(\.address)).intersection(before.map(\.address)).count == 1)
    }
    try bench.expectRows(Array(0..<300), row)
  }

  @Test func `removing all rows abandons what is stored and frees what is not`() throws {
    let bench = ColumnWorkbench(columns, options: smallShape())
    try bench.write { editor, _ in
      for key in 0..<200 as Range<Int64> {
        try lendRow(row(key)) { _ = try editor.insert(key: key, values: $0) }
      }
    }
    let before = bench.root
    let abandoned = try bench.write { editor, _ in try editor.removeAll() }
    #expect(abandoned == [before])
    #expect(bench.root == .empty(.column))
    bench.options.writeAheadByteCount = .max
    let none = try bench.write { editor, context in
      for key in 0..<50 as Range<Int64> {
        try lendRow([.int(key), .bytes([UInt8](repeating: 7, count: 5000))]) {
          _ = try editor.insert(key: key, values: $0)
        }
      }
      try editor.removeAll()
      try lendRow(row(1)) { _ = try editor.insert(key: 1, values: $0) }
    }
    #expect(none.isEmpty)
    #expect(try bench.snapshot().tree.contents(bench.layout).map(\.key) == [1])
  }

  @Test func `a new column reads as its default and an old one goes as leaves are rewritten`()
    throws
  {
    let bench = ColumnWorkbench(columns)
    try bench.write { editor, _ in
      for key in 0..<1000 as Range<Int64> {
        try lendRow(row(key)) { _ = try editor.insert(key: key, values: $0) }
      }
    }
    let before = bench.root
    let added = [
      ColumnSpec(id: 3, type: .double, isNullable: true),
      ColumnSpec(id: 4, type: .int, isNullable: false),
    ]
    try bench.write { editor, _ in editor.layout = ColumnLayout(columns + added) }
    #expect(bench.root == before)
    try bench.write { editor, _ in
      for key in [5, 900] as [Int64] {
        guard case .null? = try editor.value(key: key, column: 3),
          case .int(0)? = try editor.value(key: key, column: 4)
        else {
          Issue.record("a new column does not read as its default")
          continue
        }
        _ = try editor.update(key: key, column: 4, value: .int(0))
      }
      _ = try editor.update(key: 5, column: 3, value: .double(1.5))
      editor.layout = ColumnLayout([columns[1]] + added)
      _ = try editor.update(key: 6, column: 4, value: .int(9))
    }
    let contents = try bench.snapshot().tree.contents(bench.layout)
    #expect(contents[5].row == [.bytes(Array("v5".utf8)), .double((1.5).bitPattern), .int(0)])
    #expect(contents[6].row == [.bytes(Array("v6".utf8)), .null, .int(9)])
    #expect(contents[999].row == [.bytes(Array("v999".utf8)), .null, .int(0)])
    let first = try #require(try bench.snapshot().tree.select(0))
    #expect(first.column(1) == nil || first.column(2) != nil)
  }

  @Test(arguments: [1025, 65536, 262_144, 262_145, 1_500_000, 16 << 20])
  func `a long value comes back, and goes with its row`(byteCount: Int) throws {
    let bench = ColumnWorkbench(columns)
    var value = [UInt8](repeating: 3, count: byteCount)
    for place in stride(from: 0, to: byteCount, by: 1 + byteCount / 1000) {
      value[place] = UInt8(truncatingIfNeeded: place)
    }
    try bench.write { editor, _ in
      for key in 0..<3 as Range<Int64> {
        try lendRow([.int(key), .bytes(value)]) { _ = try editor.insert(key: key, values: $0) }
      }
      try lendRow(row(7)) { _ = try editor.insert(key: 7, values: $0) }
      let read = try #require(try editor.value(key: 1, column: 2))
      #expect(ModelValue(read) == .bytes(value))
    }
    let tree = try bench.snapshot().tree
    #expect(try tree.statistics().columns[2]?.overflowByteCount == 3 * byteCount)
    let found = try #require(try tree.seek(2))
    let cell = try #require(found.column(2)).bytes(found.row)
    #expect(cell.form == .overflow)
    #expect(cell.count == byteCount)
    #expect(try tree.bytes(of: cell) == value)
    let column = try #require(found.column(2))
    try value.withUnsafeBytes { bytes in
      let rows = try column.selected {
        try column.selectBytes(equalTo: bytes, into: $0, source: tree.source)
      }
      #expect(rows == [0, 1, 2])
    }
    try bench.write { editor, _ in
      _ = try editor.remove(key: 0)
      _ = try lendRow([.bytes([1])]) { try editor.update(key: 1, column: 2, value: $0[0]) }
      _ = try lendRow([.bytes(value.dropLast())]) {
        try editor.update(key: 2, column: 2, value: $0[0])
      }
    }
    let after = try bench.snapshot().tree.contents(bench.layout)
    #expect(after.map(\.key) == [1, 2, 7])
    #expect(after[0].row[1] == .bytes([1]))
    #expect(after[1].row[1] == .bytes(value.dropLast()))
    let walk = try bench.snapshot().tree.walked()
    #expect(walk.findings.isEmpty)
  }

  @Test func `a few wide rows share a leaf, and past its limit the largest values leave it`() throws
  {
    let wide = (1...20).map { ColumnSpec(id: UInt16($0), type: .bytes, isNullable: false) }
    let bench = ColumnWorkbench(wide)
    var maker = CellMaker(generator: SeededGenerator(seed: 5))
    var model: [[ModelValue]] = []
    try bench.write { editor, _ in
      for key in 0..<64 {
        let row = (0..<20).map { ModelValue.bytes(maker.text(200 + (key * 37 + $0 * 91) % 800)) }
        model.append(row)
        try lendRow(row) { _ = try editor.insert(key: Int64(key), values: $0) }
      }
    }
    let tree = try bench.snapshot().tree
    #expect(try tree.contents(bench.layout).map(\.row) == model)
    let statistics = try tree.statistics()
    #expect(statistics.leafCount <= 4)
    #expect(statistics.leafByteCount <= statistics.leafCount * (66 << 10))
    #expect(statistics.columns.values.contains { $0.overflowByteCount > 0 })
    #expect(try tree.walked().findings.isEmpty)
  }

  @Test(arguments: [TreeRoot.Kind.column, .position])
  func `a copy has equal rows in full leaves`(kind: TreeRoot.Kind) throws {
    let bench = ColumnWorkbench(everyColumn, kind: kind, options: smallShape(rows: 40))
    var maker = CellMaker(generator: SeededGenerator(seed: 8))
    try bench.write { editor, _ in
      for key in 0..<900 as Range<Int64> {
        if key % 50 == 0 { maker.mood += 1 }
        var row = everyColumn.map { maker.cell($0) }
        if key % 31 == 0 { row[6] = .tree(maker.tree()) }
        try lendRow(row) {
          if kind == .column {
            _ = try editor.insert(key: key * 5, values: $0)
          } else {
            try editor.insert(at: Int(key), values: $0)
          }
        }
      }
    }
    let source = try bench.snapshot()
    let copy = ColumnWorkbench(everyColumn, kind: kind)
    var mapped: [TreeRoot] = []
    var steps: [Int] = []
    try copy.write { editor, _ in
      try editor.append(contentsOf: source.tree) { root throws(StoreError) in
        mapped.append(root)
        return root
      } progress: {
        steps.append($0)
      }
    }
    let expected = try source.tree.contents(bench.layout)
    let found = try copy.snapshot().tree.contents(copy.layout)
    #expect(found.map(\.key) == expected.map(\.key) || kind == .position)
    #expect(found.map(\.row) == expected.map(\.row))
    #expect(mapped == (try source.tree.walked().trees))
    #expect(steps.last == 900)
    #expect(try copy.snapshot().tree.walked().findings.isEmpty)
    let (leaves, before) = (
      try copy.snapshot().tree.statistics().leafCount, try source.tree.statistics().leafCount
    )
    #expect(leaves < before)
  }

  @Test func `an abandoned tree can be taken apart page by page`() throws {
    let bench = ColumnWorkbench(columns, options: smallShape())
    try bench.write { editor, _ in
      for key in 0..<100 as Range<Int64> {
        let value = key % 9 == 0 ? [UInt8](repeating: 1, count: 3000) : []
        try lendRow([.int(key), .bytes(value)]) { _ = try editor.insert(key: key, values: $0) }
      }
    }
    let root = bench.root
    try bench.write { editor, context in
      try editor.removeAll()
      var waiting = [root]
      while let next = waiting.popLast() {
        waiting += try DeadRoots.free(next, in: context)
      }
    }
    #expect(try bench.store.check(reachable: []).isEmpty)
    #expect(try bench.store.statistics().totalByteCount == 0)
  }
}
