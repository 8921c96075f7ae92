import TestSupport
import Testing

@testable import CambiumCore

struct LeafSpliceWhiteBoxTests {
  /// Leaves memory of all sizes that pages take full of `byte`.
  private func soil(_ byte: UInt8) {
    let sizes = [64, 1024, 8192, 16_384].map { $0 + 64 }
    let taken = sizes.flatMap { size in
      unsafe (0..<8).map { _ in unsafe (PageMemory.take(byteCount: size), size) }
    }
    for (memory, size) in unsafe taken {
      unsafe memory.initializeMemory(as: UInt8.self, repeating: byte, count: size)
    }
    for (memory, size) in unsafe taken { unsafe PageMemory.giveBack(memory, byteCount: size) }
  }

  private static let columns = [
    ColumnSpec(id: 1, type: .bytes, isNullable: true),
    ColumnSpec(id: 2, type: .int, isNullable: true),
    ColumnSpec(id: 3, type: .wide, isNullable: true),
    ColumnSpec(id: 4, type: .bool, isNullable: false),
    ColumnSpec(id: 5, type: .double, isNullable: false),
  ]

  private func cell(_ column: LeafColumn, _ row: Int) -> ModelValue {
    if column.isNull(row) { return .null }
    if column.type != .bytes { return ModelValue(column.fixedValue(row) ?? .null) }
    return .bytes(column.bytes(row).array)
  }

  private func row(_ random: inout SeededGenerator, _ textCount: Int?) -> [ModelValue] {
    func isNull() -> Bool { Int.random(in: 0..<4, using: &random) == 0 }
    let count = textCount ?? Int.random(in: 0...40, using: &random)
    let text = (0..<count).map { _ in UInt8.random(in: 97...122, using: &random) }
    return [
      isNull() ? .null : .bytes(text),
      isNull() ? .null : .int(Int64.random(in: 0...200, using: &random)),
      isNull() ? .null : .wide(UInt64.random(in: 0...9, using: &random), 7),
      .bool(Bool.random(using: &random)), .double(UInt64.random(in: .min ... .max, using: &random)),
    ]
  }

  @Test func `a null is refused by a column that allows none, also where no row has stored it`()
    async
  {
    for number in [0, 5] as [Int64] {
      await #expect(processExitsWith: .failure) { [number = number as Int64] in
        let bench = ColumnWorkbench([ColumnSpec(id: 1, type: .int, isNullable: false)])
        try bench.write { editor, _ in
          try lendRow([.int(number)]) { _ = try editor.insert(key: 0, values: $0) }
        }
        try bench.write { editor, _ in
          try lendRow([.null]) { _ = try editor.insert(key: 1, values: $0) }
        }
      }
    }
  }

  @Test(arguments: Exhaustive.seeds(100, few: 20))
  func `a row that is appended to a packed leaf leaves nothing of what the memory had before`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let textCount = Bool.random(using: &random) ? Int.random(in: 0...60, using: &random) : nil
    let count = Int.random(in: 1...120, using: &random)
    var rows = (0..<count).map { _ in row(&random, textCount) }
    var (splicedCount, keys) = (0, (0..<count).map { Int64($0) * 3 })
    for _ in 0..<20 {
      let packed = try ColumnLeafMaker.pack(Self.columns, keys: keys, rows: rows)
      let added = row(&random, textCount)
      let key = (keys.last ?? 0) + Int64.random(in: 1...5, using: &random)
      soil(0xff)
      let spliced = try lendRow(added) { values in
        unsafe LeafSplice.append(
          key: key, values: values, to: packed.leaf, layout: ColumnLayout(Self.columns),
          limit: 16_384)
      }
      rows.append(added)
      keys.append(key)
      guard let spliced else { continue }
      splicedCount += 1
      let leaf = DirtyLeaf(spliced, scratch: nil)
      try ColumnLeaf.validate(leaf.packedPage, .none)
      for (index, row) in rows.enumerated() {
        #expect(leaf.packed.key(at: index) == keys[index])
        for (column, value) in zip(Self.columns, row) {
          let found = try #require(leaf.packed.column(column.id))
          #expect(cell(found, index) == value, "row \(index), column \(column.id)")
        }
      }
      // Who packs a leaf into the page finds zeros behind what it has.
      for place in leaf.byteCount..<(leaf.capacity + 64) {
        #expect(unsafe leaf.bytes.load(fromByteOffset: place, as: UInt8.self) == 0)
      }
      // The same in memory that held something else.
      soil(0)
      let again = try lendRow(added) { values in
        unsafe LeafSplice.append(
          key: key, values: values, to: packed.leaf, layout: ColumnLayout(Self.columns),
          limit: 16_384)
      }
      let other = DirtyLeaf(try #require(again), scratch: nil)
      #expect(
        unsafe UnsafeRawBufferPointer(start: leaf.bytes, count: leaf.byteCount).elementsEqual(
          UnsafeRawBufferPointer(start: other.bytes, count: other.byteCount)))
    }
    if textCount == nil || textCount == 0 { return }
    #expect(splicedCount > 0)
  }
}
