import Synchronization
import TestSupport
import Testing

@testable import CambiumCore

/// Changes beside pages that cannot be read: what does not need them goes on.
@Suite struct DamagedNeighboursWhiteBoxTests {
  /// Refuses pages at some addresses, as a damaged medium would.
  private final class Breaker: PageCodec {
    let name = "breaker"
    let broken = Mutex<Set<UInt64>>([])

    func encode(_ page: Span<UInt8>, kind: PageKind) throws(StoreError) -> [UInt8] {
      [UInt8](copying: page)
    }

    func seal(_ body: inout [UInt8], context: PageContext) throws(StoreError) {}

    func open(_ body: Span<UInt8>, context: PageContext) throws(StoreError) -> PageBuffer {
      if broken.withLock({ $0.contains(context.address) }) {
        throw .damaged(Damage(.checksum, "broken on purpose"))
      }
      return PageBuffer(copying: body)
    }
  }

  private static let columns = [ColumnSpec(id: 1, type: .int, isNullable: false)]

  private let codec = Breaker()

  private func bench(_ options: ColumnTreeOptions, keys: some Sequence<Int64>) throws
    -> ColumnWorkbench
  {
    let bench = ColumnWorkbench(
      Self.columns, options: options, cache: PageCache(byteCount: 0), codec: codec)
    try bench.write { editor, _ in
      for key in keys {
        try lendRow([.int(key)]) { _ = try editor.insert(key: key, values: $0) }
      }
    }
    return bench
  }

  /// Breaks a node of a height, by its place among those.
  private func damage(_ bench: ColumnWorkbench, height: Int, at place: Int) throws {
    let tree = try bench.snapshot().tree
    var found: [PageReference] = []
    try TreeWalk(tree.root, tree.source).run(
      reach: { _, _ in },
      visit: { _, part in if part.role.height == height { found.append(part.reference) } },
      lost: { _, _ in })
    codec.broken.withLock { _ = $0.insert(found[place].address) }
  }

  @Test func `all rows but those of a damaged branch can be removed`() throws {
    let bench = try bench(smallShape(rows: 3, room: 3), keys: 0..<27)
    try #require(bench.root.height == 3)
    try damage(bench, height: 2, at: 0)
    try bench.write { editor, _ in
      for key in 9..<Int64(27) { _ = try editor.remove(key: key) }
    }
    #expect(bench.root.rowCount == 9)
    codec.broken.withLock { $0 = [] }
    let tree = try bench.snapshot().tree
    for key in 0..<Int64(27) {
      let isThere = try tree.seek(key) != nil
      #expect(isThere == (key < 9))
    }
  }

  @Test func `rows out of order go into sound leaves`() throws {
    var options = smallShape(rows: 40, room: 50)
    options.rowLogByteCount = 160 << 20
    let bench = try bench(options, keys: (0..<1000).map { $0 * 10 })
    try damage(bench, height: 1, at: 3)
    // From the end to the middle and again, so that a row goes before the one before it often.
    let keys = (1..<10).flatMap { round in
      stride(from: 9500, to: 5000, by: -450).map { Int64($0 + round) }
    }
    try bench.write { editor, _ in
      for key in keys {
        var isNew = false
        try lendRow([.int(key)]) { isNew = try editor.insert(key: key, values: $0) }
        #expect(isNew)
      }
    }
    codec.broken.withLock { $0 = [] }
    let tree = try bench.snapshot().tree
    #expect(tree.count == 1000 + keys.count)
    for key in keys {
      let isThere = try tree.seek(key) != nil
      #expect(isThere)
    }
  }
}
