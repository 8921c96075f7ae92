import CambiumCore

/// The values of one sort key for many objects, in flat memory and in a form that compares fast.
///
/// Every value has a rank, which puts nulls and null links where they belong, and a word whose
/// unsigned order is the order of the values. Where words are equal a rest decides: the low word of
/// 128 bits, or the bytes of a text, of data or of a decimal number's key.
///
/// Pointers: owns and frees memory for as many values as were announced; adding more stops. Values and
/// lists of rows are lent by the caller, and indices that the caller asks for are below `count`.
@safe final class SortColumn {
  /// The places of null, of values and of null links in ascending order.
  enum Rank {
    static let null: UInt8 = 0
    static let value: UInt8 = 1
    static let missing: UInt8 = 2
  }

  /// What decides where words are equal.
  private enum Rest { case nothing, lowWord, bytes }

  let isAscending: Bool
  private let property: PropertyType
  private let rest: Rest
  private let capacity: Int
  private(set) var count = 0
  private let ranks: UnsafeMutablePointer<UInt8>
  private let words: UnsafeMutablePointer<UInt64>
  /// The low words, or where each value's bytes start.
  private let extras: UnsafeMutablePointer<UInt64>
  /// All bytes one after another.
  private var bytes = ByteHeap()
  /// Whether every rank is that of a value.
  private(set) var isUniform = true

  /// Room for the values of `capacity` objects.
  ///
  /// `hasOrdinals` says that numbers in their order will stand for the values.
  init(_ key: SortKey, capacity: Int, hasOrdinals: Bool = false) {
    isAscending = key.isAscending
    property = key.column.property
    self.capacity = capacity
    unsafe ranks = .allocate(capacity: capacity)
    unsafe words = .allocate(capacity: capacity)
    switch property {
    case _ where hasOrdinals: rest = .nothing
    case .date, .objectId, .UUID: rest = .lowWord
    case .string, .data, .decimal128, .any: rest = .bytes
    default: rest = .nothing
    }
    unsafe extras = .allocate(capacity: rest == .nothing ? 0 : capacity)
  }

  deinit {
    unsafe ranks.deallocate()
    unsafe words.deallocate()
    unsafe extras.deallocate()
  }

  func rank(_ index: Int) -> UInt8 { unsafe ranks[index] }

  @inline(__always) func word(_ index: Int) -> UInt64 { unsafe words[index] }

  /// The word of a value at a depth: the first one, or what follows where those before are equal.
  func word(_ index: Int, depth: Int) -> UInt64 {
    if depth == 0 { return unsafe words[index] }
    if rest == .lowWord { return unsafe extras[index] }
    let skipped = depth * Self.textStride
    let text = text(index)
    return unsafe Self.word(
      bytes[min(text.lowerBound + skipped, text.upperBound)..<text.upperBound])
  }

  /// Whether two values that are equal up to this depth, with this rank and word, are the same.
  func isExact(_ rank: UInt8, _ word: UInt64, depth: Int = 0) -> Bool {
    if rank != Rank.value { return true }
    switch rest {
    case .nothing: return true
    case .lowWord: return depth > 0
    // The last byte is the length, up to 8, which stands for all longer ones.
    case .bytes: return word & 0xFF < 8
    }
  }

  /// How many bytes of a text one word holds.
  private static let textStride = 7

  // MARK: Filling

  @inline(__always)
  private func append(rank: UInt8, word: UInt64, extra: UInt64 = 0) {
    precondition(count < capacity, "there are no more objects than were announced")
    unsafe ranks[count] = rank
    unsafe words[count] = word
    if rest != .nothing { unsafe extras[count] = extra }
    count &+= 1
  }

  private func append(special rank: UInt8) {
    isUniform = false
    append(rank: rank, word: 0, extra: UInt64(bytes.count))
  }

  /// Adds the value of an object whose link on the way is null.
  func appendMissing() { append(special: Rank.missing) }

  /// Adds a number that stands for a value; the order of the numbers is that of the values.
  func append(ordinal: Int, rank: UInt8) {
    if rank != Rank.value { isUniform = false }
    append(rank: rank, word: UInt64(ordinal))
  }

  /// Adds a value.
  func append(_ value: ColumnValue) {
    switch value {
    case .null, .tree: append(special: Rank.null)
    case .int(let value): append(value)
    case .bool(let value): append(rank: Rank.value, word: value ? 1 : 0)
    case .float(let value): append(Double(value))
    case .double(let value): append(value)
    case .wide(let low, let high): append(low, high)
    case .bytes where property == .any:
      unsafe (StoredAny(value)?.orderedKey ?? []).withUnsafeBytes { unsafe append($0) }
    case .bytes(let value): unsafe append(value)
    }
  }

  @inline(__always) private func append(_ value: Int64) {
    append(rank: Rank.value, word: UInt64(bitPattern: value) ^ 1 << 63)
  }

  /// Doubles as unsigned numbers in their order; NaN first, −0 with 0.
  @inline(__always) private func append(_ value: Double) {
    let bits = value == 0 ? 0 : value.bitPattern
    let word = value.isNaN ? 0 : bits >> 63 == 1 ? ~bits : bits | 1 << 63
    append(rank: Rank.value, word: word)
  }

  @inline(__always) private func append(_ low: UInt64, _ high: UInt64) {
    switch property {
    case .decimal128:
      unsafe DecimalBits(low: low, high: high).orderedKey.withUnsafeBytes { unsafe append($0) }
    case .date: append(rank: Rank.value, word: high ^ 1 << 63, extra: low)
    default: append(rank: Rank.value, word: high, extra: low)
    }
  }

  private func append(_ value: UnsafeRawBufferPointer) {
    unsafe append(rank: Rank.value, word: Self.word(value), extra: UInt64(bytes.count))
    unsafe bytes.append(value)
  }

  /// The parts of an inline value.
  private func append(inline cell: BytesCell) {
    let start = bytes.count
    unsafe bytes.append(cell.head)
    unsafe bytes.append(cell.body)
    unsafe bytes.append(cell.tail)
    unsafe append(
      rank: Rank.value, word: Self.word(bytes[start..<bytes.count]), extra: UInt64(start))
  }

  /// The first seven bytes, most significant first, and the length: shorter values that are the
  /// beginning of longer ones come first.
  private static func word(_ value: UnsafeRawBufferPointer) -> UInt64 {
    if value.count >= 8 {
      return unsafe UInt64(bigEndian: value.loadUnaligned(as: UInt64.self)) & ~0xFF | 8
    }
    var word: UInt64 = 0
    var iterator = unsafe value.makeIterator()
    while let byte = unsafe iterator.next() {
      word = word << 8 | UInt64(byte)
    }
    return unsafe value.isEmpty ? 0 : word << UInt64(8 * (8 - value.count)) | UInt64(value.count)
  }

  /// Adds the values of rows of a leaf.
  func append(
    _ cells: LeafColumn, rows: UnsafeBufferPointer<Int32>, _ tree: ColumnTree
  ) throws(StoreError) {
    switch cells.type {
    case .int:
      var iterator = unsafe rows.makeIterator()
      while let row = unsafe iterator.next() {
        let row = Int(row)
        if cells.isNull(row) { append(special: Rank.null) } else { append(cells.int(row)) }
      }
    case .double:
      var iterator = unsafe rows.makeIterator()
      while let row = unsafe iterator.next() {
        let row = Int(row)
        if cells.isNull(row) { append(special: Rank.null) } else { append(cells.double(row)) }
      }
    case .wide:
      var iterator = unsafe rows.makeIterator()
      while let row = unsafe iterator.next() {
        let row = Int(row)
        let words = cells.wide(row)
        if cells.isNull(row) {
          append(special: Rank.null)
        } else {
          append(words.low, words.high)
        }
      }
    case .bytes:
      guard let column = cells.bytesColumn else { return }
      var iterator = unsafe rows.makeIterator()
      while let row = unsafe iterator.next() {
        let cell = column.cell(Int(row))
        if property != .any, cell.form == .inline {
          append(inline: cell)
        } else {
          try TableReader.withBytes(cell, tree) { value in append(value) }
        }
      }
    case .bool, .float:
      var iterator = unsafe rows.makeIterator()
      while let row = unsafe iterator.next() { append(cells.fixedValue(Int(row)) ?? .null) }
    }
  }

  // MARK: Comparing

  private func text(_ index: Int) -> Range<Int> {
    let end = unsafe index + 1 < count ? Int(extras[index + 1]) : bytes.count
    return unsafe Int(extras[index])..<end
  }

  /// Negative, zero or positive as one value sorts before, with or behind another, ascending.
  func ascendingOrder(_ left: Int, _ right: Int) -> Int {
    if unsafe ranks[left] != ranks[right] { return unsafe ranks[left] < ranks[right] ? -1 : 1 }
    if unsafe words[left] != words[right] { return unsafe words[left] < words[right] ? -1 : 1 }
    if unsafe isExact(ranks[left], words[left]) { return 0 }
    if rest == .lowWord {
      return unsafe extras[left] < extras[right] ? -1 : extras[left] == extras[right] ? 0 : 1
    }
    return unsafe BytesCondition.compare(bytes[text(left)], bytes[text(right)])
  }

  /// The order in the key's direction.
  func order(_ left: Int, _ right: Int) -> Int {
    let order = ascendingOrder(left, right)
    return isAscending ? order : -order
  }

  /// Whether the object was not reached because of a null link.
  func isMissing(_ index: Int) -> Bool { unsafe ranks[index] == Rank.missing }

  /// Mixes a value into a hash.
  func hash(_ index: Int, into hash: inout UInt64) {
    func mix(_ word: UInt64) {
      hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
      hash ^= hash >> 29
    }
    unsafe mix(UInt64(ranks[index]))
    unsafe mix(words[index])
    if unsafe isExact(ranks[index], words[index]) { return }
    if rest == .lowWord { return unsafe mix(extras[index]) }
    unsafe mix(Checksum.hash(bytes[text(index)]))
  }
}

/// Bytes of many values, one after another.
///
/// Pointers: owns and frees the memory, which moves as it grows: a slice lasts until bytes are added.
/// Slices end within what was written.
@safe private struct ByteHeap: ~Copyable {
  private var memory = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private(set) var count = 0

  deinit { unsafe memory.deallocate() }

  subscript(range: Range<Int>) -> UnsafeRawBufferPointer {
    precondition(range.upperBound <= count, "the range lies within the bytes")
    return unsafe UnsafeRawBufferPointer(
      start: UnsafeRawPointer(memory.baseAddress).map { unsafe $0 + range.lowerBound },
      count: range.count)
  }

  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, unsafe !bytes.isEmpty else { return }
    if unsafe count + bytes.count > memory.count { grow(to: count + bytes.count) }
    unsafe memory.baseAddress.unsafelyUnwrapped.advanced(by: count)
      .copyMemory(from: source, byteCount: bytes.count)
    count += bytes.count
  }

  private mutating func grow(to needed: Int) {
    let larger = unsafe UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(needed, memory.count * 2, 4096), alignment: 8)
    unsafe larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<count]))
    unsafe memory.deallocate()
    unsafe memory = unsafe larger
  }
}
