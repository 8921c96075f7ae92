import TestSupport
import Testing

@testable import CambiumCore

/// Leaves that appended rows have filled are written ahead of the commit.
struct WriteAheadWhiteBoxTests {
  private let columns = [
    ColumnSpec(id: 1, type: .int, isNullable: false),
    ColumnSpec(id: 2, type: .bytes, isNullable: true),
  ]

  private func row(_ key: Int64) -> [ModelValue] {
    [.int(key * 3), key % 7 == 0 ? .null : .bytes(Array("row \(key)@example".utf8))]
  }

  private func append(_ editor: ColumnTreeEditor, _ keys: Range<Int64>) throws {
    for key in keys { try lendRow(row(key)) { _ = try editor.insert(key: key, values: $0) } }
  }

  @Test func `appended leaves are written while rows still come`() throws {
    let bench = ColumnWorkbench(columns, options: smallShape(rows: 10, room: 20))
    try bench.write { editor, context in
      try append(editor, 0..<5_000)
      // All but the last one.
      #expect(context.writtenByteCount > 490 * 64)
      #expect(try editor.tree.contents(bench.layout).map(\.key) == Array(0..<5_000))
      try append(editor, 5_000..<10_000)
    }
    let tree = try bench.snapshot().tree
    #expect(try tree.contents(bench.layout).allSatisfy { $0.row == row($0.key) })
    let walk = try tree.walked()
    #expect(walk.findings.isEmpty)
    #expect(
      try bench.store.check(reachable: walk.extents.sorted { $0.address < $1.address }).isEmpty)
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `rows that were written ahead are read, changed and removed like others`(seed: UInt64) throws
  {
    let bench = ColumnWorkbench(columns, options: smallShape(rows: 6, room: 5))
    var generator = SeededGenerator(seed: seed)
    var model: [Int64: [ModelValue]] = [:]
    var end: Int64 = 0
    for _ in 0..<4 {
      let other = ColumnWorkbench(columns)
      try bench.write { editor, context in
        for _ in 0..<12 {
          let count = Int64.random(in: 1...400, using: &generator)
          for key in end..<(end + count) { model[key * 2] = row(key * 2) }
          for key in end..<(end + count) {
            try lendRow(row(key * 2)) { _ = try editor.insert(key: key * 2, values: $0) }
          }
          end += count
          let key = Int64.random(in: 0..<(end * 2), using: &generator)
          switch Int.random(in: 0..<7, using: &generator) {
          case 0:
            let value = try editor.value(key: key, column: 1)
            #expect(value.map(ModelValue.init) == model[key]?[0])
          case 1:
            let found = try editor.update(key: key, column: 1, value: .int(-key))
            #expect(found == (model[key] != nil))
            if found { model[key]?[0] = .int(-key) }
          case 2:
            #expect(try editor.remove(key: key) == (model.removeValue(forKey: key) != nil))
          case 3:
            let isNew = try lendRow(row(key)) { try editor.insert(key: key, values: $0) }
            #expect(isNew == (model[key] == nil))
            if isNew { model[key] = row(key) }
          case 4: _ = try editor.flush()
          case 5:
            // Somebody else writes through the same transaction.
            let second = ColumnTreeEditor(
              root: .empty(.column), layout: other.layout, context: context,
              options: bench.options)
            try append(second, 0..<200)
            try second.removeAll()
          default: break
          }
        }
      }
      let tree = try bench.snapshot().tree
      let contents = try tree.contents(bench.layout)
      #expect(contents.map(\.key) == model.keys.sorted())
      #expect(contents.allSatisfy { model[$0.key] == $0.row })
      #expect(try tree.walked().findings.isEmpty)
    }
  }

  @Test func `leaves that come out too large are split when the tree is written`() throws {
    var options = ColumnTreeOptions()
    options.leafByteCount = 1024
    options.writeAheadByteCount = 0
    options.branchRoom = 20
    let bench = ColumnWorkbench(columns, options: options)
    var generator = SeededGenerator(seed: 5)
    var model: [Int64: [UInt8]] = [:]
    try bench.write { editor, _ in
      for key in 0..<4_000 as Range<Int64> {
        // First all alike, so that leaves are expected to be small, then nothing in common.
        let text =
          key < 2_000
          ? [UInt8](repeating: 97, count: 60)
          : (0..<60).map { _ in UInt8.random(in: 0...255, using: &generator) }
        model[key] = text
        try lendRow([.int(1), .bytes(text)]) { _ = try editor.insert(key: key, values: $0) }
      }
    }
    let tree = try bench.snapshot().tree
    let walk = try tree.walked()
    #expect(walk.findings.isEmpty)
    #expect(walk.extents.allSatisfy { $0.byteCount <= options.leafByteCount * 4 })
    #expect(try tree.contents(bench.layout).allSatisfy { $0.row[1] == .bytes(model[$0.key] ?? []) })
  }

  @Test func `a leaf that cannot be written fails the transaction`() throws {
    let store = HeapStore()
    let writer = WatchedWriter(try store.beginWrite(), failingAt: 100)
    let editor = try open(store, writer)
    #expect(throws: StoreError.self) {
      try append(editor, 0..<5_000)
      _ = try editor.flush()
    }
    #expect(throws: StoreError.self) { _ = try editor.flush() }
    writer.abort()
  }

  private func open(_ store: HeapStore, _ writer: any PageWriter) throws -> ColumnTreeEditor {
    let source = PageSource(
      pin: try store.pin(), store: store, codec: nil, trust: TrustTable(bitCount: 8),
      cache: PageCache())
    let context = WriteContext(source: source, writer: writer, codec: nil, store: store.identity)
    return ColumnTreeEditor(
      root: .empty(.column), layout: ColumnLayout(columns), context: context,
      options: smallShape(rows: 10, room: 20))
  }
}
