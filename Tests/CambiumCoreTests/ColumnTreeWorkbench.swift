import TestSupport
import Testing

@testable import CambiumCore

/// Commits versions of one column tree to a heap store, without a database around it.
final class ColumnWorkbench {
  let store = HeapStore()
  let trust = TrustTable(bitCount: 12)
  let cache: PageCache
  let codec: (any PageCodec)?
  private(set) var root: TreeRoot
  var layout: ColumnLayout
  var options: ColumnTreeOptions

  init(
    _ columns: [ColumnSpec], kind: TreeRoot.Kind = .column,
    options: ColumnTreeOptions = ColumnTreeOptions(), cache: PageCache = PageCache(),
    codec: (any PageCodec)? = nil
  ) {
    self.cache = cache
    self.codec = codec
    layout = ColumnLayout(columns)
    root = .empty(kind)
    self.options = options
  }

  /// A committed version that stays readable while it is held.
  struct Held {
    let tree: ColumnTree
    let pin: Pin
  }

  func snapshot() throws -> Held {
    let pin = try store.pin()
    let source = PageSource(pin: pin, store: store, codec: codec, trust: trust, cache: cache)
    return Held(tree: ColumnTree(root: root, source: source), pin: pin)
  }

  /// Changes the tree in one transaction and commits it; returns the roots it abandoned.
  @discardableResult
  func write(_ body: (ColumnTreeEditor, WriteContext) throws -> Void) throws -> [TreeRoot] {
    let writer = try store.beginWrite()
    let source = PageSource(
      pin: try store.pin(), store: store, codec: codec, trust: trust, cache: cache)
    let context = WriteContext(
      source: source, writer: writer, codec: codec, store: store.identity)
    let editor = ColumnTreeEditor(
      root: root, layout: layout, context: context, options: options)
    try body(editor, context)
    let newRoot = try editor.flush()
    let abandoned = context.abandonedRoots
    root = newRoot
    layout = editor.layout
    _ = try writer.publish(root: newRoot, durability: .full, metadata: [])
    return abandoned
  }
}

extension ColumnWorkbench {
  /// Expects these keys with the rows that `row` gives, a sound tree, and a store that agrees.
  func expectRows(
    _ keys: [Int64], _ row: (Int64) -> [ModelValue],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let tree = try snapshot().tree
    let contents = try tree.contents(layout)
    #expect(contents.map(\.key) == keys, sourceLocation: sourceLocation)
    #expect(contents.allSatisfy { $0.row == row($0.key) }, sourceLocation: sourceLocation)
    let walk = try tree.walked()
    #expect(walk.findings.isEmpty, sourceLocation: sourceLocation)
    let extents = walk.extents.sorted { $0.address < $1.address }
    #expect(try store.check(reachable: extents).isEmpty, sourceLocation: sourceLocation)
  }
}
