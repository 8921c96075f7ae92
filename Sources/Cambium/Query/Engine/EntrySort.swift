/// A word to sort by and the object it belongs to.
struct SortEntry: BitwiseCopyable {
  /// Turned for descending order.
  var word: UInt64
  var index: Int32
}

/// Sorts entries by the words of a column; equal ones keep their order.
///
/// Pointers: both buffers belong to the caller and have the same size; an entry's index is that of a
/// value in the column. Digits are below 256.
enum EntrySort {
  private typealias Entries = UnsafeMutableBufferPointer<SortEntry>

  /// Fewer entries are moved into place one by one.
  private static let insertionLimit = 48

  /// Sorts entries by rank and by the words at a depth, in the column's direction.
  ///
  /// `spare` is memory of the same size.
  static func sort(
    _ entries: UnsafeMutableBufferPointer<SortEntry>,
    _ spare: UnsafeMutableBufferPointer<SortEntry>, by column: SortColumn, depth: Int
  ) {
    let mask: UInt64 = column.isAscending ? 0 : .max
    var (all, any): (UInt64, UInt64) = (.max, 0)
    for place in entries.indices {
      let word = unsafe column.word(Int(entries[place].index), depth: depth) ^ mask
      unsafe entries[place].word = word
      all &= word
      any |= word
    }
    // Behind the first word only values are left.
    let hasRanks = depth == 0 && !column.isUniform
    if entries.count <= insertionLimit {
      unsafe insert(entries, column, hasRanks)
    } else {
      unsafe distribute(entries, spare, column, hasRanks, differing: all ^ any)
    }
  }

  /// The place of a rank in the column's direction.
  private static func order(_ entry: SortEntry, _ column: SortColumn) -> Int {
    let rank = Int(column.rank(Int(entry.index)))
    return column.isAscending ? rank : 255 - rank
  }

  private static func insert(_ entries: Entries, _ column: SortColumn, _ hasRanks: Bool) {
    for end in entries.indices.dropFirst() {
      let entry = unsafe entries[end]
      let rank = hasRanks ? order(entry, column) : 0
      var place = end
      while place > 0 {
        let before = unsafe entries[place - 1]
        let rankBefore = hasRanks ? order(before, column) : 0
        guard rankBefore > rank || rankBefore == rank && before.word > entry.word else { break }
        unsafe entries[place] = before
        place -= 1
      }
      unsafe entries[place] = entry
    }
  }

  /// Byte after byte from the last one; bytes that all words share are skipped.
  private static func distribute(
    _ entries: Entries, _ spare: Entries, _ column: SortColumn, _ hasRanks: Bool,
    differing: UInt64
  ) {
    var (source, target) = unsafe (entries, spare)
    for byte in 0..<8 where differing >> UInt64(byte * 8) & 0xFF != 0 {
      let shift = UInt64(byte * 8)
      unsafe pass(source, target) { Int(truncatingIfNeeded: $0.word &>> shift & 0xFF) }
      unsafe swap(&source, &target)
    }
    if hasRanks {
      unsafe pass(source, target) { order($0, column) }
      unsafe swap(&source, &target)
    }
    if unsafe source.baseAddress != entries.baseAddress { _ = unsafe entries.update(from: source) }
  }

  /// Distributes entries over 256 digits into `target`, keeping the order within each.
  @inline(__always)
  private static func pass(_ source: Entries, _ target: Entries, _ digit: (SortEntry) -> Int) {
    unsafe withUnsafeTemporaryAllocation(of: Int.self, capacity: 256) { places in
      unsafe places.initialize(repeating: 0)
      var iterator = unsafe source.makeIterator()
      while let entry = unsafe iterator.next() {
        unsafe places[digit(entry)] &+= 1
      }
      var sum = 0
      for value in 0..<256 {
        let count = unsafe places[value]
        unsafe places[value] = sum
        sum &+= count
      }
      var rest = unsafe source.makeIterator()
      while let entry = unsafe rest.next() {
        let value = digit(entry)
        unsafe target[places[value]] = entry
        unsafe places[value] &+= 1
      }
    }
  }
}
