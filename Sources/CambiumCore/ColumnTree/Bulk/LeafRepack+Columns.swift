import CPlatform

/// Columns that are packed alike in all leaves, gathered as they lie.
extension LeafRepack {
  /// How a column is gathered; nil when the leaves do not agree on how it is packed.
  func plan(_ column: BuilderColumn) -> ColumnPlan? {
    var plan = ColumnPlan()
    plan.isGathered = true
    plan.firstPart = partCount
    guard let parts = unsafe findParts(of: column.id) else { return nil }
    guard let model = unsafe parts.first else {
      plan.isAbsent = true
      return plan
    }
    var nullCount = 0
    var iterator = unsafe parts.makeIterator()
    while let part = unsafe iterator.next() {
      guard part.type == column.type, part.isPacked(like: model) else { return nil }
      guard let nulls = unsafe part.nulls else { continue }
      // Nulls of a time when the column could be null stay behind.
      if !column.isNullable { return nil }
      unsafe nullCount += cambium_count_bits(nulls, part.rows, part.count)
    }
    if nullCount == rowCount {
      plan.isAbsent = true
      return plan
    }
    plan.hasNulls = nullCount > 0
    plan.encoding = model.encoding
    if model.type == .bytes { return unsafe planBytes(parts, plan) }
    // Packed words of 128 bits are planned anew, and narrower where they can be.
    if model.type == .wide, model.encoding == .packed { return nil }
    (plan.width, plan.base, plan.extra) = (model.width, model.base, model.extra)
    switch model.encoding {
    case .packed: plan.dataByteCount = PackedIntegers.byteCount(rowCount, model.width)
    case .bitmap: plan.dataByteCount = (rowCount + 7) / 8
    case .raw: plan.dataByteCount = rowCount * column.stride
    default: plan.dataByteCount = 0
    }
    return plan
  }

  /// Writes the bitmap of nulls to `bitmap`, which is zero.
  func writeNulls(_ plan: ColumnPlan, to bitmap: UnsafeMutableRawPointer) {
    var iterator = unsafe parts(from: plan.firstPart).makeIterator()
    while let part = unsafe iterator.next() {
      guard let nulls = unsafe part.nulls else { continue }
      unsafe gatherBits(nulls, part, to: bitmap)
    }
  }

  /// Writes the data of a column to `data`, which is zero.
  func writeData(_ plan: ColumnPlan, to data: UnsafeMutableRawPointer) {
    if plan.encoding == .variable { return unsafe writeBytes(plan, to: data) }
    var iterator = unsafe parts(from: plan.firstPart).makeIterator()
    while let part = unsafe iterator.next() {
      switch (part.type, part.encoding) {
      case (.bool, .bitmap): unsafe gatherBits(part.data, part, to: data)
      case (.float, .raw): unsafe gather(UInt32.self, part, to: data)
      case (.double, .raw): unsafe gather(UInt64.self, part, to: data)
      case (.wide, .raw): unsafe gather((UInt64, UInt64).self, part, to: data)
      case (.int, .packed):
        switch part.width {
        case 8: unsafe gather(UInt8.self, part, to: data)
        case 16: unsafe gather(UInt16.self, part, to: data)
        case 32: unsafe gather(UInt32.self, part, to: data)
        case 64: unsafe gather(UInt64.self, part, to: data)
        case 1: unsafe gatherBits(part.data, part, to: data)
        default:
          for index in 0..<part.count {
            let value = unsafe PackedIntegers.load(part.data, part.width, Int(part.rows[index]))
            unsafe PackedIntegers.store(value, data, part.width, part.place &+ index)
          }
        }
      default: return
      }
    }
  }

  private func gatherBits(
    _ bits: UnsafeRawPointer, _ part: RepackPart, to target: UnsafeMutableRawPointer
  ) {
    unsafe cambium_gather_bits(
      bits.assumingMemoryBound(to: UInt8.self), part.rows, part.count,
      target.assumingMemoryBound(to: UInt8.self), part.place)
  }

  /// Copies the elements of a part's rows to `target`, behind those of the parts before.
  @inline(__always)
  private func gather<Element: BitwiseCopyable>(
    _: Element.Type, _ part: RepackPart, to target: UnsafeMutableRawPointer
  ) {
    // Segments begin at multiples of 8, as elements of any size do that lie in them.
    let from = unsafe part.data.assumingMemoryBound(to: Element.self)
    let to = unsafe target.assumingMemoryBound(to: Element.self) + part.place
    for index in 0..<part.count { unsafe to[index] = unsafe from[Int(part.rows[index])] }
  }
}
