import TestSupport
import Testing

@testable import CambiumCore

/// Rows picked from packed leaves are what they were, however the leaves were packed.
struct LeafRepackWhiteBoxTests {
  /// A leaf with the rows it was made of.
  private struct Sample {
    var packed: ColumnLeafMaker.Packed
    var keys: [Int64]
    var rows: [[ModelValue]]
  }

  /// Leaves whose keys follow one another; `isAlike` if all have cells of one shape.
  private func samples(
    _ maker: inout CellMaker, _ columns: [ColumnSpec], isAlike: Bool
  ) throws -> [Sample] {
    var key = Int64(maker.number(1000)) - 500
    maker.mood = maker.number(56)
    return try (0..<(1 + maker.number(4))).map { _ in
      if !isAlike { maker.mood = maker.number(56) }
      let count = [1, 2, 17, 64, 65, 200][maker.number(6)]
      let step = [1, 3, 1000][maker.number(3)]
      let rows = (0..<count).map { _ in columns.map { maker.cell($0) } }
      let keys = rows.map { _ -> Int64 in
        key += Int64(1 + maker.number(step))
        return key
      }
      return Sample(
        packed: try ColumnLeafMaker.pack(columns, keys: keys, rows: rows), keys: keys, rows: rows)
    }
  }

  @Test(arguments: 1...60 as ClosedRange<UInt64>, [true, false])
  func `rows gathered from leaves are those that were picked`(seed: UInt64, isAlike: Bool) throws {
    var maker = CellMaker(generator: SeededGenerator(seed: seed))
    let samples = try samples(&maker, everyColumn, isAlike: isAlike)
    let gather = LeafRepack()
    var expected: [(key: Int64, row: [ModelValue])] = []
    for sample in samples {
      let share = [1, 20, 50, 90, 100][maker.number(5)]
      let kept = sample.keys.indices.filter { _ in maker.number(100) < share }
      if kept.isEmpty { continue }
      gather.add(sample.packed.leaf, kept)
      expected += kept.map { (sample.keys[$0], sample.rows[$0]) }
    }
    #expect(gather.rowCount == expected.count)
    // Into one leaf, or into several, whose borders are anywhere.
    let layout = ColumnLayout(everyColumn)
    let scratch = PackScratch()
    let page = DirtyLeaf(
      builder: LeafBuilder(layout: layout, isPositional: false), scratch: scratch)
    var first = 0
    while gather.rowCount > 0 {
      let count = maker.number(2) == 0 ? gather.rowCount : 1 + maker.number(gather.rowCount)
      let builder = LeafBuilder(layout: layout, isPositional: false, capacity: 1)
      gather.pack(count, into: page, builder, scratch)
      #expect(gather.rowCount == expected.count - first - count)
      let packed = ColumnLeafMaker.Packed(page)
      try ColumnLeaf.validate(packed.page, .none)
      expect(packed.leaf, expected[first..<(first + count)])
      first += count
    }
    #expect(first == expected.count)
  }

  private func expect(_ leaf: ColumnLeaf, _ rows: ArraySlice<(key: Int64, row: [ModelValue])>) {
    #expect(leaf.rowCount == rows.count)
    for (row, model) in rows.enumerated() {
      #expect(leaf.key(at: row) == model.key)
      for (spec, value) in zip(everyColumn, model.row) {
        #expect(leaf.modelValue(row, spec) == value)
      }
    }
  }

  @Test func `columns that leaves pack alike keep their packing`() throws {
    let columns = [
      ColumnSpec(id: 1, type: .int, isNullable: false),
      ColumnSpec(id: 2, type: .bytes, isNullable: false),
      ColumnSpec(id: 3, type: .double, isNullable: true),
    ]
    let gather = LeafRepack()
    // A gather uses the leaves it was given.
    var leaves: [ColumnLeafMaker.Packed] = []
    for leaf in 0..<2 {
      let keys = (0..<100).map { Int64(leaf * 100 + $0) }
      let packed = try ColumnLeafMaker.pack(
        columns, keys: keys,
        rows: keys.map { key in
          [
            .int(key % 50), .bytes(Array("mr. \(key * 7919 % 1009) of leaf \(leaf)".utf8)),
            key % 3 == 0 ? .null : .double(Double(key).bitPattern),
          ]
        })
      leaves.append(packed)
      gather.add(packed.leaf, (0..<50).map { $0 * 2 })
    }
    let scratch = PackScratch()
    let builder = LeafBuilder(layout: ColumnLayout(columns), isPositional: false)
    let page = DirtyLeaf(builder: builder, scratch: scratch)
    gather.pack(100, into: page, builder, scratch)
    let packed = ColumnLeafMaker.Packed(page)
    let names = packed.leaf.column(2)?.bytesColumn
    #expect(names.map { [UInt8]($0.prefix) } == Array("mr. ".utf8))
    // What only the rows of one leaf share went back to them.
    #expect(names?.suffix.isEmpty == true)
    #expect(packed.leaf.column(1)?.width == 8)
    #expect(packed.leaf.column(3)?.nullCount == 34)
    // No column was loaded into the builder, which has nothing but keys.
    #expect((0..<3).allSatisfy { builder.columns[$0].heapByteCount == 0 })
    #expect((0..<3).allSatisfy { builder.columns[$0].minimum == .max })
  }

  /// Packs leaves with these cells of one column, then every other row of all of them into one leaf,
  /// where the column is `new`.
  private func gather(
    _ cells: [[ModelValue]], of old: ColumnSpec, into new: ColumnSpec
  ) throws -> ColumnLeafMaker.Packed {
    let gather = LeafRepack()
    var leaves: [ColumnLeafMaker.Packed] = []
    for (index, cells) in cells.enumerated() {
      let packed = try ColumnLeafMaker.pack(
        [old], keys: cells.indices.map { Int64(index * 1000 + $0) }, rows: cells.map { [$0] })
      leaves.append(packed)
      gather.add(packed.leaf, cells.indices.filter { $0 % 2 == 0 })
    }
    let scratch = PackScratch()
    let builder = LeafBuilder(layout: ColumnLayout([new]), isPositional: false)
    let page = DirtyLeaf(builder: builder, scratch: scratch)
    gather.pack(gather.rowCount, into: page, builder, scratch)
    let packed = ColumnLeafMaker.Packed(page)
    try ColumnLeaf.validate(packed.page, .none)
    return packed
  }

  @Test func `values of one length whose leaves factor out different bytes get them back`() throws {
    let spec = ColumnSpec(id: 1, type: .bytes, isNullable: false)
    let texts = ["left ", "next ", "right "].map { start in
      (0..<100).map { ModelValue.bytes(Array("\(start)\(100 + $0 * 7919 % 899)".utf8)) }
    }
    for texts in texts {
      let packed = try ColumnLeafMaker.column(spec, texts)
      let column = try #require(packed.leaf.column(1)?.bytesColumn)
      try #require(column.fixedLength == 3 && column.prefix.count > 4)
    }
    // Values stay as they are, get back as many bytes in both leaves, or not as many.
    for order in [[0, 0], [0, 1], [0, 2], [2, 0]] {
      let packed = try gather(order.map { texts[$0] }, of: spec, into: spec)
      let expected = order.flatMap { leaf in (0..<50).map { texts[leaf][$0 * 2] } }
      #expect(expected.indices.map { packed.leaf.modelValue($0, spec) } == expected)
    }
  }

  @Test func `nulls of a column that can be null no more are left behind`() throws {
    let old = ColumnSpec(id: 1, type: .int, isNullable: true)
    let new = ColumnSpec(id: 1, type: .int, isNullable: false)
    let cells = (0..<40).map { $0 % 6 == 0 ? ModelValue.null : .int($0 * $0) }
    let column = try #require(gather([cells, cells], of: old, into: new).leaf.column(1))
    #expect(!column.isNullable)
    for row in 0..<40 {
      #expect(!column.isNull(row))
      let cell = cells[row % 20 * 2]
      if cell != .null { #expect(ModelValue(column.fixedValue(row) ?? .null) == cell) }
    }
  }
}

extension LeafRepack {
  fileprivate func add(_ leaf: ColumnLeaf, _ kept: [Int]) {
    var removed = [UInt8](repeating: 1, count: leaf.rowCount)
    for row in kept { removed[row] = 0 }
    removed.withUnsafeBufferPointer { removed in
      kept.map { Int32($0) }.withUnsafeBufferPointer {
        add(leaf, $0, removed: removed.baseAddress.unsafelyUnwrapped)
      }
    }
  }
}

extension ColumnLeaf {
  /// The cell at `row`; cells of these leaves are never outside of them.
  fileprivate func modelValue(_ row: Int, _ spec: ColumnSpec) -> ModelValue {
    guard let column = column(spec.id) else { return ModelValue(defaultOf: spec) }
    if column.isNull(row) { return .null }
    if column.type != .bytes { return ModelValue(column.fixedValue(row) ?? .null) }
    return .bytes(column.bytes(row).array)
  }
}
