import CPlatform

/// Rows picked from packed leaves, on their way into one leaf.
///
/// What is packed alike in all of them is gathered as it lies, without a look at the values; other
/// columns are loaded into a builder and packed anew.
///
/// Pointers: each source keeps its leaf, and so the page's owner; a leaf without one is a stored page, which
/// the pin keeps. Rows, marks, parts and lengths are in memory of its own, and no pointer into it is used
/// after more was put there. Rows that were picked are rows of their leaf. Lengths are copied and held
/// against the heap before values are copied by them.
final class LeafRepack {
  /// A leaf and the rows of it that were picked.
  private struct Source {
    let leaf: ColumnLeaf
    /// Where the rows stand in ``rows``.
    var start: Int
    var count: Int
    /// Where the marks of all of the leaf's rows stand in ``removed``.
    var marks: Int
    /// About how many bytes a row takes.
    let rowByteCount: Double
  }

  private var sources: [Source] = []
  // Exclusivity is not checked: one user, and no access to these calls out.
  @exclusivity(unchecked) private final var rows = GrowingMemory<Int32>(capacity: 1024)
  /// For each row of each leaf 1 if it is left out, otherwise 0.
  @exclusivity(unchecked) private final var removed = GrowingMemory<UInt8>(capacity: 1024)
  /// How many rows were picked.
  private(set) var rowCount = 0
  /// What the columns are in each leaf, one column after the other.
  @exclusivity(unchecked) private final var parts = GrowingMemory<RepackPart>(capacity: 16)
  /// The lengths of the values of columns of bytes, in memory that nobody else changes.
  @exclusivity(unchecked) final var lengths = GrowingMemory<UInt8>(capacity: 2048)

  /// How many leaves there are.
  var leafCount: Int { sources.count }

  /// Picks rows of a leaf behind those picked before: `kept`, which ascend, and whose marks in `removed`
  /// are 0 where those of all others are 1.
  func add(
    _ leaf: ColumnLeaf, _ kept: UnsafeBufferPointer<Int32>, removed marks: UnsafePointer<UInt8>
  ) {
    let header = LeafHeader.byteCount + leaf.columnCount * LeafEntry.byteCount
    let used = unsafe max(header, Int(leaf.page.bytes.single(LeafHeader.usedByteCount)))
    unsafe sources.append(
      Source(
        leaf: leaf, start: rows.count, count: kept.count, marks: removed.count,
        rowByteCount: Double(used - header) / Double(leaf.rowCount)))
    unsafe rows.append(kept)
    unsafe removed.append(UnsafeBufferPointer(start: marks, count: leaf.rowCount))
    rowCount += kept.count
  }

  /// About how many bytes the rows take packed, with `columnCount` columns.
  func estimatedByteCount(columnCount: Int) -> Int {
    let header = LeafHeader.byteCount + columnCount * LeafEntry.byteCount
    return header + Int(sources.reduce(0) { $0 + $1.rowByteCount * Double($1.count) })
  }

  /// Packs the first `count` rows into `leaf` and forgets them.
  ///
  /// `builder`, which is empty, takes the keys and the columns that cannot be gathered.
  func pack(_ count: Int, into leaf: DirtyLeaf, _ builder: LeafBuilder, _ scratch: PackScratch) {
    let rest = split(at: count)
    builder.reserve(sources.reduce(0) { $0 + $1.leaf.rowCount })
    if let keys = unsafe builder.keys { unsafe copyKeys(to: keys) }
    unsafe builder.rowCount = rowCount
    unsafe parts.removeAll()
    unsafe lengths.removeAll()
    LeafPacker(builder, scratch: scratch, gather: self).pack(into: leaf)
    restart(with: rest)
  }

  /// Keeps the first `count` rows; returns the sources of those behind.
  private func split(at count: Int) -> [Source] {
    if count == rowCount { return [] }
    var rest: [Source] = []
    var kept: [Source] = []
    var room = count
    for var source in sources {
      var tail = source
      source.count = min(source.count, room)
      tail.start += source.count
      tail.count -= source.count
      room -= source.count
      if source.count > 0 { kept.append(source) }
      if tail.count > 0 { rest.append(tail) }
    }
    (sources, rowCount) = (kept, count)
    return rest
  }

  private func restart(with rest: [Source]) {
    let start = unsafe rest.first?.start ?? rows.count
    let marks = unsafe rest.first?.marks ?? removed.count
    unsafe rows.removeFirst(start)
    unsafe removed.removeFirst(marks)
    rowCount = 0
    sources.removeAll(keepingCapacity: true)
    for var source in rest {
      source.start -= start
      source.marks -= marks
      rowCount += source.count
      sources.append(source)
    }
  }

  private func rows(_ source: Source) -> UnsafeBufferPointer<Int32> {
    unsafe UnsafeBufferPointer(start: rows.start + source.start, count: source.count)
  }

  private func copyKeys(to keys: UnsafeMutablePointer<Int64>) {
    var place = 0
    for source in sources {
      let leaf = source.leaf
      if leaf.keyWidth == 0 {
        var iterator = unsafe rows(source).makeIterator()
        while let row = unsafe iterator.next() {
          unsafe keys[place] = leaf.keyBase &+ leaf.keyStride &* Int64(row)
          place &+= 1
        }
      } else {
        var iterator = unsafe rows(source).makeIterator()
        while let row = unsafe iterator.next() {
          unsafe keys[place] = leaf.key(at: Int(row))
          place &+= 1
        }
      }
    }
  }

  // MARK: What a packer asks for

  /// Fills `column`, which is empty, with the rows picked.
  func load(_ column: inout BuilderColumn) {
    var first = 0
    for source in sources {
      let (leaf, rows) = unsafe (source.leaf, rows(source))
      if let packed = leaf.column(column.id), packed.type == column.type {
        unsafe column.load(packed, at: first, removed: removed.start + source.marks)
      } else {
        column.loadDefaults(count: leaf.rowCount, at: first)
      }
      unsafe column.keep(rows, from: first, rowCount: first + leaf.rowCount)
      first += rows.count
    }
  }

  /// What column `id` is in each leaf; nil when some leaves lack it, and empty when all do.
  ///
  /// Valid until parts are found again; its place, for ``parts(from:)``, is the number of parts before.
  func findParts(of id: UInt16) -> UnsafeBufferPointer<RepackPart>? {
    let first = unsafe parts.count
    var place = 0
    for index in sources.indices {
      let source = sources[index]
      // The source keeps the page, so that its columns need not.
      if let column = source.leaf.borrowedColumn(id) {
        unsafe parts.append(
          RepackPart(
            column, rows(source), at: place, removed: removed.start + source.marks))
      }
      place &+= source.count
    }
    let count = unsafe parts.count - first
    return unsafe count == 0 || count == sources.count ? parts(from: first) : nil
  }

  /// How many parts were found so far.
  var partCount: Int { unsafe parts.count }

  /// The parts of a column in all leaves, given the place of the first one.
  func parts(from first: Int) -> UnsafeBufferPointer<RepackPart> {
    unsafe UnsafeBufferPointer(
      start: parts.start + first, count: min(sources.count, parts.count - first))
  }

  /// Where the lengths of a part stand.
  func setLengths(_ place: Int, ofPart part: Int) { unsafe parts.start[part].lengths = place }
}
