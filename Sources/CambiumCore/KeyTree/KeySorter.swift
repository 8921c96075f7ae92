import CPlatform

/// Sorts byte strings, each with a number: in the order of `memcmp`, equal ones by number.
///
/// What a bulk build of a ``KeyTree`` needs, and sorting rows by columns whose values were turned into
/// keys that sort as they do. Strings are copied. The twelve bytes behind what all of them share are
/// sorted as numbers; only strings that agree in those are compared. One thread may use it at a time.
///
/// Pointers: the strings lie in memory that belongs to the sorter, moves when there is no room for what
/// comes, and goes with it; 16 bytes may be read from anywhere in them. Places are those of headers
/// that were written here. What `add(byteCount:_:)` gives is valid until the next string.
@safe public final class KeySorter {
  /// What lies before each string, at a multiple of 8.
  private struct Header {
    var number: Int64
    var byteCount: UInt32
    static let size = 12
  }

  // Exclusivity is not checked: one user, and no access to these calls out.
  @exclusivity(unchecked) private final var bytes: UnsafeMutableRawPointer
  @exclusivity(unchecked) private final var byteCount = 0
  @exclusivity(unchecked) private final var capacity: Int
  /// How many strings there are.
  @exclusivity(unchecked) public private(set) final var count = 0
  /// How many strings are in order: all or none.
  @exclusivity(unchecked) private final var sortedCount = 0
  /// The order, once sorted: items whose places are those of headers, in units of 8 bytes.
  private var items = LargeMemory<SortItem>(capacity: 0)
  /// Readable bytes behind the last string, so that sixteen can be read anywhere.
  private static let slack = 16
  /// How many bytes of a string its item has.
  private static let prefixByteCount = 12
  /// How far ahead of its use a string is asked for.
  private static let distance = 12

  /// Has room for `capacity` strings of `byteCount` bytes in all; grows beyond that.
  public init(capacity: Int = 0, byteCount: Int = 0) {
    unsafe self.capacity = max(256, byteCount + capacity * (Header.size + 4)) + Self.slack
    unsafe bytes = unsafe .allocateLarge(byteCount: self.capacity)
  }

  deinit { unsafe bytes.deallocateLarge() }

  // MARK: Adding

  /// Adds `string`, which stands for `number`.
  package func add(_ string: UnsafeRawBufferPointer, _ number: Int64) {
    let target = unsafe add(byteCount: string.count, number)
    if let start = string.baseAddress { unsafe cambium_copy(target, start, string.count) }
  }

  /// Adds a string of `byteCount` bytes, which the caller writes to where the result points before
  /// the next call.
  public func add(byteCount: Int, _ number: Int64) -> UnsafeMutableRawPointer {
    let size = aligned8(Header.size &+ byteCount)
    if unsafe self.byteCount &+ size &+ Self.slack > capacity { grow(size) }
    let header = unsafe bytes + self.byteCount
    unsafe header.storeBytes(of: number, as: Int64.self)
    unsafe header.storeBytes(of: UInt32(byteCount), toByteOffset: 8, as: UInt32.self)
    unsafe count &+= 1
    unsafe self.byteCount &+= size
    unsafe sortedCount = 0
    return unsafe header + Header.size
  }

  @inline(never) private func grow(_ more: Int) {
    unsafe precondition(byteCount + more < 8 << 32, "A sorter holds at most 32 GiB.")
    unsafe capacity = unsafe max(capacity * 2, byteCount + more + Self.slack)
    let larger = unsafe UnsafeMutableRawPointer.allocateLarge(byteCount: capacity)
    unsafe larger.copyMemory(from: bytes, byteCount: byteCount)
    unsafe bytes.deallocateLarge()
    unsafe bytes = unsafe larger
  }

  @inline(__always) private func header(_ place: UInt32) -> UnsafeRawPointer {
    unsafe UnsafeRawPointer(bytes) + Int(place) &* 8
  }

  @inline(__always) private func string(_ place: UInt32) -> UnsafeRawBufferPointer {
    let header = unsafe header(place)
    return unsafe UnsafeRawBufferPointer(
      start: header + Header.size,
      count: Int(header.load(fromByteOffset: 8, as: UInt32.self)))
  }

  @inline(__always) private func number(_ place: UInt32) -> Int64 {
    unsafe header(place).load(as: Int64.self)
  }

  // MARK: Sorting

  /// Brings what was added into order.
  public func sort() {
    items = unsafe LargeMemory(capacity: count)
    let items = unsafe items.start
    unsafe (bytes + byteCount).initializeMemory(as: UInt8.self, repeating: 0, count: Self.slack)
    let shared = sharedByteCount()
    var place: UInt32 = 0
    for index in unsafe 0..<count {
      let string = unsafe string(place)
      unsafe items[index] = unsafe item(string, behind: shared, place)
      place = next(place, string.count)
    }
    unsafe ItemSorter().sort(items, count, squeezes: true)
    unsafe sortTies(items, behind: shared)
    unsafe sortedCount = unsafe count
  }

  /// Where the header behind the string of `byteCount` bytes at `place` lies.
  @inline(__always) private func next(_ place: UInt32, _ byteCount: Int) -> UInt32 {
    place &+ UInt32(truncatingIfNeeded: aligned8(Header.size &+ byteCount) &>> 3)
  }

  /// How many bytes all strings begin with alike.
  private func sharedByteCount() -> Int {
    guard unsafe count > 1, let first = unsafe string(0).baseAddress else { return 0 }
    var shared = unsafe string(0).count
    var place = next(0, shared)
    for _ in unsafe 1..<count where shared > 0 {
      let other = unsafe string(place)
      shared = unsafe ByteComparison.commonPrefix(
        first, other.baseAddress.unsafelyUnwrapped, min(shared, other.count))
      place = next(place, other.count)
    }
    return shared
  }

  /// The bytes behind the first `shared` ones, zeros behind the end.
  @inline(__always)
  private func item(
    _ string: UnsafeRawBufferPointer, behind shared: Int, _ place: UInt32
  ) -> SortItem {
    guard let start = string.baseAddress else { return SortItem(high: 0, low: UInt64(place)) }
    let word = unsafe SortWord(reading16: start + shared, string.count &- shared)
    return SortItem(
      high: word.first, low: word.second & 0xffff_ffff_0000_0000 | UInt64(place))
  }

  /// Brings strings with equal items into order.
  private func sortTies(_ items: UnsafeMutablePointer<SortItem>, behind shared: Int) {
    let known = shared + Self.prefixByteCount
    var start = 0
    while unsafe start < count {
      let first = unsafe items[start]
      var end = start &+ 1
      var isOrdered = true
      while unsafe end < count, unsafe items[end].isTied(with: first) {
        let ahead = end &+ Self.distance
        if unsafe ahead < count {
          unsafe cambium_prefetch(header(items[ahead].headerPlace) + Header.size)
        }
        if isOrdered, unsafe precedes(items[end], items[end &- 1], behind: known) {
          isOrdered = false
        }
        end &+= 1
      }
      if !isOrdered {
        var group = unsafe UnsafeMutableBufferPointer(start: items + start, count: end &- start)
        unsafe group.sort { left, right in precedes(left, right, behind: known) }
      }
      start = end
    }
  }

  /// Whether a string sorts before another one that is the same in `known` bytes.
  @inline(__always)
  private func precedes(_ left: SortItem, _ right: SortItem, behind known: Int) -> Bool {
    let (first, second) = unsafe (string(left.headerPlace), string(right.headerPlace))
    let known = min(known, first.count, second.count)
    let order = unsafe ByteComparison.order(
      UnsafeRawBufferPointer(rebasing: first[known...]),
      UnsafeRawBufferPointer(rebasing: second[known...]))
    return order == 0
      ? number(left.headerPlace) < number(right.headerPlace) : order < 0
  }

  // MARK: Reading

  /// Calls `body` with each string and its number, in order; the bytes are valid during the call.
  ///
  /// ``sort()`` must have been called since the last string was added.
  public func forEach<Failure: Error>(
    _ body: (UnsafeRawBufferPointer, Int64) throws(Failure) -> Void
  ) throws(Failure) {
    if unsafe count == 0 { return }
    unsafe precondition(
      sortedCount == count, "Strings are in order once sort() was called; call it first.")
    let items = unsafe items.start
    for index in unsafe 0..<count {
      // Strings lie in the order in which they came.
      let ahead = index &+ Self.distance
      if unsafe ahead < count { unsafe cambium_prefetch(header(items[ahead].headerPlace)) }
      let place = unsafe items[index].headerPlace
      try unsafe body(string(place), number(place))
    }
  }
}

extension SortItem {
  /// The place as a sorter of strings counts it.
  @inline(__always) fileprivate var headerPlace: UInt32 { UInt32(truncatingIfNeeded: low) }
}
