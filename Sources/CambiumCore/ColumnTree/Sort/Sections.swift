import CPlatform

/// In which bits items differ.
///
/// Pointers: the caller vouches for `count` items, and that nobody else uses them meanwhile.
struct DifferingBits: BitwiseCopyable {
  private var someHigh: UInt64 = 0
  private var everyHigh = UInt64.max
  private var someLow: UInt64 = 0
  private var everyLow = UInt64.max

  /// Those of ``SortItem/high``.
  var high: UInt64 { someHigh & ~everyHigh }
  /// Those of ``SortItem/low`` that belong to the prefix.
  var low: UInt64 { someLow & ~everyLow & 0xffff_ffff_0000_0000 }

  mutating func add(_ items: UnsafeMutablePointer<SortItem>, _ count: Int) {
    var sum = self
    for index in 0..<count {
      let item = unsafe items[index]
      sum.someHigh |= item.high
      sum.everyHigh &= item.high
      sum.someLow |= item.low
      sum.everyLow &= item.low
    }
    self = sum
  }

  mutating func add(_ other: DifferingBits) {
    someHigh |= other.someHigh
    everyHigh &= other.everyHigh
    someLow |= other.someLow
    everyLow &= other.everyLow
  }

  /// Whether it pays to take out the bits of ``SortItem/high`` that are the same in all items; those at the
  /// top and the bottom are in nobody's way.
  var isSqueezed: Bool {
    let span = 64 - high.leadingZeroBitCount - high.trailingZeroBitCount
    return high.nonzeroBitCount + 4 <= span
  }

  /// Takes them out, if it pays, which changes neither the order of items nor who is tied with whom.
  func squeeze(_ items: UnsafeMutablePointer<SortItem>, _ count: Int) {
    if isSqueezed { unsafe cambium_squeeze_words(items, 16, count, high) }
  }

  /// The highest bit of ``SortItem/high`` that differs once items are squeezed, counted from 1; 0 if none
  /// does.
  var top: Int { isSqueezed ? high.nonzeroBitCount : 64 - high.leadingZeroBitCount }
}

/// Tells to which section an item belongs: by the highest bits that tell items apart.
struct SectionDigit: BitwiseCopyable {
  private let isHigh: Bool
  private let shift: UInt64
  private let mask: UInt64

  /// The `width` highest bits.
  init(highest width: Int) {
    (isHigh, shift, mask) = (true, UInt64(64 - width), 1 << UInt64(width) - 1)
  }

  /// The first `width` bits of prefixes in which items differ, once they are squeezed.
  ///
  /// Items with the same prefix share a section.
  init(_ differing: DifferingBits, width: Int) {
    isHigh = differing.high != 0
    let top = isHigh ? differing.top : 64 - differing.low.leadingZeroBitCount
    // Places, the lower half of the other word, tell nothing apart.
    let floor = isHigh ? 0 : 32
    shift = UInt64(max(floor, top - width))
    mask = top <= floor ? 0 : 1 << UInt64(width) - 1
  }

  @inline(__always) subscript(item: SortItem) -> Int {
    Int(truncatingIfNeeded: (isHigh ? item.high : item.low) &>> shift & mask)
  }
}

/// How many items of each part of a tree go to each section, and then where.
///
/// Parts are counted and distributed at the same time, each of them by one thread.
///
/// Pointers: counts and places belong to this object; a digit has no more bits than there are sections
/// for, and the caller vouches for parts. Items go to places below the number of those that were
/// counted, for which the target has room.
final class SectionCounts {
  private let sectionCount: Int
  private let partCount: Int
  /// For each part how many items each section gets; once settled, where the next one goes.
  private let places: LargeMemory<Int>
  /// Where the items of each part and section end.
  private let ends: LargeMemory<Int>
  private var total = 0

  /// Counts nothing yet, for sections that `width` bits tell apart.
  init(width: Int, partCount: Int) {
    sectionCount = 1 << width
    self.partCount = partCount
    places = LargeMemory(capacity: sectionCount * partCount)
    unsafe places.start.initialize(repeating: 0, count: places.capacity)
    ends = LargeMemory(capacity: places.capacity)
    unsafe ends.start.initialize(repeating: 0, count: ends.capacity)
  }

  /// Counts items of a part.
  @inline(__always) func count(
    _ items: UnsafeMutablePointer<SortItem>, _ count: Int, of part: Int, _ digit: SectionDigit
  ) {
    let counts = unsafe places.start + part &* sectionCount
    for index in 0..<count { unsafe counts[digit[items[index]]] &+= 1 }
  }

  /// Makes places of the counts, parts one behind the other in each section; where each section ends.
  func settle() -> [Int] {
    var sections: [Int] = []
    sections.reserveCapacity(sectionCount)
    for section in 0..<sectionCount {
      for part in 0..<partCount {
        let index = part &* sectionCount &+ section
        unsafe (places.start[index], total) = unsafe (total, total &+ places.start[index])
        unsafe ends.start[index] = total
      }
      sections.append(total)
    }
    return sections
  }

  /// Moves items of a part to their sections at `target`.
  @inline(__always) func distribute(
    _ items: UnsafeMutablePointer<SortItem>, _ count: Int, of part: Int, _ digit: SectionDigit,
    to target: UnsafeMutablePointer<SortItem>
  ) {
    let next = unsafe places.start + part &* sectionCount
    let last = total &- 1
    for index in 0..<count {
      let section = unsafe digit[items[index]]
      unsafe target[min(next[section], last)] = unsafe items[index]
      unsafe next[section] &+= 1
    }
  }

  /// Whether exactly those items came that were counted.
  var isDistributed: Bool {
    (0..<places.capacity).allSatisfy { unsafe places.start[$0] == ends.start[$0] }
  }
}
