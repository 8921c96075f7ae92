import CambiumCore

/// The counts of 512 blocks, 2 MiB of a store.
///
/// Exclusivity is not checked: a node has one user, its map, and no access to it calls out.
@safe final class FreeMapLeaf {
  /// How many blocks a leaf counts.
  static let blockCount = 512
  static let shift = 9

  /// `held` and behind it `reachable`.
  ///
  /// Owned: nobody else has the address. The subscripts leave no index that is too large.
  private let counts: UnsafeMutablePointer<UInt8>
  /// How many units are held that the newest version does not reach.
  @exclusivity(unchecked) var excess = 0
  /// The last version that has changed what is reachable here, or an earlier one when that is stored.
  @exclusivity(unchecked) var changed: Version = 0

  /// Nothing is in use.
  init() {
    unsafe counts = .allocate(capacity: 2 * Self.blockCount)
    unsafe counts.initialize(repeating: 0, count: 2 * Self.blockCount)
  }

  /// What `reachable` says is all that is in use.
  init(reachable: [UInt8]) {
    precondition(reachable.count >= Self.blockCount)
    unsafe counts = .allocate(capacity: 2 * Self.blockCount)
    unsafe reachable.withUnsafeBufferPointer { stored in
      guard let base = stored.baseAddress else { return }
      unsafe counts.initialize(from: base, count: Self.blockCount)
      unsafe (counts + Self.blockCount).initialize(from: base, count: Self.blockCount)
    }
  }

  init(copyOf other: FreeMapLeaf) {
    unsafe counts = .allocate(capacity: 2 * Self.blockCount)
    unsafe counts.initialize(from: other.counts, count: 2 * Self.blockCount)
    unsafe excess = unsafe other.excess
    unsafe changed = unsafe other.changed
  }

  deinit { unsafe counts.deallocate() }

  /// Which leaf counts `block`.
  @inline(__always) static func number(ofBlock block: Int) -> Int { block >> shift }
  /// The place of `block` in its leaf.
  @inline(__always) static func index(of block: Int) -> Int { block & (blockCount - 1) }

  @inline(__always) subscript(held index: Int) -> UInt8 {
    get { unsafe counts[index & (Self.blockCount - 1)] }
    set { unsafe counts[index & (Self.blockCount - 1)] = newValue }
  }

  @inline(__always) subscript(reachable index: Int) -> UInt8 {
    get { unsafe counts[Self.blockCount + index & (Self.blockCount - 1)] }
    set { unsafe counts[Self.blockCount + index & (Self.blockCount - 1)] = newValue }
  }

  /// The counts of what is reachable, one byte per block.
  var reachable: [UInt8] {
    unsafe Array(UnsafeBufferPointer(start: counts + Self.blockCount, count: Self.blockCount))
  }

  // MARK: Units

  /// What units of some blocks count for.
  enum Use {
    case held, reachable
  }

  @inline(__always) private func base(_ use: Use) -> UnsafeMutablePointer<UInt8> {
    unsafe use == .held ? counts : counts + Self.blockCount
  }

  /// Calls `body` with the index of each block that has some of `units`, which are counted from the beginning of
  /// the leaf, and how many, until that returns false.
  @inline(__always)
  private static func forEachBlock(
    _ units: Range<Int>, _ body: (_ index: Int, _ count: UInt8) -> Bool
  ) -> Bool {
    precondition(units.lowerBound >= 0 && units.upperBound <= blockCount * BlockMap.unitsPerBlock)
    var unit = units.lowerBound
    while unit < units.upperBound {
      let index = unit / BlockMap.unitsPerBlock
      let next = min(units.upperBound, (index + 1) * BlockMap.unitsPerBlock)
      if !body(index, UInt8(next - unit)) { return false }
      unit = next
    }
    return true
  }

  /// Whether `units` can be added without counting more than a block has.
  func canAdd(_ units: Range<Int>, _ use: Use) -> Bool {
    let base = unsafe base(use)
    return Self.forEachBlock(units) { index, count in
      unsafe Int(base[index]) + Int(count) <= BlockMap.unitsPerBlock
    }
  }

  /// Whether so many units are counted that `units` can be taken away.
  func canRemove(_ units: Range<Int>, _ use: Use) -> Bool {
    let base = unsafe base(use)
    return Self.forEachBlock(units) { index, count in unsafe base[index] >= count }
  }

  /// Counts `units`; how many blocks had none before.
  func add(_ units: Range<Int>, _ use: Use) -> Int {
    let base = unsafe base(use)
    var taken = 0
    _ = Self.forEachBlock(units) { index, count in
      if unsafe base[index] == 0 { taken += 1 }
      unsafe base[index] += count
      return true
    }
    unsafe excess += use == .held ? units.count : -units.count
    return taken
  }

  /// Counts `units` no more; how many blocks have none now, and all blocks from the first of these to the last.
  func remove(_ units: Range<Int>, _ use: Use) -> (count: Int, inside: Range<Int>) {
    let base = unsafe base(use)
    var (given, inside) = (0, 0..<0)
    _ = Self.forEachBlock(units) { index, count in
      unsafe base[index] -= count
      if unsafe base[index] == 0 {
        inside = (given == 0 ? index : inside.lowerBound)..<index + 1
        given += 1
      }
      return true
    }
    unsafe excess -= use == .held ? units.count : -units.count
    return (given, inside)
  }

  // MARK: Runs

  /// How many blocks before `index` are free, without a gap.
  func freeCount(before index: Int, atMost limit: Int) -> Int {
    let lowest = max(0, index - limit)
    var start = index
    while start > lowest, self[held: start - 1] == 0 { start -= 1 }
    return index - start
  }

  /// How many blocks from `index` on are free, without a gap.
  func freeCount(from index: Int, atMost limit: Int) -> Int {
    let highest = min(Self.blockCount, index + limit)
    var end = index
    while end < highest, self[held: end] == 0 { end += 1 }
    return end - index
  }

  /// The longest run of blocks in a part of the leaf of which nothing is in use.
  func longestRun(_ use: Use, in blocks: Range<Int>) -> Int {
    let base = unsafe base(use)
    var (longest, length, index) = (0, 0, blocks.lowerBound)
    while index < blocks.upperBound {
      if index + 8 <= blocks.upperBound, unsafe Self.zeros(in: base, at: index) == 0 {
        (length, index) = (0, index + 8)
        continue
      }
      length = unsafe base[index] == 0 ? length + 1 : 0
      longest = max(longest, length)
      index += 1
    }
    return longest
  }

  /// The first run of `count` free blocks that begins in `starts` and ends in this leaf.
  ///
  /// Looks at the last block of a window first: when it is used, the window moves behind it.
  func firstRun(_ count: Int, in starts: Range<Int>) -> Int? {
    precondition(starts.lowerBound >= 0 && count > 0)
    let held = unsafe counts
    let end = min(starts.upperBound, Self.blockCount - count + 1)
    var start = starts.lowerBound
    while start < end {
      var block = start &+ count &- 1
      while block >= start, unsafe held[block] == 0 { block &-= 1 }
      if block < start { return start }
      start = block &+ 1
    }
    return nil
  }

  /// A word whose lowest set bit belongs to the first of eight counts that is zero; 0 when none is.
  ///
  /// Counts have their highest bit clear (Warren, Hacker's Delight, 6-1).
  @inline(__always)
  private static func zeros(in counts: UnsafeMutablePointer<UInt8>, at index: Int) -> UInt64 {
    let bytes = UnsafeRawPointer(counts)
    let word = unsafe UInt64(
      littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
    return (word &- 0x0101_0101_0101_0101) & 0x8080_8080_8080_8080
  }

  /// How long a run can be at most that begins in the first blocks of the leaf, of which nothing is in use; the
  /// leaf behind this one is not looked at.
  func bound(_ use: Use, ofFirst count: Int = FreeMapLeaf.blockCount) -> Int {
    let isOpen = unsafe count == Self.blockCount && base(use)[count - 1] == 0
    return isOpen ? FreeMapPart.anyLength : longestRun(use, in: 0..<count)
  }
}
