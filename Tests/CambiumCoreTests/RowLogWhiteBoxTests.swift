import TestSupport
import Testing

@testable import CambiumCore

/// Rows that come out of order, and are sorted before they go into the tree.
struct RowLogWhiteBoxTests {
  private let columns = [
    ColumnSpec(id: 1, type: .int, isNullable: false),
    ColumnSpec(id: 2, type: .bytes, isNullable: true),
  ]

  private func row(_ key: Int64) -> [ModelValue] {
    [.int(key &* 3), key % 7 == 0 ? .null : .bytes(Array("row \(key)@example".utf8))]
  }

  private func insert(_ editor: ColumnTreeEditor, _ key: Int64) throws -> Bool {
    try lendRow(row(key)) { try editor.insert(key: key, values: $0) }
  }

  private func shuffled(_ keys: Range<Int64>, seed: UInt64) -> [Int64] {
    var generator = SeededGenerator(seed: seed)
    return keys.shuffled(using: &generator)
  }

  @Test func `shuffled rows go through a log into full leaves`() throws {
    let bench = ColumnWorkbench(columns)
    try bench.write { editor, context in
      for key in shuffled(0..<20_000, seed: 1) {
        let isNew = try insert(editor, key)
        #expect(isNew)
      }
      let log = try #require(editor.log)
      #expect(log.count > 18_000)
      #expect(editor.count == 20_000)
      #expect(context.dirty.byteCount >= log.count * log.fixedByteCount)
      #expect(context.dirty.byteCount == context.dirty.measuredByteCount)
      for key in shuffled(0..<20_000, seed: 2).prefix(500) {
        let isNew = try insert(editor, key)
        #expect(isNew == false)
      }
      #expect(editor.log === log)
      #expect(editor.tree.count == 20_000)
      #expect(editor.log == nil)
      #expect(context.dirty.byteCount == context.dirty.measuredByteCount)
    }
    try bench.expectRows(Array(0..<20_000), row)
    let ordered = ColumnWorkbench(columns)
    try ordered.write { editor, _ in
      for key in 0..<20_000 as Range<Int64> { _ = try insert(editor, key) }
    }
    let leafCounts = try [bench, ordered].map { try $0.snapshot().tree.walked().extents.count }
    #expect(leafCounts[0] <= leafCounts[1] + leafCounts[1] / 10 + 2)
  }

  @Test func `a few rows out of order go straight into the tree`() throws {
    let bench = ColumnWorkbench(columns)
    try bench.write { editor, _ in
      for key in 0..<3_000 as Range<Int64> { _ = try insert(editor, key * 10) }
    }
    try bench.write { editor, _ in
      for key in shuffled(0..<30, seed: 3) {
        let isNew = try insert(editor, key * 990 + 1)
        #expect(isNew)
      }
      #expect(editor.log == nil)
    }
    try bench.write { editor, _ in
      // Ascending rows between others, however many, need none either.
      for key in 0..<3_000 as Range<Int64> {
        let isNew = try insert(editor, key * 10 + 5)
        #expect(isNew)
      }
      #expect(editor.log == nil)
    }
    #expect(try bench.snapshot().tree.walked().findings.isEmpty)
  }

  @Test func `rows that come in order again leave the log`() throws {
    let bench = ColumnWorkbench(columns)
    try bench.write { editor, _ in
      for key in shuffled(0..<3_000, seed: 4) { _ = try insert(editor, key) }
      #expect(editor.log != nil)
      for key in 3_000..<6_000 as Range<Int64> {
        let isNew = try insert(editor, key)
        #expect(isNew)
      }
      #expect(editor.log == nil)
    }
    try bench.expectRows(Array(0..<6_000), row)
  }

  @Test(arguments: [0, 300, 6_000])
  func `keys that the tree holds are refused`(present: Int64) throws {
    let bench = ColumnWorkbench(columns)
    try bench.write { editor, _ in
      for key in 0..<present { _ = try insert(editor, key * 2) }
    }
    try bench.write { editor, _ in
      for key in shuffled(-500..<12_000, seed: 5) {
        let isNew = try insert(editor, key)
        #expect(isNew == (key < 0 || key % 2 != 0 || key >= present * 2))
      }
      #expect(editor.log != nil)
      #expect(editor.count == 12_500)
    }
    try bench.expectRows(Array(-500..<12_000), row)
  }

  /// Keys side by side are known from one log to the next; of those far apart there are too many.
  @Test(arguments: [true, false])
  func `a log that is full is followed by another one that knows the keys`(isDense: Bool) throws {
    var options = ColumnTreeOptions()
    options.rowLogByteCount = 700 << 10
    let bench = ColumnWorkbench(columns, options: options)
    func spread(_ key: Int64) -> Int64 { isDense ? key : key &* 0x1E37_79B9_7F4A_7C15 }
    try bench.write { editor, _ in
      var logs: [RowLog] = []
      for (index, key) in shuffled(0..<30_000, seed: 8).enumerated() {
        let isNew = try insert(editor, spread(key))
        #expect(isNew)
        if let log = editor.log, log !== logs.last { logs.append(log) }
        // One that came in an earlier log, or in this one.
        if index % 7 == 0 {
          let isNewAgain = try insert(editor, spread(key))
          #expect(!isNewAgain)
        }
      }
      for key in stride(from: 0, to: 30_000, by: 11) as StrideTo<Int64> {
        let isNew = try insert(editor, spread(key))
        #expect(!isNew)
      }
      #expect(logs.count > 2)
      #expect(logs.dropFirst().allSatisfy { $0.knowsTree } == isDense)
      #expect(editor.count == 30_000)
      // What was taken out may come again.
      let removed = try editor.remove(key: spread(17))
      #expect(removed && editor.log == nil)
      let isNew = try insert(editor, spread(17))
      #expect(isNew)
    }
    try bench.expectRows((0..<30_000).map(spread).sorted(), row)
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `a log and everything else give what a model gives`(seed: UInt64) throws {
    var options = seed % 2 == 0 ? smallShape(rows: 6, room: 5) : ColumnTreeOptions()
    options.inlineByteCount = 256
    options.writeAheadByteCount = seed % 3 == 0 ? 0 : 1 << 16
    if seed % 4 == 1 { options.rowLogByteCount = 600 << 10 }
    let bench = ColumnWorkbench(everyColumn, options: options)
    var maker = CellMaker(generator: SeededGenerator(seed: seed))
    var model: [Int64: [ModelValue]] = [:]
    // Dense keys, sparse ones, and the ends of all integers.
    func key() -> Int64 {
      switch seed % 3 {
      case 0: Int64(maker.number(4_000))
      case 1: Int64(bitPattern: maker.generator.next()) >> Int64(maker.number(50))
      default:
        [.min, .max, 0, 1 << 40].randomElement(using: &maker.generator)!
          &+ Int64(
            maker.number(800)) &- 400
      }
    }
    for _ in 0..<3 {
      var expectedTrees = 0
      var logCount = 0
      let abandoned = try bench.write { editor, _ in
        for _ in 0..<10 {
          maker.mood = maker.number(56)
          for _ in 0..<maker.number(400) {
            let key = key()
            var row = everyColumn.map { maker.cell($0) }
            if maker.number(60) == 0 { row[6] = .tree(maker.tree()) }
            let isNew = try lendRow(row) { try editor.insert(key: key, values: $0) }
            #expect(isNew == (model[key] == nil))
            if isNew { model[key] = row }
            if editor.log != nil { logCount += 1 }
            #expect(editor.count == model.count)
          }
          let key = maker.number(2) == 0 ? key() : model.keys.min() ?? 0
          switch maker.number(7) {
          case 0:
            let value = try editor.value(key: key, column: 301)
            #expect(value.map(ModelValue.init) == model[key]?[7])
          case 1:
            let found = try editor.update(key: key, column: 2, value: .int(key))
            #expect(found == (model[key] != nil))
            if found { model[key]?[0] = .int(key) }
          case 2:
            let old = model.removeValue(forKey: key)
            #expect(try editor.remove(key: key) == (old != nil))
            if case .tree? = old?[6] { expectedTrees += 1 }
          case 3: #expect(try editor.contains(key: key) == (model[key] != nil))
          case 4: _ = try editor.flush()
          case 5:
            #expect(try editor.tree.contents(editor.layout).map(\.key) == model.keys.sorted())
          default: break
          }
        }
      }
      #expect(logCount > 0)
      #expect(abandoned.count == expectedTrees)
      let tree = try bench.snapshot().tree
      let contents = try tree.contents(bench.layout)
      #expect(contents.map(\.key) == model.keys.sorted())
      #expect(contents.allSatisfy { model[$0.key] == $0.row })
      #expect(tree.count == model.count)
      let walk = try tree.walked()
      #expect(walk.findings.isEmpty)
      #expect(
        try bench.store.check(reachable: walk.extents.sorted { $0.address < $1.address }).isEmpty)
    }
  }

  @Test func `a log under way follows a change of the layout`() throws {
    let bench = ColumnWorkbench(columns)
    try bench.write { editor, _ in
      for key in shuffled(0..<4_000, seed: 6) { _ = try insert(editor, key) }
      #expect(editor.log != nil)
      editor.layout = ColumnLayout(columns + [ColumnSpec(id: 9, type: .int, isNullable: false)])
      #expect(editor.log == nil)
      for key in shuffled(4_000..<8_000, seed: 7) {
        let isNew = try lendRow(row(key) + [.int(key)]) { try editor.insert(key: key, values: $0) }
        #expect(isNew)
      }
    }
    let contents = try bench.snapshot().tree.contents(bench.layout)
    #expect(contents.map(\.key) == Array(0..<8_000))
    #expect(contents.allSatisfy { $0.row == row($0.key) + [.int($0.key < 4_000 ? 0 : $0.key)] })
  }

  @Test func `a log is dropped with its rows and with its editor`() throws {
    let bench = ColumnWorkbench(columns)
    try bench.write { editor, context in
      for key in shuffled(0..<4_000, seed: 8) { _ = try insert(editor, key) }
      try editor.removeAll()
      #expect(editor.count == 0)
      let other = ColumnTreeEditor(
        root: .empty(.column), layout: bench.layout, context: context, options: bench.options)
      let before = context.dirty.byteCount
      for key in shuffled(0..<4_000, seed: 9) { _ = try insert(other, key) }
      #expect(other.log != nil && context.dirty.byteCount > before)
      _ = consume other
      #expect(context.dirty.byteCount == context.dirty.measuredByteCount)
    }
    #expect(try bench.snapshot().tree.count == 0)
  }

  @Test func `rows that cannot be written fail the transaction`() throws {
    let store = HeapStore()
    let writer = WatchedWriter(try store.beginWrite(), failingAt: 4)
    let source = PageSource(
      pin: try store.pin(), store: store, codec: nil, trust: TrustTable(bitCount: 8),
      cache: PageCache())
    let context = WriteContext(
      source: source, writer: writer, codec: nil, store: store.identity)
    var options = ColumnTreeOptions()
    options.writeAheadByteCount = 0
    let editor = ColumnTreeEditor(
      root: .empty(.column), layout: ColumnLayout(columns), context: context, options: options)
    for key in shuffled(0..<20_000, seed: 10) { _ = try insert(editor, key) }
    #expect(editor.log != nil)
    // A reader that cannot throw; everybody after it is told.
    _ = editor.tree
    #expect(editor.log == nil && context.dirty.byteCount == context.dirty.measuredByteCount)
    #expect(throws: StoreError.self) { _ = try insert(editor, 1) }
    #expect(throws: StoreError.self) { _ = try editor.value(key: 1, column: 1) }
    #expect(throws: StoreError.self) { _ = try editor.flush() }
    #expect(throws: StoreError.self) { _ = try editor.flush() }
    writer.abort()
  }

  @Test func `a small budget is kept by writing the log out`() throws {
    var options = DatabaseOptions()
    options.transactionBudgetByteCount = 2 << 20
    let database = try Database(store: HeapStore(), options: options)
    let transaction = try database.beginWrite()
    let table = try transaction.createTable(
      "rows",
      columns: [
        ColumnDescriptor(type: .int, isNullable: false, name: "number"),
        ColumnDescriptor(type: .bytes, isNullable: true, name: "text"),
      ])
    for key in shuffled(0..<60_000, seed: 11) {
      let isNew = try lendRow(row(key)) { try table.insert(key: key, values: $0) }
      #expect(isNew)
      try transaction.spillIfNeeded()
      #expect(transaction.context.dirty.byteCount < 4 << 20)
    }
    let snapshot = try transaction.commit()
    let tree = try #require(try snapshot.table("rows")).groups[0]
    let contents = try tree.contents(ColumnLayout(columns))
    #expect(contents.map(\.key) == Array(0..<60_000))
    #expect(contents.allSatisfy { $0.row == row($0.key) })
    #expect(try database.verify().findings.isEmpty)
  }
}

/// The order in which a log brings its rows, without a tree.
struct RowLogOrderWhiteBoxTests {
  private func makeLog(first: Int64 = .max, last: Int64 = .min) -> RowLog {
    RowLog(
      layout: ColumnLayout([ColumnSpec(id: 1, type: .int, isNullable: false)]), inlineLimit: 100,
      knowsTree: false, treeBounds: (first, last))
  }

  private func append(_ key: Int64, to log: RowLog) -> Bool {
    [ColumnValue.int(~key)].withUnsafeBufferPointer { values in
      values.baseAddress.map { log.append(key: key, values: $0, overflow: nil) } ?? false
    }
  }

  /// Every number of digits by which keys are sorted, even and odd, and the bounds of each.
  @Test(arguments: [9, 10, 11, 12, 21, 22, 23, 33, 34, 44, 45, 55, 56, 63, 64], [false, true])
  func `rows are sorted however far their keys lie apart`(bitCount: Int, isInTree: Bool) {
    var generator = SeededGenerator(seed: UInt64(bitCount))
    let span: UInt64 = bitCount == 64 ? .max : 1 << UInt64(bitCount) - 1
    let first: Int64 = bitCount == 64 ? .min : -Int64(span / 3)
    var keys: Set<Int64> = [first, first &+ Int64(bitPattern: span)]
    while keys.count < min(1500, 1 << min(bitCount, 20)) {
      keys.insert(first &+ Int64(bitPattern: UInt64.random(in: 0...span, using: &generator)))
    }
    // The tree's last key counts among those that the log tells apart.
    let log = isInTree ? makeLog(first: .min, last: .max) : makeLog()
    for key in keys.shuffled(using: &generator) { #expect(append(key, to: log)) }
    #expect(log.lowest == first)
    #expect(log.highest == (isInTree ? .max : keys.max()))
    log.sort()
    let entries = UnsafeBufferPointer(start: log.entries, count: log.count)
    #expect(entries.map(\.key) == keys.sorted())
    #expect(entries.allSatisfy { $0.row.loadUnaligned(as: Int64.self) == ~$0.key })
  }

  @Test func `rows count as ascending above all others, also those of the tree`() {
    let log = makeLog(first: 0, last: 100)
    #expect(log.highest == 100)
    for (key, count) in [(50, 0), (60, 0), (101, 1), (102, 2), (7, 0), (102 + 1, 1)] {
      #expect(append(Int64(key), to: log))
      #expect(log.ascendingCount == count, "after \(key)")
    }
    #expect(log.lowest == 7 && log.highest == 103)
  }
}

struct KeySetWhiteBoxTests {
  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `a set of keys holds what was put in`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let keys = KeySet()
    var model: Set<Int64> = []
    var width: Int64 = 1 << Int64.random(in: 4...30, using: &generator)
    var center: Int64 = seed % 4 == 0 ? .min : seed % 4 == 1 ? .max : 0
    for round in 0..<30_000 {
      // Ranges that grow, jump and come back make it change its form.
      if round % 6_000 == 5_999 { width = 1 << Int64.random(in: 4...62, using: &generator) }
      if round % 9_000 == 8_999 { center = Int64(bitPattern: generator.next()) }
      let key = center &+ Int64.random(in: 0..<width, using: &generator) &- width / 2
      #expect(keys.contains(key) == model.contains(key))
      #expect(keys.insert(key) == model.insert(key).inserted)
    }
    #expect(keys.count == model.count)
    #expect(model.allSatisfy { keys.contains($0) })
  }

  @Test func `dense keys take a few bits each`() {
    let keys = KeySet()
    var generator = SeededGenerator(seed: 1)
    for key in (0..<100_000 as Range<Int64>).shuffled(using: &generator) {
      #expect(keys.insert(key))
    }
    #expect(keys.byteCount < 100_000)
    #expect(!keys.insert(77) && !keys.insert(99_999) && keys.insert(-1))
  }
}
