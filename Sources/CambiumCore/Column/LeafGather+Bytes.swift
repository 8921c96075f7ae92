import CPlatform

/// Columns of bytes whose values lie one after another.
extension LeafGather {
  /// Completes the plan of such a column: what all leaves factor out stays factored out.
  func planBytes(_ id: UInt16, _ planned: ColumnPlan) -> ColumnPlan? {
    var plan = planned
    var affixes: (prefix: UnsafeRawBufferPointer, suffix: UnsafeRawBufferPointer)?
    forEachColumn(id) { column, _, _ in
      guard let parts = column.bytesColumn else { return }
      guard let (prefix, suffix) = affixes else {
        affixes = (parts.prefix, parts.suffix)
        return
      }
      affixes = (prefix.commonStart(with: parts.prefix), suffix.commonEnd(with: parts.suffix))
    }
    guard let affixes else { return nil }
    (plan.prefix, plan.suffix) = (affixes.prefix.count, affixes.suffix.count)
    var (heap, shortest, longest) = (0, Int.max, 0)
    var isSound = true
    plan.firstStart = -1
    forEachColumn(id) { column, rows, _ in
      guard let parts = column.bytesColumn, let place = noteStarts(parts) else {
        isSound = false
        return
      }
      if plan.firstStart < 0 { plan.firstStart = place }
      let lengths = cambium_gathered_lengths(starts(from: place), rows.baseAddress, rows.count)
      let more = parts.prefix.count + parts.suffix.count - plan.prefix - plan.suffix
      heap += Int(lengths.total) + more * rows.count
      shortest = min(shortest, Int(lengths.shortest) + more)
      longest = max(longest, Int(lengths.longest) + more)
    }
    guard isSound else { return nil }
    plan.entryCount = rowCount
    let isFixed = shortest == longest
    plan.fixedLength = isFixed ? longest : 0
    plan.setLengths(longest: longest, heap: heap, isFixed: isFixed)
    plan.setBytesFields()
    return plan
  }

  /// Writes such a column to `data`, which is zero and as long as planned.
  func writeBytes(_ plan: ColumnPlan, _ id: UInt16, to data: UnsafeMutableRawPointer) {
    let lengths = data
    let anchors = lengths + aligned8(plan.entryCount * Int(plan.lengthWidth / 8))
    let groups = (plan.entryCount + LeafEntry.anchorSpan - 1) / LeafEntry.anchorSpan
    let affixes = anchors + aligned8(groups * Int(plan.anchorWidth / 8))
    let heap = affixes + plan.prefix + plan.suffix
    var end = 0
    var next = plan.firstStart
    forEachColumn(id) { column, rows, place in
      guard let parts = column.bytesColumn else { return }
      let starts = starts(from: next)
      next += parts.entryCount + 1
      // What this leaf factors out and others do not goes back to the values.
      let head = UnsafeRawBufferPointer(rebasing: parts.prefix[plan.prefix...])
      let tail = UnsafeRawBufferPointer(rebasing: parts.suffix.dropLast(plan.suffix))
      if place == 0 {
        affixes.copyBytes(of: parts.prefix.prefix(plan.prefix))
        (affixes + plan.prefix).copyBytes(of: parts.suffix.suffix(plan.suffix))
      }
      if plan.lengthWidth > 8 {
        writeLengths(
          plan, starts, rows, more: head.count + tail.count, at: place, end: end, to: lengths,
          anchors)
      }
      end += cambium_gather_values(
        parts.heap, parts.heap + parts.heapByteCount + LeafHeader.slackByteCount, starts,
        rows.baseAddress, rows.count, head.baseAddress, head.count, tail.baseAddress, tail.count,
        plan.lengthWidth == 8 ? lengths.assumingMemoryBound(to: UInt8.self) + place : nil,
        heap + end)
    }
    if plan.lengthWidth == 8 {
      cambium_put_anchors(
        lengths.assumingMemoryBound(to: UInt8.self), plan.entryCount, anchors,
        Int32(plan.anchorWidth / 8))
    }
    assert(heap + end == data + plan.dataByteCount, "The values fill the planned bytes.")
    // The last values may have been copied together with what lies behind them.
    (heap + end).initializeMemory(as: UInt8.self, repeating: 0, count: 32)
  }

  /// Writes longer lengths and anchors of the rows of a leaf, behind `first` rows whose values take `end` bytes.
  private func writeLengths(
    _ plan: ColumnPlan, _ starts: UnsafePointer<UInt32>, _ rows: UnsafeBufferPointer<Int32>,
    more: Int, at first: Int, end: Int, to lengths: UnsafeMutableRawPointer,
    _ anchors: UnsafeMutableRawPointer
  ) {
    var end = end
    var entry = first
    for row in rows {
      if entry % LeafEntry.anchorSpan == 0 {
        PackedIntegers.store(
          UInt64(end), anchors, plan.anchorWidth, entry / LeafEntry.anchorSpan)
      }
      let count = Int(starts[Int(row) &+ 1] &- starts[Int(row)]) &+ more
      PackedIntegers.store(UInt64(count), lengths, plan.lengthWidth, entry)
      end &+= count
      entry &+= 1
    }
  }
}

extension UnsafeRawBufferPointer {
  private func equals(_ other: Self) -> Bool {
    count == other.count && equalBytes(baseAddress, other.baseAddress, count: count)
  }

  /// What both begin with.
  fileprivate func commonStart(with other: Self) -> Self {
    if equals(other) { return self }
    var count = 0
    while count < Swift.min(self.count, other.count), self[count] == other[count] { count += 1 }
    return Self(rebasing: prefix(count))
  }

  /// What both end with.
  fileprivate func commonEnd(with other: Self) -> Self {
    if equals(other) { return self }
    var count = 0
    while count < Swift.min(self.count, other.count),
      self[self.count - count - 1] == other[other.count - count - 1]
    {
      count += 1
    }
    return Self(rebasing: suffix(count))
  }
}

extension UnsafeMutableRawPointer {
  fileprivate func copyBytes(of bytes: Slice<UnsafeRawBufferPointer>) {
    if let start = UnsafeRawBufferPointer(rebasing: bytes).baseAddress {
      copyMemory(from: start, byteCount: bytes.count)
    }
  }
}
