extension LeafColumn {
  /// The offsets of a value from the bases of packed words; nil when one does not fit.
  func packedOffsets(low: UInt64, high: UInt64) -> (low: UInt64, high: UInt64)? {
    let offsets = (low: low &- extra, high: high &- UInt64(bitPattern: base))
    let isWithin =
      (lengthWidth == 64 || low >= extra) && (width == 64 || Int64(bitPattern: high) >= base)
    guard isWithin, offsets.low <= PackedIntegers.maximum(lengthWidth),
      offsets.high <= PackedIntegers.maximum(width)
    else { return nil }
    return offsets
  }
}

/// Overwrites cells of a packed leaf in place, as far as the encodings allow.
///
/// Pointers: the bytes are those of a dirty leaf, which nobody else changes; a patch is used at once and not
/// kept. What is overwritten was found through a `LeafColumn` of these bytes, so that it lies within them.
/// The row is one that the leaf has.
@safe struct LeafPatch {
  let leaf: ColumnLeaf
  private let bytes: UnsafeMutableRawPointer

  /// Patches the bytes of `page`, which must be up to date.
  init(_ page: DirtyLeaf) {
    leaf = page.packed
    unsafe bytes = unsafe page.bytes
  }

  /// Sets a cell; false, and nothing changed, when the value does not fit.
  ///
  /// `overflow` is what stands in place of a value that lives elsewhere.
  func set(row: Int, spec: ColumnSpec, value: ColumnValue, overflow: [UInt8]?) -> Bool {
    guard let entry = unsafe leaf.entry(of: spec.id),
      let column = unsafe LeafColumn(entry: entry, leaf: leaf),
      column.type == spec.type
    else {
      return unsafe leaf.entry(of: spec.id) == nil && overflow == nil && Self.isDefault(value, spec)
    }
    if let overflow {
      return unsafe overflow.withUnsafeBytes { unsafe setOverflow(column, row: row, $0) }
    }
    return set(column, row: row, value)
  }

  /// Sets a cell of a column of the leaf; false, and nothing changed, when the value does not fit.
  func set(_ column: LeafColumn, row: Int, _ value: ColumnValue) -> Bool {
    if case .null = value { return setNull(column, row: row) }
    let isSet: Bool
    switch value {
    case .int(let value): isSet = setInt(column, row: row, value)
    case .bool(let value): isSet = setBool(column, row: row, value)
    case .float(let value):
      isSet = setRaw(column, row: row, low: UInt64(value.bitPattern), high: 0, stride: 4)
    case .double(let value):
      isSet = setRaw(column, row: row, low: value.bitPattern, high: 0, stride: 8)
    case .wide(let low, let high) where column.encoding == .packed:
      guard let (low, high) = column.packedOffsets(low: low, high: high) else { return false }
      setPacked(column, row: row, low: low, high: high)
      isSet = true
    case .wide(let low, let high):
      isSet = setRaw(column, row: row, low: low, high: high, stride: 16)
    case .bytes(let value): isSet = unsafe setBytes(column, row: row, value)
    case .null, .tree: isSet = false
    }
    if isSet { setNullBit(column, row: row, false) }
    return isSet
  }

  /// Whether a leaf without the column already says so.
  static func isDefault(_ value: ColumnValue, _ spec: ColumnSpec) -> Bool {
    switch (value, spec.type) {
    case (.null, _): return spec.isNullable
    case _ where spec.isNullable: return false
    case (.int(let value), .int): return value == 0
    case (.bool(let value), .bool): return !value
    case (.float(let value), .float): return value.bitPattern == 0
    case (.double(let value), .double): return value.bitPattern == 0
    case (.wide(let low, let high), .wide): return low == 0 && high == 0
    case (.bytes(let value), .bytes): return unsafe value.isEmpty
    default: return false
    }
  }

  /// A part of the page, for writing.
  private func mutable(_ pointer: UnsafeRawPointer) -> UnsafeMutableRawPointer {
    unsafe bytes + (pointer - UnsafeRawPointer(bytes))
  }

  private func setNullBit(_ column: LeafColumn, row: Int, _ isNull: Bool) {
    guard let nulls = unsafe column.nulls else { return }
    unsafe PackedIntegers.store(isNull ? 1 : 0, mutable(nulls), 1, row)
  }

  private func setNull(_ column: LeafColumn, row: Int) -> Bool {
    guard column.hasNulls else { return false }
    if column.isNull(row) { return true }
    // Null cells read as zero within their encoding; sums rely on it.
    switch (column.type, column.encoding) {
    case (.int, .packed): unsafe PackedIntegers.store(0, mutable(column.data), column.width, row)
    case (.bool, .bitmap): unsafe PackedIntegers.store(0, mutable(column.data), 1, row)
    case (.float, .raw): unsafe mutable(column.data).put(single: 0, row * 4)
    case (.double, .raw): unsafe mutable(column.data).put(word: 0, row * 8)
    case (.wide, .raw):
      unsafe mutable(column.data).put(word: 0, row * 16)
      unsafe mutable(column.data).put(word: 0, row * 16 + 8)
    case (.wide, .packed): setPacked(column, row: row, low: 0, high: 0)
    case (.bytes, _):
      guard let parts = column.bytesColumn, !parts.isOverflow(row) else { return false }
      if column.encoding == .variable, let body = unsafe parts.entry(row).baseAddress {
        unsafe mutable(body).initializeMemory(
          as: UInt8.self, repeating: 0, count: parts.entry(row).count)
      }
    default: break
    }
    setNullBit(column, row: row, true)
    return true
  }

  private func setInt(_ column: LeafColumn, row: Int, _ value: Int64) -> Bool {
    guard column.encoding == .packed else { return value == column.base }
    let offset = UInt64(bitPattern: value &- column.base)
    let isWithin = column.width == 64 || value >= column.base
    guard isWithin, offset <= PackedIntegers.maximum(column.width) else { return false }
    unsafe PackedIntegers.store(offset, mutable(column.data), column.width, row)
    return true
  }

  private func setBool(_ column: LeafColumn, row: Int, _ value: Bool) -> Bool {
    guard column.encoding == .bitmap else { return value == (column.base != 0) }
    unsafe PackedIntegers.store(value ? 1 : 0, mutable(column.data), 1, row)
    return true
  }

  private func setRaw(
    _ column: LeafColumn, row: Int, low: UInt64, high: UInt64, stride: Int
  ) -> Bool {
    guard column.encoding == .raw else {
      return UInt64(bitPattern: column.base) == low && column.extra == high
    }
    let data = unsafe mutable(column.data)
    switch stride {
    case 4: unsafe data.put(single: UInt32(low), row * 4)
    case 8: unsafe data.put(word: low, row * 8)
    default:
      unsafe data.put(word: low, row * 16)
      unsafe data.put(word: high, row * 16 + 8)
    }
    return true
  }

  /// Sets the offsets of packed 128-bit values.
  private func setPacked(_ column: LeafColumn, row: Int, low: UInt64, high: UInt64) {
    let data = unsafe mutable(column.data)
    unsafe PackedIntegers.store(high, data, column.width, row)
    let lows = unsafe data + LeafColumn.lowWordsOffset(column.rowCount, column.width)
    unsafe PackedIntegers.store(low, lows, column.lengthWidth, row)
  }

  private func setBytes(
    _ column: LeafColumn, row: Int, _ value: UnsafeRawBufferPointer
  ) -> Bool {
    guard let parts = column.bytesColumn, !parts.isOverflow(row) else { return false }
    let (prefix, suffix) = unsafe (parts.prefix.count, parts.suffix.count)
    let count = value.count - prefix - suffix
    guard count >= 0,
      unsafe equalBytes(parts.prefix.baseAddress, value.baseAddress, count: prefix),
      unsafe equalBytes(
        parts.suffix.baseAddress, value.baseAddress, at: value.count - suffix, count: suffix)
    else { return false }
    switch column.encoding {
    case .variable:
      let body = unsafe parts.entry(row)
      guard body.count == count else { return false }
      if count > 0, let target = body.baseAddress, let source = value.baseAddress {
        unsafe mutable(target).copyMemory(from: source + prefix, byteCount: count)
      }
      return true
    case .dictionary:
      for code in 0..<parts.entryCount {
        let body = unsafe parts.entry(code)
        if body.count == count,
          unsafe equalBytes(body.baseAddress, value.baseAddress, at: prefix, count: count)
        {
          unsafe PackedIntegers.store(UInt64(code), mutable(column.data), column.width, row)
          return true
        }
      }
      return false
    default:
      let body = unsafe parts.entry(0)
      return unsafe body.count == count
        && equalBytes(body.baseAddress, value.baseAddress, at: prefix, count: count)
    }
  }

  /// Replaces one overflow cell by another of the same size.
  private func setOverflow(
    _ column: LeafColumn, row: Int, _ cell: UnsafeRawBufferPointer
  ) -> Bool {
    guard let parts = column.bytesColumn, column.encoding == .variable, parts.isOverflow(row),
      unsafe parts.entry(row).count == cell.count, let target = unsafe parts.entry(row).baseAddress,
      let source = cell.baseAddress
    else { return false }
    unsafe mutable(target).copyMemory(from: source, byteCount: cell.count)
    return true
  }
}
