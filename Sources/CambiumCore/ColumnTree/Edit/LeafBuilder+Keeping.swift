extension LeafBuilder {
  /// Drops all rows from `first` on but those in `rows`, which count from `first` and ascend.
  func keep(_ rows: UnsafeBufferPointer<Int32>, from first: Int) {
    if let keys = unsafe keys { unsafe rows.gather(keys + first) }
    for index in 0..<columnCount {
      unsafe columns[index].keep(rows, from: first, rowCount: rowCount)
      unsafe columns[index].squeeze(rowCount: first + rows.count)
    }
    unsafe rowCount = first + rows.count
    unsafe (isPacked, isFull, checkAt) = (false, false, 0)
  }
}

extension BuilderColumn {
  /// Drops all of `rowCount` rows from `first` on but those in `rows`, which count from `first`.
  mutating func keep(_ rows: UnsafeBufferPointer<Int32>, from first: Int, rowCount: Int) {
    let total = rowCount - first
    if let nulls = unsafe nulls {
      let start = unsafe nulls + first
      for row in 0..<total { unsafe nullCount -= Int(start[row]) }
      unsafe rows.gather(start)
      for row in 0..<rows.count { unsafe nullCount += Int(start[row]) }
    }
    switch type {
    case .int, .double: unsafe rows.gather(ints + first)
    case .bool: unsafe rows.gather(bools + first)
    case .float: unsafe rows.gather(values.assumingMemoryBound(to: UInt32.self) + first)
    case .wide:
      unsafe rows.gather(values.assumingMemoryBound(to: (UInt64, UInt64).self) + first)
    case .bytes:
      let start = unsafe slots + first
      unsafe count(start, total, by: -1)
      unsafe rows.gather(start)
      unsafe count(start, rows.count, by: 1)
    }
  }

  /// Takes `rows` slots into the totals, or out of them.
  private mutating func count(_ slots: UnsafePointer<Slot>, _ rows: Int, by sign: Int) {
    var (live, overflow) = (0, 0)
    for row in 0..<rows {
      unsafe live &+= Self.count(slots[row])
      unsafe overflow &+= Int(truncatingIfNeeded: slots[row] &>> 63)
    }
    liveByteCount &+= live &* sign
    overflowCount &+= overflow &* sign
  }
}

extension UnsafeBufferPointer<Int32> {
  /// Moves the elements it names to the front.
  ///
  /// Pointers: it names rows that are there, ascending, so that no element is overwritten before it is read.
  @inline(__always)
  fileprivate func gather<Cell>(_ elements: UnsafeMutablePointer<Cell>) {
    for place in 0..<count { unsafe elements[place] = unsafe elements[Int(self[place])] }
  }
}
