import TestSupport
import Testing

@testable import CambiumCore

/// What ends a salvage: not damage, but what says nothing about it.
@Suite struct SalvageEndWhiteBoxTests {
  private let store = ObservedStore()

  /// Cannot encode any page of a kind.
  private struct FailingCodec: PageCodec {
    let name = "failing"
    let kind: PageKind
    static let failure = StoreError.codecFailure(codec: "failing", reason: "no memory")

    func encode(
      _ page: Span<UInt8>, kind: PageKind
    ) throws(StoreError) -> [UInt8] {
      if kind == self.kind { throw Self.failure }
      return Array(copying: page)
    }

    func seal(_ body: inout [UInt8], context: PageContext) throws(StoreError) {}

    func open(
      _ body: Span<UInt8>, context: PageContext
    ) throws(StoreError) -> PageBuffer {
      PageBuffer(copying: body)
    }
  }

  @Test(arguments: PageKind.allCases)
  func `what the destination cannot write is not taken for damage`(kind: PageKind) throws {
    let kinds: [PageKind: TreeRoot.Kind] = [.keyLeaf: .key, .keyBranch: .key]
    try store.fillWithNotes { context in
      let treeKind = kinds[kind] ?? .position
      if treeKind == .key {
        let editor = KeyTreeEditor(root: .empty(.key), context: context)
        for element in 0..<4000 { try editor.set(Array("\(element) \(element)".utf8), [1, 2, 3]) }
        return [7: try editor.flush()]
      }
      // More than one leaf of those that a destination makes.
      let editor = ColumnTreeEditor(
        root: .empty(.position),
        layout: ColumnLayout([ColumnSpec(id: 1, type: .bytes, isNullable: false)]),
        context: context)
      var generator = SeededGenerator(seed: 5)
      for element in 0..<400 {
        let value = (0..<(element == 5 ? 3000 : 500)).map { _ in
          UInt8.random(in: 0...255, using: &generator)
        }
        try value.withUnsafeBytes { try editor.insert(at: element, values: [.bytes($0)]) }
      }
      return [7: try editor.flush()]
    }
    let database = try Database(
      store: HeapStore(codec: "failing"), codec: FailingCodec(kind: kind))
    #expect(throws: FailingCodec.failure) { try Salvage(store: store).run(into: database) }
    #expect(try database.snapshot().version == 0)
    // The transaction has ended.
    try database.beginWrite().rollback()
  }

  @Test func `a page that can be read only once ends it`() throws {
    var generator = SeededGenerator(seed: 6)
    let transaction = try Database(store: store).beginWrite()
    let table = try transaction.createTable(
      "notes", columns: [ColumnDescriptor(type: .bytes, isNullable: true, name: "text")])
    for key in 0..<3000 as Range<Int64> {
      let text = (0..<500).map { _ in UInt8.random(in: 0...255, using: &generator) }
      try text.withUnsafeBytes { _ = try table.insert(key: key, values: [(1, .bytes($0))]) }
    }
    let tree = try #require(try transaction.commit().table("notes")?.groups[0])
    var leaves: [PageReference] = []
    try tree.walk({ if $1 == .columnLeaf { leaves.append($0) } }, tree: { _ in }, damage: { _ in })
    // So many that the first one has left the smallest cache when all were read.
    #expect(leaves.count > 50)
    let address = try #require(leaves.first).address
    let reads = ReadCounter()
    store.falsify { reference, page in
      guard reference.address == address else { return }
      reads.count += 1
      if reads.count > reads.soundCount {
        page.bytes.storeBytes(of: 0xff, toByteOffset: 20, as: UInt8.self)
      }
    }
    var results: [Int: Int] = [:]
    for soundCount in 0..<3 {
      (reads.count, reads.soundCount) = (0, soundCount)
      let catalog = try SalvageCatalog(
        store: store, codec: nil, cache: PageCache(byteCount: 0))
      let transaction = try Database(store: HeapStore()).beginWrite()
      var copy = SalvageCopy(transaction: transaction, progress: { _ in })
      let result = Result { () throws(StoreError) in try copy.take("notes", from: catalog) }
      switch result {
      case .success(let isTaken):
        #expect(isTaken)
        results[soundCount] = copy.report.losses.count
      case .failure(let error): #expect(error.damage(at: .none) != nil)
      }
      transaction.rollback()
    }
    // Lost; there when rows are looked through, and lost when they are copied; whole.
    #expect(results == [0: 1, 2: 0])
  }

  /// Unchecked: one thread reads.
  private final class ReadCounter: @unchecked Sendable {
    var count = 0
    var soundCount = 0
  }
}
