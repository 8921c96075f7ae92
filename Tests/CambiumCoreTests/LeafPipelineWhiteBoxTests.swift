import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CambiumCore

/// Leaves that are packed and written in the background.
struct LeafPipelineWhiteBoxTests {
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
      #expect(editor.pipeline != nil)
      // All but the leaves under way, and the branches.
      #expect(editor.pipeline.map { $0.count <= LeafPipeline.capacity } ?? false)
      #expect(try editor.tree.contents(bench.layout).map(\.key) == Array(0..<5_000))
      #expect(context.pipeline?.count == 0)
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
  func `rows under way are read, changed and removed like others`(seed: UInt64) throws {
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
    options.backgroundWriting = .always
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
    let (editor, context) = try open(store, writer)
    #expect(throws: StoreError.self) {
      try append(editor, 0..<5_000)
      _ = try editor.flush()
    }
    #expect(throws: StoreError.self) { _ = try editor.flush() }
    context.settle()
    writer.abort()
  }

  @Test func `an editor that goes away leaves no work behind`() throws {
    let bench = ColumnWorkbench(columns, options: smallShape(rows: 10, room: 20))
    try bench.write { _, context in
      let editor = ColumnTreeEditor(
        root: .empty(.column), layout: bench.layout, context: context, options: bench.options)
      try append(editor, 0..<777)
      #expect(context.pipeline != nil)
      _ = consume editor
    }
    #expect(try bench.snapshot().tree.count == 0)
  }

  @Test func `a thread without a processor is noticed, and then no other one is started`() throws {
    let before = Processors.starvedCount.load(ordering: .relaxed)
    let main = pthread_self()
    let store = HeapStore()
    let writer = WatchedWriter(try store.beginWrite()) { _ in
      // As if the thread had lost its processor in the middle of a leaf.
      if pthread_equal(pthread_self(), main) == 0 { usleep(3_000) }
      return nil
    }
    let (editor, context) = try open(store, writer)
    var key: Int64 = 0
    while Processors.starvedCount.load(ordering: .relaxed) == before, key < 100_000 {
      try append(editor, key..<key + 1_000)
      key += 1_000
    }
    #expect(Processors.starvedCount.load(ordering: .relaxed) != before)
    context.settle()
    writer.abort()

    Processors.noteStarved()
    var options = smallShape(rows: 10, room: 20)
    options.backgroundWriting = .whereIdle
    let bench = ColumnWorkbench(columns, options: options)
    try bench.write { editor, _ in
      try append(editor, 0..<1_000)
      // Asked last: a rest that has ended does not begin again.
      #expect(editor.pipeline == nil || Processors.areIdle)
    }
    #expect(try bench.snapshot().tree.count == 1_000)
  }

  @Test func `a child that was forked is told so, and its parent goes on`() async throws {
    await #expect(processExitsWith: .success) {
      let tests = LeafPipelineWhiteBoxTests()
      let (begun, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let main = pthread_self()
      let store = HeapStore()
      let writer = WatchedWriter(try store.beginWrite()) { count in
        if count == 2, pthread_equal(pthread_self(), main) == 0 {
          begun.signal()
          _ = gate.wait(timeout: .now() + 60)
        }
        return nil
      }
      let (editor, context) = try tests.open(store, writer)
      // Enough to be handed over, and not so much that it is waited for.
      try tests.append(editor, 0..<200)
      #expect(begun.wait(timeout: .now() + 60) == .success)
      let status = ForkedChild.status {
        do throws(StoreError) {
          _ = try editor.flush()
          return 1
        } catch {
          context.settle()
          return error == .forked(path: store.identity.path) ? 0 : 2
        }
      }
      #expect(status == 0)
      gate.signal()
      let root = try editor.flush()
      #expect(root.rowCount == 200)
      writer.abort()
    }
  }

  @Test func `nothing is lost where processors are idle one moment and busy the next`() throws {
    let store = HeapStore()
    let writer = try store.beginWrite()
    let asked = Atomic(0)
    let lane = BackgroundLane(byHand: .system) {
      (asked.add(1, ordering: .relaxed).newValue &* 0x9E37_79B9) >> 13 & 1 == 0
    }
    let (editor, context) = try open(store, writer, lane: lane, writes: .whereIdle)
    for key in 0..<4_000 as Range<Int64> {
      try append(editor, key..<key + 1)
      if key % 500 == 499 {
        #expect(try editor.tree.contents(ColumnLayout(columns)).map(\.key) == Array(0...key))
      }
    }
    #expect(asked.load(ordering: .relaxed) > 20)
    #expect(try editor.flush().rowCount == 4_000)
    let rows = try editor.tree.contents(ColumnLayout(columns))
    #expect(rows.map(\.key) == Array(0..<4_000) && rows.allSatisfy { $0.row == row($0.key) })
    context.settle()
    writer.abort()
  }

  private func open(
    _ store: HeapStore, _ writer: any PageWriter, lane: BackgroundLane = BackgroundLane(),
    writes: ColumnTreeOptions.BackgroundWriting? = nil
  ) throws -> (ColumnTreeEditor, WriteContext) {
    let source = PageSource(
      pin: try store.pin(), store: store, codec: nil, trust: TrustTable(bitCount: 8),
      cache: PageCache())
    let context = WriteContext(
      source: source, writer: writer, codec: nil, store: store.identity, lane: lane)
    var options = smallShape(rows: 10, room: 20)
    if let writes { options.backgroundWriting = writes }
    let editor = ColumnTreeEditor(
      root: .empty(.column), layout: ColumnLayout(columns), context: context, options: options)
    return (editor, context)
  }
}
