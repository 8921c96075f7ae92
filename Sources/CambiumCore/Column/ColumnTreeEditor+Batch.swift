import CPlatform

extension ColumnTreeEditor {
  /// Rows ahead of the one that is copied whose bytes are asked for.
  private static let prefetchCount = 32

  /// Inserts many rows and returns how many came in; those whose key exists are left out.
  ///
  /// `values` has one value for each column of the layout, in its order, row after row. Does what as
  /// many calls of `insert(key:values:)` do, in less time: rows in the order of their keys
  /// are copied column by column, and the bytes of others are asked for before they are needed.
  /// Batches of some dozens of rows are enough.
  @discardableResult
  public func insert(
    keys: UnsafeBufferPointer<Int64>, values: UnsafeBufferPointer<ColumnValue>
  ) throws(StoreError) -> Int {
    precondition(!isPositional, "This tree has positions, not keys; insert at one.")
    precondition(
      values.count == keys.count * columnCount,
      "Each row needs a value for each of the \(columnCount) columns.")
    guard let firstKey = keys.baseAddress else { return 0 }
    var next = 0
    var prefetched = 0
    var count = 0
    while next < keys.count {
      if let start = values.baseAddress {
        let rows = appendRun(
          firstKey + next, start + next &* columnCount, count: keys.count &- next)
        if rows > 0 {
          next &+= rows
          count &+= rows
          continue
        }
        if let log, next >= prefetched {
          prefetched = min(keys.count, next &+ Self.prefetchCount)
          log.prefetch(start + next &* columnCount, rowCount: prefetched &- next)
        }
      }
      let first = next &* columnCount
      let row = UnsafeBufferPointer(rebasing: values[first..<(first &+ columnCount)])
      if try insert(key: firstKey[next], values: row) { count &+= 1 }
      next &+= 1
    }
    return count
  }

  /// Appends to the leaf that the last call added a row to as many of `count` rows as go there in
  /// order; returns how many.
  private func appendRun(
    _ keys: UnsafePointer<Int64>, _ values: UnsafePointer<ColumnValue>, count: Int
  ) -> Int {
    guard let hot else { return 0 }
    return hot._withUnsafeGuaranteedRef { builder in
      guard !builder.isFull, builder.rowCount > 0, let present = builder.keys else { return 0 }
      var last = present[builder.rowCount &- 1]
      let most = min(count, max(1, builder.checkAt &- builder.rowCount))
      let high = finger.high
      var rows = 0
      while rows < most, keys[rows] > last, keys[rows] <= high {
        last = keys[rows]
        rows &+= 1
      }
      if rows == 0 { return 0 }
      rows = builder.append(
        keys: keys, values: values, count: rows, inlineLimit: options.inlineByteCount)
      if rows > 0 { noteRows(rows, in: builder) }
      return rows
    }
  }
}

extension RowLog {
  /// Asks for the bytes of rows that will be added, which may lie all over the memory.
  fileprivate func prefetch(_ values: UnsafePointer<ColumnValue>, rowCount: Int) {
    for column in 0..<columnCount where fields[column].type == .bytes {
      var cell = values + column
      for _ in 0..<rowCount {
        if case .bytes(let bytes) = cell.pointee, let start = bytes.baseAddress {
          cambium_prefetch(start)
          cambium_prefetch(start + max(0, bytes.count &- 1))
        }
        cell += columnCount
      }
    }
  }
}
