extension RowLog {
  /// Below so many rows, comparing takes less than counting.
  private static let comparedCount = 512
  /// Bits of a digit: the places where rows of all its values go next stay in the cache.
  private static let digitBitCount: UInt64 = 11

  /// Puts the entries in the order of their keys.
  func sort() {
    if unsafe count < Self.comparedCount {
      var rows = unsafe UnsafeMutableBufferPointer(start: entries, count: count)
      unsafe rows.sort { $0.key < $1.key }
      return
    }
    // From the lowest digit to the highest, each pass keeping the order of the one before. Only bits
    // in which keys can differ take part.
    let bitCount = unsafe UInt64(64 - UInt64(bitPattern: highest &- lowest).leadingZeroBitCount)
    if bitCount == 0 { return }
    let passCount = (bitCount + Self.digitBitCount - 1) / Self.digitBitCount
    let width = (bitCount + passCount - 1) / passCount
    let places = UnsafeMutablePointer<Int>.allocate(capacity: 1 << Int(width))
    var target = unsafe UnsafeMutablePointer<Entry>.allocate(capacity: count)
    var source = unsafe entries
    for pass in 0..<passCount {
      unsafe distribute(source, to: target, places, shift: pass * width, width: width)
      unsafe swap(&source, &target)
    }
    unsafe places.deallocate()
    unsafe adopt(sorted: source, spare: target)
  }

  private func distribute(
    _ source: UnsafeMutablePointer<Entry>, to target: UnsafeMutablePointer<Entry>,
    _ places: UnsafeMutablePointer<Int>, shift: UInt64, width: UInt64
  ) {
    let low = unsafe lowest
    let mask: UInt64 = (1 << width) - 1
    unsafe places.initialize(repeating: 0, count: 1 << Int(width))
    for index in unsafe 0..<count {
      let digit = unsafe (UInt64(bitPattern: source[index].key &- low) &>> shift) & mask
      unsafe places[Int(truncatingIfNeeded: digit)] &+= 1
    }
    var sum = 0
    for digit in 0..<(1 << Int(width)) {
      let rows = unsafe places[digit]
      unsafe places[digit] = sum
      sum += rows
    }
    for index in unsafe 0..<count {
      let entry = unsafe source[index]
      let digit = Int(
        truncatingIfNeeded: (UInt64(bitPattern: entry.key &- low) &>> shift) & mask)
      unsafe target[places[digit]] = entry
      unsafe places[digit] &+= 1
    }
  }
}
