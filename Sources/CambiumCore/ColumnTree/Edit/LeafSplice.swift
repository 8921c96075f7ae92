/// Appends a row to a packed leaf without unpacking it, as far as the encodings allow.
///
/// The usual small commit appends a row to the last leaf. Making arrays of the whole leaf and packing
/// them again costs ten times as much as copying its segments with one more cell each.
///
/// Pointers: the target is its own until `DirtyLeaf` adopts it or it is given back, and each segment is
/// held against the limit before it is written. The old leaf stays as it is; what is copied was found through a
/// `LeafColumn` of it. The values, one for each column of the layout, are the caller's for
/// the time of the call.
@safe struct LeafSplice {
  private let leaf: ColumnLeaf
  private let values: UnsafeBufferPointer<ColumnValue>
  private let layout: ColumnLayout
  /// Where the new page is put together, with 64 bytes behind its limit.
  private let target: UnsafeMutableRawPointer
  /// How many bytes it may have.
  private let limit: Int
  /// Where the next segment begins.
  private var cursor = 0

  private var source: UnsafeRawPointer { unsafe leaf.page.bytes }
  private var rows: Int { leaf.rowCount }

  /// The bytes of a leaf with one row more, which ``PageMemory`` gave for `memoryByteCount`.
  @safe struct Bytes {
    let memory: UnsafeMutableRawPointer
    let memoryByteCount: Int
    /// How many of them the page has.
    let byteCount: Int

    /// How much room it has: whole units, for a few bytes more.
    var capacity: Int { min(memoryByteCount - 64, (byteCount + 1023) / 1024 * 1024) }
  }

  /// `leaf` with one row more; nil when a value does not fit its column's encoding or the page would take more than
  /// `limit` bytes.
  ///
  /// No value lives outside of the leaf; `key` is above all others, and means nothing in a tree by
  /// position.
  static func append(
    key: Int64, values: UnsafeBufferPointer<ColumnValue>, to leaf: ColumnLeaf,
    layout: ColumnLayout, limit: Int
  ) -> Bytes? {
    guard leaf.page.byteCount <= limit else { return nil }
    let target = unsafe PageMemory.take(byteCount: limit + 64)
    var splice = unsafe LeafSplice(
      leaf: leaf, values: values, layout: layout, target: target, limit: limit)
    guard splice.putKeys(key), splice.putColumns() else {
      unsafe PageMemory.giveBack(target, byteCount: limit + 64)
      return nil
    }
    return splice.finish()
  }

  private init(
    leaf: ColumnLeaf, values: UnsafeBufferPointer<ColumnValue>, layout: ColumnLayout,
    target: UnsafeMutableRawPointer, limit: Int
  ) {
    self.leaf = leaf
    unsafe self.values = unsafe values
    self.layout = layout
    unsafe self.target = unsafe target
    self.limit = limit
  }

  /// Completes the header.
  private func finish() -> Bytes {
    unsafe target.put(single: UInt32(rows + 1), LeafHeader.rowCount)
    unsafe target.put(single: UInt32(cursor), LeafHeader.usedByteCount)
    let bytes = unsafe Bytes(
      memory: target, memoryByteCount: limit + 64,
      byteCount: cursor + LeafHeader.slackByteCount)
    // Who packs a leaf into the page finds zeros behind what it has.
    unsafe (target + cursor).initializeMemory(
      as: UInt8.self, repeating: 0, count: bytes.capacity + 64 - cursor)
    return bytes
  }

  /// Moves on over a segment of `byteCount` bytes, of which the last are zero; nil when there is no room for it.
  private mutating func takeSegment(_ byteCount: Int) -> UnsafeMutableRawPointer? {
    let start = cursor
    guard start + aligned8(byteCount) <= limit - LeafHeader.slackByteCount else { return nil }
    cursor += aligned8(byteCount)
    // Behind what is copied there is one value more, or the rest of a word.
    let zeroed = max(start, cursor - 24)
    unsafe (target + zeroed).initializeMemory(
      as: UInt8.self, repeating: 0, count: cursor - zeroed)
    return unsafe target + start
  }

  private mutating func putKeys(_ key: Int64) -> Bool {
    let directoryEnd = LeafHeader.byteCount + leaf.columnCount * LeafEntry.byteCount
    guard unsafe takeSegment(directoryEnd) != nil else { return false }
    unsafe target.copyMemory(from: source, byteCount: directoryEnd)
    if leaf.isPositional { return true }
    let residual = UInt64(bitPattern: key &- leaf.keyBase &- leaf.keyStride &* Int64(rows))
    guard residual <= PackedIntegers.maximum(leaf.keyWidth) else { return false }
    if leaf.keyWidth == 0 { return true }
    unsafe target.put(single: UInt32(cursor), LeafHeader.keyOffset)
    return unsafe putPacked(leaf.keyOffsets, leaf.keyWidth, residual) != nil
  }

  private mutating func putColumns() -> Bool {
    var stored = 0
    for (index, spec) in layout.columns.enumerated() {
      guard let source = unsafe leaf.entry(of: spec.id) else {
        guard unsafe LeafPatch.isDefault(values[index], spec) else { return false }
        continue
      }
      guard let column = unsafe LeafColumn(entry: source, leaf: leaf), column.type == spec.type,
        unsafe (source.byte(LeafEntry.flags) & LeafEntry.isNullable != 0) == spec.isNullable,
        unsafe put(column, values[index], entry: target + (source - self.source))
      else { return false }
      stored += 1
    }
    // A column that left the layout goes when the leaf is packed anew.
    return stored == leaf.columnCount
  }

  private mutating func put(
    _ column: LeafColumn, _ value: ColumnValue, entry: UnsafeMutableRawPointer
  ) -> Bool {
    var isNull = false
    if case .null = value { isNull = true }
    if let nulls = unsafe column.nulls {
      unsafe entry.put(single: UInt32(cursor), LeafEntry.nulls)
      guard unsafe putPacked(nulls, 1, isNull ? 1 : 0) != nil else { return false }
    } else if isNull {
      return false
    }
    if let overflow = unsafe column.overflow {
      unsafe entry.put(single: UInt32(cursor), LeafEntry.overflow)
      guard unsafe putPacked(overflow, 1, 0) != nil else { return false }
    }
    let start = cursor
    guard let byteCount = unsafe putData(column, value, isNull: isNull, entry: entry) else {
      return false
    }
    unsafe entry.put(single: byteCount == 0 ? 0 : UInt32(start), LeafEntry.dataOffset)
    unsafe entry.put(single: UInt32(byteCount), LeafEntry.dataByteCount)
    return true
  }

  /// Copies integers of `width` bits with one more; their bytes, or nil when there is no room.
  private mutating func putPacked(
    _ data: UnsafeRawPointer, _ width: UInt8, _ value: UInt64
  ) -> Int? {
    let byteCount = PackedIntegers.byteCount(rows + 1, width)
    guard let segment = unsafe takeSegment(byteCount) else { return nil }
    unsafe segment.copyMemory(from: data, byteCount: PackedIntegers.byteCount(rows, width))
    unsafe PackedIntegers.store(value, segment, width, rows)
    return byteCount
  }

  /// Copies values of `stride` bytes with one more.
  private mutating func putRaw(
    _ column: LeafColumn, stride: Int, low: UInt64, high: UInt64 = 0
  ) -> Int? {
    guard let segment = unsafe takeSegment((rows + 1) * stride) else { return nil }
    unsafe segment.copyMemory(from: column.data, byteCount: rows * stride)
    switch stride {
    case 4: unsafe segment.put(single: UInt32(truncatingIfNeeded: low), rows * 4)
    case 8: unsafe segment.put(word: low, rows * 8)
    default:
      unsafe segment.put(word: low, rows * 16)
      unsafe segment.put(word: high, rows * 16 + 8)
    }
    return (rows + 1) * stride
  }

  /// Copies the data of a column with one more value; its bytes, or nil when that does not fit.
  private mutating func putData(
    _ column: LeafColumn, _ value: ColumnValue, isNull: Bool, entry: UnsafeMutableRawPointer
  ) -> Int? {
    if column.type == .bytes { return unsafe putBytes(column, value, isNull: isNull, entry: entry) }
    if column.encoding == .constant {
      return isNull || isConstant(column, value) ? 0 : nil
    }
    // Null cells hold zeros.
    switch (column.type, value) {
    case (.int, .int(let value)):
      let offset = UInt64(bitPattern: value &- column.base)
      guard column.width == 64 || value >= column.base,
        offset <= PackedIntegers.maximum(column.width)
      else { return nil }
      return unsafe putPacked(column.data, column.width, offset)
    case (.int, .null): return unsafe putPacked(column.data, column.width, 0)
    case (.bool, .bool(let value)): return unsafe putPacked(column.data, 1, value ? 1 : 0)
    case (.bool, .null): return unsafe putPacked(column.data, 1, 0)
    case (.float, .float(let value)):
      return putRaw(column, stride: 4, low: UInt64(value.bitPattern))
    case (.float, .null): return putRaw(column, stride: 4, low: 0)
    case (.double, .double(let value)): return putRaw(column, stride: 8, low: value.bitPattern)
    case (.double, .null): return putRaw(column, stride: 8, low: 0)
    case (.wide, .wide(let low, let high)) where column.encoding == .packed:
      return column.packedOffsets(low: low, high: high).flatMap { putPackedWide(column, $0) }
    case (.wide, .null) where column.encoding == .packed: return putPackedWide(column, (0, 0))
    case (.wide, .wide(let low, let high)):
      return putRaw(column, stride: 16, low: low, high: high)
    case (.wide, .null): return putRaw(column, stride: 16, low: 0)
    default: return nil
    }
  }

  private mutating func putPackedWide(
    _ column: LeafColumn, _ offsets: (low: UInt64, high: UInt64)
  ) -> Int? {
    let lows = unsafe column.data + LeafColumn.lowWordsOffset(rows, column.width)
    guard unsafe putPacked(column.data, column.width, offsets.high) != nil,
      unsafe putPacked(lows, column.lengthWidth, offsets.low) != nil
    else { return nil }
    return LeafColumn.lowWordsOffset(rows + 1, column.width)
      + PackedIntegers.byteCount(rows + 1, column.lengthWidth)
  }

  private func isConstant(_ column: LeafColumn, _ value: ColumnValue) -> Bool {
    switch (column.type, value) {
    case (.int, .int(let value)): value == column.base
    case (.bool, .bool(let value)): value == (column.base != 0)
    case (.float, .float(let value)): Int64(value.bitPattern) == column.base
    case (.double, .double(let value)): value.bitPattern == UInt64(bitPattern: column.base)
    case (.wide, .wide(let low, let high)):
      low == UInt64(bitPattern: column.base) && high == column.extra
    default: false
    }
  }

  // MARK: Bytes

  private mutating func putBytes(
    _ column: LeafColumn, _ value: ColumnValue, isNull: Bool, entry: UnsafeMutableRawPointer
  ) -> Int? {
    guard let parts = column.bytesColumn else { return nil }
    var body = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    if case .bytes(let bytes) = value {
      let (prefix, suffix) = unsafe (parts.prefix.count, parts.suffix.count)
      guard bytes.count >= prefix + suffix,
        unsafe equalBytes(parts.prefix.baseAddress, bytes.baseAddress, count: prefix),
        unsafe equalBytes(
          parts.suffix.baseAddress, bytes.baseAddress, at: bytes.count - suffix, count: suffix)
      else { return nil }
      unsafe body = unsafe UnsafeRawBufferPointer(rebasing: bytes[prefix..<(bytes.count - suffix)])
    } else if !isNull {
      return nil
    }
    switch column.encoding {
    case .variable: return unsafe putVariable(column, parts, body, isNull: isNull, entry: entry)
    case .dictionary:
      guard let code = unsafe isNull ? 0 : code(of: body, parts) else { return nil }
      let oldCodes = aligned8(PackedIntegers.byteCount(rows, column.width))
      let rest = column.dataByteCount - oldCodes
      guard unsafe putPacked(column.data, column.width, UInt64(code)) != nil,
        let segment = unsafe takeSegment(rest)
      else { return nil }
      unsafe segment.copyMemory(from: column.data + oldCodes, byteCount: rest)
      return aligned8(PackedIntegers.byteCount(rows + 1, column.width)) + rest
    default:
      let isSame =
        unsafe isNull
        || body.count == parts.entry(0).count
          && equalBytes(parts.entry(0).baseAddress, body.baseAddress, count: body.count)
      guard isSame, let segment = unsafe takeSegment(column.dataByteCount) else { return nil }
      unsafe segment.copyMemory(from: column.data, byteCount: column.dataByteCount)
      return column.dataByteCount
    }
  }

  private func code(of body: UnsafeRawBufferPointer, _ parts: BytesColumn) -> Int? {
    (0..<parts.entryCount).first { code in
      let entry = unsafe parts.entry(code)
      return unsafe entry.count == body.count
        && equalBytes(entry.baseAddress, body.baseAddress, count: body.count)
    }
  }

  private mutating func putVariable(
    _ column: LeafColumn, _ parts: BytesColumn, _ body: UnsafeRawBufferPointer, isNull: Bool,
    entry: UnsafeMutableRawPointer
  ) -> Int? {
    let start = cursor
    var count = body.count
    if column.lengthWidth == 0 {
      // A null cell of a column with one length has zeros of that length.
      guard isNull || count == parts.fixedLength else { return nil }
      count = parts.fixedLength
    } else {
      guard UInt64(count) <= PackedIntegers.maximum(column.lengthWidth),
        unsafe putPacked(parts.lengths, column.lengthWidth, UInt64(count)) != nil,
        putAnchors(column, parts)
      else { return nil }
    }
    let affixes = unsafe parts.prefix.count + parts.suffix.count
    let old = affixes + parts.heapByteCount
    guard let segment = unsafe takeSegment(old + count) else { return nil }
    unsafe segment.copyMemory(from: parts.heap - affixes, byteCount: old)
    if isNull {
      unsafe (segment + old).initializeMemory(as: UInt8.self, repeating: 0, count: count)
    } else if let bytes = body.baseAddress {
      unsafe (segment + old).copyMemory(from: bytes, byteCount: body.count)
    }
    unsafe entry.put(single: UInt32(rows + 1), LeafEntry.entryCount)
    return unsafe segment - target - start + old + count
  }

  private mutating func putAnchors(_ column: LeafColumn, _ parts: BytesColumn) -> Bool {
    let span = LeafEntry.anchorSpan
    let groups = (rows + span - 1) / span
    let isNew = rows % span == 0
    let stride = Int(column.anchorWidth / 8)
    guard UInt64(parts.heapByteCount) <= PackedIntegers.maximum(column.anchorWidth),
      let segment = unsafe takeSegment((isNew ? groups + 1 : groups) * stride)
    else { return false }
    unsafe segment.copyMemory(from: parts.anchors, byteCount: groups * stride)
    if isNew {
      unsafe PackedIntegers.store(UInt64(parts.heapByteCount), segment, column.anchorWidth, groups)
    }
    return true
  }
}
