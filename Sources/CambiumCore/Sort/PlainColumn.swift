/// A column of a leaf as its directory entry has it: without nulls and values outside of the leaf.
///
/// Plain memory without an owner, so that looking at a column of each leaf costs no counting of references;
/// valid for as long as the leaf.
struct PlainColumn: BitwiseCopyable {
  private let entry: UnsafeRawPointer
  let rowCount: Int
  /// Where its data lies, which is within the page.
  let data: UnsafeRawPointer
  let dataByteCount: Int

  var width: UInt8 { entry.byte(LeafEntry.width) }
  var lengthWidth: UInt8 { entry.byte(LeafEntry.lengthWidth) }
  var anchorWidth: UInt8 { entry.byte(LeafEntry.anchorWidth) }
  var base: UInt64 { entry.word(LeafEntry.base) }
  var extra: UInt64 { entry.word(LeafEntry.extra) }

  /// Column `id` of `leaf`; nil unless it is of that type and encoding.
  @inline(__always) init?(
    _ leaf: ColumnLeaf, _ id: UInt16, _ type: ColumnType, _ encoding: ColumnEncoding
  ) {
    guard let entry = leaf.entry(of: id), entry.byte(LeafEntry.type) == type.rawValue,
      entry.byte(LeafEntry.encoding) == encoding.rawValue,
      entry.single(LeafEntry.nulls) | entry.single(LeafEntry.overflow) == 0
    else { return nil }
    let offset = Int(entry.single(LeafEntry.dataOffset))
    let count = Int(entry.single(LeafEntry.dataByteCount))
    guard offset &+ count <= leaf.page.byteCount &- LeafHeader.slackByteCount else { return nil }
    self.entry = entry
    rowCount = leaf.rowCount
    data = leaf.page.bytes + offset
    dataByteCount = count
  }
}
