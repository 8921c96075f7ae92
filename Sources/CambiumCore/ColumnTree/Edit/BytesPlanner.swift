import CPlatform

/// Chooses how a column of bytes is packed: constant, variable or dictionary, and what its values
/// share at both ends.
///
/// Pointers: the column is that of a `LeafBuilder` that its packer holds and that does not change
/// meanwhile. The scratch was prepared for this number of columns and rows: codes and first rows have a place
/// for each row, and the table is never more than half full.
struct BytesPlanner {
  let column: BuilderColumn
  let rows: Int
  let scratch: PackScratch

  /// Fills `plan`; the column has a row that is not null.
  func plan(_ plan: inout ColumnPlan) {
    var model = 0
    while plan.hasNulls, column.isNull(model) { model += 1 }
    let common = column.overflowCount > 0 ? unsharedLengths() : shared(model: model, plan: plan)
    plan.hasOverflow = column.overflowCount > 0
    if common.isConstant {
      plan.encoding = .constant
      plan.entryCount = 1
      plan.fixedLength = common.longest
      plan.dataByteCount = common.longest
      plan.isAbsent = common.longest == 0 && !column.isNullable
      plan.setBytesFields()
      return
    }
    plan.prefix = common.prefix
    plan.suffix = common.suffix
    let affixes = common.prefix + common.suffix
    let longest = common.longest - affixes
    let isFixed = common.shortest == common.longest && (!plan.hasNulls || longest == 0)
    let heap = column.liveByteCount - affixes * (rows - column.nullCount)
    plan.encoding = .variable
    plan.entryCount = rows
    plan.fixedLength = isFixed ? longest : 0
    plan.setLengths(longest: longest, heap: heap, isFixed: isFixed)
    if !plan.hasOverflow, rows >= 4 { tryDictionary(&plan, longest: longest, isFixed: isFixed) }
    plan.setBytesFields()
  }

  private struct Common {
    var prefix = 0
    var suffix = 0
    var shortest = 0
    var longest = 0
    var isConstant = false
  }

  /// Lengths of a column some of whose values live elsewhere: nothing is factored out.
  private func unsharedLengths() -> Common {
    var common = Common(shortest: .max)
    for row in 0..<rows {
      let count = unsafe BuilderColumn.count(column.slots[row])
      common.shortest = min(common.shortest, count)
      common.longest = max(common.longest, count)
    }
    return common
  }

  /// What all values that are not null share with that of row `model`.
  private func shared(model: Int, plan: ColumnPlan) -> Common {
    guard let heap = unsafe column.heap else { return Common(isConstant: true) }
    let found = unsafe cambium_shared_affixes(
      column.slots, plan.hasNulls ? column.nulls : nil, heap, rows, model)
    var common = Common(
      prefix: found.prefix, suffix: found.suffix, shortest: found.shortest,
      longest: found.longest)
    common.isConstant =
      common.shortest == common.longest && common.prefix == common.longest
    common.suffix = min(common.suffix, common.shortest - common.prefix)
    return common
  }

  /// Replaces the plan by a dictionary if that takes fewer bytes.
  private func tryDictionary(_ plan: inout ColumnPlan, longest: Int, isFixed: Bool) {
    let codes = unsafe scratch.codes(plan.index)
    let firsts = unsafe scratch.firsts(plan.index)
    let table = unsafe scratch.table
    let mask = scratch.tableCount - 1
    unsafe table.update(repeating: 0, count: scratch.tableCount)
    let affixes = plan.prefix + plan.suffix
    let limit = min(rows * 3 / 4, 0xfffe)
    let probe = max(48, rows / 8)
    // Where the last leaf had nothing to share, a shorter look tells whether this one has.
    let look = scratch.wasDistinct(plan.index) ? 12 : 32
    var distinct = 0
    var heap = 0
    for row in 0..<rows {
      unsafe codes[row] = 0
      if plan.hasNulls, column.isNull(row) { continue }
      // A column of mostly different values is not worth hashing to its end.
      if row == probe && distinct > probe * 5 / 6 || row == look && distinct == look {
        scratch.noteDistinct(plan.index, true)
        return
      }
      let bytes = unsafe column.bytes(row)
      var place = unsafe Int(truncatingIfNeeded: Self.hash(bytes)) & mask
      while true {
        let entry = unsafe Int(table[place])
        if entry == 0 {
          guard distinct < limit else { return }
          unsafe firsts[distinct] = UInt32(row)
          unsafe codes[row] = UInt16(distinct)
          distinct += 1
          unsafe table[place] = UInt16(distinct)
          heap += bytes.count - affixes
          if heap >= plan.dataByteCount { return }
          break
        }
        let other = unsafe column.bytes(Int(firsts[entry - 1]))
        if other.count == bytes.count,
          unsafe equalBytes(other.baseAddress, bytes.baseAddress, count: bytes.count)
        {
          unsafe codes[row] = UInt16(entry - 1)
          break
        }
        place = (place + 1) & mask
      }
    }
    scratch.noteDistinct(plan.index, false)
    guard distinct >= 2 else { return }
    var dictionary = plan
    dictionary.encoding = .dictionary
    dictionary.entryCount = distinct
    dictionary.width = PackedIntegers.width(of: UInt64(distinct - 1))
    // Without nulls among the entries equal lengths need no list.
    let isFixed = isFixed || heap == longest * distinct
    dictionary.fixedLength = isFixed ? longest : 0
    dictionary.setLengths(longest: longest, heap: heap, isFixed: isFixed)
    dictionary.dataByteCount += aligned8(PackedIntegers.byteCount(rows, dictionary.width))
    if dictionary.dataByteCount < plan.dataByteCount { plan = dictionary }
  }

  private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    guard let start = bytes.baseAddress else { return 0 }
    let count = bytes.count
    var hash = UInt64(count) &* 0x9E37_79B9_7F4A_7C15
    func mix(_ word: UInt64) {
      let product = (hash ^ word).multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
      hash = product.high ^ product.low
    }
    if count >= 8 {
      var offset = 0
      while offset + 8 < count {
        unsafe mix(start.word(offset))
        offset += 8
      }
      unsafe mix(start.word(count - 8))
    } else if count >= 4 {
      unsafe mix(UInt64(start.single(0)) | UInt64(start.single(count - 4)) << 32)
    } else if count > 0 {
      unsafe mix(
        UInt64(start.byte(0)) | UInt64(start.byte(count / 2)) << 8
          | UInt64(start.byte(count - 1)) << 16)
    }
    return hash ^ hash >> 32
  }
}

/// Writes the data of a column of bytes as planned.
///
/// Pointers: the column and the scratch are those that were planned for, unchanged since. What is written
/// fits, because the plan counted the same bytes from the column's totals, and the page was sized by the
/// plan.
struct BytesWriter {
  let column: BuilderColumn
  let rows: Int
  let plan: ColumnPlan
  let scratch: PackScratch

  /// Fills `data`, which is zero and as long as planned.
  func write(to data: UnsafeMutableRawPointer) {
    var offset = 0
    if plan.encoding == .dictionary {
      let codes = unsafe scratch.codes(plan.index)
      for row in 0..<rows { unsafe PackedIntegers.store(UInt64(codes[row]), data, plan.width, row) }
      offset = aligned8(PackedIntegers.byteCount(rows, plan.width))
    }
    let lengths = unsafe data + offset
    offset += aligned8(plan.entryCount * Int(plan.lengthWidth / 8))
    let anchors = unsafe data + offset
    let groups = (plan.entryCount + LeafEntry.anchorSpan - 1) / LeafEntry.anchorSpan
    offset += aligned8(groups * Int(plan.anchorWidth / 8))
    var model = 0
    while column.isNull(model) { model += 1 }
    let shared = unsafe column.bytes(model)
    if plan.prefix > 0, let start = shared.baseAddress {
      unsafe (data + offset).copyMemory(from: start, byteCount: plan.prefix)
      offset += plan.prefix
    }
    if plan.suffix > 0, let start = shared.baseAddress {
      unsafe (data + offset).copyMemory(
        from: start + shared.count - plan.suffix, byteCount: plan.suffix)
      offset += plan.suffix
    }
    let heap = unsafe data + offset
    if plan.encoding == .constant {
      if let start = shared.baseAddress {
        unsafe heap.copyMemory(from: start, byteCount: shared.count)
      }
      return
    }
    unsafe writeEntries(lengths: lengths, anchors: anchors, heap: heap)
  }

  private func writeEntries(
    lengths: UnsafeMutableRawPointer, anchors: UnsafeMutableRawPointer,
    heap: UnsafeMutableRawPointer
  ) {
    let affixes = plan.prefix + plan.suffix
    let firsts = unsafe plan.encoding == .dictionary ? scratch.firsts(plan.index) : nil
    let nulls = unsafe column.nullCount > 0 ? column.nulls : nil
    var end = 0
    if plan.encoding == .variable, affixes == 0, column.isOrdered,
      column.heapByteCount == column.liveByteCount
    {
      // Rows that came in order lie as they must.
      if let start = unsafe column.heap {
        unsafe heap.copyMemory(from: start, byteCount: column.heapByteCount)
      }
      return unsafe writeLengths(lengths: lengths, anchors: anchors)
    }
    if plan.encoding == .variable, plan.lengthWidth == 8, let source = unsafe column.heap {
      end = unsafe cambium_pack_values(
        column.slots, nulls, source, rows, plan.prefix, plan.suffix, lengths, anchors,
        Int32(plan.anchorWidth / 8), heap)
      assert(end + affixes <= plan.dataByteCount, "The values fill the planned bytes.")
      return
    }
    for entry in 0..<plan.entryCount {
      if plan.lengthWidth > 0, entry % LeafEntry.anchorSpan == 0 {
        unsafe PackedIntegers.store(
          UInt64(end), anchors, plan.anchorWidth, entry / LeafEntry.anchorSpan)
      }
      let row = unsafe firsts.map { unsafe Int($0[entry]) } ?? entry
      if let nulls = unsafe nulls, unsafe nulls[row] != 0 { continue }
      let bytes = unsafe column.bytes(row)
      let count = bytes.count - affixes
      if let start = bytes.baseAddress {
        unsafe (heap + end).copyMemory(from: start + plan.prefix, byteCount: count)
      }
      if plan.lengthWidth > 0 {
        unsafe PackedIntegers.store(UInt64(count), lengths, plan.lengthWidth, entry)
      }
      end += count
    }
    assert(end + affixes <= plan.dataByteCount, "The values fill the planned bytes.")
  }

  private func writeLengths(
    lengths: UnsafeMutableRawPointer, anchors: UnsafeMutableRawPointer
  ) {
    if plan.lengthWidth == 0 { return }
    if plan.lengthWidth == 8 {
      return unsafe cambium_pack_lengths(
        column.slots, rows, lengths, anchors, Int32(plan.anchorWidth / 8))
    }
    var end = 0
    for row in 0..<rows {
      if row % LeafEntry.anchorSpan == 0 {
        unsafe PackedIntegers.store(
          UInt64(end), anchors, plan.anchorWidth, row / LeafEntry.anchorSpan)
      }
      let count = unsafe BuilderColumn.count(column.slots[row])
      unsafe PackedIntegers.store(UInt64(count), lengths, plan.lengthWidth, row)
      end += count
    }
  }
}
