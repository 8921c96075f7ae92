import CPlatform

/// Sorts byte strings, each with a number: in the order of `memcmp`, equal ones by number.
///
/// What a bulk build of a ``KeyTree`` needs, and sorting rows by columns whose values were turned into
/// keys that sort as they do. Strings are copied. The eight bytes behind what all of them share are
/// sorted digit by digit; only strings that agree in those are compared. One thread may use it at a
/// time.
public final class KeySorter {
  /// What lies before each string, at a multiple of 8.
  private struct Header {
    var number: Int64
    var byteCount: UInt32
    static let size = 12
  }

  /// A string's place in the order, by the first bytes that tell strings apart.
  private struct Item {
    var head: UInt64
    /// Where its header lies, in units of 8 bytes.
    var place: UInt32
  }

  @exclusivity(unchecked) private final var bytes: UnsafeMutableRawPointer
  @exclusivity(unchecked) private final var byteCount = 0
  @exclusivity(unchecked) private final var capacity: Int
  /// How many strings there are.
  @exclusivity(unchecked) public private(set) final var count = 0
  /// How many strings are in order: all or none.
  @exclusivity(unchecked) private final var sortedCount = 0
  /// The order, once sorted.
  private var items: UnsafeMutablePointer<Item>?
  /// Readable bytes behind the last string, so that eight can be read anywhere.
  private static let slack = 16
  /// Fewer are compared, not counted.
  private static let countingLimit = 512
  /// How far ahead of its use a string is asked for.
  private static let distance = 12

  /// Has room for `capacity` strings of `byteCount` bytes in all; grows beyond that.
  public init(capacity: Int = 0, byteCount: Int = 0) {
    self.capacity = max(256, byteCount + capacity * (Header.size + 4)) + Self.slack
    bytes = .allocate(byteCount: self.capacity, alignment: 16)
  }

  deinit {
    bytes.deallocate()
    items?.deallocate()
  }

  // MARK: Adding

  /// Adds `string`, which stands for `number`.
  public func add(_ string: UnsafeRawBufferPointer, _ number: Int64) {
    let target = add(byteCount: string.count, number)
    if let start = string.baseAddress { cambium_copy(target, start, string.count) }
  }

  /// Adds a string of `byteCount` bytes, which the caller writes to where the result points before
  /// the next call.
  public func add(byteCount: Int, _ number: Int64) -> UnsafeMutableRawPointer {
    let size = aligned8(Header.size &+ byteCount)
    if self.byteCount &+ size &+ Self.slack > capacity { grow(size) }
    let header = bytes + self.byteCount
    header.storeBytes(of: number, as: Int64.self)
    header.storeBytes(of: UInt32(byteCount), toByteOffset: 8, as: UInt32.self)
    count &+= 1
    self.byteCount &+= size
    sortedCount = 0
    return header + Header.size
  }

  @inline(never) private func grow(_ more: Int) {
    precondition(byteCount + more < 8 << 32, "A sorter holds at most 32 GiB.")
    capacity = max(capacity * 2, byteCount + more + Self.slack)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    larger.copyMemory(from: bytes, byteCount: byteCount)
    bytes.deallocate()
    bytes = larger
  }

  @inline(__always) private func header(_ place: UInt32) -> UnsafeRawPointer {
    UnsafeRawPointer(bytes) + Int(place) &* 8
  }

  @inline(__always) private func string(_ place: UInt32) -> UnsafeRawBufferPointer {
    let header = header(place)
    return UnsafeRawBufferPointer(
      start: header + Header.size,
      count: Int(header.load(fromByteOffset: 8, as: UInt32.self)))
  }

  @inline(__always) private func number(_ place: UInt32) -> Int64 {
    header(place).load(as: Int64.self)
  }

  // MARK: Sorting

  /// Brings what was added into order.
  public func sort() {
    items?.deallocate()
    let items = UnsafeMutablePointer<Item>.allocate(capacity: max(1, count))
    self.items = items
    (bytes + byteCount).initializeMemory(as: UInt8.self, repeating: 0, count: Self.slack)
    var place: UInt32 = 0
    for index in 0..<count {
      items[index] = Item(head: 0, place: place)
      let size = aligned8(Header.size &+ string(place).count)
      place &+= UInt32(truncatingIfNeeded: size &>> 3)
    }
    let shared = sharedByteCount(items)
    for index in 0..<count {
      items[index].head = head(string(items[index].place), behind: shared)
    }
    if count < Self.countingLimit {
      sort(items, count, behind: shared, comparesHeads: true)
    } else {
      // Where counts of pairs of bytes are few beside the strings, half as many passes do.
      if count < 1 << 16 {
        sortByDigits(items, width: 8)
      } else {
        sortByDigits(items, width: 16)
      }
      sortTies(items, behind: shared)
    }
    sortedCount = count
  }

  /// How many bytes all strings begin with alike.
  private func sharedByteCount(_ items: UnsafeMutablePointer<Item>) -> Int {
    guard count > 1, let first = string(0).baseAddress else { return 0 }
    var shared = string(0).count
    for index in 1..<count where shared > 0 {
      let other = string(items[index].place)
      shared = ByteComparison.commonPrefix(
        first, other.baseAddress.unsafelyUnwrapped, min(shared, other.count))
    }
    return shared
  }

  /// Up to eight bytes behind the first `shared` ones, zeros behind the end.
  @inline(__always)
  private func head(_ string: UnsafeRawBufferPointer, behind shared: Int) -> UInt64 {
    let rest = string.count &- shared
    guard rest > 0, let start = string.baseAddress else { return 0 }
    let word = UInt64(bigEndian: start.loadUnaligned(fromByteOffset: shared, as: UInt64.self))
    if rest >= 8 { return word }
    return word & (UInt64.max &<< UInt64(truncatingIfNeeded: 64 &- rest &* 8))
  }

  /// Sorts by heads, `width` bits after the others from the last; what is equal keeps its order.
  @inline(__always)
  private func sortByDigits(_ items: UnsafeMutablePointer<Item>, width: Int) {
    let digits = 64 / width
    let values = 1 << width
    let mask = UInt64(values - 1)
    let counts = UnsafeMutablePointer<UInt32>.allocate(capacity: digits * values)
    defer { counts.deallocate() }
    counts.initialize(repeating: 0, count: digits * values)
    for index in 0..<count {
      var head = items[index].head
      for digit in 0..<digits {
        counts[digit &* values &+ Int(truncatingIfNeeded: head & mask)] &+= 1
        head &>>= UInt64(width)
      }
    }
    var source = items
    var target = UnsafeMutablePointer<Item>.allocate(capacity: count)
    for digit in 0..<digits {
      let counts = counts + digit * values
      let shift = UInt64(digit &* width)
      // What all strings have in common sorts nothing.
      if counts[Int(source[0].head &>> shift & mask)] == UInt32(count) { continue }
      var place: UInt32 = 0
      for value in 0..<values { (counts[value], place) = (place, place &+ counts[value]) }
      for index in 0..<count {
        let item = source[index]
        let value = Int(truncatingIfNeeded: item.head &>> shift & mask)
        target[Int(counts[value])] = item
        counts[value] &+= 1
      }
      swap(&source, &target)
    }
    if source != items {
      items.update(from: source, count: count)
      target = source
    }
    target.deallocate()
  }

  /// Brings strings with equal heads into order.
  private func sortTies(_ items: UnsafeMutablePointer<Item>, behind shared: Int) {
    var start = 0
    while start < count {
      let head = items[start].head
      var end = start &+ 1
      var isOrdered = true
      while end < count, items[end].head == head {
        let ahead = end &+ Self.distance
        if ahead < count { cambium_prefetch(self.header(items[ahead].place) + Header.size) }
        if isOrdered, precedes(items[end], items[end &- 1], behind: shared) { isOrdered = false }
        end &+= 1
      }
      if !isOrdered { sort(items + start, end &- start, behind: shared, comparesHeads: false) }
      start = end
    }
  }

  private func sort(
    _ items: UnsafeMutablePointer<Item>, _ count: Int, behind shared: Int, comparesHeads: Bool
  ) {
    var slice = UnsafeMutableBufferPointer(start: items, count: count)
    slice.sort { left, right in
      if comparesHeads, left.head != right.head { return left.head < right.head }
      return precedes(left, right, behind: shared)
    }
  }

  /// Whether a string sorts before another one with the same head.
  @inline(__always)
  private func precedes(_ left: Item, _ right: Item, behind shared: Int) -> Bool {
    let (first, second) = (string(left.place), string(right.place))
    let known = min(shared &+ 8, first.count, second.count)
    let order = ByteComparison.order(
      UnsafeRawBufferPointer(rebasing: first[known...]),
      UnsafeRawBufferPointer(rebasing: second[known...]))
    return order == 0 ? number(left.place) < number(right.place) : order < 0
  }

  // MARK: Reading

  /// Calls `body` with each string and its number, in order; the bytes are valid during the call.
  ///
  /// ``sort()`` must have been called since the last string was added.
  public func forEach<Failure: Error>(
    _ body: (UnsafeRawBufferPointer, Int64) throws(Failure) -> Void
  ) throws(Failure) {
    if count == 0 { return }
    guard sortedCount == count, let items else {
      preconditionFailure("Strings are in order once sort() was called; call it first.")
    }
    for index in 0..<count {
      // Strings lie in the order in which they came.
      let ahead = index &+ Self.distance
      if ahead < count { cambium_prefetch(header(items[ahead].place)) }
      let place = items[index].place
      try body(string(place), number(place))
    }
  }

  /// Writes the numbers to `numbers`, in order; there is room for ``count`` of them.
  ///
  /// ``sort()`` must have been called since the last string was added.
  public func copyNumbers(to numbers: UnsafeMutablePointer<Int64>) {
    var index = 0
    forEach { _, number in
      numbers[index] = number
      index &+= 1
    }
  }
}
