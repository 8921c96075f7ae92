/// Entries taken out of their nodes, whole keys and all, on the way into new ones.
///
/// Splitting, merging and changing a prefix go through such a list. It copies what it takes, so that
/// the nodes may be overwritten from it. An editor keeps one and uses it again and again.
@safe final class KeyEntryList {
  private struct Entry {
    /// Where the key begins in the arena; the cell header and the tail follow it.
    var start: Int
    var keyByteCount: Int
    var tailByteCount: Int
    var isOverflow: Bool
  }

  // Exclusivity is not checked: one user, and no access to these calls out.
  @exclusivity(unchecked) private final var entries: [Entry] = []
  @exclusivity(unchecked) private final var arena = UnsafeMutableRawPointer.allocate(
    byteCount: 4096, alignment: 8)
  @exclusivity(unchecked) private final var capacity = 4096
  @exclusivity(unchecked) private final var used = 0
  private let isLeaf: Bool
  private let cellHeader: Int

  init(isLeaf: Bool) {
    self.isLeaf = isLeaf
    cellHeader = isLeaf ? KeyNode.leafCellHeader : KeyNode.branchCellHeader
  }

  deinit { unsafe arena.deallocate() }

  /// How many entries it holds.
  var count: Int { unsafe entries.count }

  /// Drops all entries.
  func removeAll() {
    unsafe entries.removeAll(keepingCapacity: true)
    unsafe used = 0
  }

  /// Drops the last entry.
  func removeLast() {
    if let last = unsafe entries.popLast() { unsafe used = last.start }
  }

  private func extend(by byteCount: Int) -> UnsafeMutableRawPointer {
    if unsafe used + byteCount > capacity {
      let larger = unsafe max(2 * capacity, used + byteCount)
      let memory = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
      unsafe memory.copyMemory(from: arena, byteCount: used)
      unsafe arena.deallocate()
      unsafe (arena, capacity) = unsafe (memory, larger)
    }
    unsafe used += byteCount
    return unsafe arena + used - byteCount
  }

  /// Takes the entries of `node` in `range`.
  ///
  /// The first child of a branch has no separator of its own; `firstSeparator` is what its parent
  /// knows of it.
  func append(_ node: KeyNode, _ range: Range<Int>, firstSeparator: UnsafeRawBufferPointer? = nil) {
    for index in range {
      if index == 0, let firstSeparator = unsafe firstSeparator {
        unsafe appendChild(firstSeparator, node.child(0), rowCount: node.childRowCount(0))
        continue
      }
      let start = unsafe used
      let slot = node.slot(index)
      let length = unsafe node.copyKey(
        slot, header: cellHeader, to: extend(by: node.keyByteCount(slot)))
      unsafe used = start + length
      if isLeaf {
        appendTail(node.storedValue(index), start: start, keyByteCount: length)
      } else {
        unsafe extend(by: cellHeader).copyMemory(
          from: node.bytes + node.childCell(index), byteCount: cellHeader)
        unsafe entries.append(
          Entry(start: start, keyByteCount: length, tailByteCount: 0, isOverflow: false))
      }
    }
  }

  private func appendTail(_ value: StoredValue, start: Int, keyByteCount: Int) {
    let tail = unsafe extend(by: value.bytes.count)
    if unsafe value.bytes.count > 0, let base = unsafe value.bytes.baseAddress {
      unsafe tail.copyMemory(from: base, byteCount: value.bytes.count)
    }
    unsafe entries.append(
      Entry(
        start: start, keyByteCount: keyByteCount, tailByteCount: value.bytes.count,
        isOverflow: value.isOverflow))
  }

  private func appendKey(_ key: UnsafeRawBufferPointer) -> Int {
    let start = unsafe used
    let memory = unsafe extend(by: key.count)
    if key.count > 0, let base = key.baseAddress {
      unsafe memory.copyMemory(from: base, byteCount: key.count)
    }
    return start
  }

  /// Takes one new leaf entry.
  func append(_ key: UnsafeRawBufferPointer, _ value: StoredValue) {
    unsafe appendTail(value, start: appendKey(key), keyByteCount: key.count)
  }

  /// Takes one new child.
  func appendChild(_ separator: UnsafeRawBufferPointer, _ child: PageReference, rowCount: Int) {
    let start = unsafe appendKey(separator)
    let cell = unsafe extend(by: cellHeader)
    unsafe child.store(to: cell)
    unsafe (cell + PageReference.byteCount).storeBytes(
      of: UInt64(rowCount).littleEndian, as: UInt64.self)
    unsafe entries.append(
      Entry(start: start, keyByteCount: separator.count, tailByteCount: 0, isOverflow: false))
  }

  /// Key `index`; valid until the list changes.
  func key(_ index: Int) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(
      start: arena + entries[index].start, count: entries[index].keyByteCount)
  }
}

// MARK: Nodes from entries

extension KeyEntryList {
  /// How many bytes all keys in `range` share.
  ///
  /// A lone key keeps all of its bytes, so that neighbours to come need not match it.
  private func prefixLength(_ range: Range<Int>) -> Int {
    let first = isLeaf ? range.lowerBound : range.lowerBound + 1
    let last = range.upperBound - 1
    guard first < last, let base = unsafe key(first).baseAddress else { return 0 }
    var shared = unsafe key(first).count
    // Not only the first and last: a damaged tree need not be in order.
    for index in first + 1...last {
      let key = unsafe key(index)
      guard shared > 0, let other = key.baseAddress else { return 0 }
      shared = unsafe ByteComparison.commonPrefix(base, other, min(shared, key.count))
    }
    return shared
  }

  private func cellByteCount(_ index: Int, prefixLength: Int) -> Int {
    let entry = unsafe entries[index]
    return cellHeader + max(0, entry.keyByteCount - prefixLength - 4) + entry.tailByteCount
  }

  /// How large a node of the entries in `range` is.
  func nodeByteCount(_ range: Range<Int>) -> Int {
    let prefixLength = prefixLength(range)
    var total = KeyNode.headerByteCount + prefixLength + range.count * KeyNode.slotByteCount
    for index in range {
      let isFirstChild = !isLeaf && index == range.lowerBound
      total += isFirstChild ? cellHeader : cellByteCount(index, prefixLength: prefixLength)
    }
    return total
  }

  /// Where to divide the list so that both halves are about equally large, with `least` entries or
  /// more on each side.
  func middle(least: Int) -> Int {
    var total = 0
    for index in unsafe entries.indices { total += cellByteCount(index, prefixLength: 0) + 8 }
    var left = 0
    var middle = 0
    while middle < count, left + left < total {
      left += cellByteCount(middle, prefixLength: 0) + 8
      middle += 1
    }
    return max(least, min(count - least, middle))
  }

  /// Makes `page` hold exactly the entries in `range`.
  ///
  /// Throws ``StoreError/damaged(_:)`` when no node can hold them: only entries of nodes that are
  /// larger than any that is written can be too many.
  func fill(_ page: KeyPage, _ range: Range<Int>) throws(StoreError) {
    let byteCount = nodeByteCount(range)
    guard byteCount <= KeyNode.maximumByteCount else {
      throw .damaged(Damage(.bounds, "the entries of a node take \(byteCount) bytes"))
    }
    let prefixLength = prefixLength(range)
    let first = min(isLeaf ? range.lowerBound : range.lowerBound + 1, range.upperBound - 1)
    unsafe page.reset(
      capacity: byteCount,
      prefix: UnsafeRawBufferPointer(rebasing: key(first)[..<prefixLength]))
    for index in range {
      let entry = unsafe entries[index]
      let key = unsafe key(index)
      let position = index - range.lowerBound
      let tail = unsafe arena + entry.start + entry.keyByteCount
      if isLeaf {
        let value = unsafe StoredValue(
          bytes: UnsafeRawBufferPointer(start: tail, count: entry.tailByteCount),
          isOverflow: entry.isOverflow)
        unsafe page.insert(
          at: position, suffix: UnsafeRawBufferPointer(rebasing: key[prefixLength...]), value)
      } else {
        let suffix =
          unsafe position == 0
          ? UnsafeRawBufferPointer(start: nil, count: 0)
          : UnsafeRawBufferPointer(rebasing: key[prefixLength...])
        unsafe page.insertChild(
          at: position, suffix: suffix, PageReference(loadingFrom: tail),
          rowCount: Self.rowCount(tail))
      }
    }
  }

  /// How many rows lie below the children in `range`.
  func rowCount(_ range: Range<Int>) -> Int {
    range.reduce(0) { total, index in
      unsafe total
        + Self.rowCount(arena + entries[index].start + entries[index].keyByteCount)
    }
  }

  /// How many rows a branch says that a child has: 48 bits, whatever has become of its bytes since they were checked.
  private static func rowCount(_ tail: UnsafeRawPointer) -> Int {
    let count = unsafe (tail + PageReference.byteCount).loadUnaligned(as: UInt64.self)
    return Int(truncatingIfNeeded: UInt64(littleEndian: count) & 0xffff_ffff_ffff)
  }
}
