import CPlatform

/// Columns that are packed alike in all leaves, gathered as they lie.
extension LeafGather {
  /// How a column is gathered; nil when the leaves do not agree on how it is packed.
  func plan(_ column: BuilderColumn, index: Int) -> ColumnPlan? {
    var plan = ColumnPlan()
    plan.index = index
    plan.isGathered = true
    var model: LeafColumn?
    var count = 0
    var nullCount = 0
    var isAlike = true
    forEachColumn(column.id) { packed, rows, _ in
      count += 1
      let first = model ?? packed
      model = first
      if packed.type != column.type || !packed.isPacked(like: first) { isAlike = false }
      if let nulls = packed.nulls {
        if !column.isNullable { isAlike = false }
        nullCount += cambium_count_bits(
          nulls.assumingMemoryBound(to: UInt8.self), rows.baseAddress, rows.count)
      }
    }
    guard let model, nullCount < rowCount else {
      plan.isAbsent = true
      return isAlike ? plan : nil
    }
    guard isAlike, count == leafCount else { return nil }
    plan.hasNulls = nullCount > 0
    plan.encoding = model.encoding
    if model.type == .bytes { return planBytes(column.id, plan) }
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
  func writeNulls(_ id: UInt16, to bitmap: UnsafeMutableRawPointer) {
    forEachColumn(id) { column, rows, place in
      guard let nulls = column.nulls else { return }
      gatherBits(nulls, rows, to: bitmap, place)
    }
  }

  /// Writes the data of a column to `data`, which is zero.
  func writeData(_ plan: ColumnPlan, _ id: UInt16, to data: UnsafeMutableRawPointer) {
    if plan.encoding == .variable { return writeBytes(plan, id, to: data) }
    forEachColumn(id) { column, rows, place in
      let source = column.data
      switch (column.type, column.encoding) {
      case (.bool, .bitmap): gatherBits(source, rows, to: data, place)
      case (.float, .raw): gather(UInt32.self, source, rows, to: data, place)
      case (.double, .raw): gather(UInt64.self, source, rows, to: data, place)
      case (.wide, .raw): gather((UInt64, UInt64).self, source, rows, to: data, place)
      case (.int, .packed):
        switch column.width {
        case 8: gather(UInt8.self, source, rows, to: data, place)
        case 16: gather(UInt16.self, source, rows, to: data, place)
        case 32: gather(UInt32.self, source, rows, to: data, place)
        case 64: gather(UInt64.self, source, rows, to: data, place)
        case 1: gatherBits(source, rows, to: data, place)
        default:
          for index in 0..<rows.count {
            let value = PackedIntegers.load(source, column.width, Int(rows[index]))
            PackedIntegers.store(value, data, column.width, place &+ index)
          }
        }
      default: return
      }
    }
  }

  private func gatherBits(
    _ bits: UnsafeRawPointer, _ rows: UnsafeBufferPointer<Int32>,
    to target: UnsafeMutableRawPointer, _ place: Int
  ) {
    cambium_gather_bits(
      bits.assumingMemoryBound(to: UInt8.self), rows.baseAddress, rows.count,
      target.assumingMemoryBound(to: UInt8.self), place)
  }

  /// Copies the elements that `rows` names to `target`, behind `place` others.
  @inline(__always)
  private func gather<Element: BitwiseCopyable>(
    _: Element.Type, _ source: UnsafeRawPointer, _ rows: UnsafeBufferPointer<Int32>,
    to target: UnsafeMutableRawPointer, _ place: Int
  ) {
    // Segments begin at multiples of 8, as elements of any size do that lie in them.
    let from = source.assumingMemoryBound(to: Element.self)
    let to = target.assumingMemoryBound(to: Element.self) + place
    for index in 0..<rows.count { to[index] = from[Int(rows[index])] }
  }
}

extension LeafColumn {
  /// Whether rows of this column may stand beside rows of `other` as they lie.
  fileprivate func isPacked(like other: LeafColumn) -> Bool {
    guard type == other.type, encoding == other.encoding else { return false }
    if type == .bytes { return encoding == .variable && outboard == nil }
    return width == other.width && base == other.base && extra == other.extra
  }
}
