import TestSupport
import Testing

@testable import CambiumCore

struct ColumnTreeModelWhiteBoxTests {
  /// Sizes at which the same sequences run.
  enum Shape: CaseIterable {
    case tiny, smallLeaves, real

    var options: ColumnTreeOptions {
      switch self {
      case .tiny: return smallShape(rows: 4, room: 4)
      case .smallLeaves:
        var options = ColumnTreeOptions()
        options.leafByteCount = 1200
        options.minimumRowCount = 3
        options.leafByteLimit = 4096
        options.inlineByteCount = 256
        options.branchRoom = 5
        options.writeAheadByteCount = 8 << 10
        return options
      case .real: return ColumnTreeOptions()
      }
    }
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>, Shape.allCases)
  func `rows appended a few per transaction stay what they were`(
    seed: UInt64, shape: Shape
  ) throws {
    let bench = ColumnWorkbench(everyColumn, options: shape.options)
    var maker = CellMaker(generator: SeededGenerator(seed: seed))
    var model: [Int64: [ModelValue]] = [:]
    var key: Int64 = -50
    for _ in 0..<60 {
      // Leaves differ in their encodings: most values are as the leaf has them, some are not.
      if maker.number(6) == 0 { maker.mood = maker.number(56) }
      _ = try bench.write { editor, _ in
        for _ in 0..<(1 + maker.number(6)) {
          key += seed % 2 == 0 ? 1 : Int64(1 + maker.number(3))
          let row = everyColumn.map { maker.cell($0) }
          let isNew = try lendRow(row) { try editor.insert(key: key, values: $0) }
          #expect(isNew)
          model[key] = row
        }
      }
      try expectEqual(bench.snapshot().tree, model, bench)
    }
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>, Shape.allCases)
  func `every version of a tree with keys equals its model`(seed: UInt64, shape: Shape) throws {
    let bench = ColumnWorkbench(everyColumn, options: shape.options)
    var maker = CellMaker(generator: SeededGenerator(seed: seed))
    var model: [Int64: [ModelValue]] = [:]
    var held: [(ColumnWorkbench.Held, [Int64: [ModelValue]])] = []
    for round in 0..<12 {
      maker.mood = maker.number(56)
      var expectedTrees = 0
      let before = model
      let abandoned = try bench.write { editor, _ in
        for _ in 0..<maker.number(160) {
          let key = Int64(maker.number(400)) * (seed % 2 == 0 ? 1 : 3) - 100
          if maker.number(40) == 0 { maker.mood = maker.number(56) }
          switch maker.number(10) {
          case 0..<4:
            let row = everyColumn.map { maker.cell($0) }
            let isNew = try lendRow(row) { try editor.insert(key: key, values: $0) }
            #expect(isNew == (model[key] == nil))
            if isNew { model[key] = row }
          case 4..<7:
            let place = maker.number(everyColumn.count)
            var cell = maker.cell(everyColumn[place])
            if everyColumn[place].type == .bytes, maker.number(8) == 0 {
              cell = .tree(maker.tree())
            }
            let found = try cell.lend {
              try editor.update(key: key, column: everyColumn[place].id, value: $0)
            }
            #expect(found == (model[key] != nil))
            if found {
              // A tree that replaces a tree is what became of it; anything else gives it up.
              if case .tree? = model[key]?[place], !cell.isTree { expectedTrees += 1 }
              model[key]?[place] = cell
            }
          case 7..<9:
            let isRemoved = try editor.remove(key: key)
            let old = model.removeValue(forKey: key)
            #expect(isRemoved == (old != nil))
            for case .tree? in old ?? [] as [ModelValue?] { expectedTrees += 1 }
          default:
            let place = maker.number(everyColumn.count)
            let value = try editor.value(key: key, column: everyColumn[place].id)
            #expect(value.map(ModelValue.init) == model[key]?[place])
            if maker.number(20) == 0 {
              #expect(try editor.tree.contents(editor.layout).map(\.key) == model.keys.sorted())
            }
          }
          if maker.number(60) == 0 { _ = try editor.flush() }
        }
      }
      #expect(abandoned.count == expectedTrees)
      let snapshot = try bench.snapshot()
      try expectEqual(snapshot.tree, model, bench)
      let walk = try snapshot.tree.walked()
      #expect(walk.findings.isEmpty)
      #expect(
        try bench.store.check(reachable: walk.extents.sorted { $0.address < $1.address }).isEmpty)
      if let (old, oldModel) = held.last, oldModel == before {
        try expectDiff(old.tree, oldModel, snapshot.tree, model)
      }
      held.append((snapshot, model))
      if round % 4 == 3 {
        for (old, oldModel) in held { try expectEqual(old.tree, oldModel, bench) }
        held.removeFirst(2)
      }
    }
  }

  private func expectEqual(
    _ tree: ColumnTree, _ model: [Int64: [ModelValue]], _ bench: ColumnWorkbench
  ) throws {
    let keys = model.keys.sorted()
    let contents = try tree.contents(bench.layout)
    #expect(contents.map(\.key) == keys)
    #expect(contents.allSatisfy { $0.row == model[$0.key] })
    #expect(tree.count == keys.count)
    for (index, key) in keys.enumerated() where index % 7 == 0 {
      #expect(try tree.select(index)?.key == key)
      #expect(try tree.rank(of: key) == index)
      let found = try #require(try tree.seek(key))
      #expect(try tree.modelValue(found.leaf, found.row, everyColumn[0]) == model[key]?[0])
      let next = try tree.select(try tree.rank(of: key + 1))
      #expect(next?.key == (index + 1 < keys.count ? keys[index + 1] : nil))
    }
    var backwards: [Int64] = []
    var cursor = tree.leafCursor()
    if try cursor.last() {
      repeat {
        #expect(cursor.firstIndex == keys.count - backwards.count - cursor.leaf.rowCount)
        for row in (0..<cursor.leaf.rowCount).reversed() {
          backwards.append(cursor.leaf.key(at: row))
        }
      } while try cursor.previous()
    }
    #expect(backwards == keys.reversed())
  }

  private func expectDiff(
    _ old: ColumnTree, _ oldModel: [Int64: [ModelValue]], _ new: ColumnTree,
    _ model: [Int64: [ModelValue]]
  ) throws {
    let found = try ColumnTree.diff(old: old, new: new)
    #expect(found.inserted == model.keys.filter { oldModel[$0] == nil }.sorted())
    #expect(found.removed == oldModel.keys.filter { model[$0] == nil }.sorted())
    let modified = model.filter { oldModel[$0.key] != nil && oldModel[$0.key] != $0.value }.keys
    // A value in overflow pages counts as changed when it was written again.
    let allowed = model.filter { entry in
      entry.value.contains { if case .bytes(let bytes) = $0 { bytes.count > 100 } else { false } }
    }
    #expect(Set(modified).isSubset(of: found.modified))
    #expect(Set(found.modified).subtracting(modified).isSubset(of: allowed.keys))
    #expect(found.modified == found.modified.sorted())
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>, Shape.allCases)
  func `every version of a tree by position equals its model`(seed: UInt64, shape: Shape) throws {
    let columns = Array(everyColumn[5...])
    let bench = ColumnWorkbench(columns, kind: .position, options: shape.options)
    var maker = CellMaker(generator: SeededGenerator(seed: seed &+ 100))
    var model: [[ModelValue]] = []
    var held: [(ColumnWorkbench.Held, [[ModelValue]])] = []
    for _ in 0..<10 {
      maker.mood = maker.number(56)
      try bench.write { editor, _ in
        for _ in 0..<maker.number(150) {
          let place = maker.number(columns.count)
          switch maker.number(8) {
          case 0..<4:
            let position = maker.number(3) == 0 ? model.count : maker.number(model.count + 1)
            let row = columns.map { maker.cell($0) }
            try lendRow(row) { try editor.insert(at: position, values: $0) }
            model.insert(row, at: position)
          case 4 where !model.isEmpty:
            let position = maker.number(model.count)
            let cell = maker.cell(columns[place])
            try cell.lend { try editor.update(at: position, column: columns[place].id, value: $0) }
            model[position][place] = cell
          case 5..<7 where !model.isEmpty:
            let position = maker.number(model.count)
            try editor.remove(at: position)
            model.remove(at: position)
          case 7 where !model.isEmpty:
            let position = maker.number(model.count)
            let value = try editor.value(at: position, column: columns[place].id)
            #expect(ModelValue(value) == model[position][place])
          default: break
          }
          if maker.number(50) == 0 { _ = try editor.flush() }
        }
      }
      let snapshot = try bench.snapshot()
      held.append((snapshot, model))
      for (old, model) in held.suffix(3) {
        #expect(try old.tree.contents(bench.layout).map(\.row) == model)
        for position in stride(from: 0, to: model.count, by: 9) {
          let found = try #require(try old.tree.seek(Int64(position)))
          #expect(try old.tree.modelValue(found.leaf, found.row, columns[1]) == model[position][1])
        }
      }
      let walk = try snapshot.tree.walked()
      #expect(walk.findings.isEmpty)
      #expect(
        try held.count > 1
          || bench.store.check(reachable: walk.extents.sorted { $0.address < $1.address }).isEmpty)
    }
  }
}

extension ModelValue {
  /// Whether it is a tree that the row owns.
  var isTree: Bool { if case .tree = self { true } else { false } }
}
