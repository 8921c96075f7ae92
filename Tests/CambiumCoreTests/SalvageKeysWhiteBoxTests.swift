import TestSupport
import Testing

@testable import CambiumCore

/// Damages pages of trees of byte keys and compares the ranges that are reported as lost with the
/// keys below them.
struct SalvageKeysWhiteBoxTests {
  private static func nodes(_ tree: KeyTree) throws -> [SalvageNode] {
    var nodes: [SalvageNode] = []
    func visit(_ reference: PageReference, _ height: Int, _ first: Int) throws -> Int {
      let place = nodes.count
      nodes.append(SalvageNode(reference: reference, height: height, rows: first..<first))
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

  private static func salvage(_ tree: KeyTree) throws -> SalvageFinding<[UInt8]> {
    var finding = SalvageFinding<[UInt8]>()
    try TreeWalk(tree.root, tree.source).salvage(
      { page throws(StoreError) in
        let node = KeyNode(page)
        for index in 0..<node.count {
          finding.saved.append(node.key(index, header: KeyNode.leafCellHeader))
        }
      },
      lost: { part, _ in
        guard case .keys(let lower, let upper) = part.keys else { return }
        finding.losses.append(SalvageFinding.Loss(lower: lower, upper: upper, count: part.count))
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
    var bounds = SalvageBounds(model.keys) { $0.lexicographicallyPrecedes($1) }
    for damaged in SalvageNode.choices(try Self.nodes(tree), &generator) {
      let source = try PageSource.uncached(SalvageNode.damage(damaged, of: bench.store))
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
        SalvageFinding.Loss(
          lower: node.key(1, header: KeyNode.branchCellHeader),
          upper: node.key(2, header: KeyNode.branchCellHeader), count: node.childRowCount(1))
      ])
    #expect(finding.saved.count == 20 - node.childRowCount(1))
    withExtendedLifetime(page) {}
    writer.abort()
  }

  @Test func `an error of the medium is thrown and no keys are called lost`() throws {
    let bench = KeyTreeBench(leaf: 128, branch: 200)
    let tree = try bench.write { editor in
      for number in 10..<60 { try editor.set(Array("\(number)".utf8), [1]) }
    }
    for node in try Self.nodes(tree) {
      let store = ObservedStore(bench.store)
      store.refuse(node.reference)
      #expect(throws: ObservedStore.refusal) {
        try Self.salvage(KeyTree(root: tree.root, source: .uncached(store)))
      }
    }
  }

  @Test func `lost keys are told in words`() {
    func keys(_ lower: String?, _ upper: String?) -> String {
      KeySpan.keys(lower: lower.map { Array($0.utf8) }, upper: upper.map { Array($0.utf8) })
        .description
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
