/// Reading the values of a leaf into the prefixes of items.
extension SortPlan {
  /// Makes the items of all rows of `leaf`, whose first row is at `place` in the tree, with the shares of
  /// `parts`.
  func read(
    _ parts: ArraySlice<Part>, _ leaf: ColumnLeaf, at place: Int,
    into items: UnsafeMutablePointer<SortItem>,
    _ scratch: UnsafeMutablePointer<Int64>, _ source: PageSource
  ) throws(StoreError) {
    let rows = leaf.rowCount
    for row in 0..<rows {
      unsafe (items + row).initialize(to: SortItem(high: 0, low: UInt64(place &+ row)))
    }
    for part in parts {
      let column = leaf.column(part.term.column)
      if unsafe part.fillIntegers(items, rows, column, scratch) { continue }
      if unsafe part.fillTexts(items, column) || part.fillSharedTexts(items, column) { continue }
      let values = SortCells(column, part, source)
      for row in 0..<rows { unsafe part.put(try values.word(row), &items[row]) }
    }
  }
}

// Pointers: as of ``SortPlan``. Texts lie in the leaf's page, which has 16 readable bytes behind all of them;
// what is skipped of a prefix is checked to be there.
extension SortPlan.Part {
  /// The bits of a value in the direction of the term; nil for null.
  @inline(__always) private func turned(_ word: SortWord?) -> SortWord {
    var result = word ?? SortWord(0, 0)
    if term.column.isNullable, word != nil {
      result = SortWord(
        1 &<< 63 | result.first &>> 1, result.first &<< 63 | result.second &>> 1)
    }
    if term.isAscending { return result }
    return SortWord(
      ~result.first & ~(UInt64.max >> UInt64(width)),
      ~result.second & ~(UInt64.max >> UInt64(max(0, width - 64))))
  }

  /// Adds the bits of a value to an item.
  @inline(__always) func put(_ word: SortWord?, _ item: inout SortItem) {
    let word = turned(word)
    let upper: UInt64
    if offset == 0 {
      item.high |= word.first
      upper = word.second
    } else if offset < 64 {
      let shift = UInt64(truncatingIfNeeded: offset)
      item.high |= word.first &>> shift
      upper = word.first &<< (64 &- shift) | word.second &>> shift
    } else {
      upper = word.first >> UInt64(offset - 64)
    }
    item.low |= upper & 0xffff_ffff_0000_0000
  }

  /// An integer's place above the smallest one, at the top of a word.
  @inline(__always) func word(_ value: Int64) -> SortWord {
    let valueWidth = term.column.isNullable ? width &- 1 : width
    // Only storage that rots under a mapping has integers outside of their bounds.
    return SortWord(UInt64(bitPattern: value &- base) << UInt64(64 &- valueWidth), 0)
  }

  /// Adds the integers of all rows; false when the column is none without nulls.
  fileprivate func fillIntegers(
    _ items: UnsafeMutablePointer<SortItem>, _ rows: Int, _ column: LeafColumn?,
    _ scratch: UnsafeMutablePointer<Int64>
  ) -> Bool {
    guard let column, column.type == .int, !column.hasNulls else { return false }
    unsafe column.copyInts(into: scratch)
    for row in 0..<rows { unsafe put(word(scratch[row]), &items[row]) }
    return true
  }

  /// Adds the texts of all rows; false when the column is none whose texts begin within the leaf.
  fileprivate func fillTexts(
    _ items: UnsafeMutablePointer<SortItem>, _ column: LeafColumn?
  ) -> Bool {
    guard let column, let parts = column.bytesColumn, column.encoding == .variable,
      unsafe column.overflow == nil, unsafe parts.suffix.isEmpty, unsafe parts.prefix.count >= skip
    else { return false }
    // What the leaf's own texts share beyond what all share.
    let rest = unsafe UnsafeRawBufferPointer(rebasing: parts.prefix[skip...])
    // 16 bytes may be read behind everything on the page.
    if unsafe rest.isEmpty, !column.hasNulls {
      unsafe parts.forEachEntry { row, text in
        guard let start = text.baseAddress else { return }
        unsafe put(SortWord(reading16: start, text.count), &items[row])
      }
    } else {
      unsafe parts.forEachEntry { row, text in
        unsafe put(column.isNull(row) ? nil : SortWord(rest, text), &items[row])
      }
    }
    return true
  }
}

extension SortPlan.Part {
  /// Adds the texts of all rows, of which each is looked at once however many rows have it; false when the
  /// column is no list of distinct texts within the leaf.
  fileprivate func fillSharedTexts(
    _ items: UnsafeMutablePointer<SortItem>, _ column: LeafColumn?
  ) -> Bool {
    guard let column, let parts = column.bytesColumn, unsafe column.overflow == nil,
      column.encoding == .dictionary || column.encoding == .constant
    else { return false }
    unsafe withUnsafeTemporaryAllocation(of: SortWord.self, capacity: parts.entryCount) { words in
      for entry in 0..<parts.entryCount {
        let text = unsafe BytesCell(
          form: .inline, head: parts.prefix, body: parts.entry(entry), tail: parts.suffix)
        unsafe text.withBytes { bytes in
          let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes.dropFirst(skip))
          unsafe words.initializeElement(at: entry, to: SortWord(rest))
        }
      }
      for row in 0..<column.rowCount {
        unsafe put(column.isNull(row) ? nil : words[parts.entryIndex(ofRow: row)], &items[row])
      }
    }
    return true
  }
}

/// The cells of a leaf's column as words to sort by, whatever their form.
///
/// Pointers: a text is looked at during one call only; it lies in an array or in the leaf, which
/// whoever uses this keeps.
struct SortCells {
  private let column: LeafColumn?
  private let texts: BytesColumn?
  private let part: SortPlan.Part
  private let source: PageSource

  init(_ column: LeafColumn?, _ part: SortPlan.Part, _ source: PageSource) {
    self.column = column
    texts = column?.bytesColumn
    self.part = part
    self.source = source
  }

  private func word(_ text: UnsafeRawBufferPointer) -> SortWord {
    unsafe SortWord(UnsafeRawBufferPointer(rebasing: text.dropFirst(part.skip)))
  }

  /// The word of a row; nil for null.
  func word(_ row: Int) throws(StoreError) -> SortWord? {
    guard let column else {
      if part.term.column.isNullable { return nil }
      switch part.term.column.type {
      case .int: return part.word(0)
      case .float, .double: return SortWord(SortWord.order(0), 0)
      default: return SortWord(0, 0)
      }
    }
    if column.isNull(row) { return nil }
    switch column.type {
    case .int: return part.word(column.int(row))
    case .bool: return SortWord(column.bool(row) ? 1 << 63 : 0, 0)
    case .float: return SortWord(SortWord.order(Double(column.float(row))), 0)
    case .double: return SortWord(SortWord.order(column.double(row)), 0)
    case .wide:
      let (low, high) = column.wide(row)
      return SortWord(high, low)
    case .bytes:
      guard let cell = texts?.cell(row) else { return nil }
      switch cell.form {
      case .null, .tree: return nil
      case .inline: return unsafe cell.withBytes { unsafe word($0) }
      case .overflow:
        return try unsafe cell.overflow?.withFirstChunk(in: source) { unsafe word($0) }
      }
    }
  }
}
