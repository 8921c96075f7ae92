/// Entries of a node: keys, values, children. Indices must be below ``KeyNode/count``.
extension KeyNode {
  /// How long key `index` is, in bytes.
  @inlinable @inline(__always)
  func keyByteCount(_ index: Int) -> Int { keyByteCount(slot(index)) }

  /// How long the key of `slot` is, in bytes.
  @inlinable @inline(__always)
  func keyByteCount(_ slot: KeySlot) -> Int { prefixLength &+ slot.suffixLength }

  /// Writes the key of `slot` to `pointer`, which has room for ``keyByteCount(_:)`` bytes; returns
  /// how many were written.
  ///
  /// The slot is read once and handed down, so that bytes that change under a mapping cannot make a
  /// key longer than its room. `header` is the cell header's size, which differs between leaf and
  /// branch.
  @inlinable
  func copyKey(_ slot: KeySlot, header: Int, to pointer: UnsafeMutableRawPointer) -> Int {
    unsafe pointer.copyMemory(from: bytes + prefixStart, byteCount: prefixLength)
    let rest = unsafe rest(slot, cell: cell(slot, header: header), header: header)
    return unsafe prefixLength + Self.copySuffix(slot, rest, to: pointer + prefixLength)
  }

  /// Writes head and rest; returns how many bytes these are.
  @inlinable @inline(__always)
  static func copySuffix(
    _ slot: KeySlot, _ rest: UnsafeRawBufferPointer, to pointer: UnsafeMutableRawPointer
  ) -> Int {
    let headLength = min(4, slot.suffixLength)
    var head = slot.head.bigEndian
    unsafe withUnsafeBytes(of: &head) { head in
      unsafe pointer.copyMemory(from: head.baseAddress.unsafelyUnwrapped, byteCount: headLength)
    }
    if rest.count > 0, let source = rest.baseAddress {
      unsafe (pointer + headLength).copyMemory(from: source, byteCount: rest.count)
    }
    return headLength &+ rest.count
  }

  /// Key `index`.
  @inlinable
  func key(_ index: Int, header: Int) -> [UInt8] {
    let slot = slot(index)
    return unsafe [UInt8](unsafeUninitializedCapacity: keyByteCount(slot)) { buffer, count in
      guard let base = buffer.baseAddress else { return }
      count = unsafe copyKey(slot, header: header, to: base)
    }
  }

  /// Whether key `index` begins with `sought`.
  @inlinable
  func hasPrefix(_ index: Int, header: Int, _ sought: UnsafeRawBufferPointer) -> Bool {
    guard let base = sought.baseAddress, sought.count > 0 else { return true }
    let shared = min(sought.count, prefixLength)
    if unsafe ByteComparison.commonPrefix(bytes + prefixStart, base, shared) < shared {
      return false
    }
    let left = sought.count &- shared
    if left == 0 { return true }
    let slot = slot(index)
    if left > slot.suffixLength { return false }
    let inHead = min(4, left)
    let shift = UInt32(32 &- 8 &* inHead)
    if unsafe slot.head >> shift != KeySlot.head(base + shared, inHead) >> shift { return false }
    let rest = unsafe rest(slot, cell: cell(slot, header: header), header: header)
    let inRest = left &- inHead
    guard inRest <= rest.count, let start = rest.baseAddress else { return false }
    return unsafe ByteComparison.commonPrefix(start, base + shared + inHead, inRest) == inRest
  }

  /// The last eight bytes of key `index`, which has as many, as a number.
  ///
  /// Put together from the rest, the head and the prefix; what is loaded before each of them is
  /// shifted or masked out. Cells and prefix lie behind the node's header, so that it is in the page;
  /// in a page gone bad it might not be, and the tail is 0.
  @inlinable
  func keyTail(_ index: Int, header: Int) -> UInt64 {
    let slot = slot(index)
    let rest = unsafe rest(slot, cell: cell(slot, header: header), header: header)
    guard let start = rest.baseAddress, unsafe start + rest.count - bytes >= 8,
      prefixStart &+ prefixLength >= 8
    else { return 0 }
    let last = unsafe UInt64(
      bigEndian: (start + rest.count - 8).loadUnaligned(as: UInt64.self))
    if rest.count >= 8 { return last }
    let restBits = UInt64(rest.count &* 8)
    let headLength = UInt64(min(4, slot.suffixLength))
    let head = UInt64(slot.head) >> (32 &- 8 &* headLength)
    var tail = last & (1 &<< restBits &- 1) | head &<< restBits
    let suffixBits = restBits &+ 8 &* headLength
    if suffixBits < 64 {
      let prefixEnd = unsafe bytes + prefixStart + prefixLength
      unsafe tail |= UInt64(bigEndian: (prefixEnd - 8).loadUnaligned(as: UInt64.self)) << suffixBits
    }
    return tail
  }

  /// The value of entry `index` of a leaf, as it is stored beside its key.
  @inlinable @inline(__always)
  func storedValue(_ index: Int) -> StoredValue {
    let slot = slot(index)
    let cell = cell(slot, header: Self.leafCellHeader)
    let length = unsafe Int(
      UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: cell, as: UInt16.self)))
    let start = min(end, cell &+ Self.leafCellHeader &+ slot.restLength)
    let isOverflow = length == Self.overflowMark
    return unsafe StoredValue(
      bytes: UnsafeRawBufferPointer(
        start: bytes + start,
        count: min(isOverflow ? OverflowValue.storedByteCount : length, end &- start)),
      isOverflow: isOverflow)
  }

  /// Where the reference and row count of child `index` of a branch lie.
  @inlinable @inline(__always)
  func childCell(_ index: Int) -> Int { cell(slot(index), header: Self.branchCellHeader) }

  /// The page of child `index` of a branch.
  @inlinable @inline(__always)
  func child(_ index: Int) -> PageReference {
    unsafe PageReference(loadingFrom: bytes + childCell(index))
  }

  /// How many rows lie below child `index` of a branch.
  @inlinable @inline(__always)
  func childRowCount(_ index: Int) -> Int {
    let count = unsafe UInt64(
      littleEndian: bytes.loadUnaligned(
        fromByteOffset: childCell(index) &+ PageReference.byteCount, as: UInt64.self))
    return Int(truncatingIfNeeded: count & 0xffff_ffff_ffff)
  }

  /// How many rows lie below the children before `index`.
  @inlinable
  func rowCount(before index: Int) -> Int {
    var total = 0
    var child = 0
    while child < index {
      total &+= childRowCount(child)
      child &+= 1
    }
    return total
  }
}

/// What a leaf holds of a value: all its bytes, or where they are.
///
/// Pointers: the bytes lie in a node, and are valid for as long as its page, or belong to the caller of
/// a change for the length of the call.
@usableFromInline
@safe struct StoredValue {
  @usableFromInline let bytes: UnsafeRawBufferPointer
  @usableFromInline let isOverflow: Bool

  @inlinable
  init(bytes: UnsafeRawBufferPointer, isOverflow: Bool) {
    unsafe self.bytes = unsafe bytes
    self.isOverflow = isOverflow
  }

  /// Where the value is, if it is not here.
  @usableFromInline
  func overflow() throws(StoreError) -> OverflowValue {
    guard unsafe bytes.count == OverflowValue.storedByteCount, let base = unsafe bytes.baseAddress
    else {
      throw .damaged(Damage(.bounds, "an overflow value is cut off"))
    }
    return unsafe OverflowValue(loadingFrom: base)
  }

  /// All bytes of the value.
  @usableFromInline
  func read(from source: PageSource) throws(StoreError) -> [UInt8] {
    unsafe isOverflow ? try overflow().read(from: source) : [UInt8](bytes)
  }
}
