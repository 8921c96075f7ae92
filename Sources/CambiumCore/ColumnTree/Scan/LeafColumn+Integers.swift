import CPlatform

extension LeafColumn {
  /// A range of integers as the offsets that stand for it: those with `offset &- low <= span`.
  struct PackedRange {
    var low: UInt64
    var span: UInt64
  }

  /// What share of the column's possible offsets `range` covers; nil when none.
  @inline(__always) func packed(_ range: ClosedRange<Int64>) -> PackedRange? {
    if encoding != .packed { return range.contains(base) ? PackedRange(low: 0, span: 0) : nil }
    if width >= 64 {
      return PackedRange(
        low: UInt64(bitPattern: range.lowerBound),
        span: UInt64(bitPattern: range.upperBound &- range.lowerBound))
    }
    let bounds = integerBounds
    if range.upperBound < bounds.lowerBound || range.lowerBound > bounds.upperBound { return nil }
    let low = UInt64(bitPattern: max(range.lowerBound, bounds.lowerBound) &- base)
    let high = UInt64(bitPattern: min(range.upperBound, bounds.upperBound) &- base)
    return PackedRange(low: low, span: high &- low)
  }

  /// How many integers lie in `range`; nulls do not.
  public func countInts(in range: ClosedRange<Int64>) -> Int {
    let bounds = integerBounds
    if range.upperBound < bounds.lowerBound || range.lowerBound > bounds.upperBound { return 0 }
    if range.lowerBound <= bounds.lowerBound && range.upperBound >= bounds.upperBound {
      return rowCount - (hasNulls ? nullCount : 0)
    }
    guard let packed = packed(range) else { return 0 }
    let (low, span) = (packed.low, packed.span)
    let count: Int
    switch width {
    case 8:
      count = unsafe cambium_count8(
        data.assumingMemoryBound(to: UInt8.self), rowCount, UInt8(truncatingIfNeeded: low),
        UInt8(truncatingIfNeeded: span))
    case 16:
      count = unsafe cambium_count16(
        data.assumingMemoryBound(to: UInt16.self), rowCount, UInt16(truncatingIfNeeded: low),
        UInt16(truncatingIfNeeded: span))
    case 32:
      count = unsafe cambium_count32(
        data.assumingMemoryBound(to: UInt32.self), rowCount, UInt32(truncatingIfNeeded: low),
        UInt32(truncatingIfNeeded: span))
    case 64:
      count = unsafe cambium_count64(
        data.assumingMemoryBound(to: UInt64.self), rowCount, low, span)
    default:
      var sum = 0
      for word in 0..<bitmapWordCount {
        sum += (offsetMask(word, packed) & presence(word)).nonzeroBitCount
      }
      return sum
    }
    // Null rows hold offset 0.
    let nullsCounted =
      hasNulls && (0 &- low) & PackedIntegers.maximum(width) <= span ? nullCount : 0
    return max(0, count - nullsCounted)
  }

  /// Marks the rows whose integer lies in `range`; nulls do not.
  ///
  /// Overwrites ``bitmapWordCount`` words, lowest row first.
  public func selectInts(
    in range: ClosedRange<Int64>, into bitmap: UnsafeMutablePointer<UInt64>
  ) {
    guard let packed = packed(range) else {
      return unsafe bitmap.update(repeating: 0, count: bitmapWordCount)
    }
    if encoding != .packed { return unsafe copyPresence(into: bitmap) }
    for word in 0..<bitmapWordCount {
      unsafe bitmap[word] = offsetMask(word, packed) & presence(word)
    }
  }

  /// Marks the rows whose integer is one of `values`, a few; nulls are not.
  ///
  /// Overwrites ``bitmapWordCount`` words, lowest row first.
  public func selectInts(
    anyOf values: [Int64], into bitmap: UnsafeMutablePointer<UInt64>
  ) {
    let bounds = integerBounds
    let candidates = values.filter { bounds.contains($0) }
    unsafe bitmap.update(repeating: 0, count: bitmapWordCount)
    if candidates.isEmpty { return }
    if encoding != .packed { return unsafe copyPresence(into: bitmap) }
    for value in candidates {
      guard let packed = packed(value...value) else { continue }
      for word in 0..<bitmapWordCount { unsafe bitmap[word] |= offsetMask(word, packed) }
    }
    for word in 0..<bitmapWordCount { unsafe bitmap[word] &= presence(word) }
  }

  /// The rows of word `word` whose offset is in the range; bits past the last row are undefined.
  @inline(__always) func offsetMask(_ word: Int, _ range: PackedRange) -> UInt64 {
    unsafe Self.mask(data, width, word: word, rowCount: rowCount, range)
  }

  /// As ``offsetMask(_:_:)``, over any packed integers.
  @inline(__always) static func mask(
    _ data: UnsafeRawPointer, _ width: UInt8, word: Int, rowCount: Int, _ range: PackedRange
  ) -> UInt64 {
    let rest = rowCount &- word &* 64
    let start = unsafe data + word &* 8 &* Int(width)
    if rest >= 64 { return unsafe fullMask(start, width, range) }
    if width >= 8, rowCount >= 64 {
      // The last 64 rows: nothing past them is read.
      let last = unsafe data + (rowCount &- 64) &* Int(width &>> 3)
      return unsafe fullMask(last, width, range) &>> UInt64(truncatingIfNeeded: 64 &- rest)
    }
    // A few rows: copied, so that nothing past them is read.
    return unsafe withUnsafeTemporaryAllocation(byteCount: 512, alignment: 16) { buffer in
      let copy = unsafe buffer.baseAddress.unsafelyUnwrapped
      let byteCount = PackedIntegers.byteCount(rest, width)
      unsafe copy.copyMemory(from: start, byteCount: byteCount)
      unsafe (copy + byteCount).initializeMemory(
        as: UInt8.self, repeating: 0, count: 512 - byteCount)
      return unsafe fullMask(copy, width, range)
    }
  }

  @inline(__always) private static func fullMask(
    _ start: UnsafeRawPointer, _ width: UInt8, _ range: PackedRange
  ) -> UInt64 {
    let (low, span) = (range.low, range.span)
    switch width {
    case 8:
      return unsafe cambium_mask8(
        start.assumingMemoryBound(to: UInt8.self), UInt8(truncatingIfNeeded: low),
        UInt8(truncatingIfNeeded: span))
    case 16:
      return unsafe cambium_mask16(
        start.assumingMemoryBound(to: UInt16.self), UInt16(truncatingIfNeeded: low),
        UInt16(truncatingIfNeeded: span))
    case 32:
      return unsafe cambium_mask32(
        start.assumingMemoryBound(to: UInt32.self), UInt32(truncatingIfNeeded: low),
        UInt32(truncatingIfNeeded: span))
    case 64: return unsafe cambium_mask64(start.assumingMemoryBound(to: UInt64.self), low, span)
    case 1:
      let ones = unsafe start.word(0)
      let zeroes: UInt64 = low == 0 ? ~ones : 0
      return low &+ span >= 1 ? ones | zeroes : zeroes
    case 2, 4:
      return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { spread in
        let bytes = unsafe spread.baseAddress.unsafelyUnwrapped
        unsafe cambium_spread(start.assumingMemoryBound(to: UInt8.self), Int32(width), bytes)
        return unsafe cambium_mask8(
          bytes, UInt8(truncatingIfNeeded: low), UInt8(truncatingIfNeeded: span))
      }
    default: return low == 0 ? .max : 0
    }
  }
}
