import CPlatform

/// Reads cells of one column by key, again and again.
///
/// A single read waits for memory: for the leaf's directory, for where the cell lies, for the cell.
/// Leaves of one tree are much alike, so the reader remembers from the last one where things lie and
/// asks for all of them at once. Remembering wrongly costs time and nothing else.
///
/// Valid as long as the tree's snapshot; in a write transaction until its next change.
@frozen public struct ColumnReader {
  /// The tree that is read.
  public let tree: ColumnTree
  /// The column that is read.
  public let column: UInt16
  /// What keeps the last cell's leaf in memory, unless the snapshot does.
  @usableFromInline var owner: AnyObject?
  /// Where in its leaf the column was found last.
  @usableFromInline var shape = Shape()

  /// Where the parts of a column of bytes lie within their leaf.
  @frozen @usableFromInline struct Shape {
    @usableFromInline var entry = 0
    @usableFromInline var lengths = 0
    @usableFromInline var anchors = 0
    @usableFromInline var heap = 0
    /// Bytes a row in the heap, in 256ths.
    @usableFromInline var rowByteCount = 0

    @inlinable init() {}
  }

  @inlinable init(tree: ColumnTree, column: UInt16) {
    self.tree = tree
    self.column = column
  }

  /// The row with `key`.
  @inlinable @inline(__always)
  public mutating func seek(_ key: Int64) throws(StoreError) -> RowPosition? {
    if tree.isPositional { return try tree.select(Int(truncatingIfNeeded: key)) }
    guard let leaf = try leaf(for: key), let row = leaf.find(key) else { return nil }
    return RowPosition(leaf: leaf, row: row, index: -1)
  }

  /// The cell of `key` in a column of bytes; nil when no row has the key.
  ///
  /// Where a leaf lacks the column, and where it is of another type, the cell is null. What is given
  /// stays until the reader reads again, or ends.
  @inlinable @inline(__always)
  public mutating func bytes(of key: Int64) throws(StoreError) -> BytesCell? {
    guard !tree.isPositional else { return try position(key) }
    guard let leaf = try leaf(for: key), let row = leaf.find(key) else { return nil }
    owner = leaf.page.owner
    return quickCell(leaf, row) ?? cell(leaf, row)
  }

  @usableFromInline @inline(never)
  mutating func position(_ position: Int64) throws(StoreError) -> BytesCell? {
    guard let found = try tree.select(Int(truncatingIfNeeded: position)) else { return nil }
    owner = found.leaf.page.owner
    return cell(found.leaf, found.row)
  }

  /// The cell of a row, whatever its form; what it learns of the leaf speeds up the next read.
  @usableFromInline @inline(never)
  mutating func cell(_ leaf: ColumnLeaf, _ row: Int) -> BytesCell {
    guard let entry = leaf.entry(of: column), let found = LeafColumn(entry: entry, leaf: leaf),
      let parts = BytesColumn(found)
    else { return BytesCell(form: .null, body: UnsafeRawBufferPointer(start: nil, count: 0)) }
    remember(parts, entry: entry, start: leaf.page.bytes)
    return parts.cell(row)
  }

  /// The cell of a row whose column has the usual form, where the last leaf had it; otherwise nil.
  ///
  /// Usual are texts without nulls. Every offset that is read from the page is held against its length.
  @inlinable @inline(__always)
  mutating func quickCell(_ leaf: ColumnLeaf, _ row: Int) -> BytesCell? {
    let bytes = leaf.page.bytes
    guard shape.entry > 0, shape.entry &+ 40 <= 40 &+ leaf.columnCount &* 40 else { return nil }
    let entry = bytes + shape.entry
    func word(_ offset: Int) -> UInt64 {
      UInt64(littleEndian: entry.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    // Column, type, encoding, and lengths of 8 bits with anchors of 16.
    let form =
      UInt64(column) | UInt64(ColumnType.bytes.rawValue) &<< 16
      | UInt64(ColumnEncoding.variable.rawValue) &<< 24 | 8 &<< 40 | 16 &<< 48
    guard word(0) & 0x00ff_ff00_ffff_ffff == form, word(LeafEntry.nulls) == 0 else { return nil }
    let place = word(LeafEntry.dataOffset)
    let start = Int(place & 0xffff_ffff)
    let count = Int(place &>> 32)
    let affixes = word(LeafEntry.extra)
    let prefix = Int(affixes & 0xffff_ffff)
    let suffix = Int(affixes &>> 32)
    let rows = leaf.rowCount
    let anchors = (rows &+ 7) & ~7
    let affixStart = anchors &+ (((rows &+ 15) &>> 4 &* 2) &+ 7) & ~7
    let heap = affixStart &+ prefix &+ suffix
    guard Int(word(LeafEntry.base) &>> 32) == rows, row < rows, heap <= count,
      start &+ count <= leaf.page.byteCount &- 16
    else { return nil }
    let data = bytes + start
    let found = BytesColumn.place(
      of: row, lengths: data,
      anchor: Int(
        UInt16(
          littleEndian: data.loadUnaligned(
            fromByteOffset: anchors &+ row &>> 4 &* 2, as: UInt16.self))))
    let isInside = found.offset &+ found.count <= count &- heap
    if heap != shape.heap &- start {
      remember(
        entry: shape.entry, lengths: start, anchors: start &+ anchors, heap: start &+ heap,
        byteCount: count &- heap, rows: rows)
    }
    return BytesCell(
      form: .inline, head: UnsafeRawBufferPointer(start: data + affixStart, count: prefix),
      body: UnsafeRawBufferPointer(
        start: data + (heap &+ (isInside ? found.offset : 0)), count: isInside ? found.count : 0),
      tail: UnsafeRawBufferPointer(start: data + (affixStart &+ prefix), count: suffix))
  }

  /// Notes where the parts of a column lie in the leaf that starts at `start`.
  @inline(__always)
  mutating func remember(
    _ parts: BytesColumn, entry: UnsafeRawPointer, start: UnsafeRawPointer
  ) {
    remember(
      entry: entry - start, lengths: parts.lengths - start, anchors: parts.anchors - start,
      heap: parts.heap - start, byteCount: parts.heapByteCount, rows: parts.entryCount)
  }

  @inlinable @inline(__always)
  mutating func remember(
    entry: Int, lengths: Int, anchors: Int, heap: Int, byteCount: Int, rows: Int
  ) {
    shape.entry = entry
    shape.lengths = lengths
    shape.anchors = anchors
    shape.heap = heap
    shape.rowByteCount = (byteCount &<< 8) / max(1, rows)
  }

  /// The leaf whose range holds `key`; nil when the tree is empty.
  @inlinable @inline(__always)
  mutating func leaf(for key: Int64) throws(StoreError) -> ColumnLeaf? {
    var reference = tree.root.reference
    if reference.isNone { return nil }
    var level = Int(tree.root.height) &- 1
    while level > 0 {
      let branch = ColumnBranch(try tree.source.page(reference, .columnBranch))
      if branch.level != level || branch.count == 0 { throw ColumnTree.wrongHeight(reference) }
      let child = branch.child(for: key)
      reference = branch.reference(child)
      // Keys mostly follow each other closely; then the row is known before the leaf is.
      if level == 1 { prefetch(reference, row: child > 0 ? key &- branch.separator(child) : 0) }
      level &-= 1
    }
    return ColumnLeaf(try tree.source.page(reference, .columnLeaf))
  }

  /// Hints at all that reading `row` of a leaf likely touches.
  @inlinable @inline(__always)
  func prefetch(_ reference: PageReference, row: Int64) {
    guard let base = tree.source.base,
      reference.byteOffset &+ reference.byteCount <= tree.source.readableByteCount
    else { return }
    let bytes = base + reference.byteOffset
    cambium_prefetch(bytes)
    if shape.entry == 0 || row < 0 || row > 1 << 20 { return }
    // A hint may lead anywhere: it is never an access.
    let row = Int(truncatingIfNeeded: row)
    cambium_prefetch(bytes + shape.entry)
    cambium_prefetch(bytes + (shape.lengths &+ row))
    cambium_prefetch(bytes + (shape.anchors &+ row &>> 3))
    let cell = bytes + (shape.heap &+ (row &* shape.rowByteCount) &>> 8)
    cambium_prefetch(cell)
    cambium_prefetch(cell + 64)
  }
}

extension ColumnTree {
  /// A reader of column `id`, for many reads by key.
  @inlinable public func reader(of id: UInt16) -> ColumnReader {
    ColumnReader(tree: self, column: id)
  }
}
