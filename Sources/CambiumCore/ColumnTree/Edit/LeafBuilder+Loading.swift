import CPlatform

extension LeafBuilder {
  /// Appends all rows of a packed leaf.
  ///
  /// Columns it lacks get their defaults, columns that the layout lacks are left out. Rows whose flag
  /// in `removed` is set may come without their bytes.
  func load(_ leaf: ColumnLeaf, removed: UnsafePointer<UInt8>? = nil) {
    reserve(leaf.rowCount)
    if let keys = unsafe keys { unsafe leaf.copyKeys(into: keys + rowCount) }
    for index in 0..<columnCount {
      let source = unsafe leaf.column(columns[index].id)
      if let source, unsafe source.type == columns[index].type {
        unsafe columns[index].load(source, at: rowCount, removed: removed)
      } else {
        unsafe columns[index].loadDefaults(count: leaf.rowCount, at: rowCount)
      }
    }
    unsafe rowCount += leaf.rowCount
  }
}

extension BuilderColumn {
  /// Appends `count` default cells behind `first` rows.
  mutating func loadDefaults(count: Int, at first: Int) {
    unsafe (values + first * stride).initializeMemory(
      as: UInt8.self, repeating: 0, count: count * stride)
    if let nulls = unsafe nulls {
      unsafe (nulls + first).update(repeating: 1, count: count)
      nullCount += count
    } else if type == .int {
      minimum = min(minimum, 0)
      maximum = max(maximum, 0)
    }
  }

  /// Appends all cells of `source`, a column of the same type, behind `first` rows.
  mutating func load(
    _ source: LeafColumn, at first: Int, removed: UnsafePointer<UInt8>? = nil
  ) {
    let count = source.rowCount
    switch type {
    case .int:
      unsafe source.copyInts(into: ints + first)
      for row in first..<(first + count) {
        if unsafe ints[row] < minimum { minimum = unsafe ints[row] }
        if unsafe ints[row] > maximum { maximum = unsafe ints[row] }
      }
    case .bool: unsafe source.copyBools(into: bools + first)
    case .float, .double, .wide:
      if source.encoding == .raw {
        // As they lie.
        unsafe (values + first * stride).copyMemory(from: source.data, byteCount: count * stride)
      } else if source.encoding == .packed {
        for row in 0..<count {
          let (low, high) = source.isNull(row) ? (0, 0) : source.wide(row)
          unsafe values.put(word: low, (first + row) * 16)
          unsafe values.put(word: high, (first + row) * 16 + 8)
        }
      } else {
        loadConstant(source, at: first)
      }
    case .bytes: unsafe loadBytes(source, at: first, removed: removed)
    }
    loadNulls(source, at: first)
  }

  /// Appends the one value of all rows.
  private func loadConstant(_ source: LeafColumn, at first: Int) {
    let (low, high) = (UInt64(bitPattern: source.base), source.extra)
    for row in first..<(first + source.rowCount) {
      switch stride {
      case 4: unsafe values.put(single: UInt32(truncatingIfNeeded: low), row * 4)
      case 8: unsafe values.put(word: low, row * 8)
      default:
        unsafe values.put(word: low, row * 16)
        unsafe values.put(word: high, row * 16 + 8)
      }
    }
  }

  private mutating func loadNulls(_ source: LeafColumn, at first: Int) {
    guard let nulls = unsafe nulls else { return }
    unsafe (nulls + first).update(repeating: 0, count: source.rowCount)
    guard source.hasNulls else { return }
    for row in 0..<source.rowCount where source.isNull(row) {
      unsafe nulls[first + row] = 1
      nullCount += 1
      unsafe (values + (first + row) * stride).initializeMemory(
        as: UInt8.self, repeating: 0, count: stride)
    }
  }

  private mutating func loadBytes(
    _ source: LeafColumn, at first: Int, removed: UnsafePointer<UInt8>?
  ) {
    guard let parts = source.bytesColumn else {
      return loadDefaults(count: source.rowCount, at: first)
    }
    if source.encoding == .variable {
      return unsafe loadVariable(parts, count: source.rowCount, at: first, removed: removed)
    }
    for row in 0..<source.rowCount {
      if let removed = unsafe removed, unsafe removed[row] != 0 {
        unsafe slots[first + row] = 0
        continue
      }
      let cell = parts.cell(row)
      switch cell.form {
      case .null: unsafe slots[first + row] = 0
      case .inline:
        let count = cell.count
        reserveHeap(count)
        unsafe cell.copy(to: heap.unsafelyUnwrapped + heapByteCount)
        putSlot(first + row, count, isOverflow: false)
      case .overflow, .tree: unsafe putBytes(first + row, cell.body, isOverflow: true)
      }
    }
  }

  /// Appends values that lie one after another, as they lie when nothing was factored out.
  private mutating func loadVariable(
    _ parts: BytesColumn, count: Int, at first: Int, removed: UnsafePointer<UInt8>?
  ) {
    let (prefix, suffix) = unsafe (parts.prefix, parts.suffix)
    let affixes = prefix.count + suffix.count
    reserveHeap(parts.heapByteCount + affixes * count)
    guard let heap = unsafe heap else { return }
    if parts.column.lengthWidth == 8, unsafe parts.column.nulls == nil,
      unsafe parts.column.overflow == nil
    {
      return unsafe loadShort(
        parts, heap + heapByteCount, count: count, at: first, removed: removed)
    }
    if affixes == 0 {
      unsafe (heap + heapByteCount).copyMemory(from: parts.heap, byteCount: parts.heapByteCount)
    }
    var offset = 0
    for row in 0..<count {
      let length = parts.length(row)
      guard offset + length <= parts.heapByteCount else {
        // Only storage that rots under a mapping gets here.
        unsafe (slots + first + row).update(repeating: 0, count: count - row)
        return
      }
      if parts.column.isNull(row) {
        // A cell set to null in place may have left its length behind.
        unsafe slots[first + row] = 0
        if affixes == 0 { heapByteCount += length }
      } else if affixes > 0 {
        if let removed = unsafe removed, unsafe removed[row] != 0 {
          unsafe slots[first + row] = 0
          offset += length
          continue
        }
        var target = unsafe heap + heapByteCount
        if let start = prefix.baseAddress {
          unsafe cambium_copy(target, start, prefix.count)
          unsafe target += prefix.count
        }
        unsafe cambium_copy(target, parts.heap + offset, length)
        if let start = suffix.baseAddress {
          unsafe cambium_copy(target + length, start, suffix.count)
        }
        putSlot(first + row, length + affixes, isOverflow: false)
      } else {
        putSlot(first + row, length, isOverflow: parts.isOverflow(row))
      }
      offset += length
    }
  }

  /// Appends values that are all there, none of them longer than a byte tells, to `target`, the end of
  /// the heap.
  private mutating func loadShort(
    _ parts: BytesColumn, _ target: UnsafeMutableRawPointer, count: Int, at first: Int,
    removed: UnsafePointer<UInt8>?
  ) {
    let lengths = unsafe parts.lengths.assumingMemoryBound(to: UInt8.self)
    let (prefix, suffix) = unsafe (parts.prefix.count, parts.suffix.count)
    var end = 0
    let loaded: Int
    if prefix + suffix == 0 {
      unsafe target.copyMemory(from: parts.heap, byteCount: parts.heapByteCount)
      loaded = unsafe cambium_load_slots(
        lengths, count, heapByteCount, parts.heapByteCount, slots + first, &end)
    } else {
      // Prefix and suffix lie right before the values.
      loaded = unsafe cambium_load_values(
        lengths, removed, count, parts.heap, parts.heapByteCount,
        parts.heap - (prefix + suffix), prefix, suffix, heapByteCount, target, slots + first,
        &end)
    }
    heapByteCount += end
    liveByteCount += end
    // Only storage that rots under a mapping has fewer.
    unsafe (slots + first + loaded).update(repeating: 0, count: count - loaded)
  }
}

extension LeafColumn {
  /// Writes all truth values to `values` as zeros and ones.
  fileprivate func copyBools(into values: UnsafeMutablePointer<UInt8>) {
    guard encoding == .bitmap else {
      return unsafe values.update(repeating: base == 0 ? 0 : 1, count: rowCount)
    }
    let target = UnsafeMutableRawPointer(values)
    var row = 0
    while row &+ 8 <= rowCount {
      // Eight copies of a byte, each with another bit of it, carried to the top.
      let copies = unsafe UInt64(data.byte(row &>> 3)) &* 0x0101_0101_0101_0101
      let bits = copies & 0x8040_2010_0804_0201
      unsafe target.put(word: (bits &+ 0x7f7f_7f7f_7f7f_7f7f) &>> 7 & 0x0101_0101_0101_0101, row)
      row &+= 8
    }
    while row < rowCount {
      unsafe values[row] = bool(row) ? 1 : 0
      row &+= 1
    }
  }
}
