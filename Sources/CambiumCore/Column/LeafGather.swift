import CPlatform

/// Rows picked from packed leaves, on their way into one leaf.
///
/// What is packed alike in all of them is gathered as it lies, without a look at the values; other
/// columns are loaded into a builder and packed anew.
final class LeafGather {
  /// A leaf and the rows of it that were picked, by their place in ``rows``.
  private struct Source {
    let leaf: ColumnLeaf
    var start: Int
    var count: Int
    /// About how many bytes a row takes.
    let rowByteCount: Double
  }

  private var sources: [Source] = []
  @exclusivity(unchecked) private final var rows = GrowingMemory<Int32>(capacity: 1024)
  /// How many rows were picked.
  private(set) var rowCount = 0
  /// Where the values of gathered columns of bytes begin, leaf by leaf.
  @exclusivity(unchecked) private final var starts = GrowingMemory<UInt32>(capacity: 4096)
  @exclusivity(unchecked) private final var flags = GrowingMemory<UInt8>(capacity: 512)

  /// How many leaves there are.
  var leafCount: Int { sources.count }

  /// Picks `kept`, which ascend, of a leaf behind those picked before.
  func add(_ leaf: ColumnLeaf, _ kept: UnsafeBufferPointer<Int32>) {
    let header = LeafHeader.byteCount + leaf.columnCount * LeafEntry.byteCount
    let used = max(header, Int(leaf.page.bytes.single(LeafHeader.usedByteCount)))
    sources.append(
      Source(
        leaf: leaf, start: rows.count, count: kept.count,
        rowByteCount: Double(used - header) / Double(leaf.rowCount)))
    rows.append(kept)
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
    if let keys = builder.keys { copyKeys(to: keys) }
    builder.rowCount = rowCount
    starts.removeAll()
    LeafPacker(builder, scratch: scratch, gather: self).pack(into: leaf)
    restart(with: rest)
  }

  /// Keeps the first `count` rows; returns the sources of those behind.
  private func split(at count: Int) -> [Source] {
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
    sources = rest
    rowCount = rest.reduce(0) { $0 + $1.count }
    guard let start = rest.first?.start else { return rows.removeAll() }
    rows.removeFirst(start)
    for index in sources.indices { sources[index].start -= start }
  }

  private func rows(_ source: Source) -> UnsafeBufferPointer<Int32> {
    UnsafeBufferPointer(start: rows.start + source.start, count: source.count)
  }

  private func copyKeys(to keys: UnsafeMutablePointer<Int64>) {
    var place = 0
    for source in sources {
      let leaf = source.leaf
      if leaf.keyWidth == 0 {
        for row in rows(source) {
          keys[place] = leaf.keyBase &+ leaf.keyStride &* Int64(row)
          place &+= 1
        }
      } else {
        for row in rows(source) {
          keys[place] = leaf.key(at: Int(row))
          place &+= 1
        }
      }
    }
  }

  // MARK: What a packer asks for

  /// Calls `body` with the column in each leaf that has it, the rows picked of that leaf, and the place
  /// of the first one among all rows.
  @inline(__always) func forEachColumn(
    _ id: UInt16, _ body: (LeafColumn, UnsafeBufferPointer<Int32>, Int) -> Void
  ) {
    var place = 0
    for index in sources.indices {
      let leaf = sources[index].leaf
      // The source keeps the page, so that its columns need not.
      if let entry = leaf.entry(of: id),
        let column = LeafColumn(
          entry: entry, bytes: leaf.page.bytes, byteCount: leaf.page.byteCount,
          rowCount: leaf.rowCount, owner: nil)
      {
        body(column, rows(sources[index]), place)
      }
      place &+= sources[index].count
    }
  }

  /// Fills `column`, which is empty, with the rows picked.
  func load(_ column: inout BuilderColumn) {
    var first = 0
    for source in sources {
      let (leaf, rows) = (source.leaf, rows(source))
      if let packed = leaf.column(column.id), packed.type == column.type {
        flags.removeAll()
        flags.append(repeating: 1, count: leaf.rowCount)
        for row in rows { flags.start[Int(row)] = 0 }
        column.load(packed, at: first, removed: flags.start)
      } else {
        column.loadDefaults(count: leaf.rowCount, at: first)
      }
      column.keep(rows, from: first, rowCount: first + leaf.rowCount)
      first += rows.count
    }
  }

  /// Notes where the values of a column begin in one of the leaves, and returns the place of the first
  /// of these; nil when they lead out of the page, which only storage that rots under a mapping does.
  func noteStarts(_ parts: BytesColumn) -> Int? {
    let count = parts.entryCount
    let place = starts.count
    starts.reserveMore(count + 1)
    let start = starts.start + place
    switch parts.column.lengthWidth {
    case 0:
      for entry in 0...count { start[entry] = UInt32(truncatingIfNeeded: entry &* parts.fixedLength) }
    case 8:
      cambium_value_starts(parts.lengths.assumingMemoryBound(to: UInt8.self), count, start)
    default:
      var sum = 0
      for entry in 0..<count {
        start[entry] = UInt32(truncatingIfNeeded: sum)
        sum &+= parts.length(entry)
        if sum > parts.heapByteCount { return nil }
      }
      start[count] = UInt32(truncatingIfNeeded: sum)
    }
    starts.extend(by: count + 1)
    return Int(start[count]) <= parts.heapByteCount ? place : nil
  }

  /// What was noted from a place on; valid until more is noted.
  func starts(from place: Int) -> UnsafePointer<UInt32> { UnsafePointer(starts.start + place) }
}
