import CPlatform

/// How a column will be packed.
struct ColumnPlan {
  var isAbsent = false
  var encoding = ColumnEncoding.constant
  var width: UInt8 = 0
  var lengthWidth: UInt8 = 0
  var anchorWidth: UInt8 = 0
  var hasNulls = false
  var hasOverflow = false
  var dataByteCount = 0
  var base: Int64 = 0
  var extra: UInt64 = 0
  /// The column's place among those of the leaf.
  var index = 0
  /// Whether its cells come from packed leaves, as they lie.
  var isGathered = false

  // Columns of bytes.
  var prefix = 0
  var suffix = 0
  var entryCount = 0
  var fixedLength = 0
  /// The first of the parts that a ``LeafRepack`` found of the column.
  var firstPart = 0

  mutating func setBytesFields() {
    base = Int64(fixedLength) | Int64(entryCount) << 32
    extra = UInt64(prefix) | UInt64(suffix) << 32
  }

  /// Sets widths of lengths and anchors, and the size of everything but codes.
  mutating func setLengths(longest: Int, heap: Int, isFixed: Bool) {
    let affixes = prefix + suffix
    if isFixed {
      (lengthWidth, anchorWidth) = (0, 0)
      dataByteCount = affixes + fixedLength * entryCount
      return
    }
    lengthWidth = longest <= 0xff ? 8 : longest <= 0xffff ? 16 : 32
    anchorWidth = heap <= 0xffff ? 16 : 32
    let groups = (entryCount + LeafEntry.anchorSpan - 1) / LeafEntry.anchorSpan
    dataByteCount =
      aligned8(entryCount * Int(lengthWidth / 8)) + aligned8(groups * Int(anchorWidth / 8))
      + affixes + heap
  }
}

/// Packs a builder into a page: first a plan for each column, then the bytes.
///
/// Pointers: the builder is kept, and no row comes or goes meanwhile: its arrays hold `rows` elements. The page is
/// grown to the size that the plans add up to before anything is written, and each part takes what its plan
/// says.
struct LeafPacker {
  private let builder: LeafBuilder
  private let scratch: PackScratch
  /// Rows of packed leaves that take the place of the builder's cells.
  private let gather: LeafRepack?
  private var rows: Int { unsafe builder.rowCount }
  private var bitmapByteCount: Int { (rows + 7) / 8 }

  init(_ builder: LeafBuilder, scratch: PackScratch, gather: LeafRepack? = nil) {
    self.builder = builder
    self.scratch = scratch
    self.gather = gather
  }

  /// Writes the packed leaf to `page`, growing it as needed.
  func pack(into page: DirtyPage) {
    scratch.prepare(columnCount: builder.columnCount, rowCount: rows)
    let plans = unsafe scratch.plans
    let keys = planKeys()
    var stored = 0
    var size = 0
    for index in 0..<builder.columnCount {
      unsafe plans[index] = unsafe plan(builder.columns + index, index: index)
      let plan = unsafe plans[index]
      if plan.isAbsent { continue }
      stored += 1
      size += aligned8(plan.dataByteCount)
      if plan.hasNulls { size += aligned8(bitmapByteCount) }
      if plan.hasOverflow { size += aligned8(bitmapByteCount) }
    }
    let directoryEnd = LeafHeader.byteCount + stored * LeafEntry.byteCount
    let keyByteCount = PackedIntegers.byteCount(rows, keys.width)
    size += directoryEnd + aligned8(keyByteCount)
    let total = size + LeafHeader.slackByteCount
    let old = unsafe page.byteCount
    unsafe page.byteCount = 0
    // Grown room comes zeroed.
    if unsafe page.capacity < total {
      page.grow(to: (total + 511) / 512 * 512)
    } else {
      unsafe page.bytes.initializeMemory(as: UInt8.self, repeating: 0, count: old)
    }
    let bytes = unsafe page.bytes
    unsafe page.byteCount = total

    var cursor = directoryEnd
    unsafe bytes.put(byte: PageKind.columnLeaf.rawValue, LeafHeader.kind)
    if unsafe builder.keys == nil {
      unsafe bytes.put(byte: LeafHeader.isPositional, LeafHeader.flags)
    }
    unsafe bytes.put(half: UInt16(stored), LeafHeader.columnCount)
    unsafe bytes.put(single: UInt32(rows), LeafHeader.rowCount)
    unsafe bytes.put(single: UInt32(size), LeafHeader.usedByteCount)
    unsafe bytes.put(byte: keys.width, LeafHeader.keyWidth)
    unsafe bytes.put(word: UInt64(bitPattern: keys.base), LeafHeader.keyBase)
    unsafe bytes.put(word: UInt64(bitPattern: keys.stride), LeafHeader.keyStride)
    if keys.width > 0 {
      unsafe bytes.put(single: UInt32(cursor), LeafHeader.keyOffset)
      unsafe writeKeys(keys, to: bytes + cursor)
      cursor += aligned8(keyByteCount)
    }
    var entry = unsafe bytes + LeafHeader.byteCount
    for index in 0..<builder.columnCount where unsafe !plans[index].isAbsent {
      unsafe write(
        plans[index], builder.columns + index, entry: entry, page: bytes, cursor: &cursor)
      unsafe entry += LeafEntry.byteCount
    }
    assert(cursor == size, "A leaf is as large as planned.")
  }

  // MARK: Keys

  private struct KeyPlan {
    var base: Int64 = 0
    var stride: Int64 = 1
    var width: UInt8 = 0
  }

  private func planKeys() -> KeyPlan {
    guard let keys = unsafe builder.keys, rows > 0 else { return KeyPlan() }
    let first = unsafe keys[0]
    let span = unsafe UInt64(bitPattern: keys[rows - 1] &- first)
    if span == UInt64(rows - 1) { return KeyPlan(base: first) }
    let plain = KeyPlan(base: first, stride: 0, width: PackedIntegers.width(of: span))
    // Residuals around an even stride are only worth a look when the span is no extreme.
    guard rows > 2, span < 1 << 62 else { return plain }
    let stride = Int64(span / UInt64(rows - 1))
    var low: Int64 = 0
    var high: Int64 = 0
    for row in 0..<rows {
      let residual = unsafe keys[row] &- first &- stride &* Int64(row)
      low = min(low, residual)
      high = max(high, residual)
    }
    let width = PackedIntegers.width(of: UInt64(bitPattern: high &- low))
    return width < plain.width ? KeyPlan(base: first &+ low, stride: stride, width: width) : plain
  }

  private func writeKeys(_ plan: KeyPlan, to data: UnsafeMutableRawPointer) {
    guard let keys = unsafe builder.keys else { return }
    if plan.stride == 0 {
      unsafe PackedIntegers.pack(keys, count: rows, base: plan.base, width: plan.width, into: data)
      return
    }
    for row in 0..<rows {
      let residual = unsafe keys[row] &- plan.base &- plan.stride &* Int64(row)
      unsafe PackedIntegers.store(UInt64(bitPattern: residual), data, plan.width, row)
    }
  }

  // MARK: Plans

  private func plan(_ column: UnsafeMutablePointer<BuilderColumn>, index: Int) -> ColumnPlan {
    if let gather {
      if let plan = unsafe gather.plan(column.pointee) { return plan }
      unsafe gather.load(&column.pointee)
    }
    var plan = ColumnPlan()
    plan.index = index
    let source = unsafe column.pointee
    if source.nullCount == rows {
      plan.isAbsent = true
      return plan
    }
    plan.hasNulls = source.nullCount > 0
    switch source.type {
    case .int: unsafe planInts(column, &plan)
    case .bool: planBools(source, &plan)
    case .float: planRaw(source, &plan, stride: 4)
    case .double: planRaw(source, &plan, stride: 8)
    case .wide: planWide(source, &plan)
    case .bytes: BytesPlanner(column: source, rows: rows, scratch: scratch).plan(&plan)
    }
    if !source.isNullable, source.type != .bytes, plan.encoding == .constant, plan.base == 0,
      plan.extra == 0
    {
      plan.isAbsent = true
    }
    return plan
  }

  private func planInts(_ column: UnsafeMutablePointer<BuilderColumn>, _ plan: inout ColumnPlan) {
    let ints = unsafe column.pointee.ints
    var low = Int64.max
    var high = Int64.min
    if plan.hasNulls, let nulls = unsafe column.pointee.nulls {
      for row in 0..<rows where unsafe nulls[row] == 0 {
        if unsafe ints[row] < low { low = unsafe ints[row] }
        if unsafe ints[row] > high { high = unsafe ints[row] }
      }
    } else {
      for row in 0..<rows {
        low = unsafe min(low, ints[row])
        high = unsafe max(high, ints[row])
      }
    }
    // Narrow the running bounds too: they only ever widen otherwise.
    unsafe column.pointee.minimum = low
    unsafe column.pointee.maximum = high
    plan.base = low
    if low == high { return }
    plan.encoding = .packed
    plan.width = PackedIntegers.width(of: UInt64(bitPattern: high &- low))
    plan.base = Self.base(low: low, high: high, width: plan.width)
    plan.dataByteCount = PackedIntegers.byteCount(rows, plan.width)
  }

  /// The base for integers from `low` to `high`: 0 where that covers them, so that later values
  /// likely fit, and never so high that an offset runs past the last integer.
  static func base(low: Int64, high: Int64, width: UInt8) -> Int64 {
    if width == 64 { return 0 }
    let reach = Int64(bitPattern: PackedIntegers.maximum(width))
    if low >= 0 && high <= reach { return 0 }
    return min(low, Int64.max - reach)
  }

  private func planBools(_ column: BuilderColumn, _ plan: inout ColumnPlan) {
    var trues = 0
    for row in 0..<rows { unsafe trues += Int(column.bools[row]) }
    if trues == 0 { return }
    if trues == rows - column.nullCount {
      plan.base = 1
      return
    }
    plan.encoding = .bitmap
    plan.dataByteCount = bitmapByteCount
  }

  private func planRaw(_ column: BuilderColumn, _ plan: inout ColumnPlan, stride: Int) {
    var first = 0
    while plan.hasNulls, column.isNull(first) { first += 1 }
    let model = unsafe UnsafeRawPointer(column.values + first * stride)
    for row in first..<rows
    where unsafe !equalBytes(model, column.values, at: row * stride, count: stride) {
      if plan.hasNulls, column.isNull(row) { continue }
      plan.encoding = .raw
      plan.dataByteCount = rows * stride
      return
    }
    switch stride {
    case 4: plan.base = unsafe Int64(model.single(0))
    case 8: plan.base = unsafe Int64(bitPattern: model.word(0))
    default:
      plan.base = unsafe Int64(bitPattern: model.word(0))
      plan.extra = unsafe model.word(8)
    }
  }

  /// High and low words as integers of their own, unless neither gets narrower: dates of whole seconds,
  /// identifiers of one program and decimal numbers of one exponent take a few bits each.
  private func planWide(_ column: BuilderColumn, _ plan: inout ColumnPlan) {
    planRaw(column, &plan, stride: 16)
    guard plan.encoding == .raw else { return }
    var high = (least: Int64.max, greatest: Int64.min)
    var low = (least: UInt64.max, greatest: UInt64.min)
    for row in 0..<rows where !(plan.hasNulls && column.isNull(row)) {
      let (first, second) = Self.words(column, row)
      low = (min(low.least, first), max(low.greatest, first))
      let signed = Int64(bitPattern: second)
      high = (min(high.least, signed), max(high.greatest, signed))
    }
    let highWidth = PackedIntegers.width(of: UInt64(bitPattern: high.greatest &- high.least))
    let lowWidth = PackedIntegers.width(of: low.greatest - low.least)
    if highWidth == 64, lowWidth == 64 { return }
    plan.encoding = .packed
    (plan.width, plan.lengthWidth) = (highWidth, lowWidth)
    plan.base =
      highWidth == 0
      ? high.least : Self.base(low: high.least, high: high.greatest, width: highWidth)
    // A base of 0 where that covers them, so that later words likely fit.
    plan.extra =
      lowWidth > 0 && low.greatest <= PackedIntegers.maximum(lowWidth) ? 0 : low.least
    plan.dataByteCount =
      LeafColumn.lowWordsOffset(rows, highWidth) + PackedIntegers.byteCount(rows, lowWidth)
  }

  private static func words(_ column: BuilderColumn, _ row: Int) -> (low: UInt64, high: UInt64) {
    let cell = unsafe UnsafeRawPointer(column.values + row * 16)
    return unsafe (cell.word(0), cell.word(8))
  }

  private func writePackedWide(
    _ plan: ColumnPlan, _ column: BuilderColumn, to data: UnsafeMutableRawPointer
  ) {
    let lows = unsafe data + LeafColumn.lowWordsOffset(rows, plan.width)
    // A null row has offsets 0, which are there already.
    for row in 0..<rows where !(plan.hasNulls && column.isNull(row)) {
      let (low, high) = Self.words(column, row)
      unsafe PackedIntegers.store(high &- UInt64(bitPattern: plan.base), data, plan.width, row)
      unsafe PackedIntegers.store(low &- plan.extra, lows, plan.lengthWidth, row)
    }
  }

  // MARK: Bytes

  private func write(
    _ plan: ColumnPlan, _ column: UnsafeMutablePointer<BuilderColumn>,
    entry: UnsafeMutableRawPointer, page: UnsafeMutableRawPointer, cursor: inout Int
  ) {
    unsafe entry.put(half: column.pointee.id, LeafEntry.id)
    unsafe entry.put(byte: column.pointee.type.rawValue, LeafEntry.type)
    unsafe entry.put(byte: plan.encoding.rawValue, LeafEntry.encoding)
    unsafe entry.put(byte: plan.width, LeafEntry.width)
    unsafe entry.put(byte: column.pointee.isNullable ? LeafEntry.isNullable : 0, LeafEntry.flags)
    unsafe entry.put(byte: plan.lengthWidth, LeafEntry.lengthWidth)
    unsafe entry.put(byte: plan.anchorWidth, LeafEntry.anchorWidth)
    unsafe entry.put(word: UInt64(bitPattern: plan.base), LeafEntry.base)
    unsafe entry.put(word: plan.extra, LeafEntry.extra)
    let gather = plan.isGathered ? gather : nil
    if plan.hasNulls {
      unsafe entry.put(single: UInt32(cursor), LeafEntry.nulls)
      if let gather {
        unsafe gather.writeNulls(plan, to: page + cursor)
      } else if let nulls = unsafe column.pointee.nulls {
        unsafe writeBitmap(nulls, to: page + cursor)
      }
      cursor += aligned8(bitmapByteCount)
    }
    if plan.hasOverflow {
      unsafe entry.put(single: UInt32(cursor), LeafEntry.overflow)
      for row in 0..<rows where unsafe column.pointee.isOverflow(row) {
        unsafe PackedIntegers.store(1, page + cursor, 1, row)
      }
      cursor += aligned8(bitmapByteCount)
    }
    if plan.dataByteCount == 0 { return }
    unsafe entry.put(single: UInt32(cursor), LeafEntry.dataOffset)
    unsafe entry.put(single: UInt32(plan.dataByteCount), LeafEntry.dataByteCount)
    if let gather {
      unsafe gather.writeData(plan, to: page + cursor)
    } else {
      unsafe writeData(plan, column, to: page + cursor)
    }
    cursor += aligned8(plan.dataByteCount)
  }

  private func writeBitmap(_ flags: UnsafePointer<UInt8>, to data: UnsafeMutableRawPointer) {
    let out = unsafe data.assumingMemoryBound(to: UInt8.self)
    let source = unsafe UnsafeRawPointer(flags)
    var row = 0
    while row &+ 8 <= rows {
      // Eight flags of 0 or 1, gathered in the top byte.
      let bits = unsafe source.word(row) &* 0x0102_0408_1020_4080
      unsafe out[row &>> 3] = UInt8(truncatingIfNeeded: bits &>> 56)
      row &+= 8
    }
    while row < rows {
      unsafe out[row &>> 3] |= flags[row] &<< UInt8(row & 7)
      row &+= 1
    }
  }

  private func writeData(
    _ plan: ColumnPlan, _ column: UnsafeMutablePointer<BuilderColumn>,
    to data: UnsafeMutableRawPointer
  ) {
    switch unsafe column.pointee.type {
    case .int:
      if plan.hasNulls, let nulls = unsafe column.pointee.nulls {
        // A null row has offset 0, which every width holds.
        for row in 0..<rows where unsafe nulls[row] != 0 {
          unsafe column.pointee.ints[row] = plan.base
        }
      }
      unsafe PackedIntegers.pack(
        column.pointee.ints, count: rows, base: plan.base, width: plan.width, into: data)
    case .bool: unsafe writeBitmap(column.pointee.bools, to: data)
    case .wide where plan.encoding == .packed:
      unsafe writePackedWide(plan, column.pointee, to: data)
    case .float, .double, .wide:
      unsafe data.copyMemory(from: column.pointee.values, byteCount: plan.dataByteCount)
    case .bytes:
      unsafe BytesWriter(column: column.pointee, rows: rows, plan: plan, scratch: scratch).write(
        to: data)
    }
  }
}
