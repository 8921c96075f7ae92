import CPlatform
import TestSupport
import Testing

@testable import CambiumCore

struct ColumnKernelWhiteBoxTests {
  static let rowCounts = [1, 2, 15, 16, 17, 63, 64, 65, 127, 200, 333]

  /// Integers that need exactly so many bits, around a base.
  private func integers(
    _ count: Int, width: Int, _ maker: inout CellMaker
  ) -> (values: [Int64], base: Int64) {
    let bases: [Int64] = [0, 1_000, -5_000_000_000, Int64.min, Int64.max - 300]
    let base = bases[maker.number(bases.count)]
    let mask = width == 0 ? 0 : UInt64.max >> UInt64(64 - width)
    let reach = UInt64(bitPattern: Int64.max &- base)
    let values = (0..<count).map { row -> Int64 in
      let offset = row == 0 ? mask : maker.generator.next() & mask
      return base &+ Int64(bitPattern: width == 64 ? offset : min(offset, reach))
    }
    return (values, base)
  }

  @Test func `equal bytes are counted in whole words up to one that differs, or to the end`() {
    var generator = SeededGenerator(seed: 1)
    let bytes = generator.bytes(count: 300)
    for count in 0...bytes.count {
      // The one behind the last is not looked at.
      for place in 0...count where place < bytes.count {
        var other = bytes
        other[place] ^= 1
        let found = bytes.withUnsafeBytes { one in
          other.withUnsafeBytes { other in
            unsafe cambium_equal_prefix(one.baseAddress, other.baseAddress, count)
          }
        }
        #expect(found == (place == count ? count : place & ~7), "\(place) of \(count)")
      }
    }
  }

  @Test(arguments: [0, 1, 2, 4, 7, 8, 13, 16, 30, 32, 50, 64])
  func `integer kernels give what a loop over the rows gives`(width: Int) throws {
    var maker = CellMaker(generator: SeededGenerator(seed: UInt64(width) + 1))
    for count in Self.rowCounts {
      for isNullable in [false, true] {
        let (values, base) = integers(count, width: width, &maker)
        let isNull = values.map { _ in isNullable && maker.number(4) == 0 }
        let cells = zip(values, isNull).map { $1 ? ModelValue.null : .int($0) }
        let packed = try ColumnLeafMaker.column(
          ColumnSpec(id: 1, type: .int, isNullable: isNullable), cells)
        let present = values.indices.filter { !isNull[$0] }
        guard let column = packed.leaf.column(1) else {
          #expect(present.allSatisfy { values[$0] == 0 } && (!isNullable || present.isEmpty))
          continue
        }
        for row in present { #expect(column.int(row) == values[row]) }
        #expect(column.nullCount == count - present.count)
        #expect(present.allSatisfy { column.integerBounds.contains(values[$0]) })
        var copy = [Int64](repeating: 0, count: count)
        copy.withUnsafeMutableBufferPointer {
          column.copyInts(into: $0.baseAddress.unsafelyUnwrapped)
        }
        #expect(present.allSatisfy { copy[$0] == values[$0] })

        var ranges: [ClosedRange<Int64>] = [.min ... .max, base...base, 0...0, .min ... -1]
        for _ in 0..<12 {
          let (a, b) = (values[maker.number(count)], values[maker.number(count)])
          ranges.append(min(a, b)...max(a, b))
          ranges.append(a...(a == .max ? a : a + 1))
        }
        for range in ranges {
          let expected = present.filter { range.contains(values[$0]) }
          #expect(column.countInts(in: range) == expected.count)
          #expect(column.selected { column.selectInts(in: range, into: $0) } == expected)
        }
        for listCount in [1, 3, 8] {
          let list = Set(
            (0..<listCount).map { _ in values[maker.number(count)] &+ Int64(maker.number(2)) })
          let expected = present.filter { list.contains(values[$0]) }
          #expect(
            column.selected { column.selectInts(anyOf: list.sorted(), into: $0) } == expected)
        }
        let selection = (0..<column.bitmapWordCount).map { _ in maker.generator.next() }
        selection.withUnsafeBufferPointer { words in
          for chosen in [nil, words.baseAddress] {
            let rows = present.filter {
              chosen == nil || selection[$0 >> 6] >> UInt64($0 & 63) & 1 != 0
            }
            #expect(
              column.sumInts(selection: chosen)
                == rows.reduce(Int128(0)) { $0 + Int128(values[$1]) })
            let chosenValues = rows.map { values[$0] }
            let extremes = column.extremeInts(selection: chosen)
            #expect(extremes?.lowerBound == chosenValues.min())
            #expect(extremes?.upperBound == chosenValues.max())
            #expect(column.countRows(selection: chosen) == rows.count)
          }
        }
      }
    }
  }

  @Test(arguments: [ColumnType.float, .double], [1, 7, 64, 65, 300])
  func `floating-point kernels give what a loop over the rows gives`(
    type: ColumnType, count: Int
  ) throws {
    var maker = CellMaker(generator: SeededGenerator(seed: UInt64(count)))
    let special: [Double] = [.nan, .infinity, -.infinity, -0.0, 0, 1.5, -2.25]
    for round in 0..<6 {
      let isConstant = round == 5
      let isNull = (0..<count).map { _ in round % 2 == 1 && maker.number(4) == 0 }
      let values = (0..<count).map { _ -> Double in
        if isConstant { return 2.5 }
        if round < 2 { return Double(maker.number(1000)) / 4 }
        return special[maker.number(special.count)]
      }
      let cells = zip(values, isNull).map { value, isNull -> ModelValue in
        if isNull { return .null }
        return type == .double ? .double(value.bitPattern) : .float(Float(value).bitPattern)
      }
      let packed = try ColumnLeafMaker.column(
        ColumnSpec(id: 1, type: type, isNullable: true), cells)
      let present = values.indices.filter { !isNull[$0] }
      guard let column = packed.leaf.column(1) else {
        #expect(present.isEmpty)
        continue
      }
      let sum = present.reduce(0.0) { $0 + values[$1] }
      let found = column.sumDoubles()
      #expect(sum.isNaN ? found.isNaN : found == sum)
      let numbers = present.map { values[$0] }.filter { !$0.isNaN }
      #expect(column.extremeDoubles()?.lowerBound == numbers.min())
      #expect(column.extremeDoubles()?.upperBound == numbers.max())
      for (lower, upper) in [(0.0, 100.0), (-.infinity, .infinity), (1.5, 1.5), (5, 1)] {
        let expected = present.filter { values[$0] >= lower && values[$0] <= upper }
        let rows = column.selected { column.selectDoubles(from: lower, through: upper, into: $0) }
        #expect(rows == expected)
      }
    }
  }

  @Test(arguments: 0..<7, [1, 16, 17, 64, 130])
  func `text kernels give what a loop over the rows gives`(mood: Int, count: Int) throws {
    var maker = CellMaker(generator: SeededGenerator(seed: UInt64(mood * 1000 + count)))
    maker.mood = mood
    let bench = ColumnWorkbench([])
    let source = try bench.snapshot().tree.source
    for isNullable in [false, true] {
      let spec = ColumnSpec(id: 1, type: .bytes, isNullable: isNullable)
      let cells = (0..<count).map { _ in maker.cell(spec) }
      let packed = try ColumnLeafMaker.column(spec, cells)
      let values = cells.map { cell -> [UInt8]? in
        if case .bytes(let bytes) = cell { bytes } else { nil }
      }
      guard let column = packed.leaf.column(1) else {
        #expect(values.allSatisfy { isNullable ? $0 == nil : $0 == [] })
        continue
      }
      for row in 0..<count {
        let cell = column.bytes(row)
        #expect(cell.isNull == (values[row] == nil))
        #expect(cell.array == values[row] ?? [])
        if let value = values[row] {
          #expect(value.withUnsafeBytes { cell.equals($0) })
          #expect(cell.count == value.count)
        }
      }
      var needles: [[UInt8]] = [[], Array("a".utf8), Array("@ex".utf8), [0, 255]]
      for _ in 0..<20 {
        guard let value = values[maker.number(count)], !value.isEmpty else { continue }
        let start = maker.number(value.count)
        needles.append(value)
        needles.append(Array(value[start...]))
        needles.append(Array(value[..<start]))
        needles.append(Array(value[start...].prefix(2)))
        needles.append(value + [1])
      }
      for needle in needles {
        try needle.withUnsafeBytes { bytes in
          func rows(_ condition: ([UInt8]) -> Bool) -> [Int] {
            values.indices.filter { values[$0].map(condition) ?? false }
          }
          let equal = try column.selected {
            try column.selectBytes(equalTo: bytes, into: $0, source: source)
          }
          #expect(equal == rows { $0 == needle })
          let prefixed = try column.selected {
            try column.selectBytes(withPrefix: bytes, into: $0, source: source)
          }
          #expect(prefixed == rows { $0.starts(with: needle) })
          let suffixed = try column.selected {
            try column.selectBytes(withSuffix: bytes, into: $0, source: source)
          }
          #expect(suffixed == rows { $0.reversed().starts(with: needle.reversed()) })
          let containing = try column.selected {
            try column.selectBytes(containing: bytes, into: $0, source: source)
          }
          #expect(containing == rows { contains($0, needle) })
        }
      }
    }
  }

  private func contains(_ bytes: [UInt8], _ needle: [UInt8]) -> Bool {
    guard needle.count <= bytes.count else { return false }
    return (0...(bytes.count - needle.count)).contains {
      Array(bytes[$0..<($0 + needle.count)]) == needle
    }
  }

  @Test func `bool and wide kernels give what a loop over the rows gives`() throws {
    var maker = CellMaker(generator: SeededGenerator(seed: 9))
    for count in Self.rowCounts {
      maker.mood = count
      let spec = ColumnSpec(id: 1, type: .bool, isNullable: true)
      let cells = (0..<count).map { _ in maker.cell(spec) }
      if let column = try ColumnLeafMaker.column(spec, cells).leaf.column(1) {
        for value in [false, true] {
          #expect(
            column.selected { column.selectBools(equalTo: value, into: $0) }
              == cells.indices.filter { cells[$0] == .bool(value) })
        }
      }
      let wide = ColumnSpec(id: 1, type: .wide, isNullable: true)
      let wides = (0..<count).map { _ in maker.cell(wide) }
      if let column = try ColumnLeafMaker.column(wide, wides).leaf.column(1) {
        for row in wides.indices {
          guard case .wide(let low, let high) = wides[row] else { continue }
          #expect(column.wide(row) == (low, high))
        }
      }
    }
  }

  @Test func `keys come back in every form they are packed in`() throws {
    let columns = [ColumnSpec(id: 1, type: .int, isNullable: false)]
    let lists: [[Int64]] = [
      [5], Array(10..<400), Array(stride(from: -300, to: 300, by: 7)), [.min, .max],
      [.min, -1, 0, 1, .max], [0, 1, 3, 1000, 1001, 70000, 1 << 40],
      (0..<300).map { Int64($0 * 1000 + ($0 * 37) % 900) }, (0..<99).map { Int64.max - 98 + $0 },
      (0..<64).map { Int64($0) * (1 << 57) - (1 << 62) },
    ]
    for keys in lists {
      let leaf = try ColumnLeafMaker.pack(
        columns, keys: keys, rows: keys.map { [.int($0)] }
      ).leaf
      for (row, key) in keys.enumerated() {
        #expect(leaf.key(at: row) == key)
        #expect(leaf.find(key) == row)
        #expect(leaf.lowerBound(key) == row)
        if row + 1 < keys.count, keys[row + 1] > key + 1 {
          #expect(leaf.find(key + 1) == nil)
          #expect(leaf.lowerBound(key + 1) == row + 1)
        }
      }
      var copy = [Int64](repeating: 0, count: keys.count)
      copy.withUnsafeMutableBufferPointer {
        leaf.copyKeys(into: $0.baseAddress.unsafelyUnwrapped)
      }
      #expect(copy == keys)
      #expect(leaf.find(.min) == keys.firstIndex(of: .min))
      #expect(leaf.find(.max) == keys.firstIndex(of: .max))
    }
  }

  @Test(arguments: [100, 300, 70000])
  func `values of every length come back, however long their lengths are`(longest: Int) throws {
    let spec = ColumnSpec(id: 1, type: .bytes, isNullable: false)
    let values = (0..<40).map { row in
      [UInt8](repeating: UInt8(row), count: row == 17 ? longest : row % 5 * 3)
    }
    let packed = try ColumnLeafMaker.column(spec, values.map { .bytes($0) })
    let column = try #require(packed.leaf.column(1))
    #expect(column.lengthWidth == (longest < 256 ? 8 : longest < 65536 ? 16 : 32))
    for row in values.indices { #expect(column.bytes(row).array == values[row]) }
    let source = try ColumnWorkbench([]).snapshot().tree.source
    try values[17].withUnsafeBytes { bytes in
      let rows = try column.selected {
        try column.selectBytes(equalTo: bytes, into: $0, source: source)
      }
      #expect(rows == [17])
    }
  }

  @Test func `repeated values become codes, asked about once each`() throws {
    var generator = SeededGenerator(seed: 4)
    let words = (0..<700).map { Array("word number \($0 &* 7919)".utf8) }
    let spec = ColumnSpec(id: 1, type: .bytes, isNullable: true)
    let picks = (0..<3000).map { _ in Int.random(in: 0..<750, using: &generator) }
    let cells = picks.map { $0 < 700 ? ModelValue.bytes(words[$0]) : .null }
    let packed = try ColumnLeafMaker.column(spec, cells)
    let column = try #require(packed.leaf.column(1))
    #expect(column.encoding == .dictionary)
    #expect(column.width == 16)
    for row in picks.indices {
      #expect(column.bytes(row).array == (picks[row] < 700 ? words[picks[row]] : []))
    }
    let source = try ColumnWorkbench([]).snapshot().tree.source
    var asked = 0
    let rows = try column.selected {
      try column.selectBytes(into: $0, source: source) { bytes in
        asked += 1
        return bytes.last == UInt8(ascii: "3")
      }
    }
    #expect(asked == column.bytesColumn?.entryCount)
    #expect(rows == picks.indices.filter { picks[$0] < 700 && words[picks[$0]].last == 51 })
  }
}
