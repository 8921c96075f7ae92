import CPlatform

/// A column of a ``LeafBuilder``: plain arrays in raw memory, one element for each row.
///
/// Columns of bytes keep a slot for each row, which tells where in the heap its bytes lie; bytes
/// that no slot names any more are squeezed out now and then.
///
/// Pointers: the memory belongs to the `LeafBuilder`, which frees it in its deinit; no copy of this value
/// outlives that. The builder makes room before it puts a row, and asks only for rows that it has. Slots name
/// bytes that were written to the heap; whoever borrows them is done before the heap moves.
@safe struct BuilderColumn {
  let id: UInt16
  let type: ColumnType
  let isNullable: Bool
  /// The elements, `stride` bytes each; zero where null.
  var values: UnsafeMutableRawPointer
  /// 1 where a row is null; only in nullable columns.
  var nulls: UnsafeMutablePointer<UInt8>?
  var heap: UnsafeMutableRawPointer?
  var heapByteCount = 0
  var heapCapacity = 0
  /// The bytes that slots name.
  var liveByteCount = 0
  /// Bounds of every integer that was put in since the column was empty.
  var minimum = Int64.max
  var maximum = Int64.min
  /// Whether the heap holds the rows' bytes in the order of rows.
  var isOrdered = true
  /// How many rows are null.
  var nullCount = 0
  /// How many cells live outside of the leaf.
  var overflowCount = 0

  /// Where a row's bytes lie: offset in the low, length in the high half, whose top bit says that
  /// they are an ``OverflowCell``.
  typealias Slot = UInt64
  static let overflowBit: UInt64 = 1 << 63

  @inline(__always) static func slot(_ offset: Int, _ count: Int) -> Slot {
    // Heaps of a leaf stay far below 2 GiB.
    UInt64(truncatingIfNeeded: offset) | UInt64(truncatingIfNeeded: count) &<< 32
  }
  @inline(__always) static func offset(_ slot: Slot) -> Int { Int(slot & 0xffff_ffff) }
  @inline(__always) static func count(_ slot: Slot) -> Int { Int(slot >> 32 & 0x7fff_ffff) }

  init(_ spec: ColumnSpec, capacity: Int) {
    id = spec.id
    type = spec.type
    isNullable = spec.isNullable
    unsafe values = .allocate(byteCount: capacity * Self.stride(spec.type), alignment: 16)
    unsafe nulls = spec.isNullable ? .allocate(capacity: capacity) : nil
  }

  func deallocate() {
    unsafe values.deallocate()
    unsafe nulls?.deallocate()
    unsafe heap?.deallocate()
  }

  static func stride(_ type: ColumnType) -> Int {
    switch type {
    case .int, .double, .bytes: 8
    case .bool: 1
    case .float: 4
    case .wide: 16
    }
  }

  var stride: Int { Self.stride(type) }

  @inline(__always) var ints: UnsafeMutablePointer<Int64> {
    unsafe values.assumingMemoryBound(to: Int64.self)
  }
  @inline(__always) var bools: UnsafeMutablePointer<UInt8> {
    unsafe values.assumingMemoryBound(to: UInt8.self)
  }
  @inline(__always) var slots: UnsafeMutablePointer<Slot> {
    unsafe values.assumingMemoryBound(to: Slot.self)
  }

  func isNull(_ row: Int) -> Bool { unsafe nulls.map { unsafe $0[row] != 0 } ?? false }

  func isOverflow(_ row: Int) -> Bool {
    unsafe type == .bytes && overflowCount > 0 && slots[row] & Self.overflowBit != 0
  }

  /// The bytes, or the overflow cell, of `row`.
  @inline(__always) func bytes(_ row: Int) -> UnsafeRawBufferPointer {
    let slot = unsafe slots[row]
    return unsafe UnsafeRawBufferPointer(
      start: heap.map { unsafe UnsafeRawPointer($0 + Self.offset(slot)) }, count: Self.count(slot))
  }

  /// Moves to memory for `capacity` rows.
  mutating func grow(rowCount: Int, capacity: Int) {
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity * stride, alignment: 16)
    unsafe larger.copyMemory(from: values, byteCount: rowCount * stride)
    unsafe values.deallocate()
    unsafe values = unsafe larger
    if let old = unsafe nulls {
      let flags = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
      unsafe flags.update(from: old, count: rowCount)
      unsafe old.deallocate()
      unsafe nulls = unsafe flags
    }
  }

  /// Opens a gap for one row at `row`; its element is undefined until it is put.
  mutating func openGap(at row: Int, rowCount: Int) {
    let start = unsafe values + row * stride
    unsafe (start + stride).copyMemory(from: start, byteCount: (rowCount - row) * stride)
    if let nulls = unsafe nulls {
      unsafe (nulls + row + 1).update(from: nulls + row, count: rowCount - row)
    }
  }

  /// Drops `row`.
  mutating func remove(_ row: Int, rowCount: Int) {
    forget(row)
    let start = unsafe values + row * stride
    unsafe start.copyMemory(from: start + stride, byteCount: (rowCount - row - 1) * stride)
    if let nulls = unsafe nulls {
      unsafe (nulls + row).update(from: nulls + row + 1, count: rowCount - row - 1)
    }
  }

  /// Takes the row's cell out of the totals.
  @inline(__always) mutating func forget(_ row: Int) {
    if let nulls = unsafe nulls, unsafe nulls[row] != 0 { nullCount -= 1 }
    guard type == .bytes else { return }
    let slot = unsafe slots[row]
    liveByteCount -= Self.count(slot)
    if slot & Self.overflowBit != 0 { overflowCount -= 1 }
  }

  /// Takes back the last cell, which was just put.
  mutating func retract(_ row: Int) {
    if type == .bytes { unsafe heapByteCount -= Self.count(slots[row]) }
    forget(row)
  }

  /// Sets an element that holds nothing yet to null.
  @inline(__always) mutating func putNull(_ row: Int) {
    precondition(isNullable, "Column \(id) is not nullable; give it a value.")
    unsafe nulls.unsafelyUnwrapped[row] = 1
    nullCount += 1
    unsafe (values + row * stride).initializeMemory(as: UInt8.self, repeating: 0, count: stride)
  }

  @inline(__always) mutating func putInt(_ row: Int, _ value: Int64) {
    unsafe ints[row] = value
    if value < minimum { minimum = value }
    if value > maximum { maximum = value }
    unsafe nulls?[row] = 0
  }

  /// Sets an element that holds nothing yet to `bytes`.
  @inline(__always) mutating func putBytes(
    _ row: Int, _ bytes: UnsafeRawBufferPointer, isOverflow: Bool
  ) {
    // The bytes may be borrowed from this very heap, which must then outlive the copy.
    var outgrown: UnsafeMutableRawPointer?
    if unsafe heap == nil || heapByteCount + bytes.count > heapCapacity {
      unsafe outgrown = unsafe growHeap(bytes.count)
    }
    if let start = bytes.baseAddress {
      unsafe cambium_copy(heap.unsafelyUnwrapped + heapByteCount, start, bytes.count)
    }
    unsafe outgrown?.deallocate()
    putSlot(row, bytes.count, isOverflow: isOverflow)
  }

  /// Names the `count` bytes at the end of the heap, just written there.
  @inline(__always) mutating func putSlot(_ row: Int, _ count: Int, isOverflow: Bool) {
    unsafe slots[row] = Self.slot(heapByteCount, count) | (isOverflow ? Self.overflowBit : 0)
    heapByteCount &+= count
    liveByteCount &+= count
    if isOverflow { overflowCount &+= 1 }
    unsafe nulls?[row] = 0
  }

  /// Makes room for `count` more bytes.
  @inline(__always) mutating func reserveHeap(_ count: Int) {
    if unsafe heap == nil || heapByteCount + count > heapCapacity {
      unsafe growHeap(count)?.deallocate()
    }
  }

  /// Moves to a larger heap with room for `count` more bytes; returns the old one.
  @inline(never) mutating func growHeap(_ count: Int) -> UnsafeMutableRawPointer? {
    heapCapacity = max(1024, heapCapacity * 2, heapByteCount + count)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: heapCapacity, alignment: 16)
    let old = unsafe heap
    if let old = unsafe old { unsafe larger.copyMemory(from: old, byteCount: heapByteCount) }
    unsafe heap = unsafe larger
    return unsafe old
  }

  /// Squeezes out bytes that no slot names, when they are most of the heap.
  mutating func squeeze(rowCount: Int) {
    guard type == .bytes, let old = unsafe heap, heapByteCount > 4096,
      heapByteCount > liveByteCount * 2
    else { return }
    heapCapacity = max(1024, liveByteCount * 2)
    let fresh = UnsafeMutableRawPointer.allocate(byteCount: heapCapacity, alignment: 16)
    var end = 0
    for row in 0..<rowCount {
      let slot = unsafe slots[row]
      let count = Self.count(slot)
      unsafe (fresh + end).copyMemory(from: old + Self.offset(slot), byteCount: count)
      unsafe slots[row] = Self.slot(end, count) | (slot & Self.overflowBit)
      end += count
    }
    unsafe old.deallocate()
    unsafe heap = unsafe fresh
    heapByteCount = end
    isOrdered = true
  }

  /// Forgets all rows, keeping the memory.
  mutating func removeAll() {
    (heapByteCount, liveByteCount, nullCount, overflowCount) = (0, 0, 0, 0)
    (minimum, maximum) = (.max, .min)
    isOrdered = true
  }

  /// About how many bytes the column will take when packed, dictionaries and affixes left out.
  @inline(__always) func estimatedByteCount(rowCount: Int) -> Int {
    var bits = nullCount > 0 && nullCount < rowCount ? 1 : 0
    switch type {
    case .int:
      if maximum > minimum {
        bits += Int(PackedIntegers.width(of: UInt64(bitPattern: maximum &- minimum)))
      }
    case .bool: bits += 1
    case .float: bits += 32
    case .double: bits += 64
    case .wide: bits += 128
    case .bytes:
      return liveByteCount + (rowCount * (bits + 9) + 7) / 8
        + (overflowCount > 0 ? rowCount / 8 : 0)
    }
    return (rowCount * bits + 7) / 8
  }
}
