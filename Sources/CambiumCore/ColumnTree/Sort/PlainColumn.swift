/// A column of a leaf as its directory entry has it: without nulls and values outside of the leaf.
///
/// Pointers: plain memory without an owner, so that looking at a column of each leaf costs no counting of
/// references; whoever uses it keeps the leaf. The entry lies in the leaf's directory, and that the data ends
/// 16 bytes before the page is checked here.
@safe struct PlainColumn: BitwiseCopyable {
  private let entry: UnsafeRawPointer
  let rowCount: Int
  /// Where its data lies, which is within the page.
  let data: UnsafeRawPointer
  let dataByteCount: Int

  var width: UInt8 { unsafe entry.byte(LeafEntry.width) }
  var lengthWidth: UInt8 { unsafe entry.byte(LeafEntry.lengthWidth) }
  var anchorWidth: UInt8 { unsafe entry.byte(LeafEntry.anchorWidth) }
  var base: UInt64 { unsafe entry.word(LeafEntry.base) }
  var extra: UInt64 { unsafe entry.word(LeafEntry.extra) }

  /// Column `id` of `leaf`; nil unless it is of that type and encoding.
  @inline(__always) init?(
    _ leaf: ColumnLeaf, _ id: UInt16, _ type: ColumnType, _ encoding: ColumnEncoding
  ) {
    guard let entry = unsafe leaf.entry(of: id), unsafe entry.byte(LeafEntry.type) == type.rawValue,
      unsafe entry.byte(LeafEntry.encoding) == encoding.rawValue,
      unsafe entry.single(LeafEntry.nulls) | entry.single(LeafEntry.overflow) == 0
    else { return nil }
    let offset = unsafe Int(entry.single(LeafEntry.dataOffset))
    let count = unsafe Int(entry.single(LeafEntry.dataByteCount))
    guard offset &+ count <= leaf.page.byteCount &- LeafHeader.slackByteCount else { return nil }
    unsafe self.entry = unsafe entry
    rowCount = leaf.rowCount
    unsafe data = unsafe leaf.page.bytes + offset
    dataByteCount = count
  }
}
