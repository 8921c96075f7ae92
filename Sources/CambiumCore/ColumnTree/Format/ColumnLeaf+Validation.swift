extension ColumnLeaf {
  /// Checks a page's whole structure, so that no later read can leave it or find keys out of order.
  ///
  /// Throws ``StoreError/damaged(_:)`` naming the first broken rule.
  static func validate(_ page: Page, _ reference: PageReference) throws(StoreError) {
    var validator = LeafValidator(page: page, reference: reference)
    try validator.validate()
  }
}

/// The checks of one column leaf.
///
/// Pointers: they lead into `page`, which stays for as long as the validator. Header, directory and each
/// segment are held against the page's length before anything in them is read.
private struct LeafValidator {
  /// What all values of a leaf may take together once they are written out, in bytes: 64 KiB for each
  /// of 4096 rows.
  ///
  /// Common prefixes, dictionaries and constants make much of little, so that without
  /// this a small crafted page would ask for any amount of memory when it is edited.
  static let logicalByteLimit = 256 << 20

  let page: Page
  let reference: PageReference
  /// How many bytes the segments take together: none of them shares any with another.
  private var segmentByteCount = 0

  init(page: Page, reference: PageReference) {
    (self.page, self.reference) = (page, reference)
  }

  var bytes: UnsafeRawPointer { unsafe page.bytes }

  func fail(_ rule: Damage.Rule, _ detail: String) -> StoreError {
    .damaged(Damage(rule, at: reference, detail))
  }

  mutating func validate() throws(StoreError) {
    guard page.byteCount >= LeafHeader.byteCount + LeafHeader.slackByteCount else {
      throw fail(.bounds, "a leaf without header")
    }
    guard unsafe bytes.byte(LeafHeader.kind) == PageKind.columnLeaf.rawValue else {
      throw fail(.kind, "not a column leaf")
    }
    let rows = unsafe Int(bytes.single(LeafHeader.rowCount))
    let columns = unsafe Int(bytes.half(LeafHeader.columnCount))
    let used = unsafe Int(bytes.single(LeafHeader.usedByteCount))
    guard rows >= 1, rows <= LeafHeader.rowLimit else { throw fail(.count, "\(rows) rows") }
    let directoryEnd = LeafHeader.byteCount + columns * LeafEntry.byteCount
    guard directoryEnd <= used, used + LeafHeader.slackByteCount <= page.byteCount else {
      throw fail(.bounds, "\(used) bytes in use lead out of the page")
    }
    try validateKeys(rows: rows, first: directoryEnd, used: used)
    var previous = -1
    var logicalByteCount = 0
    for index in 0..<columns {
      let entry = unsafe bytes + LeafHeader.byteCount + index * LeafEntry.byteCount
      let id = unsafe Int(entry.half(LeafEntry.id))
      guard id > previous else { throw fail(.order, "column \(id) follows column \(previous)") }
      previous = id
      try unsafe validateColumn(entry, id: id, rows: rows, first: directoryEnd, used: used)
      unsafe logicalByteCount += rows * longestValue(entry)
      guard logicalByteCount <= Self.logicalByteLimit else {
        throw fail(
          .count, "the values of \(rows) rows take more than \(Self.logicalByteLimit) bytes")
      }
    }
  }

  /// No value of a column that was found sound is longer, in bytes.
  ///
  /// Where lengths vary the anchors
  /// have bounded them, so that only what is repeated needs a bound here.
  private func longestValue(_ entry: UnsafeRawPointer) -> Int {
    guard unsafe entry.byte(LeafEntry.type) == ColumnType.bytes.rawValue,
      let column = unsafe LeafColumn(entry: entry, leaf: ColumnLeaf(page)),
      let parts = BytesColumn(column)
    else { return 16 }
    let common = unsafe parts.prefix.count + parts.suffix.count
    guard unsafe entry.byte(LeafEntry.encoding) != ColumnEncoding.variable.rawValue else {
      return common
    }
    let longest = (0..<parts.entryCount).lazy.map { parts.length($0) }.max() ?? 0
    return common + longest
  }

  private mutating func validateKeys(rows: Int, first: Int, used: Int) throws(StoreError) {
    let flags = unsafe bytes.byte(LeafHeader.flags)
    let width = unsafe bytes.byte(LeafHeader.keyWidth)
    guard flags & ~LeafHeader.isPositional == 0, PackedIntegers.isWidth(width) else {
      throw fail(.encoding, "flags \(flags) or \(width) bits of a key are unknown")
    }
    let offset = unsafe Int(bytes.single(LeafHeader.keyOffset))
    if width > 0 {
      try validateSegment(
        "keys", offset: offset, count: PackedIntegers.byteCount(rows, width), first: first,
        used: used)
    } else if offset != 0 {
      throw fail(.bounds, "keys without bytes lie at \(offset)")
    }
    let leaf = ColumnLeaf(page)
    if flags & LeafHeader.isPositional != 0 {
      guard width == 0, leaf.keyBase == 0, leaf.keyStride == 1 else {
        throw fail(.encoding, "a leaf by position has keys")
      }
      return
    }
    if width == 0, leaf.keyStride == 1 {
      guard leaf.keyBase <= Int64.max - Int64(rows - 1) else {
        throw fail(.order, "keys run past the last one")
      }
      return
    }
    var last = leaf.key(at: 0)
    for row in 1..<max(rows, 1) {
      let key = leaf.key(at: row)
      guard key > last else { throw fail(.order, "key \(key) follows key \(last)") }
      last = key
    }
  }

  /// Checks that a segment lies between the directory and the end of the bytes in use, where there is room for it
  /// beside those before.
  private mutating func validateSegment(
    _ name: String, offset: Int, count: Int, first: Int, used: Int
  ) throws(StoreError) {
    guard offset >= first, offset % 8 == 0, offset + count <= used else {
      throw fail(.bounds, "\(name): \(count) bytes at \(offset) lead out of the page")
    }
    // An editor writes each anew, so that shared bytes would become any amount.
    segmentByteCount += aligned8(count)
    guard segmentByteCount <= aligned8(used) - first else {
      throw fail(.bounds, "\(name): segments share bytes")
    }
  }

  private mutating func validateColumn(
    _ entry: UnsafeRawPointer, id: Int, rows: Int, first: Int, used: Int
  ) throws(StoreError) {
    guard let type = unsafe ColumnType(rawValue: entry.byte(LeafEntry.type)),
      let encoding = unsafe ColumnEncoding(rawValue: entry.byte(LeafEntry.encoding)),
      unsafe entry.byte(LeafEntry.flags) & ~LeafEntry.isNullable == 0
    else { throw fail(.encoding, "column \(id) has an unknown type or encoding") }
    let bitmapByteCount = (rows + 7) / 8
    for field in [LeafEntry.nulls, LeafEntry.overflow] {
      let offset = unsafe Int(entry.single(field))
      guard offset > 0 else { continue }
      try validateSegment(
        "column \(id)", offset: offset, count: bitmapByteCount, first: first, used: used)
    }
    guard unsafe entry.single(LeafEntry.overflow) == 0 || type == .bytes else {
      throw fail(.encoding, "column \(id) has values outside of the leaf")
    }
    let offset = unsafe Int(entry.single(LeafEntry.dataOffset))
    let count = unsafe Int(entry.single(LeafEntry.dataByteCount))
    if count > 0 {
      try validateSegment("column \(id)", offset: offset, count: count, first: first, used: used)
    } else if offset != 0 {
      throw fail(.bounds, "column \(id) without bytes lies at \(offset)")
    }
    if type == .bytes {
      try unsafe validateBytes(entry, id: id, rows: rows, encoding: encoding)
    } else {
      try unsafe validateFixed(
        entry, id: id, rows: rows, type: type, encoding: encoding, count: count)
    }
  }

  private func validateFixed(
    _ entry: UnsafeRawPointer, id: Int, rows: Int, type: ColumnType, encoding: ColumnEncoding,
    count: Int
  ) throws(StoreError) {
    let width = unsafe entry.byte(LeafEntry.width)
    let base = unsafe Int64(bitPattern: entry.word(LeafEntry.base))
    let lowWidth =
      unsafe (type, encoding) == (.wide, .packed) ? entry.byte(LeafEntry.lengthWidth) : 0
    let needed: Int
    switch (type, encoding) {
    case (.int, .packed):
      guard width > 0, PackedIntegers.isWidth(width) else {
        throw fail(.encoding, "column \(id) has integers of \(width) bits")
      }
      let isBounded =
        width == 64
        ? base == 0 : base <= Int64.max - Int64(bitPattern: PackedIntegers.maximum(width))
      guard isBounded else { throw fail(.encoding, "column \(id) runs past the last integer") }
      needed = PackedIntegers.byteCount(rows, width)
    case (.bool, .bitmap): needed = (rows + 7) / 8
    case (.float, .raw): needed = rows * 4
    case (.double, .raw): needed = rows * 8
    case (.wide, .raw): needed = rows * 16
    case (.wide, .packed):
      guard PackedIntegers.isWidth(width), PackedIntegers.isWidth(lowWidth), width + lowWidth > 0
      else { throw fail(.encoding, "column \(id) has words of \(width) and \(lowWidth) bits") }
      needed =
        LeafColumn.lowWordsOffset(rows, width) + PackedIntegers.byteCount(rows, lowWidth)
    case (_, .constant): needed = 0
    default: throw fail(.encoding, "column \(id): \(type) cannot be stored as \(encoding)")
    }
    guard count == needed, encoding == .packed || width == 0,
      unsafe entry.half(LeafEntry.lengthWidth) == UInt16(lowWidth)
    else { throw fail(.bounds, "column \(id) has \(count) bytes, not \(needed)") }
    if encoding == .constant, type == .bool, base != 0 && base != 1 {
      throw fail(.encoding, "column \(id) is neither true nor false")
    }
  }

  private func validateBytes(
    _ entry: UnsafeRawPointer, id: Int, rows: Int, encoding: ColumnEncoding
  ) throws(StoreError) {
    let width = unsafe entry.byte(LeafEntry.width)
    let lengthWidth = unsafe entry.byte(LeafEntry.lengthWidth)
    let anchorWidth = unsafe entry.byte(LeafEntry.anchorWidth)
    switch encoding {
    case .variable, .constant:
      guard width == 0 else { throw fail(.encoding, "column \(id) has codes of \(width) bits") }
    case .dictionary:
      guard width >= 1, width <= 16, PackedIntegers.isWidth(width),
        unsafe entry.single(LeafEntry.overflow) == 0
      else { throw fail(.encoding, "column \(id) has codes of \(width) bits") }
    default: throw fail(.encoding, "column \(id): bytes cannot be stored as \(encoding)")
    }
    guard [0, 8, 16, 32].contains(lengthWidth), encoding != .constant || lengthWidth == 0,
      lengthWidth == 0 ? anchorWidth == 0 : anchorWidth == 16 || anchorWidth == 32
    else { throw fail(.encoding, "column \(id) has lengths of \(lengthWidth) bits") }
    guard let column = unsafe LeafColumn(entry: entry, leaf: ColumnLeaf(page)),
      let parts = BytesColumn(column)
    else { throw fail(.bounds, "the parts of column \(id) lead out of its bytes") }
    try validateLengths(parts, id: id)
    if encoding == .dictionary {
      for row in 0..<rows {
        let code = unsafe PackedIntegers.load(column.data, width, row)
        guard code < UInt64(parts.entryCount) else {
          throw fail(.bounds, "code \(code) of column \(id) is not in its dictionary")
        }
      }
    }
    guard unsafe column.overflow != nil else { return }
    guard unsafe parts.prefix.isEmpty, unsafe parts.suffix.isEmpty, encoding == .variable else {
      throw fail(.encoding, "column \(id) factors out what lies outside of the leaf")
    }
    for row in 0..<rows where parts.isOverflow(row) {
      guard let cell = unsafe OverflowCell(parts.entry(row)),
        cell.overflow != nil || cell.root != nil,
        !column.isNull(row)
      else { throw fail(.encoding, "row \(row) of column \(id) leads nowhere") }
    }
  }

  /// Checks that lengths, anchors and heap fit together to the byte.
  private func validateLengths(_ parts: BytesColumn, id: Int) throws(StoreError) {
    if parts.column.lengthWidth == 0 {
      let (total, isOver) = parts.fixedLength.multipliedReportingOverflow(by: parts.entryCount)
      guard !isOver, total == parts.heapByteCount else {
        throw fail(.bounds, "the values of column \(id) do not fill its bytes")
      }
      return
    }
    guard parts.fixedLength == 0 else { throw fail(.encoding, "column \(id) has two lengths") }
    var sum = 0
    let span = LeafEntry.anchorSpan
    for first in stride(from: 0, to: parts.entryCount, by: span) {
      guard parts.anchor(first / span) == sum else {
        throw fail(.bounds, "an anchor of column \(id) is not where its values begin")
      }
      let (offset, length) = parts.unboundedPlace(min(first + span, parts.entryCount) - 1)
      sum = offset + length
    }
    guard sum == parts.heapByteCount else {
      throw fail(.bounds, "the values of column \(id) do not fill its bytes")
    }
  }
}
