/// A row among those that are sorted: as much of what it is sorted by as 96 bits hold, and the row's
/// place in its tree.
///
/// As numbers of 128 bits, items sort as their rows do, as far as those 96 bits tell; what is equal in
/// them keeps the order of the tree.
struct SortItem: BitwiseCopyable {
  var high: UInt64
  /// The last 32 bits of the prefix, then the place.
  var low: UInt64

  /// Where the row is in its tree.
  @inline(__always) var place: Int { Int(truncatingIfNeeded: low & 0xffff_ffff) }

  /// Whether the prefix is that of `other`.
  @inline(__always) func isTied(with other: SortItem) -> Bool {
    (high ^ other.high) | (low ^ other.low) &>> 32 == 0
  }

  @inline(__always) static func < (left: SortItem, right: SortItem) -> Bool {
    left.high == right.high ? left.low < right.low : left.high < right.high
  }
}

/// Sorts items, from their highest differing bits down: large numbers of them are distributed over
/// those bits, a few put into place one by one.
///
/// One thread may use it at a time.
///
/// Pointers: the caller vouches for `count` items, and for as many others where he gives those.
/// Counters belong to this object, have room for the widest digit and go with it; places are sums of
/// what was counted over the same items.
@safe final class ItemSorter {
  private typealias Items = UnsafeMutablePointer<SortItem>

  /// Where items go when they are distributed.
  private var spare = LargeMemory<SortItem>(capacity: 0)
  /// Counters for each depth of the recursion.
  private var counters: [UnsafeMutablePointer<UInt32>] = unsafe []
  private static let insertionLimit = 16
  /// How many bits at most are distributed over at a time.
  private static let digitWidth = 13

  deinit { unsafe counters.forEach { unsafe $0.deallocate() } }

  /// Sorts `count` items; `others`, if given, has room for as many, which nobody needs.
  ///
  /// With `squeezes` the bits of ``SortItem/high`` that are the same in all of them are taken out, which
  /// changes neither their order nor who is tied with whom.
  func sort(
    _ items: UnsafeMutablePointer<SortItem>, _ count: Int, squeezes: Bool = false,
    spare others: UnsafeMutablePointer<SortItem>? = nil
  ) {
    if count <= Self.insertionLimit { return unsafe Self.insert(items, count, into: items) }
    if unsafe others == nil, spare.capacity < count { spare = LargeMemory(capacity: count) }
    if squeezes {
      var differing = DifferingBits()
      unsafe differing.add(items, count)
      unsafe differing.squeeze(items, count)
    }
    unsafe sort(items, count, others ?? spare.start, into: items, depth: 0)
  }

  /// Sorts `count` items at `items` to `target`, which is either there or at `spare`; the other one
  /// holds nothing of use afterwards.
  private func sort(
    _ items: Items, _ count: Int, _ spare: Items, into target: Items, depth: Int
  ) {
    if count <= Self.insertionLimit { return unsafe Self.insert(items, count, into: target) }
    var (high, low): (UInt64, UInt64) = (0, 0)
    let first = unsafe items[0]
    for index in 1..<count {
      unsafe high |= items[index].high ^ first.high
      unsafe low |= items[index].low ^ first.low
    }
    let differing = high == 0 ? low : high
    let top = 64 - differing.leadingZeroBitCount
    // Fewer buckets than items: looking through empty ones costs, too.
    let width = min(Self.digitWidth, max(4, Int.bitWidth - count.leadingZeroBitCount - 1))
    let shift = UInt64(max(0, top - width))
    let bucketCount = 1 << width
    if unsafe counters.count == depth {
      unsafe counters.append(.allocate(capacity: 1 << Self.digitWidth))
    }
    let ends = unsafe counters[depth]
    unsafe ends.initialize(repeating: 0, count: bucketCount)
    if high != 0 {
      unsafe Self.distribute(items, count, spare, ends, bucketCount) { $0.high &>> shift }
    } else {
      unsafe Self.distribute(items, count, spare, ends, bucketCount) { $0.low &>> shift }
    }
    let isInTarget = unsafe spare == target
    var start = 0
    for bucket in 0..<bucketCount {
      let end = unsafe Int(ends[bucket])
      let size = end &- start
      if size > 1 {
        unsafe sort(
          spare + start, size, items + start, into: (isInTarget ? spare : items) + start,
          depth: depth &+ 1)
      } else if size == 1, !isInTarget {
        unsafe items[start] = unsafe spare[start]
      }
      start = end
    }
  }

  /// Moves the items to `spare` by the lowest bits of `digit`; `ends`, which are zero, tell then where
  /// each digit's items end.
  @inline(__always) private static func distribute(
    _ items: Items, _ count: Int, _ spare: Items, _ ends: UnsafeMutablePointer<UInt32>,
    _ bucketCount: Int, _ digit: (SortItem) -> UInt64
  ) {
    let mask = UInt64(bucketCount &- 1)
    for index in 0..<count {
      unsafe ends[Int(truncatingIfNeeded: digit(items[index]) & mask)] &+= 1
    }
    var start: UInt32 = 0
    for bucket in 0..<bucketCount {
      unsafe (ends[bucket], start) = unsafe (start, start &+ ends[bucket])
    }
    for index in 0..<count {
      let item = unsafe items[index]
      let bucket = Int(truncatingIfNeeded: digit(item) & mask)
      unsafe spare[Int(truncatingIfNeeded: ends[bucket])] = item
      unsafe ends[bucket] &+= 1
    }
  }

  /// Puts a few items in order at `target`, which may be where they are.
  @inline(__always) private static func insert(_ items: Items, _ count: Int, into target: Items) {
    var end = 0
    while end < count {
      let item = unsafe items[end]
      var place = end
      while place > 0, unsafe item < target[place &- 1] {
        unsafe target[place] = unsafe target[place &- 1]
        place &-= 1
      }
      unsafe target[place] = item
      end &+= 1
    }
  }
}
