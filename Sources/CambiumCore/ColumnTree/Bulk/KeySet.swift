/// A set of keys that only grows: a hash table or, where keys lie close together, a bit for each key
/// of their range, which takes less memory and fewer cache lines.
///
/// Pointers: table and words are its own, freed in the deinit. A place in the table is masked with its count,
/// a power of two, and a search ends because half of the table is vacant; a bit is held against `bitCount`
/// first.
@safe final class KeySet {
  // Exclusivity is not checked: a set has one user, and no access to these calls out.
  /// How many keys there are.
  @exclusivity(unchecked) private(set) final var count = 0
  @exclusivity(unchecked) private final var low = Int64.max
  @exclusivity(unchecked) private final var high = Int64.min
  /// The hash table, ``vacant`` where nothing is; a power of two, at most half full.
  @exclusivity(unchecked) private final var table: UnsafeMutablePointer<Int64>
  @exclusivity(unchecked) private final var tableCount: Int
  @exclusivity(unchecked) private final var holdsVacant = false
  /// A bit for each key from `base` on; nil while there is a table.
  @exclusivity(unchecked) private final var words: UnsafeMutablePointer<UInt64>?
  @exclusivity(unchecked) private final var base: Int64 = 0
  @exclusivity(unchecked) private final var bitCount: UInt64 = 0

  private static let vacant = Int64.min
  private static let smallestTableCount = 512

  init() {
    unsafe tableCount = Self.smallestTableCount
    unsafe table = unsafe .allocate(capacity: tableCount)
    unsafe table.initialize(repeating: Self.vacant, count: tableCount)
  }

  deinit {
    unsafe table.deallocate()
    unsafe words?.deallocate()
  }

  /// The memory it takes, in bytes.
  var byteCount: Int { unsafe words == nil ? tableCount * 8 : Int(bitCount / 8) }

  /// Adds `key`; false when it was there.
  @inline(__always) func insert(_ key: Int64) -> Bool {
    if let words = unsafe words {
      let bit = unsafe UInt64(bitPattern: key &- base)
      if unsafe bit < bitCount {
        let word = Int(truncatingIfNeeded: bit &>> 6)
        let mask: UInt64 = 1 &<< (bit & 63)
        if unsafe words[word] & mask != 0 { return false }
        unsafe words[word] |= mask
        unsafe count &+= 1
        return true
      }
    }
    return insertElsewhere(key)
  }

  /// Whether `key` is there.
  func contains(_ key: Int64) -> Bool {
    if let words = unsafe words {
      let bit = unsafe UInt64(bitPattern: key &- base)
      return unsafe bit < bitCount && words[Int(bit >> 6)] >> (bit & 63) & 1 != 0
    }
    if key == Self.vacant { return unsafe holdsVacant }
    return unsafe table[place(of: key)] == key
  }

  // MARK: Table

  @inline(never) private func insertElsewhere(_ key: Int64) -> Bool {
    if unsafe words != nil {
      // A key outside of the range: a wider one, if that is worth it, or a table again.
      noteBounds(key)
      if unsafe !spread(within: count &* 32) { gather() }
      return insert(key)
    }
    if key == Self.vacant {
      if unsafe holdsVacant { return false }
      unsafe holdsVacant = true
    } else {
      let place = place(of: key)
      if unsafe table[place] == key { return false }
      unsafe table[place] = key
    }
    noteBounds(key)
    unsafe count &+= 1
    if unsafe count &* 2 >= tableCount { grow() }
    return true
  }

  private func noteBounds(_ key: Int64) {
    unsafe low = unsafe min(low, key)
    unsafe high = unsafe max(high, key)
  }

  /// Where `key` is, or would be.
  @inline(__always) private func place(of key: Int64) -> Int {
    let mask = unsafe tableCount &- 1
    let hash = UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15
    var place = Int(truncatingIfNeeded: hash &>> 20) & mask
    while unsafe table[place] != key, unsafe table[place] != Self.vacant {
      place = (place &+ 1) & mask
    }
    return place
  }

  private func grow() {
    if unsafe spread(within: tableCount * 16) { return }
    let (old, oldCount) = unsafe (table, tableCount)
    makeTable(oldCount * 2)
    for index in 0..<oldCount where unsafe old[index] != Self.vacant {
      unsafe table[place(of: old[index])] = unsafe old[index]
    }
    unsafe old.deallocate()
  }

  private func makeTable(_ count: Int) {
    unsafe tableCount = count
    unsafe table = .allocate(capacity: count)
    unsafe table.initialize(repeating: Self.vacant, count: count)
  }

  // MARK: Bits

  /// Turns to bits for a range a little wider than what is there, if they take no more than
  /// `limit` bytes.
  private func spread(within limit: Int) -> Bool {
    let span = unsafe UInt64(bitPattern: high &- low)
    guard span / 8 < UInt64(limit) else { return false }
    let margin = Int64(span / 8) + 64
    let first = unsafe low < .min + margin ? .min : low - margin
    let last = unsafe high > .max - margin ? .max : high + margin
    let newBase = first & ~63
    let wordCount = Int((UInt64(bitPattern: last &- newBase)) / 64) + 1
    let fresh = UnsafeMutablePointer<UInt64>.allocate(capacity: wordCount)
    unsafe fresh.initialize(repeating: 0, count: wordCount)
    if let words = unsafe words {
      // Bounds and margin only grow, so that the new range holds the old one.
      let shift = unsafe Int(UInt64(bitPattern: base &- newBase) / 64)
      let oldCount = unsafe Int(bitCount / 64)
      precondition(shift + oldCount <= wordCount, "A range of keys only grows.")
      unsafe (fresh + shift).update(from: words, count: oldCount)
      unsafe words.deallocate()
    } else {
      for index in unsafe 0..<tableCount where unsafe table[index] != Self.vacant {
        unsafe set(table[index], fresh, newBase)
      }
      if unsafe holdsVacant { unsafe set(Self.vacant, fresh, newBase) }
      unsafe table.deallocate()
      unsafe (tableCount, holdsVacant) = (0, false)
      unsafe table = .allocate(capacity: 1)
    }
    unsafe (words, base, bitCount) = unsafe (fresh, newBase, UInt64(wordCount) * 64)
    return true
  }

  private func set(_ key: Int64, _ words: UnsafeMutablePointer<UInt64>, _ base: Int64) {
    let bit = UInt64(bitPattern: key &- base)
    unsafe words[Int(bit >> 6)] |= 1 << (bit & 63)
  }

  /// Turns to a table.
  private func gather() {
    guard let words = unsafe words else { return }
    var capacity = Self.smallestTableCount
    // Large enough that as many keys must come before it grows, or turns to bits again.
    while unsafe capacity < count * 4 { capacity *= 2 }
    unsafe table.deallocate()
    makeTable(capacity)
    for index in unsafe 0..<Int(bitCount / 64) {
      var word = unsafe words[index]
      while word != 0 {
        let key = unsafe base &+ Int64(index * 64 + word.trailingZeroBitCount)
        word &= word &- 1
        if key == Self.vacant {
          unsafe holdsVacant = true
        } else {
          unsafe table[place(of: key)] = key
        }
      }
    }
    unsafe words.deallocate()
    unsafe (self.words, bitCount) = (nil, 0)
  }
}
