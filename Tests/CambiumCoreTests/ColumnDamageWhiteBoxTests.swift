import TestSupport
import Testing

@testable import CambiumCore

struct ColumnDamageWhiteBoxTests {
  /// Small leaves that between them use every encoding.
  private func leaves() throws -> [ColumnLeafMaker.Packed] {
    var packed: [ColumnLeafMaker.Packed] = []
    for mood in [1, 2, 3, 5, 7] {
      var maker = CellMaker(generator: SeededGenerator(seed: UInt64(mood) + 50), mood: mood)
      let rows = (0..<(9 + mood * 2)).map { _ in everyColumn.map { maker.cell($0) } }
      let keys = rows.indices.map { Int64($0 * (mood % 3 * 2 + 1) + $0 % 2 * (mood % 3)) }
      packed.append(try ColumnLeafMaker.pack(everyColumn, keys: keys, rows: rows))
    }
    let spec = ColumnSpec(id: 4, type: .bytes, isNullable: true)
    let words = ["dawn", "noon", "dusk"]
    packed.append(
      try ColumnLeafMaker.column(spec, (0..<40).map { .bytes(Array(words[$0 % 3].utf8)) }))
    return packed
  }

  /// Reads everything there is, in every way.
  private func readAll(_ leaf: ColumnLeaf, _ source: PageSource) {
    var sum: UInt64 = 0
    // More rows than were ever stored fit without bytes; reading them all proves nothing more.
    if leaf.rowCount > 1000 {
      for row in [0, leaf.rowCount / 2, leaf.rowCount - 1] {
        for id in leaf.columnIDs {
          guard let column = leaf.column(id) else { continue }
          if column.type == .bytes {
            _ = column.bytes(row).array
          } else {
            _ = column.fixedValue(row)
          }
        }
      }
      return
    }
    for row in 0..<leaf.rowCount { sum &+= UInt64(bitPattern: leaf.key(at: row)) }
    _ = leaf.find(3)
    _ = leaf.lowerBound(.max)
    var keys = [Int64](repeating: 0, count: leaf.rowCount + 1)
    keys.withUnsafeMutableBufferPointer { leaf.copyKeys(into: $0.baseAddress.unsafelyUnwrapped) }
    for id in leaf.columnIDs {
      guard let column = leaf.column(id) else { continue }
      for row in 0..<leaf.rowCount {
        _ = column.fixedValue(row)
        if column.type == .bytes { sum &+= UInt64(column.bytes(row).array.count) }
      }
      _ = column.nullCount
      switch column.type {
      case .int:
        _ = column.countInts(in: 3...100)
        _ = column.selected { column.selectInts(in: 3...100, into: $0) }
        _ = column.sumInts()
        _ = column.extremeInts()
      case .double, .float:
        _ = column.sumDoubles()
        _ = column.selected { column.selectDoubles(from: 0, through: 2, into: $0) }
      case .bool: _ = column.selected { column.selectBools(equalTo: true, into: $0) }
      case .wide: for row in 0..<column.rowCount { _ = column.wide(row) }
      case .bytes:
        Array("us".utf8).withUnsafeBytes { needle in
          _ = try? column.selected {
            try column.selectBytes(containing: needle, into: $0, source: source)
          }
          _ = try? column.selected {
            try column.selectBytes(equalTo: needle, into: $0, source: source)
          }
        }
      }
    }
    keys[0] = Int64(bitPattern: sum)
  }

  @Test func `a leaf with any byte damaged is refused or read within its bounds`() throws {
    let source = try ColumnWorkbench([]).snapshot().tree.source
    var refused = 0
    for packed in try leaves() {
      for offset in 0..<packed.byteCount {
        let original = UnsafeRawPointer(packed.bytes).byte(offset)
        // Headers and directory, where every bit leads somewhere, get two kinds of damage.
        let changes: [UInt8] =
          offset < 360 ? [1 << UInt8(offset % 8), 0xff] : [1 << UInt8(offset % 8)]
        for change in changes {
          packed.bytes.put(byte: original ^ change, offset)
          do throws(StoreError) {
            try ColumnLeaf.validate(packed.page, .none)
          } catch {
            refused += 1
          }
          // Storage can rot under a mapping after the check, so that reads must stay within the
          // page either way.
          readAll(packed.leaf, source)
        }
        packed.bytes.put(byte: original, offset)
      }
      try ColumnLeaf.validate(packed.page, .none)
    }
    #expect(refused > 500)
  }

  /// The bytes of a page are right, and its maker was wrong: no checksum tells this.
  @Test(arguments: [20, 300, 70_000])
  func `an anchor or a length that is one off is refused, whichever it is`(longest: Int) throws {
    let cells = (0..<50).map { row in
      ModelValue.bytes((0..<(row == 7 ? longest : row % 20)).map { UInt8(($0 * 7 + row) % 251) })
    }
    let packed = try ColumnLeafMaker.column(
      ColumnSpec(id: 4, type: .bytes, isNullable: false), cells)
    let column = try #require(packed.leaf.column(4))
    let parts = try #require(BytesColumn(column))
    let groups = (parts.entryCount + LeafEntry.anchorSpan - 1) / LeafEntry.anchorSpan
    #expect(column.lengthWidth == (longest < 256 ? 8 : longest < 65_536 ? 16 : 32))
    #expect(groups == 4)
    for (numbers, width, count) in [
      (parts.anchors, column.anchorWidth, groups),
      (parts.lengths, column.lengthWidth, parts.entryCount),
    ] {
      for index in 0..<count {
        let offset = numbers - UnsafeRawPointer(packed.bytes) + index * Int(width / 8)
        let original = UnsafeRawPointer(packed.bytes).byte(offset)
        for change in [1, 0xff] as [UInt8] {
          packed.bytes.put(byte: original &+ change, offset)
          #expect(throws: StoreError.self, "number \(index) of \(count)") {
            try ColumnLeaf.validate(packed.page, .none)
          }
        }
        packed.bytes.put(byte: original, offset)
      }
    }
    try ColumnLeaf.validate(packed.page, .none)
  }

  @Test func `a leaf of random bytes is read within its bounds`() throws {
    let source = try ColumnWorkbench([]).snapshot().tree.source
    var generator = SeededGenerator(seed: 77)
    for packed in try leaves() {
      let original = [UInt8](UnsafeRawBufferPointer(start: packed.bytes, count: packed.byteCount))
      for _ in 0..<100 {
        for _ in 0..<Int.random(in: 2...20, using: &generator) {
          let offset = Int.random(in: 0..<packed.byteCount, using: &generator)
          packed.bytes.put(byte: UInt8.random(in: 0...255, using: &generator), offset)
        }
        _ = try? ColumnLeaf.validate(packed.page, .none)
        readAll(packed.leaf, source)
        UnsafeMutableRawBufferPointer(start: packed.bytes, count: packed.byteCount)
          .copyBytes(from: original)
      }
    }
  }

  @Test func `a leaf that is cut short anywhere is refused`() throws {
    for packed in try leaves() {
      for byteCount in 0..<packed.byteCount {
        let page = Page(bytes: packed.bytes, byteCount: byteCount, owner: nil)
        #expect(throws: StoreError.self) { try ColumnLeaf.validate(page, .none) }
      }
    }
  }

  @Test func `a branch with any byte damaged is refused or read within its bounds`() throws {
    let branch = DirtyBranch(level: 1, isPositional: false, room: 5)
    for index in 0..<4 {
      let reference = PageReference(
        checksum: 9, extent: Extent(address: 70 + UInt64(index), unitCount: 1), kind: .columnLeaf,
        born: 3)
      branch.insert(
        Child(separator: Int64(index) * 100, reference: reference, rowCount: 5), at: index)
    }
    let bytes = [UInt8](UnsafeRawBufferPointer(start: branch.bytes, count: branch.byteCount))
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 64)
    defer { copy.deallocate() }
    let page = Page(
      bytes: UnsafeRawPointer(copy.baseAddress.unsafelyUnwrapped), byteCount: bytes.count,
      owner: nil)
    copy.copyBytes(from: bytes)
    try ColumnBranch.validate(page, .none)
    var refused = 0
    for offset in bytes.indices {
      for change in [0x01, 0x40, 0xff] as [UInt8] {
        copy.copyBytes(from: bytes)
        copy[offset] ^= change
        do throws(StoreError) { try ColumnBranch.validate(page, .none) } catch { refused += 1 }
        let read = ColumnBranch(page)
        for key in [Int64.min, 0, 99, 100, 350, .max] {
          #expect(read.count == 0 || read.child(for: key) < read.count)
        }
        for position in [0, 4, 5, 19, 20, UInt64.max] {
          #expect(read.count == 0 || read.child(at: position).index < read.count)
        }
      }
    }
    #expect(refused > 50)
  }

  @Test func `damage in a stored page is an error that names the page`() throws {
    let bench = ColumnWorkbench(everyColumn, options: smallShape(rows: 4, room: 4))
    var maker = CellMaker(generator: SeededGenerator(seed: 3), mood: 12)
    try bench.write { editor, _ in
      for key in 0..<30 as Range<Int64> {
        try lendRow(everyColumn.map { maker.cell($0) }) {
          _ = try editor.insert(key: key, values: $0)
        }
      }
    }
    // A root that lies about rows and height is found by the walk and by reads.
    let tree = try bench.snapshot().tree
    var short = tree
    short.root.rowCount += 1
    #expect(try short.walked().findings.map(\.rule) == [.count])
    var high = tree
    high.root.height += 1
    #expect(!(try high.walked().findings.isEmpty))
    #expect(throws: StoreError.self) { _ = try high.seek(3) }
    var low = tree
    low.root.height -= 1
    #expect(!(try low.walked().findings.isEmpty))
    #expect(throws: StoreError.self) { _ = try low.seek(29) }
    #expect(throws: StoreError.self) { _ = try low.select(29) }
  }

  @Test func `columns that share their bytes are damage`() throws {
    let (columns, length) = (200, 1 << 10)
    let directoryEnd = LeafHeader.byteCount + LeafEntry.byteCount * columns
    func page(sharing isShared: Bool) -> (Page, PageBuffer) {
      let used = directoryEnd + length * (isShared ? 1 : columns)
      let buffer = PageBuffer(
        copying: [UInt8](repeating: 0, count: used + LeafHeader.slackByteCount).span)
      let bytes = unsafe UnsafeMutableRawPointer(mutating: buffer.page.bytes)
      unsafe bytes.put(byte: PageKind.columnLeaf.rawValue, LeafHeader.kind)
      unsafe bytes.put(half: UInt16(columns), LeafHeader.columnCount)
      unsafe bytes.put(single: 1, LeafHeader.rowCount)
      unsafe bytes.put(single: UInt32(used), LeafHeader.usedByteCount)
      unsafe bytes.put(word: 1, 24)
      for index in 0..<columns {
        let entry = unsafe bytes + LeafHeader.byteCount + LeafEntry.byteCount * index
        unsafe entry.put(half: UInt16(index + 10), LeafEntry.id)
        unsafe entry.put(byte: ColumnType.bytes.rawValue, LeafEntry.type)
        unsafe entry.put(byte: ColumnEncoding.variable.rawValue, LeafEntry.encoding)
        let place = directoryEnd + (isShared ? 0 : length * index)
        unsafe entry.put(single: UInt32(place), LeafEntry.dataOffset)
        unsafe entry.put(single: UInt32(length), LeafEntry.dataByteCount)
        unsafe entry.put(word: UInt64(length) | 1 << 32, LeafEntry.base)
      }
      return (buffer.page, buffer)
    }
    let (honest, one) = page(sharing: false)
    try ColumnLeaf.validate(honest, .none)
    let (crafted, other) = page(sharing: true)
    #expect(throws: StoreError.self) { try ColumnLeaf.validate(crafted, .none) }
    withExtendedLifetime((one, other)) {}
  }
}
