import TestSupport
import Testing

@testable import CambiumCore

/// Damages pages of trees and compares the ranges that are reported as lost with what lay below them.
struct SalvageRangesTests {
  /// A page of a sound tree and the rows below it, counted from the tree's first.
  private struct Node: Hashable {
    var reference: PageReference
    var height: Int
    var rows: Range<Int>
  }

  /// What one salvage of a tree found; bounds by key are those of one kind of tree.
  private struct Finding<Bound: Equatable>: Equatable {
    struct Loss: Equatable {
      /// Below it everything was saved; nil when there is nothing below.
      var lower: Bound?
      /// From here on everything was saved; nil when there is nothing more.
      var upper: Bound?
      var count: Int
    }
    var saved: [Bound] = []
    var losses: [Loss] = []
  }

  /// Which bound each tree says lies before which row: every loss has to agree.
  private struct Bounds<Bound: Equatable> {
    let keys: [Bound]
    let precedes: (Bound, Bound) -> Bool
    private var known: [Int: Bound] = [:]

    init(_ keys: [Bound], by precedes: @escaping (Bound, Bound) -> Bool) {
      self.keys = keys
      self.precedes = precedes
    }

    /// Expects that `finding` is what the loss of all pages in `damaged` leaves.
    mutating func expect(
      _ finding: Finding<Bound>, _ damaged: [Node],
      sourceLocation: SourceLocation = #_sourceLocation
    ) {
      let lost = damaged.filter { node in
        !damaged.contains {
          $0.height > node.height && $0.rows.lowerBound <= node.rows.lowerBound
            && $0.rows.upperBound >= node.rows.upperBound
        }
      }.sorted { $0.rows.lowerBound < $1.rows.lowerBound }
      let isLost = lost.reduce(into: Set<Int>()) { $0.formUnion($1.rows) }
      #expect(
        finding.saved == keys.indices.filter { !isLost.contains($0) }.map { keys[$0] },
        sourceLocation: sourceLocation)
      #expect(
        finding.losses.map(\.count) == lost.map(\.rows.count), sourceLocation: sourceLocation)
      for (loss, node) in zip(finding.losses, lost) {
        expect(loss.lower, before: node.rows.lowerBound, sourceLocation)
        expect(loss.upper, before: node.rows.upperBound, sourceLocation)
      }
    }

    private mutating func expect(
      _ bound: Bound?, before row: Int, _ sourceLocation: SourceLocation
    ) {
      guard row > 0, row < keys.count else {
        #expect(bound == nil, "outside of all rows", sourceLocation: sourceLocation)
        return
      }
      guard let bound else {
        Issue.record("no bound before row \(row)", sourceLocation: sourceLocation)
        return
      }
      #expect(precedes(keys[row - 1], bound), "row \(row - 1)", sourceLocation: sourceLocation)
      #expect(!precedes(keys[row], bound), "row \(row)", sourceLocation: sourceLocation)
      #expect(known[row, default: bound] == bound, "row \(row)", sourceLocation: sourceLocation)
      known[row] = bound
    }
  }

  /// Each page alone, then several at random.
  private static func choices(
    _ nodes: [Node], _ generator: inout SeededGenerator
  ) -> [[Node]] {
    nodes.map { [$0] }
      + (0..<40).map { _ in
        let count = Int.random(in: 2...6, using: &generator)
        return Array(Set((0..<count).compactMap { _ in nodes.randomElement(using: &generator) }))
      }
  }

  /// A view of `store` in which one bit of each page in `damaged` is another.
  private static func damage(_ store: any PageStore, _ damaged: [Node]) -> ObservedStore {
    let observed = ObservedStore(store)
    let addresses = Set(damaged.map(\.reference.address))
    observed.falsify { reference, page in
      guard addresses.contains(reference.address) else { return }
      let byte = page.bytes.load(fromByteOffset: 20, as: UInt8.self)
      page.bytes.storeBytes(of: byte ^ 4, toByteOffset: 20, as: UInt8.self)
    }
    return observed
  }

  private static func source(_ store: any PageStore) throws -> PageSource {
    PageSource(
      pin: try store.pin(), store: store, codec: nil, trust: TrustTable(bitCount: 8),
      cache: PageCache(byteCount: 0))
  }

  // MARK: Trees with integers as keys, and by position

  private static func nodes(_ tree: ColumnTree) throws -> [Node] {
    var nodes: [Node] = []
    func visit(_ reference: PageReference, _ height: Int, _ first: Int) throws -> Int {
      let place = nodes.count
      nodes.append(Node(reference: reference, height: height, rows: first..<first))
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
  ) throws -> Finding<Int64> {
    var finding = Finding<Int64>()
    let tree = ColumnTree(root: root, source: try source(store))
    var position: Int64 = 0
    try tree.salvage(
      { leaf throws(StoreError) in
        for row in 0..<leaf.rowCount {
          finding.saved.append(root.kind == .position ? position : leaf.key(at: row))
          position += 1
        }
      },
      lost: { rows, _ in
        let (lower, upper) = (rows.keys.lowerBound, rows.keys.upperBound)
        position += Int64(rows.count)
        let (least, greatest) =
          root.kind == .position ? (0, Int64(root.count) - 1) : (Int64.min, .max)
        finding.losses.append(
          Finding.Loss(
            lower: lower == least ? nil : lower, upper: upper == greatest ? nil : upper + 1,
            count: rows.count))
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
    var bounds = Bounds(keys, by: <)
    for damaged in Self.choices(nodes, &generator) {
      bounds.expect(
        try Self.salvage(held.tree.root, Self.damage(bench.store, damaged)), damaged)
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
    var bounds = Bounds((0..<Int64(held.tree.count)).map { $0 }, by: <)
    for damaged in Self.choices(try Self.nodes(held.tree), &generator) {
      bounds.expect(
        try Self.salvage(held.tree.root, Self.damage(bench.store, damaged)), damaged)
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
      let all = Finding<Int64>(
        losses: [Finding.Loss(lower: nil, upper: nil, count: count)])
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
    #expect(finding.losses == [Finding.Loss(lower: nil, upper: 8, count: 4)])
  }

  // MARK: Trees of byte keys

  private static func nodes(_ tree: KeyTree) throws -> [Node] {
    var nodes: [Node] = []
    func visit(_ reference: PageReference, _ height: Int, _ first: Int) throws -> Int {
      let place = nodes.count
      nodes.append(Node(reference: reference, height: height, rows: first..<first))
      let page = try tree.source.page(reference, height == 1 ? .keyLeaf : .keyBranch)
      let node = KeyNode(page)
      var last = height == 1 ? first + node.count : first
      if height > 1 {
        for index in 0..<node.count { last = try visit(node.child(index), height - 1, last) }
      }
      withExtendedLifetime(page) {}
      nodes[place].rows = first..<last
      return last
    }
    _ = try visit(tree.root.reference, Int(tree.root.height), 0)
    return nodes
  }

  private static func salvage(_ tree: KeyTree) throws -> Finding<[UInt8]> {
    var finding = Finding<[UInt8]>()
    try tree.salvage(
      { page throws(StoreError) in
        let node = KeyNode(page)
        for index in 0..<node.count {
          finding.saved.append(node.key(index, header: KeyNode.leafCellHeader))
        }
      },
      lost: { keys, _ in
        finding.losses.append(
          Finding.Loss(lower: keys.lower, upper: keys.upper, count: keys.count))
      })
    return finding
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `lost keys of a key tree lie where its damaged pages were`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let bench = KeyTreeBench(leaf: 128, branch: 200)
    var model = KeyModel()
    var tree = try bench.snapshot()
    for _ in 0..<3 {
      tree = try bench.write { editor in
        for _ in 0..<70 {
          let key = Array("\(Int.random(in: 0..<4000, using: &generator)) of a tree".utf8)
          _ = model.set(key, [1, 2])
          try editor.set(key, [1, 2])
        }
        for key in model.keys where Int.random(in: 0..<5, using: &generator) == 0 {
          _ = model.remove(key)
          _ = try editor.remove(key)
        }
      }
    }
    #expect(tree.root.height >= 4)
    var bounds = Bounds(model.keys) { $0.lexicographicallyPrecedes($1) }
    for damaged in Self.choices(try Self.nodes(tree), &generator) {
      let source = try Self.source(Self.damage(bench.store, damaged))
      bounds.expect(try Self.salvage(KeyTree(root: tree.root, source: source)), damaged)
    }
  }

  @Test func `a page of keys that two branches name is taken once`() throws {
    let bench = KeyTreeBench(leaf: 128, branch: 400)
    let tree = try bench.write { editor in
      for number in 10..<30 {
        try editor.set(Array("\(number)".utf8), [UInt8](repeating: 1, count: 9))
      }
    }
    try #require(tree.root.height == 2)
    let source = tree.source
    let page = try source.page(tree.root.reference, .keyBranch)
    let node = KeyNode(page)
    try #require(node.count > 3)
    let forged = PageBuffer(byteCount: page.byteCount)
    forged.bytes.copyMemory(from: page.bytes, byteCount: page.byteCount)
    node.child(0).store(to: forged.bytes + node.childCell(1))
    let writer = try bench.store.beginWrite()
    let context = WriteContext(
      source: source, writer: writer, codec: nil, store: bench.store.identity)
    var root = tree.root
    root.reference = try context.write(
      UnsafeRawBufferPointer(start: forged.bytes, count: forged.byteCount), kind: .keyBranch)
    let finding = try Self.salvage(KeyTree(root: root, source: source))
    #expect(
      finding.losses == [
        Finding.Loss(
          lower: node.key(1, header: KeyNode.branchCellHeader),
          upper: node.key(2, header: KeyNode.branchCellHeader), count: node.childRowCount(1))
      ])
    #expect(finding.saved.count == 20 - node.childRowCount(1))
    withExtendedLifetime(page) {}
    writer.abort()
  }

  // MARK: Errors that are no damage, and words

  @Test func `an error of the medium is thrown and nothing is called lost`() throws {
    let rows = ColumnWorkbench(Self.column, options: smallShape(rows: 4, room: 4))
    try rows.write { editor, _ in
      for key in 0..<60 as Range<Int64> { _ = try editor.insert(key: key, values: [.int(key)]) }
    }
    let keys = KeyTreeBench(leaf: 128, branch: 200)
    let tree = try keys.write { editor in
      for number in 10..<60 { try editor.set(Array("\(number)".utf8), [1]) }
    }
    for node in try Self.nodes(rows.snapshot().tree) {
      let store = ObservedStore(rows.store)
      store.refuse(node.reference)
      #expect(throws: ObservedStore.refusal) { try Self.salvage(rows.root, store) }
    }
    for node in try Self.nodes(tree) {
      let store = ObservedStore(keys.store)
      store.refuse(node.reference)
      #expect(throws: ObservedStore.refusal) {
        try Self.salvage(KeyTree(root: tree.root, source: Self.source(store)))
      }
    }
  }

  @Test func `lost ranges are told in words`() {
    #expect(Salvage.describe(.min ... .max) == "all")
    #expect(Salvage.describe(.min ... -3) == "up to -3")
    #expect(Salvage.describe(5 ... .max) == "from 5 on")
    #expect(Salvage.describe(5...5) == "5")
    #expect(Salvage.describe(5...6) == "5 to 6")
    func keys(_ lower: String?, _ upper: String?) -> String {
      Salvage.describe(
        LostKeys(lower: lower.map { Array($0.utf8) }, upper: upper.map { Array($0.utf8) }, count: 1)
      )
    }
    #expect(keys(nil, nil) == "all")
    #expect(keys("a", nil) == "from 'a' on")
    #expect(keys(nil, "b") == "up to, not including, 'b'")
    #expect(keys("a", "b") == "from 'a' up to, not including, 'b'")
    #expect(Salvage.describe([0x61, 0x1f]) == "0x611f")
    #expect(Salvage.describe([0x61, 0x7f]) == "0x617f")
    #expect(Salvage.describe([0xff, 0x0a]) == "0xff0a")
    #expect(
      Salvage.describe([UInt8](repeating: 0xab, count: 24))
        == "0x" + String(repeating: "ab", count: 24))
    #expect(
      Salvage.describe([UInt8](repeating: 0xab, count: 25))
        == "0x" + String(repeating: "ab", count: 24) + "…")
  }
}
