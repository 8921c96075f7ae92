/// A column of a leaf that rows are picked from, and these rows.
///
/// Says what a ``LeafColumn`` says, but for what keeps the page, so that it is copied as plain bytes.
///
/// Pointers: it belongs to a `LeafRepack`, whose sources keep the page and whose memory the rows and marks
/// are; it is made for one pack and not used after it. There is at least one row, and each is one of the
/// leaf.
@safe struct RepackPart: BitwiseCopyable {
  let type: ColumnType
  let encoding: ColumnEncoding
  let width: UInt8
  let base: Int64
  let extra: UInt64
  let data: UnsafeRawPointer
  let nulls: UnsafePointer<UInt8>?
  let hasOverflow: Bool
  /// The rows that were picked, ascending.
  let rows: UnsafePointer<Int32>
  let count: Int
  /// How many rows of other leaves stand before them.
  let place: Int
  /// For each row of the leaf 1 if it is left out; tells of those between the first and the last one
  /// that was picked.
  let removed: UnsafePointer<UInt8>

  // Columns of bytes.
  let lengthWidth: UInt8
  let fixedLength: Int
  let storedLengths: UnsafePointer<UInt8>
  let heap: UnsafePointer<CChar>
  let heapByteCount: Int
  let prefix: UnsafeRawBufferPointer
  let suffix: UnsafeRawBufferPointer
  /// Where the lengths of all values were copied to.
  var lengths = 0

  @inline(__always) init(
    _ column: LeafColumn, _ rows: UnsafeBufferPointer<Int32>, at place: Int,
    removed: UnsafePointer<UInt8>
  ) {
    (type, encoding, width) = (column.type, column.encoding, column.width)
    unsafe (base, extra, data) = unsafe (column.base, column.extra, column.data)
    unsafe nulls = unsafe column.nulls?.assumingMemoryBound(to: UInt8.self)
    hasOverflow = unsafe column.overflow != nil
    unsafe self.rows = unsafe rows.baseAddress.unsafelyUnwrapped
    count = rows.count
    self.place = place
    unsafe self.removed = unsafe removed
    lengthWidth = column.lengthWidth
    let nothing = unsafe UnsafeRawBufferPointer(start: column.data, count: 0)
    if column.type == .bytes, let bytes = BytesColumn(column) {
      fixedLength = bytes.fixedLength
      unsafe storedLengths = unsafe bytes.lengths.assumingMemoryBound(to: UInt8.self)
      unsafe heap = unsafe bytes.heap.assumingMemoryBound(to: CChar.self)
      heapByteCount = bytes.heapByteCount
      unsafe (prefix, suffix) = unsafe (bytes.prefix, bytes.suffix)
    } else {
      fixedLength = 0
      unsafe storedLengths = unsafe column.data.assumingMemoryBound(to: UInt8.self)
      unsafe heap = unsafe column.data.assumingMemoryBound(to: CChar.self)
      heapByteCount = -1
      unsafe (prefix, suffix) = unsafe (nothing, nothing)
    }
  }

  /// The first row that was picked, and the one behind the last.
  var firstRow: Int { unsafe Int(rows[0]) }
  var endRow: Int { unsafe Int(rows[count &- 1]) &+ 1 }

  /// Whether rows of this column may stand beside rows of `other` as they lie.
  func isPacked(like other: RepackPart) -> Bool {
    guard type == other.type, encoding == other.encoding else { return false }
    if type == .bytes {
      return encoding == .variable && !hasOverflow && lengthWidth <= 8 && fixedLength <= 0xff
        && heapByteCount >= 0
    }
    return width == other.width && base == other.base && extra == other.extra
  }
}
