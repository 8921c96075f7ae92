import CPlatform

/// Where the bytes of rows go on, while they are copied column by column.
///
/// Pointers: the places are its own, freed in the deinit, and there are `capacity` of them, which is the most
/// rows that are copied at once. What they name belongs to the log, which stays until all its rows are
/// copied.
@safe struct RowCursors: ~Copyable {
  /// More rows are never copied at once.
  static let capacity = 256
  fileprivate let places: UnsafeMutablePointer<UnsafeRawPointer>

  init() { unsafe places = .allocate(capacity: Self.capacity) }
  deinit { unsafe places.deallocate() }
}

extension LeafBuilder {
  /// Appends `count` rows of `log`, which has the same layout; at most ``RowCursors/capacity``.
  func append(
    _ log: RowLog, _ entries: UnsafePointer<RowLog.Entry>, count: Int,
    cursors: borrowing RowCursors
  ) {
    assert(count <= RowCursors.capacity)
    reserve(count)
    if let keys = unsafe keys {
      for index in 0..<count { unsafe keys[rowCount &+ index] = unsafe entries[index].key }
    }
    let fixed = log.fixedByteCount
    for index in 0..<count { unsafe cursors.places[index] = unsafe entries[index].row + fixed }
    for column in 0..<columnCount {
      unsafe columns[column].append(
        log.fields[column], entries, count, cursors.places, at: rowCount)
    }
    unsafe rowCount &+= count
    unsafe isPacked = false
  }
}

extension BuilderColumn {
  /// Appends the cells of `count` logged rows behind `first` rows, and moves the places of their bytes
  /// on.
  fileprivate mutating func append(
    _ field: RowLog.Field, _ entries: UnsafePointer<RowLog.Entry>, _ count: Int,
    _ places: UnsafeMutablePointer<UnsafeRawPointer>, at first: Int
  ) {
    let offset = field.offset
    switch type {
    case .int: unsafe appendInts(field, entries, count, at: first)
    case .bool:
      let target = unsafe bools + first
      for index in 0..<count { unsafe target[index] = unsafe entries[index].row.byte(offset) }
    case .float:
      let target = unsafe values + first &* 4
      for index in 0..<count {
        unsafe target.put(single: entries[index].row.single(offset), index &* 4)
      }
    case .double:
      let target = unsafe values + first &* 8
      for index in 0..<count {
        unsafe target.put(word: entries[index].row.word(offset), index &* 8)
      }
    case .wide:
      let target = unsafe values + first &* 16
      for index in 0..<count {
        unsafe target.put(word: entries[index].row.word(offset), index &* 16)
        unsafe target.put(word: entries[index].row.word(offset &+ 8), index &* 16 &+ 8)
      }
    case .bytes: return unsafe appendBytes(offset, entries, count, places, at: first)
    }
    guard let nulls = unsafe nulls else { return }
    for index in 0..<count {
      let flag = unsafe entries[index].row.byte(field.nullOffset)
      unsafe nulls[first &+ index] = flag
      nullCount &+= Int(flag)
    }
  }

  private mutating func appendInts(
    _ field: RowLog.Field, _ entries: UnsafePointer<RowLog.Entry>, _ count: Int, at first: Int
  ) {
    let target = unsafe ints + first
    var (low, high) = (minimum, maximum)
    for index in 0..<count {
      let row = unsafe entries[index].row
      let value = unsafe Int64(bitPattern: row.word(field.offset))
      unsafe target[index] = value
      if field.nullOffset >= 0, unsafe row.byte(field.nullOffset) != 0 { continue }
      low = min(low, value)
      high = max(high, value)
    }
    (minimum, maximum) = (low, high)
  }

  private mutating func appendBytes(
    _ offset: Int, _ entries: UnsafePointer<RowLog.Entry>, _ count: Int,
    _ places: UnsafeMutablePointer<UnsafeRawPointer>, at first: Int
  ) {
    var total = 0
    for index in 0..<count {
      let field = unsafe entries[index].row.single(offset)
      if field != RowLog.nullBytes { total &+= Int(field & ~RowLog.overflowBit) }
    }
    reserveHeap(total)
    for index in 0..<count {
      let field = unsafe entries[index].row.single(offset)
      if field == RowLog.nullBytes {
        putNull(first &+ index)
        continue
      }
      let length = Int(field & ~RowLog.overflowBit)
      unsafe cambium_copy(heap.unsafelyUnwrapped + heapByteCount, places[index], length)
      unsafe places[index] += length
      putSlot(first &+ index, length, isOverflow: field & RowLog.overflowBit != 0)
    }
  }
}
