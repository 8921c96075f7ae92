import TestSupport
import Testing

@testable import CambiumCore

/// Many rows inserted by one call.
struct RowBatchWhiteBoxTests {
  /// Calls `body` with keys and rows as an editor takes them.
  private func lend<Result>(
    _ rows: [(key: Int64, row: [ModelValue])],
    _ body: (UnsafeBufferPointer<Int64>, UnsafeBufferPointer<ColumnValue>) throws -> Result
  ) throws -> Result {
    try lendRow(rows.flatMap(\.row)) { values in
      try rows.map(\.key).withUnsafeBufferPointer { keys in try body(keys, values) }
    }
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `a batch does what as many single rows do`(seed: UInt64) throws {
    var options = seed % 2 == 0 ? smallShape(rows: 20, room: 5) : ColumnTreeOptions()
    options.inlineByteCount = 256
    options.backgroundWriting = seed % 4 == 0 ? .always : .never
    let bench = ColumnWorkbench(everyColumn, options: options)
    var maker = CellMaker(generator: SeededGenerator(seed: seed))
    var model: [Int64: [ModelValue]] = [:]
    var end: Int64 = 0
    for _ in 0..<3 {
      try bench.write { editor, _ in
        for _ in 0..<40 {
          maker.mood = maker.number(56)
          var rows: [(key: Int64, row: [ModelValue])] = []
          let isInOrder = maker.number(3) > 0
          for _ in 0..<maker.number(70) {
            // Now and then a key again, or a value that has to live elsewhere.
            end += Int64(maker.number(8) == 0 ? maker.number(3) : 1)
            let key = isInOrder ? end : Int64(maker.number(Int(end) + 200))
            var row = everyColumn.map { maker.cell($0) }
            if maker.number(80) == 0 { row[6] = .tree(maker.tree()) }
            rows.append((key, row))
          }
          var newCount = 0
          for (key, row) in rows where model[key] == nil {
            model[key] = row
            newCount += 1
          }
          let count = try lend(rows) { keys, values in
            try editor.insert(keys: keys, values: values)
          }
          #expect(count == newCount)
          #expect(editor.count == model.count)
          if maker.number(6) == 0 {
            let key = Int64(maker.number(Int(end) + 1))
            let value = try editor.value(key: key, column: 2)
            #expect(value.map(ModelValue.init) == model[key]?[0])
          }
        }
      }
      let tree = try bench.snapshot().tree
      let contents = try tree.contents(bench.layout)
      #expect(contents.map(\.key) == model.keys.sorted())
      #expect(contents.allSatisfy { model[$0.key] == $0.row })
      let walk = try tree.walked()
      #expect(walk.findings.isEmpty)
      #expect(
        try bench.store.check(reachable: walk.extents.sorted { $0.address < $1.address }).isEmpty)
    }
  }

  /// The rows of each leaf, and which of them have a value outside of it.
  private func shape(_ tree: ColumnTree) throws -> [[Bool]] {
    var leaves: [[Bool]] = []
    var cursor = tree.leafCursor()
    var isValid = try cursor.first()
    while isValid {
      let column = try #require(cursor.leaf.column(2))
      leaves.append((0..<cursor.leaf.rowCount).map { column.bytes($0).form == .overflow })
      isValid = try cursor.next()
    }
    return leaves
  }

  @Test(arguments: [1, 7, 500, 5000], [true, false])
  func `batches in order fill the leaves that single rows do`(
    batchCount: Int, isSmall: Bool
  ) throws {
    let columns = [
      ColumnSpec(id: 1, type: .int, isNullable: false),
      ColumnSpec(id: 2, type: .bytes, isNullable: false),
    ]
    var options = isSmall ? smallShape(rows: 20, room: 5) : ColumnTreeOptions()
    options.backgroundWriting = .never
    var generator = SeededGenerator(seed: 3)
    // Some values are too long for a leaf.
    let rows = (0..<5000 as Range<Int64>).map { key -> (key: Int64, row: [ModelValue]) in
      let count = key % 97 == 96 ? 3000 : Int.random(in: 0...40, using: &generator)
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      return (key, [.int(key * key), .bytes(bytes)])
    }
    let single = ColumnWorkbench(columns, options: options)
    try single.write { editor, _ in
      for (key, row) in rows {
        try lendRow(row) { _ = try editor.insert(key: key, values: $0) }
      }
    }
    let batched = ColumnWorkbench(columns, options: options)
    try batched.write { editor, _ in
      for start in stride(from: 0, to: rows.count, by: batchCount) {
        let batch = Array(rows[start..<min(rows.count, start + batchCount)])
        let count = try lend(batch) { try editor.insert(keys: $0, values: $1) }
        #expect(count == batch.count)
      }
    }
    let expected = try shape(single.snapshot().tree)
    #expect(expected.count > 5 && expected.joined().count { $0 } == 51)
    #expect(try shape(batched.snapshot().tree) == expected)
    let contents = try batched.snapshot().tree.contents(batched.layout)
    #expect(contents.map(\.key) == rows.map(\.key))
    #expect(contents.map(\.row) == rows.map(\.row))
  }

  @Test func `bytes borrowed from the leaf that takes them stay what they are`() throws {
    let columns = [ColumnSpec(id: 1, type: .bytes, isNullable: false)]
    let bench = ColumnWorkbench(columns)
    let text = [UInt8]((0..<200).map { UInt8($0) })
    try bench.write { editor, _ in
      for key in 0..<4 as Range<Int64> {
        try text.withUnsafeBytes { bytes in
          _ = try editor.insert(key: key, values: [.bytes(bytes)])
        }
      }
      let borrowed = try #require(try editor.value(key: 2, column: 1))
      // The heap has to move for so many.
      let values = [ColumnValue](repeating: borrowed, count: 30)
      let keys = (4..<34).map { Int64($0) }
      let count = try keys.withUnsafeBufferPointer { keys in
        try values.withUnsafeBufferPointer { try editor.insert(keys: keys, values: $0) }
      }
      #expect(count == 30)
    }
    let contents = try bench.snapshot().tree.contents(bench.layout)
    #expect(contents.count == 34 && contents.allSatisfy { $0.row == [.bytes(text)] })
  }

  @Test(arguments: [3, 70])
  func `a table takes batches in one group and in several`(columnCount: Int) throws {
    let database = try Database(store: HeapStore())
    let transaction = try database.beginWrite()
    let table = try transaction.createTable(
      "rows",
      columns: (0..<columnCount).map {
        ColumnDescriptor(type: .int, isNullable: false, name: "c\($0)")
      })
    let keys = (0..<200).map { Int64($0 * 7 % 201) } + [3, .max]
    let values = keys.flatMap { key in (0..<columnCount).map { ColumnValue.int(key &+ Int64($0)) } }
    let count = try keys.withUnsafeBufferPointer { keys in
      try values.withUnsafeBufferPointer { try table.insert(keys: keys, values: $0) }
    }
    #expect(count == 201 && table.count == 201)
    #expect(table.record.nextKey == 201)
    let last = try table.value(key: 77, column: UInt16(columnCount))
    #expect(last.map(ModelValue.init) == .int(77 + Int64(columnCount) - 1))
    _ = try transaction.commit()
    #expect(try database.verify().findings.isEmpty)
  }
}

extension TableEditor {
  fileprivate func value(key: Int64, column: UInt16) throws -> ColumnValue? {
    try editor(of: column).value(key: key, column: column)
  }
}
