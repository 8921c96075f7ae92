import CPlatform

extension LeafColumn {
  /// Calls `visit` with each row that is not null and, if there is a selection, selected.
  @inline(__always) func forEachRow(
    _ selection: UnsafePointer<UInt64>?, _ visit: (Int) -> Void
  ) {
    for word in 0..<bitmapWordCount {
      var rows = presence(word)
      if let selection = unsafe selection { unsafe rows &= selection[word] }
      while rows != 0 {
        visit(word &* 64 &+ rows.trailingZeroBitCount)
        rows &= rows &- 1
      }
    }
  }

  /// How many rows are not null and, if there is a selection, selected.
  public func countRows(selection: UnsafePointer<UInt64>? = nil) -> Int {
    guard let selection = unsafe selection else { return rowCount - (hasNulls ? nullCount : 0) }
    var count = 0
    for word in 0..<bitmapWordCount {
      unsafe count += (presence(word) & selection[word]).nonzeroBitCount
    }
    return count
  }

  /// The exact sum of the integers that are not null and, if there is a selection, selected.
  public func sumInts(selection: UnsafePointer<UInt64>? = nil) -> Int128 {
    if unsafe encoding != .packed || selection != nil || width < 8 || width == 64 {
      if encoding != .packed {
        return unsafe Int128(base) * Int128(countRows(selection: selection))
      }
      var sum: Int128 = 0
      unsafe forEachRow(selection) { sum += Int128(int($0)) }
      return sum
    }
    // Null rows hold offset 0.
    let offsets: UInt64
    switch width {
    case 8: offsets = unsafe cambium_sum8(data.assumingMemoryBound(to: UInt8.self), rowCount)
    case 16: offsets = unsafe cambium_sum16(data.assumingMemoryBound(to: UInt16.self), rowCount)
    default: offsets = unsafe cambium_sum32(data.assumingMemoryBound(to: UInt32.self), rowCount)
    }
    return unsafe Int128(offsets) + Int128(base) * Int128(countRows())
  }

  /// The least and the greatest integer that is not null and, if there is a selection, selected;
  /// nil when there is none.
  public func extremeInts(selection: UnsafePointer<UInt64>? = nil) -> ClosedRange<Int64>? {
    if encoding != .packed { return unsafe countRows(selection: selection) > 0 ? base...base : nil }
    var least = UInt64.max
    var greatest: UInt64 = 0
    if width == 64 {
      var (low, high) = (Int64.max, Int64.min)
      unsafe forEachRow(selection) {
        let value = int($0)
        low = min(low, value)
        high = max(high, value)
      }
      return low <= high ? low...high : nil
    }
    if unsafe hasNulls || selection != nil || width < 8 {
      unsafe forEachRow(selection) {
        let offset = unsafe PackedIntegers.load(data, width, $0)
        least = min(least, offset)
        greatest = max(greatest, offset)
      }
    } else {
      switch width {
      case 8: extremes(of: UInt8.self, &least, &greatest)
      case 16: extremes(of: UInt16.self, &least, &greatest)
      default: extremes(of: UInt32.self, &least, &greatest)
      }
    }
    guard least <= greatest else { return nil }
    let (low, high) = (base &+ Int64(bitPattern: least), base &+ Int64(bitPattern: greatest))
    // Only a page that rotted after its check runs past the last integer.
    return low <= high ? low...high : .min ... .max
  }

  @inline(__always) private func extremes<Offset: FixedWidthInteger & UnsignedInteger>(
    of type: Offset.Type, _ least: inout UInt64, _ greatest: inout UInt64
  ) {
    let offsets = unsafe data.assumingMemoryBound(to: Offset.self)
    var low = Offset.max
    var high = Offset.min
    for row in 0..<rowCount {
      low = unsafe min(low, Offset(littleEndian: offsets[row]))
      high = unsafe max(high, Offset(littleEndian: offsets[row]))
    }
    if rowCount > 0 { (least, greatest) = (UInt64(low), UInt64(high)) }
  }

  // MARK: Floating point

  /// The sum of the floats or doubles that are not null and, if there is a selection, selected.
  ///
  /// The order in which they are added is unspecified, and with it the last bits of the result.
  public func sumDoubles(selection: UnsafePointer<UInt64>? = nil) -> Double {
    if unsafe encoding != .raw || selection != nil {
      let isDouble = type == .double
      if encoding != .raw {
        let value = isDouble ? double(0) : Double(float(0))
        let count = unsafe countRows(selection: selection)
        return count == 0 ? 0 : value * Double(count)
      }
      var sum = 0.0
      unsafe forEachRow(selection) { sum += isDouble ? double($0) : Double(float($0)) }
      return sum
    }
    // Null rows hold zero.
    return unsafe type == .double
      ? cambium_sum_double(data.assumingMemoryBound(to: Double.self), rowCount)
      : cambium_sum_float(data.assumingMemoryBound(to: Float.self), rowCount)
  }

  /// The least and the greatest of the floats or doubles that are not null, not NaN and, if there is
  /// a selection, selected; nil when there is none.
  public func extremeDoubles(selection: UnsafePointer<UInt64>? = nil) -> ClosedRange<Double>? {
    var low = Double.infinity
    var high = -Double.infinity
    var isAny = false
    let isDouble = type == .double
    unsafe forEachRow(selection) { row in
      let value = isDouble ? double(row) : Double(float(row))
      if value <= low { low = value }
      if value >= high { high = value }
      if !value.isNaN { isAny = true }
    }
    return isAny ? low...high : nil
  }

  /// Marks the rows whose float or double lies between `lower` and `upper`, both included; nulls and
  /// NaN do not.
  ///
  /// Overwrites ``bitmapWordCount`` words, lowest row first.
  public func selectDoubles(
    from lower: Double, through upper: Double, into bitmap: UnsafeMutablePointer<UInt64>
  ) {
    if encoding != .raw {
      let value = type == .double ? double(0) : Double(float(0))
      if value >= lower && value <= upper { return unsafe copyPresence(into: bitmap) }
      return unsafe bitmap.update(repeating: 0, count: bitmapWordCount)
    }
    unsafe withUnsafeTemporaryAllocation(of: Double.self, capacity: 64) { buffer in
      let copy = unsafe buffer.baseAddress.unsafelyUnwrapped
      for word in 0..<bitmapWordCount {
        let first = word * 64
        let rest = min(64, rowCount - first)
        let values: UnsafePointer<Double>
        if rest == 64, type == .double {
          unsafe values = unsafe (data + first * 8).assumingMemoryBound(to: Double.self)
        } else {
          unsafe copy.update(repeating: .nan, count: 64)
          for row in 0..<rest {
            unsafe copy[row] = type == .double ? double(first + row) : Double(float(first + row))
          }
          unsafe values = unsafe UnsafePointer(copy)
        }
        unsafe bitmap[word] = unsafe cambium_mask_double(values, lower, upper) & presence(word)
      }
    }
  }

  // MARK: Other types

  /// Marks the rows whose truth value is `value`; nulls are not.
  ///
  /// Overwrites ``bitmapWordCount`` words, lowest row first.
  public func selectBools(equalTo value: Bool, into bitmap: UnsafeMutablePointer<UInt64>) {
    for word in 0..<bitmapWordCount {
      var rows: UInt64
      if encoding == .bitmap {
        rows = unsafe Self.bitmapWord(data, word, rowCount &- word &* 64)
      } else {
        rows = base != 0 ? .max : 0
      }
      if !value { rows = ~rows }
      unsafe bitmap[word] = rows & presence(word)
    }
  }
}
