import CPlatform

/// The rows of one leaf of a ``ColumnTree``, read in place.
///
/// Pointers: they lead into `page`. Its bytes are kept by its owner or, where it has none, by the pin of
/// the snapshot it was read from; in a write transaction they last until that transaction's next change.
/// Directory and keys are held against the page's length when the leaf is made; rows asked for are below
/// `rowCount`.
@safe @frozen public struct ColumnLeaf {
  /// The page that holds the rows.
  public let page: Page
  /// How many rows there are.
  public let rowCount: Int
  @usableFromInline let columnCount: Int
  @usableFromInline let keyBase: Int64
  @usableFromInline let keyStride: Int64
  @usableFromInline let keyOffsets: UnsafeRawPointer
  @usableFromInline let keyWidth: UInt8

  /// Reads a page that was validated; whatever leads out of it all the same reads as empty.
  @inlinable @inline(__always) init(_ page: Page) {
    let bytes = unsafe page.bytes
    self.page = page
    guard page.byteCount >= 40 else {
      (rowCount, columnCount, keyBase, keyStride) = (0, 0, 0, 1)
      unsafe (keyOffsets, keyWidth) = unsafe (bytes, 0)
      return
    }
    var rows = unsafe Int(
      UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
    let columns = unsafe Int(
      UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
    keyBase = unsafe Int64(
      littleEndian: bytes.loadUnaligned(fromByteOffset: LeafHeader.keyBase, as: Int64.self))
    keyStride = unsafe Int64(
      littleEndian: bytes.loadUnaligned(fromByteOffset: LeafHeader.keyStride, as: Int64.self))
    let width = unsafe bytes.load(fromByteOffset: LeafHeader.keyWidth, as: UInt8.self)
    let offset = unsafe Int(
      UInt32(
        littleEndian: bytes.loadUnaligned(fromByteOffset: LeafHeader.keyOffset, as: UInt32.self)))
    if rows > 1 << 20 || offset &+ PackedIntegers.byteCount(rows, width) > page.byteCount {
      rows = 0
    }
    rowCount = rows
    columnCount = 40 &+ columns &* 40 <= page.byteCount ? columns : 0
    keyWidth = width
    unsafe keyOffsets = unsafe bytes + (offset <= page.byteCount ? offset : 0)
  }

  /// A leaf without rows, for where there is none.
  static var none: ColumnLeaf {
    // The address is never read: the page has no bytes.
    let nowhere = unsafe UnsafeRawPointer(bitPattern: 64).unsafelyUnwrapped
    return unsafe ColumnLeaf(Page(bytes: nowhere, byteCount: 0, owner: nil))
  }

  /// The key of `row`, or in a tree by position the row itself.
  @inlinable @inline(__always) public func key(at row: Int) -> Int64 {
    page.checkLease()
    return unsafe keyBase &+ keyStride &* Int64(row)
      &+ Int64(bitPattern: PackedIntegers.load(keyOffsets, keyWidth, row))
  }

  /// The row with `key`.
  @inlinable @inline(__always) public func find(_ key: Int64) -> Int? {
    if keyWidth == 0 && keyStride == 1 {
      let row = key &- keyBase
      return row >= 0 && row < rowCount && key >= keyBase ? Int(row) : nil
    }
    let row = lowerBound(key)
    return row < rowCount && self.key(at: row) == key ? row : nil
  }

  /// The first row whose key is not below `key`; ``rowCount`` if there is none.
  @inlinable public func lowerBound(_ key: Int64) -> Int {
    var low = 0
    var count = rowCount
    while count > 0 {
      let half = count &>> 1
      let middle = low &+ half
      if self.key(at: middle) < key {
        low = middle &+ 1
        count = count &- half &- 1
      } else {
        count = half
      }
    }
    return low
  }

  /// Writes the keys of all rows to `keys`, which has room for ``rowCount`` of them.
  public func copyKeys(into keys: UnsafeMutablePointer<Int64>) {
    page.checkLease()
    unsafe PackedIntegers.unpack(
      keyOffsets, width: keyWidth, base: keyBase, first: 0, count: rowCount, into: keys)
    if keyStride == 0 { return }
    for row in 0..<rowCount { unsafe keys[row] = unsafe keys[row] &+ keyStride &* Int64(row) }
  }

  /// Whether the leaf belongs to a tree by position.
  public var isPositional: Bool {
    unsafe page.bytes.byte(LeafHeader.flags) & LeafHeader.isPositional != 0
  }

  /// Whether the keys are those from the first one on, one after another.
  var isDense: Bool {
    keyWidth == 0 && keyStride == 1 && keyBase <= Int64.max - Int64(LeafHeader.rowLimit)
  }

  /// The directory entry of column `id`.
  @inlinable @inline(__always) func entry(of id: UInt16) -> UnsafeRawPointer? {
    var entry = unsafe page.bytes + 40
    var remaining = columnCount
    while remaining > 8 {
      let half = remaining &>> 1
      let middle = unsafe entry + half &* 40
      if unsafe UInt16(littleEndian: middle.loadUnaligned(as: UInt16.self)) <= id {
        unsafe entry = unsafe middle
        remaining = remaining &- half
      } else {
        remaining = half
      }
    }
    while remaining > 0 {
      if unsafe UInt16(littleEndian: entry.loadUnaligned(as: UInt16.self)) == id {
        return unsafe entry
      }
      unsafe entry += 40
      remaining = remaining &- 1
    }
    return nil
  }

  /// The column with `id`; nil when every row holds the default.
  @inlinable @inline(__always) public func column(_ id: UInt16) -> LeafColumn? {
    guard let entry = unsafe entry(of: id) else { return nil }
    return unsafe LeafColumn(entry: entry, leaf: self)
  }

  /// The same without the page's owner, so that a look at a column of each leaf counts no references; who
  /// uses it keeps the leaf.
  @inline(__always) func borrowedColumn(_ id: UInt16) -> LeafColumn? {
    guard let entry = unsafe entry(of: id) else { return nil }
    return unsafe LeafColumn(
      entry: entry, bytes: page.bytes, byteCount: page.byteCount, rowCount: rowCount, owner: nil)
  }

  /// The column of `spec`; nil when every row holds the default.
  @inline(__always) func column(_ spec: ColumnSpec) -> LeafColumn? {
    guard let column = column(spec.id), column.type == spec.type else { return nil }
    return column
  }

  /// The ids of the columns that the leaf stores.
  public var columnIDs: [UInt16] {
    (0..<columnCount).map {
      unsafe (page.bytes + LeafHeader.byteCount + $0 * LeafEntry.byteCount).half(0)
    }
  }

  /// Hints that column `id` will be read soon, up to 4 KiB of it.
  @inlinable public func prefetch(_ id: UInt16) {
    guard let entry = unsafe entry(of: id) else { return }
    let offset = unsafe Int(
      UInt32(
        littleEndian: entry.loadUnaligned(fromByteOffset: LeafEntry.dataOffset, as: UInt32.self)))
    let count = unsafe Int(
      UInt32(
        littleEndian: entry.loadUnaligned(
          fromByteOffset: LeafEntry.dataByteCount, as: UInt32.self)))
    let end = min(offset &+ min(count, 4096), page.byteCount)
    var line = offset & ~63
    while line < end {
      unsafe cambium_prefetch(page.bytes + line)
      line &+= 64
    }
  }
}
