import Synchronization
import TestSupport
import Testing

@testable import CambiumCore

/// Gives out pages whose memory is wiped when nobody keeps it any more.
private struct WipingCodec: PageCodec {
  let name = "wiping"

  func encode(_ page: Span<UInt8>, kind: PageKind) throws(StoreError) -> [UInt8] {
    Array(copying: page)
  }

  func seal(_ body: inout [UInt8], context: PageContext) throws(StoreError) {}

  func open(
    _ body: Span<UInt8>, context: PageContext
  ) throws(StoreError) -> PageBuffer {
    PageBuffer(copying: body, isSecret: true)
  }
}

/// What all values of a column of bytes begin with.
struct SharedPrefixWhiteBoxTests {
  /// Nothing but what is being compared keeps a page here.
  @Test func `what texts begin with is told where the first leaf lacks their column`() throws {
    let age = ColumnSpec(id: 1, type: .int, isNullable: false)
    let name = ColumnSpec(id: 2, type: .bytes, isNullable: true)
    let bench = ColumnWorkbench(
      [age], options: smallShape(rows: 40, room: 5), cache: PageCache(byteCount: 0),
      codec: WipingCodec())
    try bench.write { editor, _ in
      for key in 0..<80 { _ = try editor.insert(key: Int64(key), values: [.int(0)]) }
    }
    try bench.write { editor, _ in
      editor.layout = ColumnLayout([age, name])
      for key in 80..<400 {
        let text = Array("shared \(key / 120 % 2) of \(key)".utf8)
        try lendRow([.int(0), .bytes(text)]) { _ = try editor.insert(key: Int64(key), values: $0) }
      }
    }
    let tree = try bench.snapshot().tree
    #expect(try SharedPrefix.count(of: name, in: tree) == "shared ".utf8.count)
    // Whoever looks through the leaves for that can be told to give up, as while sorting.
    let asked = Atomic(0)
    let interruption = Interruption(when: {
      asked.add(1, ordering: .relaxed)
      return asked.load(ordering: .relaxed) > 5
    })
    #expect(throws: StoreError.interrupted) {
      _ = try SharedPrefix.count(of: name, in: tree, interruption)
    }
    #expect(asked.load(ordering: .relaxed) == 6)
    #expect(throws: StoreError.interrupted) {
      _ = try tree.keys(
        sortedBy: [SortTerm(name)], interruption: Interruption(when: { true }))
    }
  }
}
