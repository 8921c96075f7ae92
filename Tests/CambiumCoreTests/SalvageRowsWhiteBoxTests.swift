import TestSupport
import Testing

@testable import CambiumCore

/// Damages pages of trees of rows and compares the keys or positions that are reported as lost with
/// those of the rows below them.
struct SalvageRowsWhiteBoxTests {
  private static func nodes(_ tree: ColumnTree) throws -> [SalvageNode] {
    var nodes: [SalvageNode] = []
    func visit(_ reference: PageReference, _ height: Int, _ first: Int) throws -> Int {
      let place = nodes.count
      nodes.append(SalvageNode(reference: reference, height: height, rows: first..<first))
      var last = first
      if height == 1 {
        last += ColumnLeaf(try tree.source.page(reference, .columnLeaf)).rowCount
      } else {
        let page = try tree.source.page(reference, .columnBranch)
        let branch = ColumnBranch(page)
        for index in 0..<branch.count {
          last = try visit(branch.reference(index), height - 1, last)
        }
        withExtendedLifetime(page) {}
      }
      nodes[place].rows = first..<last
      return last
    }
    _ = try visit(tree.root.reference, Int(tree.root.height), 0)
    return nodes
  }

  private static func salvage(
    _ root: TreeRoot, _ store: any PageStore
  ) throws -> SalvageFinding<Int64> {
    var finding = SalvageFinding<Int64>()
    var position: Int64 = 0
    try TreeWalk(root, .uncached(store)).salvage(
      { page throws(StoreError) in
        let leaf = ColumnLeaf(page)
        for row in 0..<leaf.rowCount {
          finding.saved.append(root.kind == .position ? position : leaf.key(at: row))
          position += 1
        }
      },
      lost: { part, _ in
        guard case .rows(let keys) = part.keys else { return }
        let (lower, upper) = (keys.lowerBound, keys.upperBound)
        position += Int64(part.count)
        let (least, greatest) =
          root.kind == .position ? (0, Int64(root.count) - 1) : (Int64.min, .max)
        finding.losses.append(
          SalvageFinding.Loss(
            lower: lower == least ? nil : lower, upper: upper == greatest ? nil : upper + 1,
            count: part.count))
      })
    return finding
  }

  private static let column = [ColumnSpec(id: 1, type: .int, isNullable: false)]

  /// A tree of about 200 rows after some were removed; the extreme keys are among them.
  private static func makeColumnTree(
    isDense: Bool, _ generator: inout SeededGenerator
  ) throws -> (ColumnWorkbench, [Int64]) {
    let bench = ColumnWorkbench(Self.column, options: smallShape(rows: 4, room: 4))
    var keys: Set<Int64> = isDense ? Set(-100..<100) : [.min, .max]
    while keys.count < 240, !isDense {
      keys.insert(Int64.random(in: -3000...3000, using: &generator))
    }
    try bench.write { editor, _ in
      for key in keys.sorted() { _ = try editor.insert(key: key, values: [.int(key)]) }
    }
    if !isDense {
      try bench.write { editor, _ in
        for key in keys.sorted().dropFirst().dropLast()
        where Int.random(in: 0..<4, using: &generator) == 0 {
          keys.remove(key)
          _ = try editor.remove(key: key)
        }
      }
    }
    return (bench, keys.sorted())
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>, [true, false])
  func `lost keys of a tree of rows lie where its damaged pages were`(
    seed: UInt64, isDense: Bool
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let (bench, keys) = try Self.makeColumnTree(isDense: isDense, &generator)
    let held = try bench.snapshot()
    let nodes = try Self.nodes(held.tree)
    #expect(held.tree.root.height >= 4)
    var bounds = SalvageBounds(keys, by: <)
    for damaged in SalvageNode.choices(nodes, &generator) {
      bounds.expect(
        try Self.salvage(held.tree.root, SalvageNode.damage(damaged, of: bench.store)), damaged)
    }
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `lost positions are those of the damaged pages`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let bench = ColumnWorkbench(
      Self.column, kind: .position, options: smallShape(rows: 4, room: 4))
    for _ in 0..<3 {
      try bench.write { editor, _ in
        for _ in 0..<60 {
          let position = Int.random(in: 0...editor.tree.count, using: &generator)
          try editor.insert(at: position, values: [.int(7)])
        }
        for _ in 0..<15 {
          try editor.remove(at: Int.random(in: 0..<editor.tree.count, using: &generator))
        }
      }
    }
    let held = try bench.snapshot()
    #expect(held.tree.root.height >= 4)
    // There is one bound between two positions only.
    var bounds = SalvageBounds((0..<Int64(held.tree.count)).map { $0 }, by: <)
    for damaged in SalvageNode.choices(try Self.nodes(held.tree), &generator) {
      bounds.expect(
        try Self.salvage(held.tree.root, SalvageNode.damage(damaged, of: bench.store)), damaged)
    }
  }

  @Test(arguments: [TreeRoot.Kind.column, .position])
  func `a root that lies about height or kind of a tree of rows loses all of it`(
    kind: TreeRoot.Kind
  ) throws {
    let bench = ColumnWorkbench(Self.column, kind: kind, options: smallShape(rows: 4, room: 4))
    for count in [3, 60] {
      try bench.write { editor, _ in
        while editor.tree.count < count {
          let key = editor.tree.count
          if kind == .position {
            try editor.insert(at: key, values: [.int(1)])
          } else {
            _ = try editor.insert(key: Int64(key), values: [.int(1)])
          }
        }
      }
      let all = SalvageFinding<Int64>(
        losses: [SalvageFinding.Loss(lower: nil, upper: nil, count: count)])
      let root = try bench.snapshot().tree.root
      var other = root
      other.kind = kind == .position ? .column : .position
      #expect(try Self.salvage(other, bench.store) == all)
      for height in [root.height - 1, root.height + 1] where height > 0 {
        other = root
        other.height = height
        #expect(try Self.salvage(other, bench.store) == all)
      }
    }
  }

  @Test func `a page of rows that two branches name is taken once`() throws {
    let bench = ColumnWorkbench(Self.column, options: smallShape(rows: 4, room: 4))
    var root = TreeRoot.empty(.column)
    try bench.write { editor, context in
      for key in 0..<12 as Range<Int64> { _ = try editor.insert(key: key, values: [.int(key)]) }
      root = try editor.flush()
      let page = try context.source.page(root.reference, .columnBranch)
      let branch = ColumnBranch(page)
      try #require(branch.count == 3)
      let forged = DirtyBranch(copying: branch, isPositional: false, room: 3)
      forged[1].reference = branch.reference(0)
      // No key is below the least one: there is none just before this separator.
      forged[1].separator = .min
      root.reference = try context.write(
        UnsafeRawBufferPointer(start: forged.bytes, count: forged.byteCount), kind: .columnBranch)
      withExtendedLifetime(page) {}
    }
    let finding = try Self.salvage(root, bench.store)
    #expect(finding.saved == [0, 1, 2, 3, 8, 9, 10, 11])
    #expect(finding.losses == [SalvageFinding.Loss(lower: nil, upper: 8, count: 4)])
  }

  @Test func `an error of the medium is thrown and no rows are called lost`() throws {
    let bench = ColumnWorkbench(Self.column, options: smallShape(rows: 4, room: 4))
    try bench.write { editor, _ in
      for key in 0..<60 as Range<Int64> { _ = try editor.insert(key: key, values: [.int(key)]) }
    }
    for node in try Self.nodes(bench.snapshot().tree) {
      let store = ObservedStore(bench.store)
      store.refuse(node.reference)
      #expect(throws: ObservedStore.refusal) { try Self.salvage(bench.root, store) }
    }
  }

  @Test func `lost rows are told in words`() {
    #expect(KeySpan.rows(.min ... .max).description == "all")
    #expect(KeySpan.rows(.min ... -3).description == "up to -3")
    #expect(KeySpan.rows(5 ... .max).description == "from 5 on")
    #expect(KeySpan.rows(5...5).description == "5")
    #expect(KeySpan.rows(5...6).description == "5 to 6")
  }
}
