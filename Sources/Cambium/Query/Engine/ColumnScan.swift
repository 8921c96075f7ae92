import CambiumCore

/// Tests a column leaf by leaf with the kernels of its encoding.
///
/// Pointers: room is asked for anew for each leaf: a word for every 64 of its rows, an integer for each
/// row, and as many bytes as the column says that folding takes. Constants are lent for the length of a
/// call.
final class ColumnScan {
  private let condition: ValueCondition
  private let defaultMatches: Bool
  private let tree: ColumnTree
  private let interruption: Interruption?
  /// The answers of one leaf's rows, and which of them are not null.
  private var bits = RowScratch<UInt64>()
  private var presence = RowScratch<UInt64>()
  private var integers = RowScratch<Int64>()
  /// The texts of one leaf, folded, and one text.
  private var texts = RowScratch<UInt8>()
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
        let bits = unsafe bits.room(wordCount)
        if let cells = leaf.column(column) {
          try unsafe select(cells, into: bits)
        } else {
          unsafe bits.update(repeating: defaultMatches ? .max : 0, count: wordCount)
        }
        unsafe result.merge(bits, count: leaf.rowCount, at: first)
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
    case .none: unsafe bits.update(repeating: 0, count: wordCount)
    case .all: unsafe column.copyPresence(into: bits)
    case .integer(.range(let range)): unsafe column.selectInts(in: range, into: bits)
    case .integer(.outside(let range)):
      unsafe column.selectInts(in: range, into: bits)
      unsafe exchange(column, bits)
    case .integer(.set(let set)): unsafe select(column, set, into: bits)
    case .bool(let whenTrue, let whenFalse):
      if whenTrue == whenFalse {
        if whenTrue {
          unsafe column.copyPresence(into: bits)
        } else {
          unsafe bits.update(repeating: 0, count: wordCount)
        }
      } else {
        unsafe column.selectBools(equalTo: whenTrue, into: bits)
      }
    case .floating(.range(let low, let high)):
      unsafe column.selectDoubles(from: low, through: high, into: bits)
    case .floating(.outside(let low, let high)):
      unsafe column.selectDoubles(from: low, through: high, into: bits)
      unsafe exchange(column, bits)
    case .floating(.set(let set)):
      let isDouble = column.type == .double
      unsafe mark(column, bits) { row in
        set.contains(isDouble ? column.double(row) : Double(column.float(row)))
      }
    case .wide(let condition):
      unsafe mark(column, bits) { row in
        let words = column.wide(row)
        return condition.matches(low: words.low, high: words.high)
      }
    case .decimal(let condition):
      unsafe mark(column, bits) { row in
        let words = column.wide(row)
        return condition.matches(DecimalBits(low: words.low, high: words.high))
      }
    case .bytes(let condition): try unsafe select(column, condition, into: bits)
    case .any(let condition):
      try unsafe column.selectBytes(into: bits, source: tree.source) { bytes in
        unsafe condition.matches(.bytes(bytes))
      }
    }
    guard condition.matchesNull, column.hasNulls else { return }
    let presence = unsafe presence.room(wordCount)
    unsafe column.copyPresence(into: presence)
    for word in 0..<wordCount { unsafe bits[word] |= ~presence[word] }
  }

  /// Turns the answers of the rows that are not null.
  private func exchange(_ column: LeafColumn, _ bits: UnsafeMutablePointer<UInt64>) {
    let presence = unsafe presence.room(column.bitmapWordCount)
    unsafe column.copyPresence(into: presence)
    for word in 0..<column.bitmapWordCount {
      unsafe bits[word] = unsafe presence[word] & ~bits[word]
    }
  }

  /// Asks row by row.
  @inline(__always)
  private func mark(
    _ column: LeafColumn, _ bits: UnsafeMutablePointer<UInt64>, _ matches: (Int) -> Bool
  ) {
    unsafe column.copyPresence(into: bits)
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
      unsafe bits[index] &= word
    }
  }

  private func select(
    _ column: LeafColumn, _ set: IntegerSet, into bits: UnsafeMutablePointer<UInt64>
  ) {
    guard let span = set.bounds, span.overlaps(column.integerBounds) else {
      return unsafe bits.update(repeating: 0, count: column.bitmapWordCount)
    }
    if set.count <= 8 { return unsafe column.selectInts(anyOf: set.sorted, into: bits) }
    let integers = unsafe integers.room(column.rowCount)
    unsafe column.copyInts(into: integers)
    unsafe mark(column, bits) { row in unsafe set.contains(integers[row]) }
  }

  private func select(
    _ column: LeafColumn, _ condition: BytesCondition, into bits: UnsafeMutablePointer<UInt64>
  ) throws(StoreError) {
    let source = tree.source
    if let folding = condition.folding {
      let memory = unsafe UnsafeMutableRawPointer(texts.room(column.foldedByteCount))
      let lowercasing = folding.options.contains(.caseInsensitive)
      if let plain = unsafe column.foldedAsASCII(lowercasing: lowercasing, into: memory) {
        return try unsafe select(plain, condition.ofFolded, into: bits)
      }
      return try unsafe column.selectBytes(into: bits, source: source) { bytes in
        unsafe condition.matches(bytes, scratch: &folded)
      }
    }
    switch condition.kind {
    case .equal(let value), .notEqual(let value):
      try unsafe value.withBytes { bytes throws(StoreError) in
        try unsafe column.selectBytes(equalTo: bytes, into: bits, source: source)
      }
      if case .notEqual = condition.kind { unsafe exchange(column, bits) }
    case .beginsWith(let piece):
      try unsafe piece.withBytes { bytes throws(StoreError) in
        try unsafe column.selectBytes(withPrefix: bytes, into: bits, source: source)
      }
    case .endsWith(let piece):
      try unsafe piece.withBytes { bytes throws(StoreError) in
        try unsafe column.selectBytes(withSuffix: bytes, into: bits, source: source)
      }
    case .contains(let piece):
      try unsafe piece.withBytes { bytes throws(StoreError) in
        try unsafe column.selectBytes(containing: bytes, into: bits, source: source)
      }
    case .range, .set, .like:
      try unsafe column.selectBytes(into: bits, source: source) { unsafe condition.matches($0) }
    }
  }
}
