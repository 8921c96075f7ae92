/// One row of a ``ColumnLeaf``, for reading single cells in a few nanoseconds.
///
/// Pointers: it keeps nothing alive: whoever holds it also holds the leaf's owner and the snapshot. The
/// directory was held against the page's length when the leaf was made, and every offset in it is when a cell
/// is read, so that reads never leave the page, whatever the page says.
@safe @frozen public struct LeafRow: BitwiseCopyable {
  @usableFromInline let bytes: UnsafeRawPointer
  @usableFromInline let byteCount: UInt32
  @usableFromInline let columnCount: UInt32
  @usableFromInline let rowCount: UInt32
  @usableFromInline let row: UInt32
  #if DEBUG
    @usableFromInline var lease = PageLease.none
  #endif

  /// Row `row` of `leaf`, which must have it.
  @inlinable @inline(__always) public init(_ leaf: ColumnLeaf, _ row: Int) {
    unsafe bytes = unsafe leaf.page.bytes
    byteCount = UInt32(truncatingIfNeeded: leaf.page.byteCount)
    columnCount = UInt32(truncatingIfNeeded: leaf.columnCount)
    rowCount = UInt32(truncatingIfNeeded: leaf.rowCount)
    self.row = UInt32(truncatingIfNeeded: row)
    #if DEBUG
      lease = leaf.page.lease
    #endif
  }

  /// Row `row` of the same leaf, which must have it.
  @inlinable @inline(__always) public func moved(to row: Int) -> LeafRow {
    #if DEBUG
      var moved = unsafe LeafRow(
        bytes: bytes, byteCount: byteCount, columnCount: columnCount, rowCount: rowCount,
        row: UInt32(truncatingIfNeeded: row))
      moved.lease = lease
      return moved
    #else
      return unsafe LeafRow(
        bytes: bytes, byteCount: byteCount, columnCount: columnCount, rowCount: rowCount,
        row: UInt32(truncatingIfNeeded: row))
    #endif
  }

  @inlinable @inline(__always) init(
    bytes: UnsafeRawPointer, byteCount: UInt32, columnCount: UInt32, rowCount: UInt32, row: UInt32
  ) {
    unsafe self.bytes = unsafe bytes
    self.byteCount = byteCount
    self.columnCount = columnCount
    self.rowCount = rowCount
    self.row = row
  }

  /// No row: every cell is the default.
  @inlinable @inline(__always) public init() {
    // Never read: a row without columns has no cells.
    unsafe bytes = unsafe UnsafeRawPointer(bitPattern: 64).unsafelyUnwrapped
    (byteCount, columnCount, rowCount, row) = (0, 0, 0, 0)
  }

  /// The cell in column `id`; nil when every row of the leaf holds the column's default.
  ///
  /// `hint` is the place where the column's directory entry is looked for first.
  @inlinable @inline(__always) public func cell(_ id: UInt16, hint: UInt16) -> LeafCell? {
    #if DEBUG
      lease.check()
    #endif
    if UInt32(hint) < columnCount {
      // The leaf's directory lies within its page: `ColumnLeaf` sees to that.
      let entry = unsafe bytes + (40 &+ Int(hint) &* 40)
      if unsafe UInt16(littleEndian: entry.loadUnaligned(as: UInt16.self)) == id {
        return unsafe LeafCell(entry: entry, place: self)
      }
    }
    return search(id)
  }

  @usableFromInline @inline(never) func search(_ id: UInt16) -> LeafCell? {
    for index in 0..<Int(columnCount) {
      let entry = unsafe bytes + (LeafHeader.byteCount &+ index &* LeafEntry.byteCount)
      if unsafe UInt16(littleEndian: entry.loadUnaligned(as: UInt16.self)) == id {
        return unsafe LeafCell(entry: entry, place: self)
      }
    }
    return nil
  }
}

/// One cell of a ``LeafRow``.
///
/// The typed accessors believe what the caller says of the column's type; asked for another one, they
/// give some value of that type. Whoever reads a column that can be null asks ``isNull`` first.
///
/// Pointers: the entry is one of the row's directory, and is valid for as long as the row. Data are held
/// against the page's length before they are read.
@safe @frozen public struct LeafCell: BitwiseCopyable {
  @usableFromInline let entry: UnsafeRawPointer
  @usableFromInline let place: LeafRow

  @inlinable @inline(__always) init(entry: UnsafeRawPointer, place: LeafRow) {
    unsafe self.entry = unsafe entry
    self.place = place
  }

  @inlinable @inline(__always) func offset(_ field: Int) -> Int {
    unsafe Int(UInt32(littleEndian: entry.loadUnaligned(fromByteOffset: field, as: UInt32.self)))
  }

  @inlinable @inline(__always) var isConstant: Bool {
    unsafe entry.load(fromByteOffset: 3, as: UInt8.self) == ColumnEncoding.constant.rawValue
  }

  /// The column's base, which is the value of a constant one.
  @inlinable @inline(__always) var base: UInt64 {
    unsafe UInt64(littleEndian: entry.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
  }

  /// `count` bytes at `byteOffset` of the column's data; nil when they are not all on the page.
  @inlinable @inline(__always) func data(_ byteOffset: Int, _ count: Int) -> UnsafeRawPointer? {
    let start = offset(16) &+ byteOffset
    return unsafe start &+ count <= Int(place.byteCount) ? place.bytes + start : nil
  }

  /// Whether the cell is null.
  @inlinable @inline(__always) public var isNull: Bool {
    let nulls = offset(8)
    if nulls == 0 { return false }
    let byte = nulls &+ Int(place.row) &>> 3
    guard byte < Int(place.byteCount) else { return true }
    return unsafe place.bytes.load(fromByteOffset: byte, as: UInt8.self)
      &>> UInt8(truncatingIfNeeded: place.row & 7) & 1 != 0
  }

  /// The integer.
  @inlinable @inline(__always) public var int: Int64 {
    let base = Int64(bitPattern: base)
    if isConstant { return base }
    let width = unsafe Int(entry.load(fromByteOffset: 4, as: UInt8.self))
    return base &+ Int64(bitPattern: packed(width, behind: 0))
  }

  /// The truth value.
  @inlinable @inline(__always) public var bool: Bool {
    if !isConstant, let data = unsafe data(Int(place.row) &>> 3, 1) {
      return unsafe data.load(as: UInt8.self) &>> UInt8(truncatingIfNeeded: place.row & 7) & 1 != 0
    }
    return base != 0
  }

  /// The float.
  @inlinable @inline(__always) public var float: Float {
    if !isConstant, let data = unsafe data(Int(place.row) &* 4, 4) {
      return unsafe Float(bitPattern: UInt32(littleEndian: data.loadUnaligned(as: UInt32.self)))
    }
    return Float(bitPattern: UInt32(truncatingIfNeeded: base))
  }

  /// The double.
  @inlinable @inline(__always) public var double: Double {
    if !isConstant, let data = unsafe data(Int(place.row) &* 8, 8) {
      return unsafe Double(bitPattern: UInt64(littleEndian: data.loadUnaligned(as: UInt64.self)))
    }
    return Double(bitPattern: base)
  }

  /// The two words of the 128-bit value.
  @inlinable @inline(__always) public var wide: (low: UInt64, high: UInt64) {
    if unsafe entry.load(fromByteOffset: 3, as: UInt8.self) == ColumnEncoding.packed.rawValue {
      return packedWide
    }
    if !isConstant, let data = unsafe data(Int(place.row) &* 16, 16) {
      return unsafe (
        UInt64(littleEndian: data.loadUnaligned(as: UInt64.self)),
        UInt64(littleEndian: data.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
    let high = unsafe entry.loadUnaligned(fromByteOffset: 32, as: UInt64.self)
    return (base, UInt64(littleEndian: high))
  }

  /// The two words where high and low ones are packed.
  @inlinable @inline(__always) var packedWide: (low: UInt64, high: UInt64) {
    let highWidth = unsafe Int(entry.load(fromByteOffset: 4, as: UInt8.self))
    let lowWidth = unsafe Int(entry.load(fromByteOffset: 5, as: UInt8.self))
    let low = unsafe UInt64(littleEndian: entry.loadUnaligned(fromByteOffset: 32, as: UInt64.self))
    let high = base &+ packed(highWidth, behind: 0)
    if lowWidth == 0 { return (low, high) }
    let rows = unsafe Int(
      UInt32(littleEndian: place.bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
    let lows = ((rows &* highWidth &+ 7) &>> 3 &+ 7) & ~7
    return (low &+ packed(lowWidth, behind: lows), high)
  }

  /// The offset of `width` bits in the packed integers that begin at `byteOffset`.
  @inlinable @inline(__always) func packed(_ width: Int, behind byteOffset: Int) -> UInt64 {
    // Widths are powers of two: no value crosses the word that begins at its first byte.
    let bit = Int(place.row) &* width
    guard width > 0, let data = unsafe data(byteOffset &+ bit &>> 3, 8) else { return 0 }
    let word = unsafe UInt64(littleEndian: data.loadUnaligned(as: UInt64.self))
    let mask = UInt64.max &>> UInt64(truncatingIfNeeded: 64 &- width)
    return word &>> UInt64(truncatingIfNeeded: bit & 7) & mask
  }
}
