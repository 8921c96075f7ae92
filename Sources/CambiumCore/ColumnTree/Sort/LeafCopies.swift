/// Keeps leaves while rows of a whole tree are put into order: those that a store lends as they are, and of
/// others the keys and some columns.
///
/// Pages that were decoded or fetched are the reader's own memory. To keep them all would take as much as the whole
/// tree does, however little of it is compared.
///
/// Pointers: a copy lies in a chunk that it has as its owner, behind those before it. What is copied lies within the
/// leaf's page, as `ColumnLeaf` and `LeafColumn` have checked, and a copy is as long as its parts are together.
final class LeafCopies {
  /// In ascending order, as a directory has them.
  private let columns: [UInt16]
  private var chunk: PageBuffer?
  /// How much of the chunk is taken.
  private var usedByteCount = 0

  private static let chunkByteCount = 256 << 10

  /// A part of a leaf outside of its header and directory.
  private struct Segment {
    var offset: Int
    var byteCount: Int
    /// Where the copy's header or directory says where it lies.
    var place: Int
  }

  /// Keeps the columns with these numbers.
  init(columns: [UInt16]) { self.columns = Set(columns).sorted() }

  /// `leaf` as it may be kept: itself, or a copy without the columns that nobody asks for.
  func kept(_ leaf: ColumnLeaf) -> ColumnLeaf {
    guard let owner = leaf.page.owner else { return leaf }
    let source = unsafe leaf.page.bytes
    /// Where the columns' entries lie.
    var entries: [Int] = []
    var segments: [Segment] = []
    if leaf.keyWidth > 0 {
      segments.append(
        Segment(
          offset: Int(unsafe source.single(LeafHeader.keyOffset)),
          byteCount: PackedIntegers.byteCount(leaf.rowCount, leaf.keyWidth),
          place: LeafHeader.keyOffset))
    }
    for id in columns {
      // A column that the leaf lacks has its default everywhere.
      guard let entry = unsafe leaf.entry(of: id) else { continue }
      guard unsafe LeafColumn(entry: entry, leaf: leaf) != nil else { return leaf }
      let place = LeafHeader.byteCount + entries.count * LeafEntry.byteCount
      let dataByteCount = unsafe Int(entry.single(LeafEntry.dataByteCount))
      let bitmapByteCount = (leaf.rowCount + 7) / 8
      for (name, byteCount) in [
        (LeafEntry.nulls, bitmapByteCount), (LeafEntry.overflow, bitmapByteCount),
        (LeafEntry.dataOffset, dataByteCount),
      ] {
        let offset = unsafe Int(entry.single(name))
        if offset == 0 { continue }
        segments.append(Segment(offset: offset, byteCount: byteCount, place: place + name))
      }
      entries.append(unsafe entry - source)
    }
    let directoryEnd = LeafHeader.byteCount + entries.count * LeafEntry.byteCount
    let usedByteCount = segments.reduce(directoryEnd) { $0 + aligned8($1.byteCount) }
    let byteCount = usedByteCount + LeafHeader.slackByteCount
    // A little less is not worth a copy.
    if byteCount > leaf.page.byteCount / 4 * 3 { return leaf }
    let (chunk, start) = unsafe room(byteCount, like: owner)
    unsafe start.copyMemory(from: source, byteCount: LeafHeader.byteCount)
    unsafe start.put(half: UInt16(entries.count), LeafHeader.columnCount)
    unsafe start.put(single: UInt32(usedByteCount), LeafHeader.usedByteCount)
    for (index, entry) in entries.enumerated() {
      unsafe (start + LeafHeader.byteCount + index * LeafEntry.byteCount).copyMemory(
        from: source + entry, byteCount: LeafEntry.byteCount)
    }
    var end = directoryEnd
    for segment in segments {
      unsafe start.put(single: UInt32(end), segment.place)
      unsafe (start + end).copyMemory(from: source + segment.offset, byteCount: segment.byteCount)
      end += aligned8(segment.byteCount)
    }
    return unsafe ColumnLeaf(Page(bytes: start, byteCount: byteCount, owner: chunk))
  }

  /// Room for `byteCount` bytes in a chunk of zeros, which is as secret as `owner`.
  private func room(
    _ byteCount: Int, like owner: AnyObject
  ) -> (PageBuffer, UnsafeMutableRawPointer) {
    let isSecret = (owner as? PageBuffer)?.isSecret ?? false
    let start = (usedByteCount + 63) & ~63
    if let chunk, chunk.isSecret == isSecret, byteCount <= chunk.byteCount - start {
      usedByteCount = start + byteCount
      return unsafe (chunk, chunk.bytes + start)
    }
    let new = PageBuffer(byteCount: max(byteCount, Self.chunkByteCount), isSecret: isSecret)
    chunk = new
    usedByteCount = byteCount
    return unsafe (new, new.bytes)
  }
}
