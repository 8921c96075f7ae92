/// Other integers for a column of a packed leaf; everything else is copied as it lies.
///
/// Pointers: `values` is the caller's, with an integer for each row, and outlives this value. The new page
/// lies in the scratch, which is made as large as the parts it is put together of; these are found in the old
/// leaf once, and `LeafColumn` has checked that they are within it.
@safe struct LeafIntegerColumn {
  private let leaf: ColumnLeaf
  private let spec: ColumnSpec
  private let values: UnsafeMutablePointer<Int64>
  private var bitmapByteCount: Int { (leaf.rowCount + 7) / 8 }

  /// Has an integer for each row of `leaf`; those of null rows mean nothing and are overwritten.
  init(_ leaf: ColumnLeaf, _ spec: ColumnSpec, _ values: UnsafeMutablePointer<Int64>) {
    self.leaf = leaf
    self.spec = spec
    unsafe self.values = unsafe values
  }

  /// How the integers are packed.
  private struct Plan {
    var encoding = ColumnEncoding.constant
    var width: UInt8 = 0
    var base: Int64 = 0
    var byteCount = 0
  }

  /// The leaf with these integers in the column.
  ///
  /// Its page is zero up to whole units and valid until `scratch` is used again.
  func replace(_ scratch: PackScratch) throws(StoreError) -> ColumnLeaf {
    let old = leaf.column(spec.id)
    let plan = plan(old)
    if let old, let patched = patch(old, plan, scratch) { return patched }
    var columns: [LeafColumn] = []
    let isNew = old == nil
    let stored = leaf.columnCount + (isNew ? 1 : 0)
    let keyByteCount = PackedIntegers.byteCount(leaf.rowCount, leaf.keyWidth)
    let directoryEnd = LeafHeader.byteCount + stored * LeafEntry.byteCount
    var used = directoryEnd + aligned8(keyByteCount) + aligned8(plan.byteCount)
    columns.reserveCapacity(leaf.columnCount)
    for index in 0..<leaf.columnCount {
      guard let column = unsafe LeafColumn(entry: entry(index), leaf: leaf) else {
        throw .damaged(Damage(.encoding, "a column of a leaf cannot be read"))
      }
      columns.append(column)
      if unsafe column.nulls != nil { used += aligned8(bitmapByteCount) }
      if unsafe column.overflow != nil { used += aligned8(bitmapByteCount) }
      if column.id != spec.id { used += aligned8(column.dataByteCount) }
    }
    let total = (used + LeafHeader.slackByteCount + 63) & ~63
    let target = unsafe scratch.splicePage(byteCount: total)
    unsafe target.copyMemory(from: leaf.page.bytes, byteCount: LeafHeader.byteCount)
    unsafe target.put(half: UInt16(stored), LeafHeader.columnCount)
    unsafe target.put(single: UInt32(used), LeafHeader.usedByteCount)
    var cursor = directoryEnd
    if keyByteCount > 0 {
      unsafe target.put(single: UInt32(cursor), LeafHeader.keyOffset)
      unsafe (target + cursor).copyMemory(from: leaf.keyOffsets, byteCount: keyByteCount)
      cursor += aligned8(keyByteCount)
    }
    var place = unsafe target + LeafHeader.byteCount
    var isPending = isNew
    for (index, column) in columns.enumerated() {
      if isPending, column.id > spec.id {
        unsafe putNew(plan, entry: place, page: target, &cursor)
        unsafe place += LeafEntry.byteCount
        isPending = false
      }
      unsafe place.copyMemory(from: entry(index), byteCount: LeafEntry.byteCount)
      unsafe copy(
        column.nulls, bitmapByteCount, LeafEntry.nulls, entry: place, page: target, &cursor)
      unsafe copy(
        column.overflow, bitmapByteCount, LeafEntry.overflow, entry: place, page: target, &cursor)
      if column.id == spec.id {
        unsafe put(plan, entry: place, page: target, &cursor)
      } else if column.dataByteCount > 0 {
        unsafe copy(
          column.data, column.dataByteCount, LeafEntry.dataOffset, entry: place, page: target,
          &cursor)
      }
      unsafe place += LeafEntry.byteCount
    }
    if isPending { unsafe putNew(plan, entry: place, page: target, &cursor) }
    assert(cursor == used, "A leaf is as large as planned.")
    return unsafe ColumnLeaf(Page(bytes: target, byteCount: total, owner: nil))
  }

  /// A copy of the leaf with the integers in the place of the old ones; nil when they are packed in
  /// another way.
  private func patch(_ old: LeafColumn, _ plan: Plan, _ scratch: PackScratch) -> ColumnLeaf? {
    guard plan.encoding == .packed, old.encoding == .packed, old.width == plan.width,
      old.base == plan.base
    else { return nil }
    let bytes = unsafe leaf.page.bytes
    let used = unsafe Int(bytes.single(LeafHeader.usedByteCount)) + LeafHeader.slackByteCount
    let offset = unsafe old.data - bytes
    guard used <= leaf.page.byteCount, offset + plan.byteCount <= used else { return nil }
    let total = (used + 63) & ~63
    let target = unsafe scratch.unfilledPage(byteCount: total)
    unsafe target.copyMemory(from: bytes, byteCount: used)
    unsafe (target + used).initializeMemory(as: UInt8.self, repeating: 0, count: total - used)
    let data = unsafe target + offset
    // Narrow integers are put together bit by bit.
    if plan.width < 8 {
      unsafe data.initializeMemory(as: UInt8.self, repeating: 0, count: plan.byteCount)
    }
    unsafe PackedIntegers.pack(
      values, count: leaf.rowCount, base: plan.base, width: plan.width, into: data)
    return unsafe ColumnLeaf(Page(bytes: target, byteCount: total, owner: nil))
  }

  private func entry(_ index: Int) -> UnsafeRawPointer {
    unsafe leaf.page.bytes + LeafHeader.byteCount + index * LeafEntry.byteCount
  }

  /// Chooses base and width as a packer does, and sets the integers of null rows to the base.
  private func plan(_ old: LeafColumn?) -> Plan {
    var (low, high) = (Int64.max, Int64.min)
    let nulls = old.flatMap { $0.hasNulls ? $0 : nil }
    for row in 0..<leaf.rowCount {
      if let nulls, nulls.isNull(row) { continue }
      low = unsafe min(low, values[row])
      high = unsafe max(high, values[row])
    }
    if low >= high { return Plan(base: low > high ? 0 : low) }
    var plan = Plan(encoding: .packed)
    plan.width = PackedIntegers.width(of: UInt64(bitPattern: high &- low))
    plan.base = LeafPacker.base(low: low, high: high, width: plan.width)
    plan.byteCount = PackedIntegers.byteCount(leaf.rowCount, plan.width)
    if let nulls {
      for row in 0..<leaf.rowCount where nulls.isNull(row) { unsafe values[row] = plan.base }
    }
    return plan
  }

  private func copy(
    _ segment: UnsafeRawPointer?, _ byteCount: Int, _ field: Int,
    entry: UnsafeMutableRawPointer, page: UnsafeMutableRawPointer, _ cursor: inout Int
  ) {
    guard let segment = unsafe segment else { return }
    unsafe entry.put(single: UInt32(cursor), field)
    unsafe (page + cursor).copyMemory(from: segment, byteCount: byteCount)
    cursor += aligned8(byteCount)
  }

  private func put(
    _ plan: Plan, entry: UnsafeMutableRawPointer, page: UnsafeMutableRawPointer,
    _ cursor: inout Int
  ) {
    unsafe entry.put(byte: plan.encoding.rawValue, LeafEntry.encoding)
    unsafe entry.put(byte: plan.width, LeafEntry.width)
    unsafe entry.put(word: UInt64(bitPattern: plan.base), LeafEntry.base)
    unsafe entry.put(word: 0, LeafEntry.extra)
    unsafe entry.put(single: plan.byteCount > 0 ? UInt32(cursor) : 0, LeafEntry.dataOffset)
    unsafe entry.put(single: UInt32(plan.byteCount), LeafEntry.dataByteCount)
    unsafe PackedIntegers.pack(
      values, count: leaf.rowCount, base: plan.base, width: plan.width, into: page + cursor)
    cursor += aligned8(plan.byteCount)
  }

  private func putNew(
    _ plan: Plan, entry: UnsafeMutableRawPointer, page: UnsafeMutableRawPointer,
    _ cursor: inout Int
  ) {
    unsafe entry.put(half: spec.id, LeafEntry.id)
    unsafe entry.put(byte: spec.type.rawValue, LeafEntry.type)
    unsafe entry.put(byte: spec.isNullable ? LeafEntry.isNullable : 0, LeafEntry.flags)
    unsafe put(plan, entry: entry, page: page, &cursor)
  }
}
