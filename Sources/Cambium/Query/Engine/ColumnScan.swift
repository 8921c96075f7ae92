import CambiumCore

/// Tests a column leaf by leaf: the encoding is looked at once, then a plain loop runs.
struct ColumnScan {
  private let test: ValueTest
  private let defaultMatches: Bool
  private let tree: ColumnTree
  private var bits: [UInt64] = []
  private var presence: [UInt64] = []
  private var integers: [Int64] = []
  private var flags: [UInt8] = []
  private var folded: [UInt8] = []

  /// `defaultMatches` says how rows answer whose leaf does not store the column.
  init(_ test: ValueTest, defaultMatches: Bool, _ tree: ColumnTree) {
    self.test = test
    self.defaultMatches = defaultMatches
    self.tree = tree
  }

  /// The rows of the window that satisfy the test; leaves without candidates are skipped.
  mutating func run(
    _ column: UInt16, _ window: Range<Int>, _ candidates: RowBitmap?
  ) throws(StoreError) -> RowBitmap {
    let result = RowBitmap(window)
    var cursor = tree.leafCursor()
    var isValid = try cursor.seek(toIndex: window.lowerBound)
    while isValid {
      let leaf = cursor.leaf
      let first = cursor.firstIndex
      guard first < window.upperBound else { break }
      if candidates?.intersects(first..<first + leaf.rowCount) ?? true {
        try test(leaf, column)
        bits.withUnsafeBufferPointer { bits in
          if let base = bits.baseAddress { result.merge(base, count: leaf.rowCount, at: first) }
        }
      }
      isValid = try cursor.next()
    }
    return result
  }

  /// Fills `bits` with the answers of a leaf's rows.
  private mutating func test(_ leaf: ColumnLeaf, _ id: UInt16) throws(StoreError) {
    let wordCount = (leaf.rowCount + 63) >> 6
    if bits.count < wordCount { bits = Array(repeating: 0, count: wordCount) }
    guard let column = leaf.column(id) else {
      fill(defaultMatches)
      return
    }
    switch test.kind {
    case .none: fill(false)
    case .all: fill(true)
    case .integer(let test): testIntegers(column, test)
    case .bool(let whenTrue, let whenFalse): testBools(column, whenTrue, whenFalse)
    case .floating(let test): testFloats(column, test)
    case .wide(let test):
      mark(column) { row in
        let words = column.wide(row)
        return test.matches(low: words.low, high: words.high)
      }
    case .decimal(let test):
      mark(column) { row in
        let words = column.wide(row)
        return test.matches(DecimalBits(low: words.low, high: words.high))
      }
    case .bytes(let test): try testBytes(column, test)
    }
    applyNulls(column)
  }

  private mutating func fill(_ value: Bool) {
    for index in bits.indices { bits[index] = value ? .max : 0 }
  }

  /// Null rows answer as the test says for null.
  private mutating func applyNulls(_ column: LeafColumn) {
    guard column.hasNulls else { return }
    let count = column.bitmapWordCount
    if presence.count < count { presence = Array(repeating: 0, count: count) }
    presence.withUnsafeMutableBufferPointer { buffer in
      if let base = buffer.baseAddress { column.copyPresence(into: base) }
    }
    for index in 0..<count {
      bits[index] &= presence[index]
      if test.matchesNull { bits[index] |= ~presence[index] }
    }
  }

  // MARK: Kernels

  /// One answer per row.
  @inline(__always)
  private mutating func mark(_ column: LeafColumn, _ matches: (Int) -> Bool) {
    let count = column.rowCount
    var row = 0
    for index in 0..<(count + 63) >> 6 {
      let end = min(row + 64, count)
      var word: UInt64 = 0
      var shift: UInt64 = 0
      while row < end {
        word |= (matches(row) ? 1 : 0) << shift
        shift &+= 1
        row &+= 1
      }
      bits[index] = word
    }
  }

  private mutating func testIntegers(_ column: LeafColumn, _ test: IntegerTest) {
    let bounds = column.integerBounds
    switch test {
    case .range(let range):
      if !range.overlaps(bounds) { return fill(false) }
      if range.lowerBound <= bounds.lowerBound, range.upperBound >= bounds.upperBound {
        return fill(true)
      }
      testIntegers(column, range, isInside: true)
    case .outside(let range):
      if !range.overlaps(bounds) { return fill(true) }
      testIntegers(column, range, isInside: false)
    case .set(let set):
      guard let span = set.bounds, span.overlaps(bounds) else { return fill(false) }
      if bounds.lowerBound == bounds.upperBound { return fill(set.contains(bounds.lowerBound)) }
      unpack(column)
      mark(column) { [integers] row in set.contains(integers[row]) }
    }
  }

  private mutating func unpack(_ column: LeafColumn) {
    if integers.count < column.rowCount {
      integers = Array(repeating: 0, count: column.rowCount)
    }
    integers.withUnsafeMutableBufferPointer { buffer in
      if let base = buffer.baseAddress { column.copyInts(into: base) }
    }
  }

  /// The loop over bytes vectorises, as a loop that sets bits would not.
  private mutating func testIntegers(
    _ column: LeafColumn, _ range: ClosedRange<Int64>, isInside: Bool
  ) {
    unpack(column)
    let count = column.rowCount
    // Whole words of flags are read below.
    let room = (count + 63) & ~63
    if flags.count < room { flags = Array(repeating: 0, count: room) }
    let lower = range.lowerBound
    let span = UInt64(bitPattern: range.upperBound &- lower)
    integers.withUnsafeBufferPointer { integers in
      flags.withUnsafeMutableBufferPointer { flags in
        for row in 0..<count {
          let isWithin = UInt64(bitPattern: integers[row] &- lower) <= span
          flags[row] = unsafeBitCast(isWithin == isInside, to: UInt8.self)
        }
      }
    }
    packFlags(count)
  }

  /// Gathers flags of 0 and 1, a byte each, into bits.
  private mutating func packFlags(_ count: Int) {
    flags.withUnsafeBytes { flags in
      for index in 0..<(count + 63) >> 6 {
        var word: UInt64 = 0
        for part in 0..<8 {
          let eight = UInt64(
            littleEndian: flags.loadUnaligned(
              fromByteOffset: index * 64 + part * 8, as: UInt64.self))
          // The product brings byte i to bit 56 + i.
          word |= ((eight &* 0x0102_0408_1020_4080) >> 56) << UInt64(part * 8)
        }
        bits[index] = word
      }
    }
  }

  private mutating func testBools(_ column: LeafColumn, _ whenTrue: Bool, _ whenFalse: Bool) {
    if whenTrue == whenFalse { return fill(whenTrue) }
    mark(column) { row in column.bool(row) == whenTrue }
  }

  private mutating func testFloats(_ column: LeafColumn, _ test: FloatingTest) {
    if column.type == .float {
      mark(column) { row in test.matches(Double(column.float(row))) }
    } else {
      mark(column) { row in test.matches(column.double(row)) }
    }
  }

  private mutating func testBytes(
    _ column: LeafColumn, _ test: BytesTest
  ) throws(StoreError) {
    guard let cells = column.bytesColumn else { return fill(false) }
    let usesEntries = column.encoding != .variable
    // What is known of each distinct value: 0 nothing, 1 no, 2 yes.
    var verdicts = [UInt8](repeating: 0, count: usesEntries ? cells.entryCount : 0)
    for index in 0..<(column.rowCount + 63) >> 6 { bits[index] = 0 }
    for row in 0..<column.rowCount where !column.isNull(row) {
      let entry = usesEntries ? cells.entryIndex(ofRow: row) : 0
      if usesEntries, verdicts[entry] != 0 {
        if verdicts[entry] == 2 { bits[row >> 6] |= 1 << UInt64(row & 63) }
        continue
      }
      let cell = cells.cell(row)
      let matches: Bool
      if let bytes = cell.contiguous {
        matches = test.matches(bytes, scratch: &folded)
      } else {
        matches = try TableReader.withBytes(cell, tree) { value in
          guard case .bytes(let bytes) = value else { return false }
          return test.matches(bytes)
        }
      }
      if matches { bits[row >> 6] |= 1 << UInt64(row & 63) }
      if usesEntries, cell.form == .inline { verdicts[entry] = matches ? 2 : 1 }
    }
  }
}
