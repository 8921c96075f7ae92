extension RowLog {
  /// Below so many rows, comparing takes less than counting.
  private static let comparedCount = 512
  /// Bits of a digit: the places where rows of all its values go next stay in the cache.
  private static let digitBitCount: UInt64 = 11

  /// Puts the entries in the order of their keys.
  func sort() {
    if count < Self.comparedCount {
      var rows = UnsafeMutableBufferPointer(start: entries, count: count)
      rows.sort { $0.key < $1.key }
      return
    }
    // From the lowest digit to the highest, each pass keeping the order of the one before. Only bits
    // in which keys can differ take part.
    let bitCount = UInt64(64 - UInt64(bitPattern: highest &- lowest).leadingZeroBitCount)
    if bitCount == 0 { return }
    let passCount = (bitCount + Self.digitBitCount - 1) / Self.digitBitCount
    let width = (bitCount + passCount - 1) / passCount
    let places = UnsafeMutablePointer<Int>.allocate(capacity: 1 << Int(width))
    var target = UnsafeMutablePointer<Entry>.allocate(capacity: count)
    var source = entries
    for pass in 0..<passCount {
      distribute(source, to: target, places, shift: pass * width, width: width)
      swap(&source, &target)
    }
    places.deallocate()
    adopt(sorted: source, spare: target)
  }

  private func distribute(
    _ source: UnsafeMutablePointer<Entry>, to target: UnsafeMutablePointer<Entry>,
    _ places: UnsafeMutablePointer<Int>, shift: UInt64, width: UInt64
  ) {
    let low = lowest
    let mask: UInt64 = (1 << width) - 1
    places.initialize(repeating: 0, count: 1 << Int(width))
    for index in 0..<count {
      let digit = (UInt64(bitPattern: source[index].key &- low) &>> shift) & mask
      places[Int(truncatingIfNeeded: digit)] &+= 1
    }
    var sum = 0
    for digit in 0..<(1 << Int(width)) {
      let rows = places[digit]
      places[digit] = sum
      sum += rows
    }
    for index in 0..<count {
      let entry = source[index]
      let digit = Int(
        truncatingIfNeeded: (UInt64(bitPattern: entry.key &- low) &>> shift) & mask)
      target[places[digit]] = entry
      places[digit] &+= 1
    }
  }
}
