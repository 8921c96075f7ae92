/// Elements as integers.
extension Node {
  /// How elements of 8 bits and more are to be read; shorter ones are never negative.
  enum Signedness {
    case signed
    /// As the key and offset lists of trees are.
    case unsigned
  }

  /// No sound node of width 0 that holds values has more elements.
  ///
  /// A leaf holds at most 1000 values, of two elements each, and a marker.
  static let largestEmptyWidthCount = 2048
  /// No class has more columns, whose lists may have width 0 as well.
  static let largestColumnCount = 1 << 16

  /// Element `index` of a node of scheme 0, signed; traps out of bounds.
  func element(_ index: Int) -> Int64 {
    precondition(index >= 0 && index < count, "A node has no element \(index).")
    let bytes = payload.span
    switch width {
    case 0: return 0
    case 8: return Int64(Int8(bitPattern: payload[index]))
    case 16: return Int64(bytes.littleEndian(Int16.self, at: 2 * index))
    case 32: return Int64(bytes.littleEndian(Int32.self, at: 4 * index))
    case 64: return bytes.littleEndian(Int64.self, at: 8 * index)
    default:
      let bit = index * width
      return Int64(payload[bit >> 3] >> UInt8(bit & 7)) & (1 << Int64(width) - 1)
    }
  }

  /// All elements, whose number is `expected` if it is given; `what` names them in errors.
  func integers(
    _ what: String, _ signedness: Signedness = .signed, expected: Int? = nil,
    largestEmptyWidthCount: Int = Self.largestEmptyWidthCount
  ) throws(ReadFault) -> [Int64] {
    guard scheme == .bits, !hasRefs else {
      throw damage("a node that holds no integers stands in the place of \(what)")
    }
    if let expected, expected != count {
      throw damage("\(what) number \(count) instead of \(expected)")
    }
    guard width > 0 || count <= largestEmptyWidthCount else {
      throw damage("\(what) number \(count) without taking any space")
    }
    return elements(signedness)
  }

  /// All elements as they are, of a node with refs.
  func references(_ what: String, expected: Int? = nil) throws(ReadFault) -> [Int64] {
    try check(.bits, hasRefs: true, what)
    if let expected, expected != count {
      throw damage("\(what) number \(count) instead of \(expected)")
    }
    guard width > 0 || count <= Self.largestEmptyWidthCount else {
      throw damage("\(what) number \(count) without taking any space")
    }
    return elements(.signed)
  }

  private func elements(_ signedness: Signedness) -> [Int64] {
    switch (width, signedness) {
    case (0, _): [Int64](repeating: 0, count: count)
    case (8, .signed): words(Int8.self)
    case (8, .unsigned): words(UInt8.self)
    case (16, .signed): words(Int16.self)
    case (16, .unsigned): words(UInt16.self)
    case (32, .signed): words(Int32.self)
    case (32, .unsigned): words(UInt32.self)
    case (64, _): words(Int64.self)
    default: bits()
    }
  }

  /// Elements of whole bytes.
  @inline(__always)
  private func words<Word: FixedWidthInteger & BitwiseCopyable>(_: Word.Type) -> [Int64] {
    var values: [Int64] = []
    values.reserveCapacity(count)
    let bytes = payload.span
    for index in 0..<count {
      let word = bytes.littleEndian(Word.self, at: index * MemoryLayout<Word>.size)
      values.append(Int64(truncatingIfNeeded: word))
    }
    return values
  }

  /// Elements of 1, 2 and 4 bits, from the low end of each byte.
  private func bits() -> [Int64] {
    var values: [Int64] = []
    values.reserveCapacity(count)
    let mask: UInt8 = 1 << UInt8(width) - 1
    let bytes = payload.span
    for index in 0..<count {
      let bit = index &* width
      values.append(Int64(bytes[bit >> 3] >> UInt8(bit & 7) & mask))
    }
    return values
  }
}
