/// The rows of a leaf in the form that is quick to insert into: keys and columns as plain arrays.
///
/// Columns are those of the layout it was made for, in their order.
///
/// Pointers: keys and columns are its own, freed in the deinit. They have room for `capacity` rows; whoever
/// adds rows reserves first, and rows asked for are below `rowCount`. A row's values are the caller's for the
/// time of the call, one for each column of the layout.
@safe final class LeafBuilder {
  // Exclusivity is not checked: one user at a time, and no access to these calls out.
  @exclusivity(unchecked) final var rowCount = 0
  @exclusivity(unchecked) final var capacity: Int
  /// The keys, ascending; nil in trees by position.
  @exclusivity(unchecked) final var keys: UnsafeMutablePointer<Int64>?
  @exclusivity(unchecked) final var columns: UnsafeMutablePointer<BuilderColumn>
  let columnCount: Int
  let layout: ColumnLayout
  /// Whether the bytes of the leaf it belongs to are up to date.
  @exclusivity(unchecked) final var isPacked = false
  /// Whether the leaf has no room for another row.
  @exclusivity(unchecked) final var isFull = false
  /// The number of rows from which the leaf's size is looked at again.
  @exclusivity(unchecked) final var checkAt = 0

  init(layout: ColumnLayout, isPositional: Bool, capacity: Int = 256) {
    self.layout = layout
    unsafe self.capacity = capacity
    columnCount = layout.columns.count
    unsafe keys = isPositional ? nil : .allocate(capacity: capacity)
    unsafe columns = .allocate(capacity: max(1, columnCount))
    for (index, spec) in layout.columns.enumerated() {
      unsafe (columns + index).initialize(to: BuilderColumn(spec, capacity: capacity))
    }
  }

  deinit {
    unsafe keys?.deallocate()
    for index in 0..<columnCount { unsafe columns[index].deallocate() }
    unsafe columns.deinitialize(count: columnCount)
    unsafe columns.deallocate()
  }

  /// The memory it takes, in bytes.
  var heldByteCount: Int {
    unsafe (0..<columnCount).reduce(keys == nil ? 0 : capacity * 8) { sum, index in
      let flags = unsafe columns[index].nulls == nil ? 0 : capacity
      return unsafe sum + capacity * columns[index].stride + flags + columns[index].heapCapacity
    }
  }

  /// Forgets all rows, keeping the memory.
  func removeAll() {
    unsafe rowCount = 0
    unsafe (isPacked, isFull, checkAt) = (false, false, 0)
    for index in 0..<columnCount { unsafe columns[index].removeAll() }
  }

  /// The first row whose key is not below `key`.
  @inline(__always) func lowerBound(_ key: Int64) -> Int {
    guard let keys = unsafe keys, unsafe rowCount > 0 else { return 0 }
    if unsafe keys[rowCount - 1] < key { return unsafe rowCount }
    var low = 0
    var high = unsafe rowCount - 1
    while low < high {
      let middle = (low &+ high) &>> 1
      if unsafe keys[middle] < key { low = middle &+ 1 } else { high = middle }
    }
    return low
  }

  @inline(__always) func reserve(_ count: Int) {
    if unsafe rowCount + count > capacity { unsafe grow(to: max(rowCount + count, capacity * 2)) }
  }

  @inline(never) private func grow(to capacity: Int) {
    if let old = unsafe keys {
      let larger = UnsafeMutablePointer<Int64>.allocate(capacity: capacity)
      unsafe larger.update(from: old, count: rowCount)
      unsafe old.deallocate()
      unsafe keys = unsafe larger
    }
    for index in 0..<columnCount {
      unsafe columns[index].grow(rowCount: rowCount, capacity: capacity)
    }
    unsafe self.capacity = capacity
  }

  /// Inserts a row; `overflow` holds, for each column, what stands in place of its value, if
  /// anything does.
  @inline(__always) func insert(
    at row: Int, key: Int64, values: UnsafeBufferPointer<ColumnValue>, overflow: [[UInt8]?]?
  ) {
    reserve(1)
    if let keys = unsafe keys {
      if unsafe row < rowCount {
        unsafe (keys + row + 1).update(from: keys + row, count: rowCount - row)
      }
      unsafe keys[row] = key
    }
    for index in 0..<columnCount {
      if unsafe row < rowCount {
        unsafe columns[index].openGap(at: row, rowCount: rowCount)
        unsafe columns[index].isOrdered = false
      }
      unsafe put(values[index], overflow?[index], row: row, column: index)
    }
    unsafe rowCount += 1
    unsafe isPacked = false
  }

  /// Appends a row; false, and no row more, when a value is longer than `inlineLimit` or a tree.
  @inline(__always) func append(
    key: Int64, values: UnsafePointer<ColumnValue>, inlineLimit: Int
  ) -> Bool {
    reserve(1)
    let row = unsafe rowCount
    for index in 0..<columnCount {
      let column = unsafe columns + index
      switch unsafe values[index] {
      case .int(let value):
        if unsafe column.pointee.type != .int { mismatch(index, value) }
        unsafe column.pointee.putInt(row, value)
      case .bytes(let bytes):
        if unsafe column.pointee.type != .bytes { unsafe mismatch(index, bytes) }
        if bytes.count > inlineLimit { return retract(row, columns: index) }
        unsafe column.pointee.putBytes(row, bytes, isOverflow: false)
      case .double(let value):
        if unsafe column.pointee.type != .double { mismatch(index, value) }
        unsafe column.pointee.values.put(word: value.bitPattern, row &* 8)
        unsafe column.pointee.nulls?[row] = 0
      case .bool(let value):
        if unsafe column.pointee.type != .bool { mismatch(index, value) }
        unsafe column.pointee.bools[row] = value ? 1 : 0
        unsafe column.pointee.nulls?[row] = 0
      case .tree: return retract(row, columns: index)
      default: unsafe put(values[index], nil, row: row, column: index)
      }
    }
    unsafe keys.unsafelyUnwrapped[row] = key
    unsafe rowCount = row &+ 1
    unsafe isPacked = false
    return true
  }

  /// Takes back the cells of a row that did not come to be; false.
  @inline(never) private func retract(_ row: Int, columns count: Int) -> Bool {
    for index in 0..<count { unsafe columns[index].retract(row) }
    return false
  }

  /// Replaces a cell; `overflow` is what stands in place of the value, if anything does.
  func update(row: Int, column index: Int, value: ColumnValue, overflow: [UInt8]?) {
    unsafe columns[index].forget(row)
    unsafe columns[index].isOrdered = false
    put(value, overflow, row: row, column: index)
    unsafe columns[index].squeeze(rowCount: rowCount)
    unsafe isPacked = false
  }

  @inline(__always) private func put(
    _ value: ColumnValue, _ overflow: [UInt8]?, row: Int, column index: Int
  ) {
    if let overflow {
      unsafe overflow.withUnsafeBytes { unsafe columns[index].putBytes(row, $0, isOverflow: true) }
      return
    }
    let type = unsafe columns[index].type
    switch value {
    case .null:
      unsafe columns[index].putNull(row)
    case .int(let value):
      if type != .int { mismatch(index, value) }
      unsafe columns[index].putInt(row, value)
    case .bool(let value):
      if type != .bool { mismatch(index, value) }
      unsafe columns[index].bools[row] = value ? 1 : 0
      unsafe columns[index].nulls?[row] = 0
    case .float(let value):
      if type != .float { mismatch(index, value) }
      unsafe columns[index].values.put(single: value.bitPattern, row &* 4)
      unsafe columns[index].nulls?[row] = 0
    case .double(let value):
      if type != .double { mismatch(index, value) }
      unsafe columns[index].values.put(word: value.bitPattern, row &* 8)
      unsafe columns[index].nulls?[row] = 0
    case .wide(let low, let high):
      if type != .wide { mismatch(index, value) }
      unsafe columns[index].values.put(word: low, row &* 16)
      unsafe columns[index].values.put(word: high, row &* 16 &+ 8)
      unsafe columns[index].nulls?[row] = 0
    case .bytes(let bytes):
      if type != .bytes { mismatch(index, value) }
      unsafe columns[index].putBytes(row, bytes, isOverflow: false)
    case .tree: mismatch(index, value)
    }
  }

  @inline(never) private func mismatch<Value>(_ index: Int, _ value: Value) -> Never {
    preconditionFailure(
      unsafe "Column \(columns[index].id) holds \(columns[index].type); give it values of that type."
    )
  }

  /// Drops a row.
  func remove(row: Int) {
    if let keys = unsafe keys {
      unsafe (keys + row).update(from: keys + row + 1, count: rowCount - row - 1)
    }
    for index in 0..<columnCount {
      unsafe columns[index].remove(row, rowCount: rowCount)
      unsafe columns[index].squeeze(rowCount: rowCount - 1)
    }
    unsafe rowCount -= 1
    unsafe (isPacked, isFull, checkAt) = (false, false, 0)
    if unsafe rowCount == 0 { removeAll() }
  }

  /// The cell of `row`; bytes are borrowed until the builder's next change.
  func value(row: Int, column index: Int) -> ColumnValue {
    let column = unsafe columns[index]
    if column.isNull(row) { return .null }
    switch column.type {
    case .int: return unsafe .int(column.ints[row])
    case .bool: return unsafe .bool(column.bools[row] != 0)
    case .float:
      return unsafe .float(Float(bitPattern: UnsafeRawPointer(column.values).single(row * 4)))
    case .double:
      return unsafe .double(Double(bitPattern: UnsafeRawPointer(column.values).word(row * 8)))
    case .wide:
      let start = unsafe UnsafeRawPointer(column.values + row * 16)
      return unsafe .wide(low: start.word(0), high: start.word(8))
    case .bytes: return unsafe .bytes(column.bytes(row))
    }
  }

  /// The overflow cell of `row`, if its value lives outside of the leaf.
  func overflowCell(row: Int, column index: Int) -> OverflowCell? {
    unsafe columns[index].isOverflow(row) ? OverflowCell(columns[index].bytes(row)) : nil
  }

  /// Appends rows `range` of `other`, which has the same layout.
  func append(_ other: LeafBuilder, _ range: Range<Int>) {
    reserve(range.count)
    if let keys = unsafe keys, let others = unsafe other.keys {
      unsafe (keys + rowCount).update(from: others + range.lowerBound, count: range.count)
    }
    for index in 0..<columnCount {
      unsafe columns[index].append(other.columns[index], range, rowCount: rowCount)
    }
    unsafe rowCount += range.count
    unsafe (isPacked, isFull, checkAt) = (false, false, 0)
  }

  /// Drops all rows from `row` on.
  func truncate(to row: Int) {
    for index in 0..<columnCount {
      if unsafe columns[index].nulls != nil || columns[index].type == .bytes {
        for dropped in unsafe row..<rowCount { unsafe columns[index].forget(dropped) }
      }
      unsafe columns[index].squeeze(rowCount: row)
    }
    unsafe rowCount = row
    unsafe (isPacked, isFull, checkAt) = (false, false, 0)
  }

  /// About how many bytes the leaf will take when packed, dictionaries and affixes left out.
  @inline(__always) var estimatedByteCount: Int {
    var count =
      LeafHeader.byteCount + LeafHeader.slackByteCount + columnCount * LeafEntry.byteCount
    if let keys = unsafe keys, unsafe rowCount > 1 {
      let span = unsafe UInt64(bitPattern: keys[rowCount - 1] &- keys[0])
      if unsafe span != UInt64(rowCount - 1) {
        unsafe count += PackedIntegers.byteCount(rowCount, PackedIntegers.width(of: span))
      }
    }
    for index in 0..<columnCount {
      unsafe count += columns[index].estimatedByteCount(rowCount: rowCount)
    }
    return count
  }
}

extension BuilderColumn {
  /// Appends rows `range` of `other`, a column of the same type, behind `rowCount` own ones.
  mutating func append(_ other: BuilderColumn, _ range: Range<Int>, rowCount: Int) {
    unsafe (values + rowCount * stride).copyMemory(
      from: other.values + range.lowerBound * stride, byteCount: range.count * stride)
    if let nulls = unsafe nulls, let others = unsafe other.nulls {
      unsafe (nulls + rowCount).update(from: others + range.lowerBound, count: range.count)
      if other.nullCount > 0 {
        for row in range where unsafe others[row] != 0 { nullCount += 1 }
      }
    }
    if type == .int {
      minimum = min(minimum, other.minimum)
      maximum = max(maximum, other.maximum)
    }
    guard type == .bytes else { return }
    for (offset, row) in range.enumerated() {
      let flag = unsafe nulls?[rowCount + offset]
      unsafe putBytes(rowCount + offset, other.bytes(row), isOverflow: other.isOverflow(row))
      if let flag { unsafe nulls?[rowCount + offset] = flag }
    }
  }
}
