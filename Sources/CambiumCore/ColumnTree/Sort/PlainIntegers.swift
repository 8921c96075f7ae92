/// The integers of a leaf whose column has the usual form: no nulls, offsets of one byte.
///
/// Pointers: plain memory without an owner; whoever uses it keeps the leaf. That there is a byte for each row
/// is checked here; the user vouches for rows, and for a bit of a bitmap for each of them.
@safe struct PlainIntegers: BitwiseCopyable {
  private let offsets: UnsafeRawPointer
  private let rowCount: Int
  private let base: Int64

  /// The integers of column `id` of `leaf`; nil when the column is of another form.
  @inline(__always) init?(_ leaf: ColumnLeaf, _ id: UInt16) {
    guard let column = PlainColumn(leaf, id, .int, .packed), column.width == 8,
      column.rowCount <= column.dataByteCount
    else { return nil }
    unsafe (offsets, rowCount, base) = unsafe (
      column.data, column.rowCount, Int64(bitPattern: column.base)
    )
  }

  @inline(__always) subscript(row: Int) -> Int64 { unsafe base &+ Int64(offsets.byte(row)) }

  /// Marks the rows whose integer is in `range`; returns how many there are.
  @inline(__always) func select(
    in range: ClosedRange<Int64>, into bitmap: UnsafeMutablePointer<UInt64>
  ) -> Int {
    let words = (rowCount &+ 63) &>> 6
    let (top, isOver) = base.addingReportingOverflow(255)
    let end = isOver ? .max : top
    if range.upperBound < base || range.lowerBound > end {
      unsafe bitmap.update(repeating: 0, count: words)
      return 0
    }
    let low = UInt64(bitPattern: max(range.lowerBound, base) &- base)
    let span = UInt64(bitPattern: min(range.upperBound, end) &- base) &- low
    var marked = 0
    for word in 0..<words {
      var mask = unsafe LeafColumn.mask(
        offsets, 8, word: word, rowCount: rowCount, LeafColumn.PackedRange(low: low, span: span))
      let rest = rowCount &- word &* 64
      if rest < 64 { mask &= 1 &<< UInt64(truncatingIfNeeded: rest) &- 1 }
      unsafe bitmap[word] = mask
      marked &+= mask.nonzeroBitCount
    }
    return marked
  }
}
