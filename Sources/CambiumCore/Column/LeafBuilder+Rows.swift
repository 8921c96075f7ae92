import CPlatform

extension LeafBuilder {
  /// Appends the first of `count` rows, column by column; returns how many.
  ///
  /// `values` has one value for each column, row after row. A row with a value that is longer than
  /// `inlineLimit`, or a tree, is not appended, nor any after it.
  func append(
    keys newKeys: UnsafePointer<Int64>, values: UnsafePointer<ColumnValue>, count: Int,
    inlineLimit: Int
  ) -> Int {
    reserve(count)
    var count = count
    // The bytes may be borrowed from one of these heaps, which must then outlive the copy.
    var outgrown: [UnsafeMutableRawPointer] = []
    defer { for heap in outgrown { heap.deallocate() } }
    for index in 0..<columnCount where columns[index].type == .bytes {
      let rows = columns[index].appendBytes(
        values + index, step: columnCount, count: count, at: rowCount, inlineLimit: inlineLimit,
        &outgrown)
      guard rows < count else { continue }
      for other in 0..<index where columns[other].type == .bytes {
        columns[other].retract(rowCount + rows..<rowCount + count)
      }
      count = rows
    }
    if count == 0 { return 0 }
    keys.unsafelyUnwrapped.advanced(by: rowCount).update(from: newKeys, count: count)
    for index in 0..<columnCount where columns[index].type != .bytes {
      columns[index].append(values + index, step: columnCount, count: count, at: rowCount)
    }
    rowCount &+= count
    isPacked = false
    return count
  }
}

extension BuilderColumn {
  /// Appends the first of `count` cells of bytes, of which every `step`th value is one, behind `first`
  /// rows; returns how many, which are those before one that does not belong into a leaf.
  fileprivate mutating func appendBytes(
    _ values: UnsafePointer<ColumnValue>, step: Int, count: Int, at first: Int, inlineLimit: Int,
    _ outgrown: inout [UnsafeMutableRawPointer]
  ) -> Int {
    nulls?.advanced(by: first).update(repeating: 0, count: count)
    var cell = values
    let start = heapByteCount
    var row = first
    scan: while row < first &+ count {
      switch cell.pointee {
      case .bytes(let bytes):
        let length = bytes.count
        if length > inlineLimit { break scan }
        if heap == nil || heapByteCount + length > heapCapacity, let old = growHeap(length) {
          outgrown.append(old)
        }
        if let source = bytes.baseAddress {
          cambium_copy(heap.unsafelyUnwrapped + heapByteCount, source, length)
        }
        slots[row] = Self.slot(heapByteCount, length)
        heapByteCount &+= length
      case .tree: break scan
      default: putMissing(cell, row)
      }
      row &+= 1
      cell += step
    }
    liveByteCount &+= heapByteCount &- start
    return row &- first
  }

  /// Takes back the last rows, which were just appended.
  fileprivate mutating func retract(_ rows: Range<Int>) {
    for row in rows { retract(row) }
  }

  /// Appends `count` cells of another type, of which every `step`th value is one, behind `first`
  /// rows.
  fileprivate mutating func append(
    _ values: UnsafePointer<ColumnValue>, step: Int, count: Int, at first: Int
  ) {
    nulls?.advanced(by: first).update(repeating: 0, count: count)
    var cell = values
    switch type {
    case .int:
      let target = ints + first
      var (low, high) = (minimum, maximum)
      for index in 0..<count {
        if case .int(let value) = cell.pointee {
          target[index] = value
          low = min(low, value)
          high = max(high, value)
        } else {
          putMissing(cell, first &+ index)
        }
        cell += step
      }
      (minimum, maximum) = (low, high)
    case .bool:
      let target = bools + first
      for index in 0..<count {
        if case .bool(let value) = cell.pointee {
          target[index] = value ? 1 : 0
        } else {
          putMissing(cell, first &+ index)
        }
        cell += step
      }
    case .float:
      for index in 0..<count {
        if case .float(let value) = cell.pointee {
          element(first &+ index).put(single: value.bitPattern, 0)
        } else {
          putMissing(cell, first &+ index)
        }
        cell += step
      }
    case .double:
      let target = self.values + first &* 8
      for index in 0..<count {
        if case .double(let value) = cell.pointee {
          target.put(word: value.bitPattern, index &* 8)
        } else {
          putMissing(cell, first &+ index)
        }
        cell += step
      }
    case .wide:
      for index in 0..<count {
        if case .wide(let low, let high) = cell.pointee {
          element(first &+ index).put(word: low, 0)
          element(first &+ index).put(word: high, 8)
        } else {
          putMissing(cell, first &+ index)
        }
        cell += step
      }
    case .bytes: break
    }
  }

  private func element(_ row: Int) -> UnsafeMutableRawPointer { values + row &* stride }

  /// Puts a null, or stops: nothing else may stand in place of a value of the column's type.
  @inline(never)
  private mutating func putMissing(_ cell: UnsafePointer<ColumnValue>, _ row: Int) {
    guard case .null = cell.pointee else {
      preconditionFailure("Column \(id) holds \(type); give it values of that type.")
    }
    putNull(row)
  }
}
