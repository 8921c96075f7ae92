import CambiumCore

/// The values of one sort key for many objects, in flat memory and in a form that compares fast.
///
/// Every value has a rank, which puts nulls and null links where they belong, and a word whose
/// unsigned order is the order of the values. Longer values break the ties of their words with the
/// rest: the low word of 128 bits, or the bytes of a text, of data or of a decimal number's key.
struct SortColumn {
  /// The places of null, of values and of null links; descending order turns them.
  private enum Rank {
    static let null: UInt8 = 0
    static let value: UInt8 = 1
    static let missing: UInt8 = 2
  }

  private(set) var ranks: [UInt8] = []
  private(set) var words: [UInt64] = []
  /// The low words; empty unless values have 128 bits.
  private var lowWords: [UInt64] = []
  /// All bytes one after another, and where each value's start.
  private var bytes: [UInt8] = []
  private var starts: [Int] = []
  private let property: PropertyType
  /// Turned in every word for descending order.
  let isAscending: Bool
  /// Whether every rank is that of a value.
  private(set) var isUniform = true

  init(_ key: SortKey, capacity: Int) {
    property = key.column.property
    isAscending = key.isAscending
    ranks.reserveCapacity(capacity)
    words.reserveCapacity(capacity)
    switch property {
    case .date, .objectId, .UUID: lowWords.reserveCapacity(capacity)
    case .string, .data, .decimal128: starts.reserveCapacity(capacity)
    default: break
    }
  }

  /// Whether words decide, without a rest.
  var isExact: Bool { lowWords.isEmpty && starts.isEmpty }

  /// Adds the value of an object whose link on the way is null.
  mutating func appendMissing() { append(rank: Rank.missing, word: 0) }

  private mutating func append(rank: UInt8, word: UInt64) {
    if rank != Rank.value { isUniform = false }
    ranks.append(rank)
    words.append(word)
    switch property {
    case .date, .objectId, .UUID: lowWords.append(0)
    case .string, .data, .decimal128: starts.append(bytes.count)
    default: break
    }
  }

  /// Adds a value.
  mutating func append(_ value: ColumnValue) {
    switch value {
    case .null, .tree: append(rank: Rank.null, word: 0)
    case .int(let value): append(rank: Rank.value, word: UInt64(bitPattern: value) ^ 1 << 63)
    case .bool(let value): append(rank: Rank.value, word: value ? 1 : 0)
    case .float(let value): append(rank: Rank.value, word: Self.word(Double(value)))
    case .double(let value): append(rank: Rank.value, word: Self.word(value))
    case .wide(let low, let high): appendWide(low, high)
    case .bytes(let value):
      append(rank: Rank.value, word: Self.word(value))
      bytes.append(contentsOf: value)
    }
  }

  private mutating func appendWide(_ low: UInt64, _ high: UInt64) {
    if property == .decimal128 {
      let key = DecimalBits(low: low, high: high).orderedKey
      append(rank: Rank.value, word: key.withUnsafeBytes { Self.word($0) })
      bytes += key
    } else {
      append(rank: Rank.value, word: property == .date ? high ^ 1 << 63 : high)
      lowWords[lowWords.count - 1] = low
    }
  }

  /// The order of doubles as unsigned numbers; NaN first, −0 with 0.
  private static func word(_ value: Double) -> UInt64 {
    if value.isNaN { return 0 }
    let bits = value == 0 ? 0 : value.bitPattern
    return bits >> 63 == 1 ? ~bits : bits | 1 << 63
  }

  /// The first eight bytes, most significant first.
  private static func word(_ value: UnsafeRawBufferPointer) -> UInt64 {
    if value.count >= 8 { return UInt64(bigEndian: value.loadUnaligned(as: UInt64.self)) }
    var word: UInt64 = 0
    for byte in value { word = word << 8 | UInt64(byte) }
    return value.isEmpty ? 0 : word << UInt64(8 * (8 - value.count))
  }

  private func text(_ index: Int) -> Range<Int> {
    starts[index]..<(index + 1 < starts.count ? starts[index + 1] : bytes.count)
  }

  /// Negative, zero or positive as one value sorts before, with or behind another, ascending.
  private func ascendingOrder(_ left: Int, _ right: Int) -> Int {
    if ranks[left] != ranks[right] { return ranks[left] < ranks[right] ? -1 : 1 }
    if words[left] != words[right] { return words[left] < words[right] ? -1 : 1 }
    if !lowWords.isEmpty, lowWords[left] != lowWords[right] {
      return lowWords[left] < lowWords[right] ? -1 : 1
    }
    if starts.isEmpty { return 0 }
    return bytes.withUnsafeBytes { bytes in
      BytesTest.compare(
        UnsafeRawBufferPointer(rebasing: bytes[text(left)]),
        UnsafeRawBufferPointer(rebasing: bytes[text(right)]))
    }
  }

  /// The order in the key's direction.
  func order(_ left: Int, _ right: Int) -> Int {
    let order = ascendingOrder(left, right)
    return isAscending ? order : -order
  }

  /// Whether two values are the same.
  func isEqual(_ left: Int, _ right: Int) -> Bool { ascendingOrder(left, right) == 0 }

  /// Whether the object was not reached because of a null link.
  func isMissing(_ index: Int) -> Bool { ranks[index] == Rank.missing }

  /// Mixes a value into a hash.
  func hash(_ index: Int, into hash: inout UInt64) {
    func mix(_ word: UInt64) {
      hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
      hash ^= hash >> 29
    }
    mix(UInt64(ranks[index]))
    mix(words[index])
    if !lowWords.isEmpty { mix(lowWords[index]) }
    if !starts.isEmpty { for position in text(index).dropFirst(8) { mix(UInt64(bytes[position])) } }
  }
}
