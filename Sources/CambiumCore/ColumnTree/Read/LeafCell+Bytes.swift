extension LeafCell {
  /// The cell of a column of bytes that is not null; null when the column breaks the format.
  ///
  /// The same as ``LeafColumn/bytes(_:)`` for a single cell, without gathering the column's parts
  /// first.
  public var bytes: BytesCell {
    @inline(never) get {
      let none = unsafe BytesCell(form: .null, body: UnsafeRawBufferPointer(start: nil, count: 0))
      guard unsafe entry.byte(LeafEntry.type) == ColumnType.bytes.rawValue,
        let encoding = unsafe ColumnEncoding(rawValue: entry.byte(LeafEntry.encoding))
      else { return none }
      let row = Int(place.row)
      let rowCount = Int(place.rowCount)
      let lengthWidth = unsafe entry.byte(LeafEntry.lengthWidth)
      let anchorWidth = unsafe entry.byte(LeafEntry.anchorWidth)
      let dataByteCount = offset(LeafEntry.dataByteCount)
      guard let data = unsafe data(0, dataByteCount &+ LeafHeader.slackByteCount) else {
        return none
      }
      let entryCount = Int(truncatingIfNeeded: base &>> 32)
      var index = row
      var offset = 0
      switch encoding {
      case .constant:
        guard entryCount == 1 else { return none }
        index = 0
      case .dictionary:
        let width = unsafe entry.byte(LeafEntry.width)
        offset = (PackedIntegers.byteCount(rowCount, width) &+ 7) & ~7
        guard entryCount >= 1, entryCount <= rowCount, PackedIntegers.isWidth(width),
          offset <= dataByteCount
        else { return none }
        let code = unsafe Int(truncatingIfNeeded: PackedIntegers.load(data, width, row))
        index = code < entryCount ? code : 0
      default: guard entryCount == rowCount else { return none }
      }
      let lengths = unsafe data + offset
      var anchors = unsafe lengths
      if lengthWidth != 0 {
        guard lengthWidth <= 32, lengthWidth & 7 == 0, anchorWidth == 16 || anchorWidth == 32
        else { return none }
        offset &+= (entryCount &* Int(lengthWidth &>> 3) &+ 7) & ~7
        unsafe anchors = unsafe data + offset
        let groups = (entryCount &+ LeafEntry.anchorSpan &- 1) / LeafEntry.anchorSpan
        offset &+= (groups &* Int(anchorWidth &>> 3) &+ 7) & ~7
      }
      let affixes = unsafe UInt64(
        littleEndian: entry.loadUnaligned(fromByteOffset: LeafEntry.extra, as: UInt64.self))
      let headCount = Int(UInt32(truncatingIfNeeded: affixes))
      let tailCount = Int(affixes &>> 32)
      let heap = offset &+ headCount &+ tailCount
      guard heap <= dataByteCount else { return none }
      let found = unsafe Self.place(
        index, lengths, lengthWidth, anchors, anchorWidth, Int(UInt32(truncatingIfNeeded: base)))
      guard found.offset &+ found.count <= dataByteCount &- heap else { return none }
      let body = unsafe UnsafeRawBufferPointer(
        start: data + (heap &+ found.offset), count: found.count)
      if isOverflow {
        return unsafe BytesCell(form: body.first == 2 ? .tree : .overflow, body: body)
      }
      return unsafe BytesCell(
        form: .inline, head: UnsafeRawBufferPointer(start: data + offset, count: headCount),
        body: body,
        tail: UnsafeRawBufferPointer(start: data + (offset &+ headCount), count: tailCount))
    }
  }

  /// Where entry `index` begins and how long it is.
  @inline(__always) private static func place(
    _ index: Int, _ lengths: UnsafeRawPointer, _ lengthWidth: UInt8, _ anchors: UnsafeRawPointer,
    _ anchorWidth: UInt8, _ fixedLength: Int
  ) -> (offset: Int, count: Int) {
    if lengthWidth == 0 { return (index &* fixedLength, fixedLength) }
    let anchor = unsafe Int(
      truncatingIfNeeded: PackedIntegers.load(anchors, anchorWidth, index &>> 4))
    if lengthWidth == 8 {
      return unsafe BytesColumn.place(of: index, lengths: lengths, anchor: anchor)
    }
    let length = { (entry: Int) in
      unsafe Int(truncatingIfNeeded: PackedIntegers.load(lengths, lengthWidth, entry))
    }
    return ((index & ~15..<index).reduce(anchor) { $0 &+ length($1) }, length(index))
  }

  /// Whether the value lives outside of the leaf.
  private var isOverflow: Bool {
    let bitmap = offset(LeafEntry.overflow)
    if bitmap == 0 { return false }
    let byte = bitmap &+ Int(place.row) &>> 3
    guard byte < Int(place.byteCount) else { return false }
    return unsafe place.bytes.byte(byte) &>> UInt8(truncatingIfNeeded: place.row & 7) & 1 != 0
  }

  /// The text of a cell that is not null, broken UTF-8 repaired; nil when it lives outside of the
  /// leaf.
  public var text: String? {
    let cell = bytes
    guard cell.form == .inline else { return nil }
    let count = unsafe cell.head.count &+ cell.body.count &+ cell.tail.count
    // Short texts need no allocation, and are put together where they will stay.
    if count > 15 { return cell.string }
    return unsafe String(unsafeUninitializedCapacity: 15) { text in
      guard let start = text.baseAddress else { return 0 }
      let target = UnsafeMutableRawPointer(start)
      unsafe Self.copyShort(cell.head, to: target)
      unsafe Self.copyShort(cell.body, to: target + cell.head.count)
      unsafe Self.copyShort(cell.tail, to: target + (cell.head.count &+ cell.body.count))
      return count
    }
  }

  /// Copies up to 16 bytes without a call.
  @inline(__always) private static func copyShort(
    _ bytes: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer
  ) {
    guard let start = bytes.baseAddress else { return }
    let count = bytes.count
    // Two pieces that may overlap cover every length from a power of two to the next.
    if count >= 8 {
      unsafe target.storeBytes(of: start.loadUnaligned(as: UInt64.self), as: UInt64.self)
      unsafe target.storeBytes(
        of: start.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self),
        toByteOffset: count &- 8, as: UInt64.self)
    } else if count >= 4 {
      unsafe target.storeBytes(of: start.loadUnaligned(as: UInt32.self), as: UInt32.self)
      unsafe target.storeBytes(
        of: start.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self),
        toByteOffset: count &- 4, as: UInt32.self)
    } else {
      for index in 0..<count {
        unsafe target.storeBytes(
          of: start.load(fromByteOffset: index, as: UInt8.self), toByteOffset: index,
          as: UInt8.self)
      }
    }
  }
}
