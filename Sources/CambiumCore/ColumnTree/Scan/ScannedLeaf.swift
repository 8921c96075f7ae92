import CPlatform

/// A leaf as a scan sees it: where the column's directory entry is, and little more.
///
/// Pointers: they lead into `page`, whose owner the scan keeps until the visit has ended; without one the pin
/// of the source or the transaction does. Every offset that is read from the page is held against the page's
/// length.
struct ScannedLeaf {
  private let page: Page
  let rowCount: Int
  /// Where the column's entry is; 0 when the leaf lacks the column.
  let entryOffset: Int

  @inline(__always) init(_ page: Page, column: UInt16, likelyOffset: Int) {
    self.page = page
    let bytes = unsafe page.bytes
    guard page.byteCount >= LeafHeader.byteCount + LeafHeader.slackByteCount else {
      (rowCount, entryOffset) = (0, 0)
      return
    }
    let rows = unsafe Int(bytes.single(LeafHeader.rowCount))
    rowCount = rows <= LeafHeader.rowLimit ? rows : 0
    let end =
      unsafe LeafHeader.byteCount &+ Int(bytes.half(LeafHeader.columnCount)) &* LeafEntry.byteCount
    if end <= page.byteCount, likelyOffset &+ LeafEntry.byteCount <= end,
      unsafe bytes.half(likelyOffset) == column
    {
      entryOffset = likelyOffset
    } else {
      entryOffset = unsafe ColumnLeaf(page).entry(of: column).map { unsafe $0 - bytes } ?? 0
    }
  }

  /// The column, for whatever the quick ways do not know.
  var column: LeafColumn? {
    if entryOffset == 0 { return nil }
    return unsafe LeafColumn(
      entry: page.bytes + entryOffset, bytes: page.bytes, byteCount: page.byteCount,
      rowCount: rowCount, owner: page.owner)
  }

  /// Where the data of the column lies when it is of this form, has no nulls and takes `stride` bytes
  /// a row.
  @inline(__always) private func data(
    _ type: ColumnType, _ encoding: ColumnEncoding, stride: Int, allowsNulls: Bool
  ) -> UnsafeRawPointer? {
    if entryOffset == 0 { return nil }
    let entry = unsafe page.bytes + entryOffset
    guard unsafe entry.byte(LeafEntry.type) == type.rawValue,
      unsafe entry.byte(LeafEntry.encoding) == encoding.rawValue,
      unsafe allowsNulls || entry.single(LeafEntry.nulls) == 0
    else { return nil }
    let offset = unsafe Int(entry.single(LeafEntry.dataOffset))
    guard offset &+ rowCount &* stride <= page.byteCount &- LeafHeader.slackByteCount else {
      return nil
    }
    return unsafe page.bytes + offset
  }

  /// How many integers lie in `range`; nil unless they are offsets of one byte.
  @inline(__always) func countBytes(in range: ClosedRange<Int64>) -> Int? {
    guard entryOffset > 0, unsafe (page.bytes + entryOffset).byte(LeafEntry.width) == 8,
      let data = unsafe data(.int, .packed, stride: 1, allowsNulls: false)
    else { return nil }
    let base = unsafe Int64(bitPattern: (page.bytes + entryOffset).word(LeafEntry.base))
    let (top, isOver) = base.addingReportingOverflow(255)
    if isOver { return nil }
    if range.upperBound < base || range.lowerBound > top { return 0 }
    if range.lowerBound <= base && range.upperBound >= top { return rowCount }
    let low = max(range.lowerBound, base) &- base
    let high = min(range.upperBound, top) &- base
    return unsafe cambium_count8(
      data.assumingMemoryBound(to: UInt8.self), rowCount, UInt8(truncatingIfNeeded: low),
      UInt8(truncatingIfNeeded: high &- low))
  }

  /// The sum of the doubles; nil unless they lie there one by one.
  @inline(__always) func sumDoubles() -> Double? {
    // Null rows hold zero.
    guard let data = unsafe data(.double, .raw, stride: 8, allowsNulls: true) else { return nil }
    return unsafe cambium_sum_double(data.assumingMemoryBound(to: Double.self), rowCount)
  }
}

extension LeafColumn {
  /// How many values equal `needle`, whatever their form.
  func countBytes(
    equalTo needle: UnsafeRawBufferPointer, source: PageSource
  ) throws(StoreError) -> Int {
    let words = bitmapWordCount
    let bitmap = UnsafeMutablePointer<UInt64>.allocate(capacity: words)
    defer { unsafe bitmap.deallocate() }
    try unsafe selectBytes(equalTo: needle, into: bitmap, source: source)
    return (0..<words).reduce(0) { unsafe $0 + bitmap[$1].nonzeroBitCount }
  }
}
