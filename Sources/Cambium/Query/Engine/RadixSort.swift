/// Sorts by words, byte after byte from the last one; bytes that all words share are skipped.
enum RadixSort {
  private typealias Entries = UnsafeMutableBufferPointer<SortEntry>

  /// Sorts entries by rank and word in the column's direction; equal ones keep their order.
  ///
  /// `spare` is memory of the same size.
  static func sort(
    _ entries: UnsafeMutableBufferPointer<SortEntry>,
    _ spare: UnsafeMutableBufferPointer<SortEntry>, by column: SortColumn
  ) {
    let mask: UInt64 = column.isAscending ? 0 : .max
    var (all, any): (UInt64, UInt64) = (.max, 0)
    for place in entries.indices {
      let word = column.word(Int(entries[place].index)) ^ mask
      entries[place].word = word
      all &= word
      any |= word
    }
    var (source, target) = (entries, spare)
    for byte in 0..<8 where (all ^ any) >> UInt64(byte * 8) & 0xFF != 0 {
      let shift = UInt64(byte * 8)
      pass(source, target) { Int(truncatingIfNeeded: $0.word &>> shift & 0xFF) }
      swap(&source, &target)
    }
    if !column.isUniform {
      let isAscending = column.isAscending
      pass(source, target) { entry in
        let rank = Int(column.rank(Int(entry.index)))
        return isAscending ? rank : 255 - rank
      }
      swap(&source, &target)
    }
    if source.baseAddress != entries.baseAddress { _ = entries.update(from: source) }
  }

  /// Distributes entries over 256 digits into `target`, keeping the order within each.
  @inline(__always)
  private static func pass(_ source: Entries, _ target: Entries, _ digit: (SortEntry) -> Int) {
    withUnsafeTemporaryAllocation(of: Int.self, capacity: 256) { places in
      places.initialize(repeating: 0)
      for entry in source { places[digit(entry)] &+= 1 }
      var sum = 0
      for value in 0..<256 {
        let count = places[value]
        places[value] = sum
        sum &+= count
      }
      for entry in source {
        let value = digit(entry)
        target[places[value]] = entry
        places[value] &+= 1
      }
    }
  }
}
