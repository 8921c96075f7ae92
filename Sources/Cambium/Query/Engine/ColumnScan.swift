import CambiumCore

/// Tests a column leaf by leaf with the kernels of its encoding.
final class ColumnScan {
  private let condition: ValueCondition
  private let defaultMatches: Bool
  private let tree: ColumnTree
  private let interruption: Interruption?
  /// The answers of one leaf's rows, and which of them are not null.
  private var bits = Scratch<UInt64>()
  private var presence = Scratch<UInt64>()
  private var integers = Scratch<Int64>()
  /// The texts of one leaf, folded, and one text.
  private var texts = Scratch<UInt8>()
  private var folded: [UInt8] = []

  /// `defaultMatches` says how rows answer whose leaf does not store the column.
  init(
    _ condition: ValueCondition, defaultMatches: Bool, _ tree: ColumnTree,
    _ interruption: Interruption?
  ) {
    self.interruption = interruption
    self.condition = condition
    self.defaultMatches = defaultMatches
    self.tree = tree
  }

  /// The rows of the window that satisfy the condition; leaves without candidates are skipped.
  func run(
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
        try interruption?.check()
        let wordCount = (leaf.rowCount + 63) >> 6
        let bits = bits.room(wordCount)
        if let cells = leaf.column(column) {
          try select(cells, into: bits)
        } else {
          bits.update(repeating: defaultMatches ? .max : 0, count: wordCount)
        }
        result.merge(bits, count: leaf.rowCount, at: first)
      }
      isValid = try cursor.next()
    }
    return result
  }

  // Kernels answer no for null rows; those of the default are added last.
  private func select(
    _ column: LeafColumn, into bits: UnsafeMutablePointer<UInt64>
  ) throws(StoreError) {
    let wordCount = column.bitmapWordCount
    switch condition.kind {
    case .none: bits.update(repeating: 0, count: wordCount)
    case .all: column.copyPresence(into: bits)
    case .integer(.range(let range)): column.selectInts(in: range, into: bits)
    case .integer(.outside(let range)):
      column.selectInts(in: range, into: bits)
      exchange(column, bits)
    case .integer(.set(let set)): select(column, set, into: bits)
    case .bool(let whenTrue, let whenFalse):
      if whenTrue == whenFalse {
        if whenTrue {
          column.copyPresence(into: bits)
        } else {
          bits.update(repeating: 0, count: wordCount)
        }
      } else {
        column.selectBools(equalTo: whenTrue, into: bits)
      }
    case .floating(.range(let low, let high)):
      column.selectDoubles(from: low, through: high, into: bits)
    case .floating(.outside(let low, let high)):
      column.selectDoubles(from: low, through: high, into: bits)
      exchange(column, bits)
    case .floating(.set(let set)):
      let isDouble = column.type == .double
      mark(column, bits) { row in
        set.contains(isDouble ? column.double(row) : Double(column.float(row)))
      }
    case .wide(let condition):
      mark(column, bits) { row in
        let words = column.wide(row)
        return condition.matches(low: words.low, high: words.high)
      }
    case .decimal(let condition):
      mark(column, bits) { row in
        let words = column.wide(row)
        return condition.matches(DecimalBits(low: words.low, high: words.high))
      }
    case .bytes(let condition): try select(column, condition, into: bits)
    case .any(let conditions):
      try column.selectBytes(into: bits, source: tree.source) { bytes in
        conditions.contains { $0.matches(.bytes(bytes)) }
      }
    }
    guard condition.matchesNull, column.hasNulls else { return }
    let presence = presence.room(wordCount)
    column.copyPresence(into: presence)
    for word in 0..<wordCount { bits[word] |= ~presence[word] }
  }

  /// Turns the answers of the rows that are not null.
  private func exchange(_ column: LeafColumn, _ bits: UnsafeMutablePointer<UInt64>) {
    let presence = presence.room(column.bitmapWordCount)
    column.copyPresence(into: presence)
    for word in 0..<column.bitmapWordCount { bits[word] = presence[word] & ~bits[word] }
  }

  /// Asks row by row.
  @inline(__always)
  private func mark(
    _ column: LeafColumn, _ bits: UnsafeMutablePointer<UInt64>, _ matches: (Int) -> Bool
  ) {
    column.copyPresence(into: bits)
    var row = 0
    for index in 0..<column.bitmapWordCount {
      let end = min(row + 64, column.rowCount)
      var word: UInt64 = 0
      var shift: UInt64 = 0
      while row < end {
        word |= (matches(row) ? 1 : 0) &<< shift
        shift &+= 1
        row &+= 1
      }
      bits[index] &= word
    }
  }

  private func select(
    _ column: LeafColumn, _ set: IntegerSet, into bits: UnsafeMutablePointer<UInt64>
  ) {
    guard let span = set.bounds, span.overlaps(column.integerBounds) else {
      return bits.update(repeating: 0, count: column.bitmapWordCount)
    }
    if set.count <= 8 { return column.selectInts(anyOf: set.sorted, into: bits) }
    let integers = integers.room(column.rowCount)
    column.copyInts(into: integers)
    mark(column, bits) { row in set.contains(integers[row]) }
  }

  private func select(
    _ column: LeafColumn, _ condition: BytesCondition, into bits: UnsafeMutablePointer<UInt64>
  ) throws(StoreError) {
    let source = tree.source
    if let folding = condition.folding {
      let memory = UnsafeMutableRawPointer(texts.room(column.foldedByteCount))
      let lowercasing = folding.options.contains(.caseInsensitive)
      if let plain = column.foldedAsASCII(lowercasing: lowercasing, into: memory) {
        return try select(plain, condition.ofFolded, into: bits)
      }
      return try column.selectBytes(into: bits, source: source) { bytes in
        condition.matches(bytes, scratch: &folded)
      }
    }
    switch condition.kind {
    case .equal(let value), .notEqual(let value):
      try value.withBytes { bytes throws(StoreError) in
        try column.selectBytes(equalTo: bytes, into: bits, source: source)
      }
      if case .notEqual = condition.kind { exchange(column, bits) }
    case .beginsWith(let piece):
      try piece.withBytes { bytes throws(StoreError) in
        try column.selectBytes(withPrefix: bytes, into: bits, source: source)
      }
    case .endsWith(let piece):
      try piece.withBytes { bytes throws(StoreError) in
        try column.selectBytes(withSuffix: bytes, into: bits, source: source)
      }
    case .contains(let piece):
      try piece.withBytes { bytes throws(StoreError) in
        try column.selectBytes(containing: bytes, into: bits, source: source)
      }
    case .range, .set, .like:
      try column.selectBytes(into: bits, source: source) { condition.matches($0) }
    }
  }
}

/// Memory that a scan uses again for each leaf.
struct Scratch<Element: BitwiseCopyable>: ~Copyable {
  private var memory: UnsafeMutableBufferPointer<Element>

  init() { memory = UnsafeMutableBufferPointer(start: nil, count: 0) }

  deinit { memory.deallocate() }

  /// Room for `count` elements, undefined until they are written.
  mutating func room(_ count: Int) -> UnsafeMutablePointer<Element> {
    if memory.count < count || memory.baseAddress == nil {
      memory.deallocate()
      memory = .allocate(capacity: max(count * 2, 64))
    }
    return memory.baseAddress.unsafelyUnwrapped
  }
}

extension [UInt8] {
  /// Lends the bytes to a body that throws store errors.
  func withBytes<Result>(
    _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let result = withUnsafeBytes { bytes -> Swift.Result<Result, StoreError> in
      do throws(StoreError) {
        return .success(try body(bytes))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
