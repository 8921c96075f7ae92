import CPlatform

/// The parts of a column of bytes, found once for many cells.
///
/// Pointers: all parts lie on the page of the leaf that the column came from. They are valid for as long as
/// that leaf, whose owner `LeafColumn` keeps. The initializer checks that they fit into the column's data,
/// each entry is clamped to the heap, and rows and entries asked for are below their counts. The leaf's slack
/// lets up to 16 bytes of lengths be read at once.
@safe @frozen public struct BytesColumn {
  @usableFromInline let column: LeafColumn
  @usableFromInline let lengths: UnsafeRawPointer
  @usableFromInline let anchors: UnsafeRawPointer
  /// The entries, behind the common prefix and suffix.
  @usableFromInline let heap: UnsafeRawPointer
  @usableFromInline let heapByteCount: Int
  /// How many values are stored: the rows, the distinct values of a dictionary, or one.
  public let entryCount: Int
  @usableFromInline let fixedLength: Int
  /// What every inline value begins with.
  public let prefix: UnsafeRawBufferPointer
  /// What every inline value ends with.
  public let suffix: UnsafeRawBufferPointer

  /// Finds the parts of `column`; nil when it is of another type or breaks the format.
  @inlinable @inline(__always) init?(_ column: LeafColumn) {
    guard column.type == .bytes else { return nil }
    self.column = column
    let entries = Int(truncatingIfNeeded: UInt64(bitPattern: column.base) &>> 32)
    fixedLength = Int(UInt32(truncatingIfNeeded: column.base))
    entryCount = entries
    let prefixCount = Int(UInt32(truncatingIfNeeded: column.extra))
    let suffixCount = Int(truncatingIfNeeded: column.extra &>> 32)
    var offset = 0
    switch column.encoding {
    case .constant: guard entries == 1 else { return nil }
    case .dictionary:
      guard entries >= 1, entries <= column.rowCount else { return nil }
      offset = (PackedIntegers.byteCount(column.rowCount, column.width) &+ 7) & ~7
    default: guard entries == column.rowCount else { return nil }
    }
    unsafe lengths = unsafe column.data + offset
    if column.lengthWidth != 0 {
      guard column.lengthWidth <= 32, column.lengthWidth & 7 == 0,
        column.anchorWidth == 16 || column.anchorWidth == 32
      else { return nil }
      offset &+= (entries &* Int(column.lengthWidth &>> 3) &+ 7) & ~7
      unsafe anchors = unsafe column.data + offset
      let groups = (entries &+ LeafEntry.anchorSpan &- 1) / LeafEntry.anchorSpan
      offset &+= (groups &* Int(column.anchorWidth &>> 3) &+ 7) & ~7
    } else {
      unsafe anchors = unsafe lengths
    }
    let affixes = prefixCount &+ suffixCount
    guard offset &+ affixes <= column.dataByteCount else { return nil }
    unsafe prefix = unsafe UnsafeRawBufferPointer(start: column.data + offset, count: prefixCount)
    unsafe suffix = unsafe UnsafeRawBufferPointer(
      start: column.data + (offset &+ prefixCount), count: suffixCount)
    unsafe heap = unsafe column.data + (offset &+ affixes)
    heapByteCount = column.dataByteCount &- offset &- affixes
  }

  /// Where entry `index` lies within the heap; clamped to it.
  @inlinable @inline(__always) func place(_ index: Int) -> (offset: Int, count: Int) {
    clamped(unboundedPlace(index))
  }

  /// Where anchors and lengths say that entry `index` lies.
  @inlinable @inline(__always) func unboundedPlace(_ index: Int) -> (offset: Int, count: Int) {
    switch column.lengthWidth {
    case 0: return (index &* fixedLength, fixedLength)
    case 8: return unsafe Self.place(of: index, lengths: lengths, anchor: anchor(index &>> 4))
    default:
      let first = index & ~15
      var sum = anchor(first &>> 4)
      for earlier in first..<index { sum &+= length(earlier) }
      return (sum, length(index))
    }
  }

  @inlinable @inline(__always)
  func clamped(_ place: (offset: Int, count: Int)) -> (offset: Int, count: Int) {
    place.offset &+ place.count <= heapByteCount ? place : (0, 0)
  }

  /// Where entry `index` begins and how long it is, given lengths of one byte and the anchor of its
  /// sixteen.
  @inlinable @inline(__always) static func place(
    of index: Int, lengths: UnsafeRawPointer, anchor: Int
  ) -> (offset: Int, count: Int) {
    let first = index & ~15
    var low = unsafe UInt64(
      littleEndian: lengths.loadUnaligned(fromByteOffset: first, as: UInt64.self))
    var high: UInt64 = 0
    let within = index &- first
    if within >= 8 {
      high = unsafe UInt64(
        littleEndian: lengths.loadUnaligned(fromByteOffset: first &+ 8, as: UInt64.self))
      high &= (1 &<< UInt64(truncatingIfNeeded: (within &- 8) &* 8)) &- 1
    } else {
      low &= (1 &<< UInt64(truncatingIfNeeded: within &* 8)) &- 1
    }
    // Sums bytes in pairs of 16 bits; 16 times 255 fits.
    let even: UInt64 = 0x00ff_00ff_00ff_00ff
    let pairs = (low & even) &+ (low &>> 8 & even) &+ (high & even) &+ (high &>> 8 & even)
    return unsafe (
      anchor &+ Int((pairs &* 0x0001_0001_0001_0001) &>> 48),
      Int(lengths.load(fromByteOffset: index, as: UInt8.self))
    )
  }

  @inlinable @inline(__always) func anchor(_ group: Int) -> Int {
    unsafe Int(truncatingIfNeeded: PackedIntegers.load(anchors, column.anchorWidth, group))
  }

  /// Hints at where the bytes of `row` likely lie.
  ///
  /// A single read waits for memory twice, first for the lengths that tell where the bytes are. Most
  /// lengths are near their mean, so that the second wait can begin with the first.
  @inlinable @inline(__always) func prefetch(_ row: Int) {
    guard column.encoding == .variable, column.lengthWidth != 0 else { return }
    let guess = unsafe heap + heapByteCount &* row / max(1, entryCount)
    unsafe cambium_prefetch(guess)
    unsafe cambium_prefetch(guess + 64)
  }

  /// The stored length of entry `index`, without prefix and suffix.
  @inlinable @inline(__always) func length(_ index: Int) -> Int {
    unsafe column.lengthWidth == 0
      ? fixedLength
      : Int(truncatingIfNeeded: PackedIntegers.load(lengths, column.lengthWidth, index))
  }

  /// The stored bytes of entry `index`, without prefix and suffix.
  @inlinable @inline(__always) func entry(_ index: Int) -> UnsafeRawBufferPointer {
    let (offset, count) = place(index)
    return unsafe UnsafeRawBufferPointer(start: heap + offset, count: count)
  }

  /// The entry that `row` shows.
  @inlinable @inline(__always) public func entryIndex(ofRow row: Int) -> Int {
    switch column.encoding {
    case .constant: return 0
    case .dictionary:
      let code = unsafe Int(truncatingIfNeeded: PackedIntegers.load(column.data, column.width, row))
      return code < entryCount ? code : 0
    default: return row
    }
  }

  /// Whether the value of `row` lives outside of the leaf.
  @inlinable @inline(__always) func isOverflow(_ row: Int) -> Bool {
    guard let overflow = unsafe column.overflow else { return false }
    return unsafe overflow.load(fromByteOffset: row &>> 3, as: UInt8.self) &>> UInt8(row & 7) & 1
      != 0
  }

  /// The cell of `row`.
  @inlinable @inline(__always) public func cell(_ row: Int) -> BytesCell {
    if column.isNull(row) {
      return unsafe BytesCell(form: .null, body: UnsafeRawBufferPointer(start: nil, count: 0))
    }
    let body = unsafe entry(entryIndex(ofRow: row))
    if isOverflow(row) {
      let isTree = unsafe body.count > 0 && body[0] == 2
      return unsafe BytesCell(form: isTree ? .tree : .overflow, body: body)
    }
    return unsafe BytesCell(form: .inline, head: prefix, body: body, tail: suffix)
  }
}

extension BytesColumn {
  /// Calls `body` with each row of a column of variable encoding, in order, and what lies there of its
  /// value: without the common prefix and suffix, nothing for null.
  @inlinable @inline(__always)
  func forEachEntry(_ body: (Int, UnsafeRawBufferPointer) -> Void) {
    let (lengths, heap, limit) = unsafe (lengths, heap, heapByteCount)
    let isShort = column.lengthWidth == 8
    var offset = 0
    for row in 0..<column.rowCount {
      var count =
        unsafe isShort ? Int(lengths.load(fromByteOffset: row, as: UInt8.self)) : length(row)
      // Only storage that rots under a mapping leads out of the heap.
      if offset &+ count > limit { count = 0 }
      unsafe body(row, UnsafeRawBufferPointer(start: heap + offset, count: count))
      offset &+= count
    }
  }

  /// Calls `body` with each row and its value in one piece, in order; nil where the value is null or
  /// lives outside of the leaf, as ``cell(_:)`` tells.
  ///
  /// Finding all places one after the other takes half as long as finding each by itself.
  @inlinable @inline(__always)
  public func forEachValue(_ body: (Int, UnsafeRawBufferPointer?) -> Void) {
    let rows = column.rowCount
    guard column.encoding == .variable, unsafe column.overflow == nil, unsafe column.nulls == nil,
      unsafe prefix.count &+ suffix.count == 0
    else {
      for row in 0..<rows {
        let cell = cell(row)
        if cell.form == .inline {
          unsafe cell.withBytes { unsafe body(row, $0) }
        } else {
          body(row, nil)
        }
      }
      return
    }
    unsafe forEachEntry { row, value in unsafe body(row, value) }
  }
}

extension LeafColumn {
  /// The column's parts, for reading many cells; nil unless it is a column of bytes.
  @inlinable public var bytesColumn: BytesColumn? { BytesColumn(self) }

  /// The cell of `row`; null when the column is not one of bytes.
  @inlinable @inline(__always) public func bytes(_ row: Int) -> BytesCell {
    guard let column = BytesColumn(self) else {
      return unsafe BytesCell(form: .null, body: UnsafeRawBufferPointer(start: nil, count: 0))
    }
    column.prefetch(row)
    return column.cell(row)
  }
}
