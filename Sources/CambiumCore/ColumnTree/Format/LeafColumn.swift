/// One column of a ``ColumnLeaf``, read in place.
///
/// Rows count from 0 and must be below ``rowCount``. Whoever reads a cell asks ``isNull(_:)``
/// first: what the typed accessors give for a null cell is unspecified.
///
/// Pointers: they lead into the leaf's page, those of folded texts into memory of the caller, and are valid
/// for as long as the leaf; the column keeps the page's owner, if it has one. The initializer checks that
/// bitmaps and data of all rows end before the page's last 16 bytes, which a kernel may read. Bitmaps and
/// arrays to be filled are the caller's, with room for all rows.
@safe @frozen public struct LeafColumn {
  /// The column's number.
  public let id: UInt16
  /// What its cells are.
  public let type: ColumnType
  /// How it is stored.
  public let encoding: ColumnEncoding
  /// The bits of an integer's offset or of a dictionary's code.
  public let width: UInt8
  /// Whether null is the column's default.
  public let isNullable: Bool
  @usableFromInline let lengthWidth: UInt8
  @usableFromInline let anchorWidth: UInt8
  /// How many rows there are.
  public let rowCount: Int
  @usableFromInline let nulls: UnsafeRawPointer?
  @usableFromInline let overflow: UnsafeRawPointer?
  @usableFromInline let data: UnsafeRawPointer
  @usableFromInline let dataByteCount: Int
  @usableFromInline let base: Int64
  @usableFromInline let extra: UInt64
  @usableFromInline let owner: AnyObject?

  /// Reads a directory entry; nil when it breaks the format, which validation rules out.
  @inlinable @inline(__always) init?(entry: UnsafeRawPointer, leaf: ColumnLeaf) {
    unsafe self.init(
      entry: entry, bytes: leaf.page.bytes, byteCount: leaf.page.byteCount,
      rowCount: leaf.rowCount, owner: leaf.page.owner)
  }

  /// Reads a directory entry of the page at `bytes`; nil when it breaks the format.
  @inlinable @inline(__always) init?(
    entry: UnsafeRawPointer, bytes: UnsafeRawPointer, byteCount: Int, rowCount: Int,
    owner: AnyObject?
  ) {
    let limit = byteCount &- 16
    guard let type = unsafe ColumnType(rawValue: entry.load(fromByteOffset: 2, as: UInt8.self)),
      let encoding = unsafe ColumnEncoding(rawValue: entry.load(fromByteOffset: 3, as: UInt8.self))
    else { return nil }
    let nullOffset = unsafe Int(
      UInt32(littleEndian: entry.loadUnaligned(fromByteOffset: 8, as: UInt32.self)))
    let overflowOffset = unsafe Int(
      UInt32(littleEndian: entry.loadUnaligned(fromByteOffset: 12, as: UInt32.self)))
    let dataOffset = unsafe Int(
      UInt32(littleEndian: entry.loadUnaligned(fromByteOffset: 16, as: UInt32.self)))
    let dataByteCount = unsafe Int(
      UInt32(littleEndian: entry.loadUnaligned(fromByteOffset: 20, as: UInt32.self)))
    let bitmapByteCount = (rowCount &+ 7) >> 3
    // A leaf of constants has many rows in a page that is shorter than a bitmap of them.
    guard nullOffset == 0 || nullOffset &+ bitmapByteCount <= limit,
      overflowOffset == 0 || overflowOffset &+ bitmapByteCount <= limit,
      dataOffset &+ dataByteCount <= limit
    else { return nil }
    id = unsafe UInt16(littleEndian: entry.loadUnaligned(as: UInt16.self))
    self.type = type
    self.encoding = encoding
    width = unsafe entry.load(fromByteOffset: 4, as: UInt8.self)
    lengthWidth = unsafe entry.load(fromByteOffset: 5, as: UInt8.self)
    anchorWidth = unsafe entry.load(fromByteOffset: 6, as: UInt8.self)
    isNullable = unsafe entry.load(fromByteOffset: 7, as: UInt8.self) & 1 != 0
    self.rowCount = rowCount
    unsafe nulls = unsafe nullOffset == 0 ? nil : bytes + nullOffset
    unsafe overflow = unsafe overflowOffset == 0 ? nil : bytes + overflowOffset
    unsafe data = unsafe bytes + dataOffset
    self.dataByteCount = dataByteCount
    base = unsafe Int64(littleEndian: entry.loadUnaligned(fromByteOffset: 24, as: Int64.self))
    extra = unsafe UInt64(littleEndian: entry.loadUnaligned(fromByteOffset: 32, as: UInt64.self))
    self.owner = owner
    let needed: Int
    switch (type, encoding) {
    case (.int, .packed): needed = PackedIntegers.byteCount(rowCount, width)
    case (.bool, .bitmap): needed = bitmapByteCount
    case (.float, .raw): needed = rowCount &* 4
    case (.double, .raw): needed = rowCount &* 8
    case (.wide, .raw): needed = rowCount &* 16
    case (.wide, .packed):
      guard lengthWidth <= 64 else { return nil }
      needed =
        Self.lowWordsOffset(rowCount, width) &+ PackedIntegers.byteCount(rowCount, lengthWidth)
    case (.bytes, .variable), (.bytes, .dictionary), (.bytes, .constant): needed = 0
    case (_, .constant): needed = 0
    default: return nil
    }
    guard needed <= dataByteCount, width <= 64, width & (width &- 1) == 0 || width == 0 else {
      return nil
    }
  }

  /// The column `other` with its data in other memory, as long and in the same form.
  init(_ other: LeafColumn, data: UnsafeRawPointer) {
    (id, type, encoding, width) = (other.id, other.type, other.encoding, other.width)
    (lengthWidth, anchorWidth) = (other.lengthWidth, other.anchorWidth)
    (isNullable, rowCount) = (other.isNullable, other.rowCount)
    unsafe (nulls, overflow) = unsafe (other.nulls, other.overflow)
    unsafe (self.data, dataByteCount) = unsafe (data, other.dataByteCount)
    (base, extra, owner) = (other.base, other.extra, other.owner)
  }

  /// Whether any row can be null.
  @inlinable public var hasNulls: Bool { unsafe nulls != nil }

  /// Whether the cell of `row` is null.
  @inlinable @inline(__always) public func isNull(_ row: Int) -> Bool {
    guard let nulls = unsafe nulls else { return false }
    return unsafe nulls.load(fromByteOffset: row &>> 3, as: UInt8.self) &>> UInt8(row & 7) & 1 != 0
  }

  /// The integer of `row`.
  @inlinable @inline(__always) public func int(_ row: Int) -> Int64 {
    unsafe encoding == .packed
      ? base &+ Int64(bitPattern: PackedIntegers.load(data, width, row)) : base
  }

  /// The truth value of `row`.
  @inlinable @inline(__always) public func bool(_ row: Int) -> Bool {
    unsafe encoding == .bitmap
      ? data.load(fromByteOffset: row &>> 3, as: UInt8.self) &>> UInt8(row & 7) & 1 != 0
      : base != 0
  }

  /// The float of `row`.
  @inlinable @inline(__always) public func float(_ row: Int) -> Float {
    unsafe Float(
      bitPattern: encoding == .raw
        ? UInt32(littleEndian: data.loadUnaligned(fromByteOffset: row &* 4, as: UInt32.self))
        : UInt32(truncatingIfNeeded: base))
  }

  /// The double of `row`.
  @inlinable @inline(__always) public func double(_ row: Int) -> Double {
    unsafe Double(
      bitPattern: encoding == .raw
        ? UInt64(littleEndian: data.loadUnaligned(fromByteOffset: row &* 8, as: UInt64.self))
        : UInt64(bitPattern: base))
  }

  /// The two words of the 128-bit value of `row`.
  @inlinable @inline(__always) public func wide(_ row: Int) -> (low: UInt64, high: UInt64) {
    if encoding == .packed {
      // The directory has the base of the high words and the base of the low ones.
      let high = unsafe UInt64(bitPattern: base) &+ PackedIntegers.load(data, width, row)
      if lengthWidth == 0 { return (extra, high) }
      let lows = unsafe data + Self.lowWordsOffset(rowCount, width)
      return unsafe (extra &+ PackedIntegers.load(lows, lengthWidth, row), high)
    }
    if encoding != .raw { return (UInt64(bitPattern: base), extra) }
    return unsafe (
      UInt64(littleEndian: data.loadUnaligned(fromByteOffset: row &* 16, as: UInt64.self)),
      UInt64(littleEndian: data.loadUnaligned(fromByteOffset: row &* 16 &+ 8, as: UInt64.self))
    )
  }

  /// Where the low words of packed 128-bit values begin, behind `rows` high ones of `width` bits.
  @inlinable @inline(__always) static func lowWordsOffset(_ rows: Int, _ width: UInt8) -> Int {
    (PackedIntegers.byteCount(rows, width) &+ 7) & ~7
  }

  /// Bounds of the integers that are not null, as narrow as the directory tells; no row is outside.
  @inlinable public var integerBounds: ClosedRange<Int64> {
    if encoding != .packed { return base...base }
    if width >= 64 { return Int64.min...Int64.max }
    let (upper, isOver) = base.addingReportingOverflow(
      Int64(bitPattern: PackedIntegers.maximum(width)))
    return base...(isOver || upper < base ? .max : upper)
  }

  /// Writes all integers to `values`, which has room for ``rowCount`` of them; unspecified where
  /// null.
  @inlinable public func copyInts(into values: UnsafeMutablePointer<Int64>) {
    unsafe PackedIntegers.unpack(
      data, width: encoding == .packed ? width : 0, base: base, first: 0, count: rowCount,
      into: values)
  }

  /// The words of a bitmap over the rows.
  @inlinable public var bitmapWordCount: Int { (rowCount &+ 63) >> 6 }

  /// Writes a bitmap of the rows that are not null, ``bitmapWordCount`` words, lowest row first;
  /// bits past the last row are 0.
  public func copyPresence(into bitmap: UnsafeMutablePointer<UInt64>) {
    for word in 0..<bitmapWordCount { unsafe bitmap[word] = presence(word) }
  }

  /// How many rows are null.
  public var nullCount: Int {
    var count = 0
    for word in 0..<bitmapWordCount { count += presence(word).nonzeroBitCount }
    return rowCount - count
  }

  /// The rows of word `word` that are not null.
  @inlinable @inline(__always) func presence(_ word: Int) -> UInt64 {
    let rest = rowCount &- word &* 64
    let all: UInt64 = rest >= 64 ? .max : (1 &<< UInt64(truncatingIfNeeded: rest)) &- 1
    guard let nulls = unsafe nulls else { return all }
    return unsafe ~Self.bitmapWord(nulls, word, rest) & all
  }

  /// Word `word` of a bitmap on a page; does not read past the bytes that `rest` rows take.
  @inlinable @inline(__always)
  static func bitmapWord(_ bitmap: UnsafeRawPointer, _ word: Int, _ rest: Int) -> UInt64 {
    if rest >= 57 {
      return unsafe UInt64(
        littleEndian: bitmap.loadUnaligned(fromByteOffset: word &* 8, as: UInt64.self))
    }
    var result: UInt64 = 0
    var shift: UInt64 = 0
    var offset = word &* 8
    while Int(shift) < rest {
      unsafe result |= UInt64(bitmap.load(fromByteOffset: offset, as: UInt8.self)) &<< shift
      shift &+= 8
      offset &+= 1
    }
    return result
  }
}

extension LeafColumn {
  /// The cell of a row; nil when the column is one of bytes.
  @inlinable @inline(__always) package func fixedValue(_ row: Int) -> ColumnValue? {
    if type == .bytes { return nil }
    if isNull(row) { return .null }
    switch type {
    case .int: return .int(int(row))
    case .bool: return .bool(bool(row))
    case .float: return .float(float(row))
    case .double: return .double(double(row))
    case .wide:
      let (low, high) = wide(row)
      return .wide(low: low, high: high)
    case .bytes: return nil
    }
  }
}
