import CPlatform

/// The texts of a leaf whose column has the usual form: no nulls, nothing outside, lengths of one byte,
/// and nothing factored out but what all leaves share.
///
/// Pointers: plain memory without an owner, so that many of them can be kept and read without counting
/// references; whoever uses it keeps the leaf and vouches for rows. That lengths and anchors lie within the
/// column is checked here, and each text is clamped to its heap, behind which the page has 16 bytes.
@safe struct PlainTexts: BitwiseCopyable {
  private let lengths: UnsafeRawPointer
  private let anchors: UnsafeRawPointer
  private let heap: UnsafeRawPointer
  private let heapByteCount: Int
  /// Zero where the column is of another form.
  private let anchorWidth: UInt8

  /// The texts of column `id` of `leaf` without their first `skip` bytes, which all share.
  @inline(__always) init(_ leaf: ColumnLeaf, _ id: UInt16, skipping skip: Int) {
    if let column = PlainColumn(leaf, id, .bytes, .variable), column.lengthWidth == 8,
      column.anchorWidth == 16 || column.anchorWidth == 32, column.extra == UInt64(skip),
      column.base &>> 32 == UInt64(column.rowCount)
    {
      let groups = (column.rowCount &+ LeafEntry.anchorSpan &- 1) / LeafEntry.anchorSpan
      let anchorOffset = (column.rowCount &+ 7) & ~7
      let heapOffset = anchorOffset &+ (groups &* Int(column.anchorWidth &>> 3) &+ 7) & ~7 &+ skip
      if heapOffset <= column.dataByteCount {
        unsafe lengths = unsafe column.data
        unsafe anchors = unsafe column.data + anchorOffset
        unsafe heap = unsafe column.data + heapOffset
        heapByteCount = column.dataByteCount &- heapOffset
        anchorWidth = column.anchorWidth
        return
      }
    }
    let nowhere = unsafe leaf.page.bytes
    unsafe (lengths, anchors, heap) = unsafe (nowhere, nowhere, nowhere)
    (heapByteCount, anchorWidth) = (0, 0)
  }

  /// Whether the column has that form.
  @inline(__always) var isPlain: Bool { anchorWidth != 0 }

  /// The text of `row`, if the column has that form; 16 bytes may be read from its start.
  @inline(__always) func text(_ row: Int) -> UnsafeRawBufferPointer {
    let anchor = unsafe Int(
      truncatingIfNeeded: PackedIntegers.load(anchors, anchorWidth, row &>> 4))
    let (offset, count) = unsafe BytesColumn.place(of: row, lengths: lengths, anchor: anchor)
    // Only storage that rots under a mapping leads out of the heap.
    guard offset &+ count <= heapByteCount else {
      return unsafe UnsafeRawBufferPointer(start: heap, count: 0)
    }
    return unsafe UnsafeRawBufferPointer(start: heap + offset, count: count)
  }

  /// Hints at what tells where the text of `row` lies.
  @inline(__always) func prefetchPlace(_ row: Int) {
    unsafe cambium_prefetch(lengths + (row & ~15))
    unsafe cambium_prefetch(anchors + (row &>> 4) &* Int(anchorWidth &>> 3))
  }

  /// Hints at the text of `row`, if the column has that form.
  @inline(__always) func prefetch(_ row: Int) {
    if let start = unsafe text(row).baseAddress { unsafe cambium_prefetch(start) }
  }
}
