import CambiumCore
import CambiumMemory
import Foundation
import TestSupport
import Testing

@testable import Cambium

/// Links as they are kept from their targets.
@Suite struct BacklinkTests {
  @Test(arguments: 0..<20) func `runs of sources survive their form, whole and in blocks`(
    seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    let spread = [1, 3, 200, 70_000, Int64.max / 400][Int(seed) % 5]
    var sources: [Int64] = []
    for _ in 0..<Int.random(in: 1...400, using: &random) {
      let source = Int64.random(in: -100 * spread...100 * spread, using: &random)
      for _ in 0..<(seed % 3 == 0 ? Int.random(in: 1...300, using: &random) : 1) {
        sources.append(source)
      }
    }
    if seed % 4 == 0 { sources += [.min, .max, .max] }
    sources.sort()
    let runs = SourceRuns(sources: sources)
    #expect(runs.linkCount == sources.count)
    var form: [UInt8] = []
    runs.append(to: &form, hasFirst: true)
    #expect(form.withUnsafeBytes { SourceRuns($0, first: nil) } == runs, "seed \(seed)")
    for isFull in [true, false] {
      let blocks = runs.blocks(isFull: isFull)
      #expect(blocks.allSatisfy { $0.bytes.count <= SourceRuns.byteLimit })
      let read = blocks.flatMap { block in
        block.bytes.withUnsafeBytes { SourceRuns($0, first: block.source)?.runs ?? [] }
      }
      #expect(read == runs.runs, "seed \(seed)")
    }
    var removed = runs
    let gone = sources.filter { _ in Bool.random(using: &random) }
    removed.remove(gone[...])
    #expect(removed.linkCount == sources.count - gone.count)
    removed.add(gone[...])
    #expect(removed == runs)
  }

  @Test func `bytes that are no sources are refused`() {
    for bytes in [
      [], [0x80], [2, 0], [2, 0, 0], [2, 0, 1, 0, 1], [2, 0x80],
      [2] + [UInt8](repeating: 0xFF, count: 10), [2, 1, 0],
    ] as [[UInt8]] {
      #expect(bytes.withUnsafeBytes { SourceRuns($0, first: nil) } == nil, "\(bytes)")
    }
  }

  /// Links as a test keeps them.
  private struct Model {
    var links: [Backlink: Int] = [:]

    var all: [Backlink] {
      links.flatMap { Array(repeating: $0.key, count: $0.value) }.sorted(by: Backlink.areInOrder)
    }
  }

  private static func link(_ random: inout SeededGenerator, spread: Int64) -> Backlink {
    Backlink(
      target: Int64.random(in: -1...1, using: &random),
      table: UInt32.random(in: 1...2, using: &random), column: 3,
      source: Int64.random(in: -spread...spread, using: &random))
  }

  private func check(_ tree: KeyTree, _ model: Model, _ comment: Comment) throws {
    #expect(try Backlinks.links(in: tree, []) == model.all, comment)
    #expect(try Backlinks.checkedCount(in: tree) == model.all.count, comment)
    for target in -1...1 as ClosedRange<Int64> {
      for table in 1...2 as ClosedRange<UInt32> {
        let group = BacklinkGroup(target: target, table: table, column: 3)
        let expected = model.all.filter { $0.group == group }
        #expect(try Backlinks.count(in: tree, group) == expected.count, comment)
        #expect(try Backlinks.sources(in: tree, group) == expected.map(\.source), comment)
      }
    }
  }

  @Test(arguments: 0..<12) func `a tree has the links that a dictionary has`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let spread: Int64 = [40, 3000, 1 << 50][Int(seed) % 3]
    let database = try Database(store: MemoryStore())
    var model = Model()
    for step in 0..<12 {
      let transaction = try database.beginWrite()
      let editor = try BacklinkEditor(transaction, toClass: "A")
      for _ in 0..<Int.random(in: 1...900, using: &random) {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<(step % 3 == 2 ? 2 : 7):
          let link = Self.link(&random, spread: spread)
          let count = Int.random(in: 0..<20, using: &random) == 0 ? 90 : 1
          for _ in 0..<count { try editor.add(link) }
          model.links[link, default: 0] += count
        case 7: try editor.settle()
        default:
          guard let link = model.links.randomElement(using: &random)?.key else { continue }
          try editor.remove(link)
          model.links[link] = (model.links[link] ?? 1) == 1 ? nil : (model.links[link] ?? 1) - 1
        }
      }
      if step % 4 == 3 {
        let doomed = model.all.filter { _ in Bool.random(using: &random) }
        try editor.remove(doomed.shuffled(using: &random))
        for link in doomed {
          model.links[link] = (model.links[link] ?? 1) == 1 ? nil : (model.links[link] ?? 1) - 1
        }
      }
      if step == 6 {
        let targets: [Int64] = seed % 2 == 0 ? [1] : [-5, 0, 1, 3, 1 << 40]
        let expected = model.all.filter { targets.contains($0.target) }
        let taken = try editor.takeAll(to: targets)
        #expect(taken.sorted(by: Backlink.areInOrder) == expected.sorted(by: Backlink.areInOrder))
        model.links = model.links.filter { !targets.contains($0.key.target) }
      }
      if step == 9 {
        try editor.removeAll(from: 3, of: 2)
        model.links = model.links.filter { $0.key.table != 2 }
      }
      try editor.settle()
      _ = try transaction.commit()
      let tree = try #require(try database.snapshot().keyTree("backlinks/A"))
      try check(tree, model, "seed \(seed), step \(step)")
      for link in model.links.keys.prefix(50) {
        #expect(try Backlinks.count(in: tree, of: link) == model.links[link])
        var absent = link
        absent.source += 1
        #expect(try Backlinks.count(in: tree, of: absent) == model.links[absent] ?? 0)
      }
    }
  }

  @Test func `links that were kept one by one are read, and grouped where a file is upgraded`()
    throws
  {
    let database = try Database(store: MemoryStore())
    var model = Model()
    let old = try database.beginWrite()
    let tree = try old.editKeyTree("backlinks/A")
    var random = SeededGenerator(seed: 5)
    for _ in 0..<3000 {
      let link = Self.link(&random, spread: 500)
      let ordinal = model.links[link, default: 0]
      var key = link.group.key(ofBlock: link.source)
      if ordinal > 0 { key += [0, 0, 0, UInt8(ordinal)] }
      try tree.set(key, [])
      model.links[link] = ordinal + 1
    }
    _ = try old.commit()
    try check(try #require(try database.snapshot().keyTree("backlinks/A")), model, "one by one")
    let transaction = try database.beginWrite()
    try BacklinkEditor.group(transaction)
    _ = try transaction.commit()
    let grouped = try #require(try database.snapshot().keyTree("backlinks/A"))
    try check(grouped, model, "grouped")
    #expect(grouped.count < 100)
  }

  /// What verification says of a file of 400 nodes that lead to the first, of which `change` has changed the
  /// backlinks.
  private func findings(
    _ change: (Transaction, BacklinkEditor, BacklinkGroup) throws -> Void
  ) throws -> [String] {
    let folder = try TemporaryFolder()
    let configuration = Realm.Configuration(
      fileURL: URL(filePath: folder.file("a.realm")), objectTypes: [SpecNode.self])
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      try realm.write {
        let nodes = (0..<400).map { _ in realm.create(SpecNode.self) }
        for node in nodes { node.next = nodes[0] }
      }
      #expect(realm.objects(SpecNode.self).first?.previous.count == 400)
    }
    let request = Realm.StoreRequest(
      path: folder.file("a.realm"), isReadOnly: false, codec: nil)
    let database = try Database(store: configuration.store.open(request))
    let transaction = try database.beginWrite()
    let table = try #require(try transaction.table("class/SpecNode"))
    let column = try #require(table.record.columns.first { $0.name == "next" })
    let group = BacklinkGroup(target: 0, table: table.record.id, column: column.id)
    let editor = try BacklinkEditor(transaction, toClass: "SpecNode")
    try change(transaction, editor, group)
    try editor.settle()
    _ = try transaction.commit()
    var verifier = ObjectVerifier(snapshot: try database.snapshot())
    let findings = try verifier.run()
    try database.close()
    return findings
  }

  @Test func `verification finds backlinks that are missing, too many or miscounted`() throws {
    #expect(try findings { _, _, _ in } == [])
    #expect(
      try findings { _, editor, group in try editor.remove(group.link(from: 7)) }
        == [
          "SpecNode.next: the link from 7 to 0 has no backlink",
          "SpecNode: 399 backlinks for 400 links",
        ])
    #expect(
      try findings { _, editor, group in try editor.add(group.link(from: 7)) }
        == ["SpecNode: 401 backlinks for 400 links"])
    #expect(
      try findings { transaction, _, group in
        try transaction.editKeyTree("backlinks/SpecNode").set(group.key, [5])
      } == ["SpecNode: in a tree of backlinks a head says 5 links where there are 400"])
    // A block that begins inside of the one before.
    let disordered = try findings { transaction, _, group in
      try transaction.editKeyTree("backlinks/SpecNode").set(group.key(ofBlock: 9), [])
    }
    #expect(disordered.contains("SpecNode: in a tree of backlinks sources are not in order"))
  }

  @Test func `a cancelled first change leaves links as they were`() throws {
    let realm = try specRealm([SpecNode.self])
    realm.beginWrite()
    let node = realm.create(SpecNode.self)
    node.next = node
    realm.cancelWrite()
    try realm.write {
      let nodes = (0..<300).map { _ in realm.create(SpecNode.self) }
      for node in nodes { node.next = nodes[0] }
      #expect(nodes[0].previous.count == 300)
      realm.delete(nodes[0])
    }
    #expect(realm.objects(SpecNode.self).allSatisfy { $0.next == nil })
  }
}

private final class SpecNode: Object {
  @Persisted var next: SpecNode?
  @Persisted(originProperty: "next") var previous: LinkingObjects<SpecNode>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
