import TestSupport
import Testing

@testable import CambiumCore

struct ColumnTreeBulkWhiteBoxTests {
  typealias Shape = ColumnTreeModelWhiteBoxTests.Shape

  @Test(arguments: 1...8 as ClosedRange<UInt64>, Shape.allCases)
  func `bulk removals and updates among single changes leave what the model says`(
    seed: UInt64, shape: Shape
  ) throws {
    let bench = ColumnWorkbench(everyColumn, options: shape.options)
    var maker = CellMaker(generator: SeededGenerator(seed: seed))
    var model: [Int64: [ModelValue]] = [:]
    for _ in 0..<10 {
      var expectedTrees = 0
      let abandoned = try bench.write { editor, _ in
        for _ in 0..<(1 + maker.number(5)) {
          maker.mood = maker.number(56)
          switch maker.number(8) {
          case 0..<3: try insert(1 + maker.number(300), editor, &maker, &model)
          case 3..<6: expectedTrees += try remove(editor, &maker, &model)
          case 6: try update(editor, &maker, &model)
          default: _ = try editor.flush()
          }
        }
      }
      #expect(abandoned.count == expectedTrees)
      let snapshot = try bench.snapshot()
      let contents = try snapshot.tree.contents(bench.layout)
      #expect(contents.map(\.key) == model.keys.sorted())
      #expect(contents.allSatisfy { $0.row == model[$0.key] })
      #expect(snapshot.tree.count == model.count)
      let walk = try snapshot.tree.walked()
      #expect(walk.findings.isEmpty)
      #expect(
        try bench.store.check(reachable: walk.extents.sorted { $0.address < $1.address }).isEmpty)
    }
  }

  private func insert(
    _ count: Int, _ editor: ColumnTreeEditor, _ maker: inout CellMaker,
    _ model: inout [Int64: [ModelValue]]
  ) throws {
    let isDense = maker.number(2) == 0
    let start = Int64(maker.number(3000))
    for index in 0..<count {
      let key = isDense ? start + Int64(index) : Int64(maker.number(3000))
      var row = everyColumn.map { maker.cell($0) }
      if maker.number(30) == 0 { row[6] = .tree(maker.tree()) }
      if try lendRow(row, { try editor.insert(key: key, values: $0) }) { model[key] = row }
    }
  }

  /// Removes some rows, and names some that are not there; returns how many trees that gives up.
  private func remove(
    _ editor: ColumnTreeEditor, _ maker: inout CellMaker, _ model: inout [Int64: [ModelValue]]
  ) throws -> Int {
    let share = [1, 10, 50, 80, 100][maker.number(5)]
    let range = Int64(maker.number(3000))...Int64(3000 + maker.number(100))
    var keys = model.keys.filter { range.contains($0) && maker.number(100) < share }
    for _ in 0..<maker.number(10) { keys.append(Int64(maker.number(4000)) - 100) }
    if let twice = keys.first { keys.append(twice) }
    keys.sort()
    var (rows, trees) = (0, 0)
    for key in keys {
      guard let row = model.removeValue(forKey: key) else { continue }
      rows += 1
      for cell in row where cell.isTree { trees += 1 }
    }
    let removed = try keys.withUnsafeBufferPointer { try editor.remove(keys: $0) }
    #expect(removed == rows)
    return trees
  }

  private func update(
    _ editor: ColumnTreeEditor, _ maker: inout CellMaker, _ model: inout [Int64: [ModelValue]]
  ) throws {
    let place = maker.number(2)
    let spec = everyColumn[place]
    // What the new integers have in common differs from leaf to leaf.
    var seen: [Int64] = []
    let share = [0, 5, 100][maker.number(3)]
    try editor.updateInts(of: spec.id) { leaf, values in
      maker.mood = maker.number(56)
      for row in values.indices {
        let key = leaf.key(at: row)
        seen.append(key)
        guard maker.number(100) < share else { continue }
        let cell = maker.cell(ColumnSpec(id: 0, type: .int, isNullable: false))
        guard case .int(let value) = cell else { continue }
        if case .int? = model[key]?[place] { model[key]?[place] = cell }
        values[row] = value
      }
    }
    #expect(seen == seen.sorted())
    #expect(Set(seen).count == seen.count)
    // Leaves with nothing but nulls are passed over.
    #expect(model.allSatisfy { $0.value[place] == .null || seen.contains($0.key) })
  }

  @Test func `integers of a column that leaves lack are stored once they differ from 0`() throws {
    let bench = ColumnWorkbench([ColumnSpec(id: 4, type: .bool, isNullable: false)])
    try bench.write { editor, _ in
      for key in 0..<1000 as Range<Int64> {
        try editor.insert(key: key * 2, values: [.bool(key % 3 == 0)])
      }
    }
    let added = [2, 4, 7].map {
      ColumnSpec(id: $0, type: $0 == 4 ? .bool : .int, isNullable: false)
    }
    try bench.write { editor, _ in
      editor.layout = ColumnLayout(added)
      try editor.updateInts(of: 2) { leaf, values in
        #expect(values.allSatisfy { $0 == 0 })
        for row in values.indices { values[row] = leaf.key(at: row) - 1000 }
      }
      try editor.updateInts(of: 7) { _, values in
        for row in values.indices { values[row] = -5 }
      }
    }
    let contents = try bench.snapshot().tree.contents(bench.layout)
    #expect(contents.count == 1000)
    for (key, row) in contents {
      #expect(row == [.int(key - 1000), .bool(key % 6 == 0), .int(-5)])
    }
  }

  @Test func `integers of a tree by position can be updated in bulk`() throws {
    let bench = ColumnWorkbench(
      [ColumnSpec(id: 1, type: .int, isNullable: false)], kind: .position,
      options: smallShape())
    try bench.write { editor, _ in
      for index in 0..<100 { try editor.insert(at: index, values: [.int(Int64(index))]) }
      try editor.updateInts(of: 1) { _, values in
        for row in values.indices { values[row] *= 1000 }
      }
    }
    let contents = try bench.snapshot().tree.contents(bench.layout)
    #expect(contents.map(\.row) == (0..<100).map { [.int(Int64($0) * 1000)] })
  }

  @Test func `a bulk update that changes nothing writes nothing`() throws {
    let bench = ColumnWorkbench(everyColumn, options: smallShape())
    var maker = CellMaker(generator: SeededGenerator(seed: 9))
    var model: [Int64: [ModelValue]] = [:]
    try bench.write { editor, _ in try insert(200, editor, &maker, &model) }
    let root = bench.root
    try bench.write { editor, _ in
      try editor.updateInts(of: 2) { _, _ in }
      let none = try [-5, 5000].withUnsafeBufferPointer { try editor.remove(keys: $0) }
      #expect(none == 0)
    }
    #expect(bench.root == root)
  }

  @Test func `values of a column that was dropped go when rows of their leaf are removed`() throws {
    let columns = [
      ColumnSpec(id: 1, type: .int, isNullable: false),
      ColumnSpec(id: 2, type: .bytes, isNullable: true),
    ]
    let bench = ColumnWorkbench(columns, options: smallShape(rows: 16, room: 8))
    try bench.write { editor, _ in
      for key in 0..<400 as Range<Int64> {
        let value = [UInt8](repeating: 7, count: key % 3 == 0 ? 3000 : 5)
        _ = try lendRow([.int(-key), .bytes(value)]) { try editor.insert(key: key, values: $0) }
      }
    }
    // Some rows of a leaf, all of them, and none.
    let isRemoved = { (key: Int64) in key < 200 ? key % 5 == 1 : key < 300 }
    try bench.write { editor, _ in
      editor.layout = ColumnLayout([columns[0]])
      let keys = (0..<400).filter(isRemoved)
      let count = try keys.withUnsafeBufferPointer { try editor.remove(keys: $0) }
      #expect(count == keys.count)
    }
    try bench.expectRows((0..<400).filter { !isRemoved($0) }) { [.int(-$0)] }
  }

  @Test func `what is left of leaves shares full leaves`() throws {
    let bench = ColumnWorkbench([
      ColumnSpec(id: 1, type: .bytes, isNullable: false),
      ColumnSpec(id: 2, type: .double, isNullable: false),
    ])
    try bench.write { editor, _ in
      for key in 0..<20_000 as Range<Int64> {
        let name = Array("name \(key &* 7919 % 100_003)".utf8)
        _ = try lendRow([.bytes(name), .double(Double(key).bitPattern)]) {
          try editor.insert(key: key, values: $0)
        }
      }
    }
    let full = try bench.snapshot().tree.walked().extents.reduce(0) { $0 + Int($1.unitCount) }
    try bench.write { editor, _ in
      let keys = (0..<20_000 as Range<Int64>).filter { $0 % 5 != 2 }
      let removed = try keys.withUnsafeBufferPointer { try editor.remove(keys: $0) }
      #expect(removed == 16_000)
    }
    let left = try bench.snapshot().tree.walked().extents.reduce(0) { $0 + Int($1.unitCount) }
    #expect(left * 100 <= full * 26)
  }
}
