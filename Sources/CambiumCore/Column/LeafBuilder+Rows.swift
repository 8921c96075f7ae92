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
    var count = count
    // The bytes may be borrowed from one of these heaps, which must then outlive the copy.
    var outgrown: [UnsafeMutableRawPointer] = []
    defer { for heap in outgrown { heap.deallocate() } }
    for index in 0..<columnCount where columns[index].type == .bytes {
      count = columns[index].makeRoom(
        values + index, step: columnCount, count: count, inlineLimit: inlineLimit, &outgrown)
    }
    if count == 0 { return 0 }
    reserve(count)
    keys.unsafelyUnwrapped.advanced(by: rowCount).update(from: newKeys, count: count)
    for index in 0..<columnCount {
      columns[index].append(values + index, step: columnCount, count: count, at: rowCount)
    }
    rowCount &+= count
    isPacked = false
    return count
  }
}

extension BuilderColumn {
  /// Makes room for the bytes of the first of `count` cells, of which every `step`th value is one;
  /// returns how many of them fit into a leaf.
  fileprivate mutating func makeRoom(
    _ values: UnsafePointer<ColumnValue>, step: Int, count: Int, inlineLimit: Int,
    _ outgrown: inout [UnsafeMutableRawPointer]
  ) -> Int {
    var total = 0
    var cell = values
    var rows = 0
    scan: while rows < count {
      switch cell.pointee {
      case .bytes(let bytes):
        if bytes.count > inlineLimit { break scan }
        total &+= bytes.count
      case .tree: break scan
      default: break
      }
      rows &+= 1
      cell += step
    }
    if heap == nil || heapByteCount + total > heapCapacity, let old = growHeap(total) {
      outgrown.append(old)
    }
    return rows
  }

  /// Appends `count` cells, of which every `step`th value is one, behind `first` rows.
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
    case .bytes: appendBytes(cell, step: step, count: count, at: first)
    }
  }

  private func element(_ row: Int) -> UnsafeMutableRawPointer { values + row &* stride }

  /// Appends bytes for which there is room.
  private mutating func appendBytes(
    _ values: UnsafePointer<ColumnValue>, step: Int, count: Int, at first: Int
  ) {
    var cell = values
    let heap = heap.unsafelyUnwrapped
    let start = heapByteCount
    var end = start
    for row in first..<(first &+ count) {
      if case .bytes(let bytes) = cell.pointee {
        if let source = bytes.baseAddress { cambium_copy(heap + end, source, bytes.count) }
        slots[row] = Self.slot(end, bytes.count)
        end &+= bytes.count
      } else {
        putMissing(cell, row)
      }
      cell += step
    }
    heapByteCount = end
    liveByteCount &+= end &- start
  }

  /// Puts a null, or stops: nothing else may stand in place of a value of the column's type.
  @inline(never)
  private mutating func putMissing(_ cell: UnsafePointer<ColumnValue>, _ row: Int) {
    guard case .null = cell.pointee else {
      preconditionFailure("Column \(id) holds \(type); give it values of that type.")
    }
    putNull(row)
  }
}
