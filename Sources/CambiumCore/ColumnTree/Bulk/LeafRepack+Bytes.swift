import CPlatform

/// Columns of bytes whose values lie one after another, none longer than a byte tells.
extension LeafRepack {
  /// Completes the plan of such a column: what all leaves factor out stays factored out.
  func planBytes(_ parts: UnsafeBufferPointer<RepackPart>, _ planned: ColumnPlan) -> ColumnPlan? {
    var plan = planned
    var (prefix, suffix) = unsafe (parts[0].prefix, parts[0].suffix)
    var iterator = unsafe parts.dropFirst().makeIterator()
    while let part = unsafe iterator.next() {
      unsafe prefix = unsafe prefix.commonStart(with: part.prefix)
      unsafe suffix = unsafe suffix.commonEnd(with: part.suffix)
    }
    (plan.prefix, plan.suffix) = (prefix.count, suffix.count)
    let fixedLength = unsafe parts[0].fixedLength
    var isFixed = true
    var rest = unsafe parts.makeIterator()
    while let part = unsafe rest.next() {
      guard part.lengthWidth > 0 || part.fixedLength != fixedLength else { continue }
      isFixed = false
    }
    var heap = 0
    for index in parts.indices {
      let part = unsafe parts[index]
      let more = unsafe part.prefix.count + part.suffix.count - prefix.count - suffix.count
      if more > 0 { isFixed = false }
      let place = unsafe lengths.count
      if part.lengthWidth == 0 {
        unsafe lengths.append(repeating: UInt8(part.fixedLength), count: part.endRow)
      } else {
        unsafe lengths.append(UnsafeBufferPointer(start: part.storedLengths, count: part.endRow))
      }
      setLengths(place, ofPart: plan.firstPart + index)
      let own = unsafe lengths.start + place
      // More is only in storage that rots under a mapping.
      guard unsafe Int(cambium_kept_bytes(own, nil, part.endRow)) <= part.heapByteCount else {
        return nil
      }
      if more > 0, (0..<part.endRow).contains(where: { unsafe Int(own[$0]) + more > 0xff }) {
        return nil
      }
      let first = part.firstRow
      unsafe heap +=
        Int(cambium_kept_bytes(own + first, part.removed + first, part.endRow - first))
        + more * part.count
    }
    plan.entryCount = rowCount
    plan.fixedLength = isFixed ? fixedLength : 0
    plan.setLengths(longest: 0xff, heap: heap, isFixed: isFixed)
    plan.setBytesFields()
    return plan
  }

  /// Writes such a column to `data`, which is zero and as long as planned.
  func writeBytes(_ plan: ColumnPlan, to data: UnsafeMutableRawPointer) {
    let lengths = unsafe data.assumingMemoryBound(to: UInt8.self)
    let anchors = unsafe data + aligned8(plan.entryCount * Int(plan.lengthWidth / 8))
    let groups = (plan.entryCount + LeafEntry.anchorSpan - 1) / LeafEntry.anchorSpan
    let affixes = unsafe anchors + aligned8(groups * Int(plan.anchorWidth / 8))
    let heap = unsafe (affixes + plan.prefix + plan.suffix).assumingMemoryBound(to: CChar.self)
    var end = 0
    var iterator = unsafe parts(from: plan.firstPart).makeIterator()
    while let part = unsafe iterator.next() {
      // What this leaf factors out and others do not goes back to the values.
      let head = unsafe UnsafeRawBufferPointer(rebasing: part.prefix[plan.prefix...])
      let tail = unsafe UnsafeRawBufferPointer(rebasing: part.suffix.dropLast(plan.suffix))
      if part.place == 0 {
        unsafe affixes.copyBytes(of: part.prefix.prefix(plan.prefix))
        unsafe (affixes + plan.prefix).copyBytes(of: part.suffix.suffix(plan.suffix))
      }
      let own = unsafe self.lengths.start + part.lengths
      let first = part.firstRow
      unsafe end += cambium_keep_values(
        part.heap + Int(cambium_kept_bytes(own, nil, first)),
        part.heap + part.heapByteCount + LeafHeader.slackByteCount, own + first,
        part.removed + first, part.endRow - first,
        head.baseAddress?.assumingMemoryBound(to: CChar.self), head.count,
        tail.baseAddress?.assumingMemoryBound(to: CChar.self), tail.count,
        plan.lengthWidth == 0 ? nil : lengths + part.place, heap + end)
    }
    if plan.lengthWidth > 0 {
      unsafe cambium_put_anchors(lengths, plan.entryCount, anchors, Int32(plan.anchorWidth / 8))
    }
    unsafe assert(
      UnsafeMutableRawPointer(heap + end) == data + plan.dataByteCount,
      "The values fill the planned bytes.")
    // The last values may have been copied together with what lies behind them.
    unsafe UnsafeMutableRawPointer(heap + end).initializeMemory(
      as: UInt8.self, repeating: 0, count: 32)
  }
}

/// What two ranges of bytes have in common.
///
/// Pointers: only bytes of the shorter one are compared; the result lies within the first and lasts as it
/// does.
extension UnsafeRawBufferPointer {
  private func equals(_ other: Self) -> Bool {
    unsafe count == other.count && equalBytes(baseAddress, other.baseAddress, count: count)
  }

  /// What both begin with.
  fileprivate func commonStart(with other: Self) -> Self {
    if unsafe equals(other) { return unsafe self }
    var count = 0
    while count < Swift.min(self.count, other.count), unsafe self[count] == other[count] {
      count += 1
    }
    return unsafe Self(rebasing: prefix(count))
  }

  /// What both end with.
  fileprivate func commonEnd(with other: Self) -> Self {
    if unsafe equals(other) { return unsafe self }
    var count = 0
    while count < Swift.min(self.count, other.count),
      unsafe self[self.count - count - 1] == other[other.count - count - 1]
    {
      count += 1
    }
    return unsafe Self(rebasing: suffix(count))
  }
}

extension UnsafeMutableRawPointer {
  /// Copies all of `bytes` here.
  ///
  /// Pointers: who calls has room for so many bytes, as a plan says of prefix and suffix.
  fileprivate func copyBytes(of bytes: Slice<UnsafeRawBufferPointer>) {
    if let start = unsafe UnsafeRawBufferPointer(rebasing: bytes).baseAddress {
      unsafe copyMemory(from: start, byteCount: bytes.count)
    }
  }
}
