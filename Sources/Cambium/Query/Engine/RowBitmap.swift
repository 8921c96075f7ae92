/// A bit for each row of a window of a table, counted by position.
///
/// Bits past the last row are always zero.
///
/// Pointers: owns and frees the words: one for every 64 positions of the window, and one more.
/// Positions are held against the window here; bitmaps that are joined have the same window.
@safe final class RowBitmap {
  /// The positions that the bits stand for.
  let window: Range<Int>
  let wordCount: Int
  private let words: UnsafeMutablePointer<UInt64>

  /// A bitmap with all bits the same.
  init(_ window: Range<Int>, filled: Bool = false) {
    self.window = window
    wordCount = (window.count + 63) >> 6
    // One more word, so that merging at a shift may always touch the next one.
    unsafe words = .allocate(capacity: wordCount + 1)
    unsafe words.initialize(repeating: filled ? .max : 0, count: wordCount + 1)
    if filled { clearTail() }
  }

  deinit { unsafe words.deallocate() }

  private func clearTail() {
    let rest = window.count & 63
    if rest != 0 { unsafe words[wordCount - 1] &= (1 << UInt64(rest)) - 1 }
    unsafe words[wordCount] = 0
  }

  /// Keeps the bits that are set in both.
  func formIntersection(_ other: RowBitmap) {
    for index in 0..<wordCount { unsafe words[index] &= other.words[index] }
  }

  /// Sets the bits that are set in the other.
  func formUnion(_ other: RowBitmap) {
    for index in 0..<wordCount { unsafe words[index] |= other.words[index] }
  }

  /// Turns every bit.
  func invert() {
    for index in 0..<wordCount { unsafe words[index] = unsafe ~words[index] }
    clearTail()
  }

  /// The number of bits set.
  var count: Int {
    var count = 0
    for index in 0..<wordCount { unsafe count += words[index].nonzeroBitCount }
    return count
  }

  var isEmpty: Bool {
    for index in 0..<wordCount where unsafe words[index] != 0 { return false }
    return true
  }

  /// Sets the bit of a position; positions outside of the window are ignored.
  func insert(_ position: Int) {
    guard window.contains(position) else { return }
    let offset = position - window.lowerBound
    unsafe words[offset >> 6] |= 1 << UInt64(offset & 63)
  }

  func contains(_ position: Int) -> Bool {
    guard window.contains(position) else { return false }
    let offset = position - window.lowerBound
    return unsafe words[offset >> 6] >> UInt64(offset & 63) & 1 != 0
  }

  /// Whether any of these positions is set.
  func intersects(_ positions: Range<Int>) -> Bool {
    let lower = max(positions.lowerBound, window.lowerBound) - window.lowerBound
    let upper = min(positions.upperBound, window.upperBound) - window.lowerBound
    guard lower < upper else { return false }
    let (first, last) = (lower >> 6, (upper - 1) >> 6)
    let head = UInt64.max << UInt64(lower & 63)
    let tail = UInt64.max >> UInt64(63 - ((upper - 1) & 63))
    if first == last { return unsafe words[first] & head & tail != 0 }
    if unsafe words[first] & head != 0 || words[last] & tail != 0 { return true }
    for index in first + 1..<last where unsafe words[index] != 0 { return true }
    return false
  }

  /// Adds the bits of `count` rows that start at `position`; rows outside of the window are left out.
  func merge(_ bits: UnsafePointer<UInt64>, count: Int, at position: Int) {
    let source = max(0, window.lowerBound - position)
    let end = min(count, window.upperBound - position)
    guard source < end else { return }
    var from = source
    var to = position + source - window.lowerBound
    while from < end {
      // As many bits as end on a word boundary of the source.
      let taken = min(64 - (from & 63), end - from)
      var word = unsafe bits[from >> 6] >> UInt64(from & 63)
      if taken < 64 { word &= (1 << UInt64(taken)) - 1 }
      let shift = UInt64(to & 63)
      unsafe words[to >> 6] |= word << shift
      if shift != 0 { unsafe words[(to >> 6) + 1] |= word >> (64 - shift) }
      from += taken
      to += taken
    }
  }

  /// Writes the bits of a range that begins within the window to `bits`, lowest first; positions behind the window and
  /// the rest of the last word have zeros.
  func copy(_ positions: Range<Int>, into bits: UnsafeMutablePointer<UInt64>) {
    let offset = positions.lowerBound - window.lowerBound
    let shift = UInt64(offset & 63)
    let count = (positions.count + 63) >> 6
    for index in 0..<count {
      let word = (offset >> 6) + index
      var value = unsafe word < wordCount ? words[word] >> shift : 0
      if shift != 0, word + 1 < wordCount { unsafe value |= words[word + 1] << (64 - shift) }
      unsafe bits[index] = value
    }
    let rest = positions.count & 63
    if rest != 0 { unsafe bits[count - 1] &= (1 << UInt64(rest)) - 1 }
  }

  /// Calls `body` with each position set, in ascending order, until it returns false.
  func forEach<Failure: Error>(_ body: (Int) throws(Failure) -> Bool) throws(Failure) {
    for index in 0..<wordCount {
      var word = unsafe words[index]
      while word != 0 {
        let position = window.lowerBound + (index << 6) + word.trailingZeroBitCount
        guard try body(position) else { return }
        word &= word - 1
      }
    }
  }

  /// The first position set at or behind `position`.
  func next(from position: Int) -> Int? {
    let offset = max(position - window.lowerBound, 0)
    guard offset < window.count else { return nil }
    var index = offset >> 6
    var word = unsafe words[index] & UInt64.max << UInt64(offset & 63)
    while word == 0 {
      index += 1
      guard index < wordCount else { return nil }
      word = unsafe words[index]
    }
    return window.lowerBound + (index << 6) + word.trailingZeroBitCount
  }
}
