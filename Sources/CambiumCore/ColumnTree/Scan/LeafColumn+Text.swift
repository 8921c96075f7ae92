import CPlatform

extension LeafColumn {
  /// Marks the rows whose bytes equal `needle`; nulls and trees do not.
  ///
  /// Overwrites ``bitmapWordCount`` words, lowest row first. Values in overflow pages are read
  /// through `source`.
  public func selectBytes(
    equalTo needle: UnsafeRawBufferPointer, into bitmap: UnsafeMutablePointer<UInt64>,
    source: PageSource
  ) throws(StoreError) {
    unsafe bitmap.update(repeating: 0, count: bitmapWordCount)
    guard let parts = bytesColumn else { return }
    if let body = unsafe parts.body(of: needle) {
      if encoding == .variable {
        unsafe parts.selectRows(equalTo: body, into: bitmap)
      } else {
        unsafe selectEntries(parts, into: bitmap) { entry in
          unsafe entry.count == body.count
            && equalBytes(entry.baseAddress, body.baseAddress, count: body.count)
        }
      }
    }
    try unsafe selectOverflow(parts, into: bitmap, source: source) { byteCount in
      byteCount == needle.count
    } matches: { bytes in
      unsafe equalBytes(bytes.baseAddress, needle.baseAddress, count: needle.count)
    }
  }

  /// Marks the rows whose bytes begin with `needle`; see ``selectBytes(equalTo:into:source:)``.
  public func selectBytes(
    withPrefix needle: UnsafeRawBufferPointer, into bitmap: UnsafeMutablePointer<UInt64>,
    source: PageSource
  ) throws(StoreError) {
    try unsafe selectBytes(into: bitmap, source: source) { bytes in
      unsafe bytes.count >= needle.count
        && equalBytes(bytes.baseAddress, needle.baseAddress, count: needle.count)
    }
  }

  /// Marks the rows whose bytes end with `needle`; see ``selectBytes(equalTo:into:source:)``.
  public func selectBytes(
    withSuffix needle: UnsafeRawBufferPointer, into bitmap: UnsafeMutablePointer<UInt64>,
    source: PageSource
  ) throws(StoreError) {
    try unsafe selectBytes(into: bitmap, source: source) { bytes in
      unsafe bytes.count >= needle.count
        && equalBytes(
          needle.baseAddress, bytes.baseAddress, at: bytes.count - needle.count,
          count: needle.count)
    }
  }

  /// Marks the rows whose bytes contain `needle`; see ``selectBytes(equalTo:into:source:)``.
  ///
  /// An empty needle is contained everywhere.
  public func selectBytes(
    containing needle: UnsafeRawBufferPointer, into bitmap: UnsafeMutablePointer<UInt64>,
    source: PageSource
  ) throws(StoreError) {
    guard let pattern = unsafe needle.baseAddress?.assumingMemoryBound(to: UInt8.self),
      unsafe !needle.isEmpty,
      let parts = bytesColumn, encoding == .variable
    else {
      return try unsafe selectBytes(into: bitmap, source: source) {
        unsafe Self.contains($0, needle)
      }
    }
    if unsafe Self.contains(parts.prefix, needle) || Self.contains(parts.suffix, needle) {
      return unsafe copyPresence(into: bitmap)
    }
    unsafe bitmap.update(repeating: 0, count: bitmapWordCount)
    unsafe parts.selectRows(containing: pattern, count: needle.count, into: bitmap)
    if unsafe !parts.prefix.isEmpty || !parts.suffix.isEmpty {
      return unsafe parts.selectRows(straddledBy: needle, into: bitmap)
    }
    try unsafe selectOverflow(parts, into: bitmap, source: source) { byteCount in
      byteCount >= needle.count
    } matches: { bytes in
      unsafe Self.contains(bytes, needle)
    }
  }

  /// Marks the rows whose bytes meet `condition`, which is asked once for each distinct value of a
  /// dictionary; nulls and trees do not.
  ///
  /// Overwrites ``bitmapWordCount`` words, lowest row first. Values in overflow pages are read
  /// through `source`.
  public func selectBytes(
    into bitmap: UnsafeMutablePointer<UInt64>, source: PageSource,
    where condition: (UnsafeRawBufferPointer) -> Bool
  ) throws(StoreError) {
    unsafe bitmap.update(repeating: 0, count: bitmapWordCount)
    guard let parts = bytesColumn else { return }
    if unsafe parts.prefix.isEmpty && parts.suffix.isEmpty {
      unsafe selectEntries(parts, into: bitmap, where: condition)
    } else {
      let (prefix, suffix) = unsafe (parts.prefix, parts.suffix)
      let longest = (0..<parts.entryCount).reduce(0) { unsafe max($0, parts.entry($1).count) }
      unsafe withUnsafeTemporaryAllocation(
        byteCount: prefix.count + longest + suffix.count, alignment: 16
      ) { buffer in
        let start = unsafe buffer.baseAddress.unsafelyUnwrapped
        if let bytes = prefix.baseAddress {
          unsafe start.copyMemory(from: bytes, byteCount: prefix.count)
        }
        unsafe selectEntries(parts, into: bitmap) { entry in
          // Lengths are read once more here: mapped bytes may have changed on the medium since.
          let count = min(entry.count, longest)
          if let bytes = entry.baseAddress {
            unsafe (start + prefix.count).copyMemory(from: bytes, byteCount: count)
          }
          if let bytes = suffix.baseAddress {
            unsafe (start + prefix.count + count).copyMemory(from: bytes, byteCount: suffix.count)
          }
          return unsafe condition(
            UnsafeRawBufferPointer(start: start, count: prefix.count + count + suffix.count))
        }
      }
    }
    try unsafe selectOverflow(
      parts, into: bitmap, source: source, canMatch: { _ in true }, matches: unsafe condition)
  }

  /// Marks the rows whose entry meets `condition`, overflow ones left out.
  @inline(__always) private func selectEntries(
    _ parts: BytesColumn, into bitmap: UnsafeMutablePointer<UInt64>,
    where condition: (UnsafeRawBufferPointer) -> Bool
  ) {
    switch encoding {
    case .constant:
      if unsafe condition(parts.entry(0)) { unsafe copyPresence(into: bitmap) }
    case .dictionary:
      unsafe withUnsafeTemporaryAllocation(of: Bool.self, capacity: parts.entryCount) { isMatch in
        unsafe isMatch.initialize(repeating: false)
        var matches: [Int] = []
        for code in 0..<parts.entryCount where unsafe condition(parts.entry(code)) {
          unsafe isMatch[code] = true
          matches.append(code)
        }
        if matches.count <= 4 {
          for code in matches {
            let range = PackedRange(low: UInt64(code), span: 0)
            for word in 0..<bitmapWordCount { unsafe bitmap[word] |= offsetMask(word, range) }
          }
        } else {
          for row in 0..<rowCount where unsafe isMatch[parts.entryIndex(ofRow: row)] {
            unsafe bitmap[row >> 6] |= 1 << UInt64(row & 63)
          }
        }
      }
      for word in 0..<bitmapWordCount { unsafe bitmap[word] &= presence(word) }
    default:
      var offset = 0
      for row in 0..<rowCount {
        let count = parts.length(row)
        let bytes = unsafe parts.heapBytes(offset, count)
        offset &+= count
        if isNull(row) || parts.isOverflow(row) { continue }
        if unsafe condition(bytes) { unsafe bitmap[row >> 6] |= 1 << UInt64(row & 63) }
      }
    }
  }

  /// Marks the rows whose value lies in overflow pages and meets `matches`.
  private func selectOverflow(
    _ parts: BytesColumn, into bitmap: UnsafeMutablePointer<UInt64>, source: PageSource,
    canMatch: (Int) -> Bool, matches: (UnsafeRawBufferPointer) -> Bool
  ) throws(StoreError) {
    guard unsafe overflow != nil else { return }
    for row in 0..<rowCount where parts.isOverflow(row) && !isNull(row) {
      unsafe bitmap[row >> 6] &= ~(1 << UInt64(row & 63))
      guard let value = parts.cell(row).overflow, canMatch(Int(clamping: value.byteCount)) else {
        continue
      }
      let bytes = try value.read(from: source)
      if unsafe bytes.withUnsafeBytes(matches) { unsafe bitmap[row >> 6] |= 1 << UInt64(row & 63) }
    }
  }

  static func contains(_ bytes: UnsafeRawBufferPointer, _ needle: UnsafeRawBufferPointer) -> Bool {
    if unsafe needle.isEmpty { return true }
    guard bytes.count >= needle.count, let start = bytes.baseAddress,
      let pattern = needle.baseAddress
    else { return false }
    return unsafe cambium_find(
      start.assumingMemoryBound(to: UInt8.self), bytes.count, 0,
      pattern.assumingMemoryBound(to: UInt8.self), needle.count) < bytes.count
  }
}

extension BytesColumn {
  /// What a stored entry must be for its value to be `value`; nil when the value lacks the common
  /// prefix or suffix.
  func body(of value: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    let count = unsafe value.count - prefix.count - suffix.count
    guard count >= 0, unsafe equalBytes(prefix.baseAddress, value.baseAddress, count: prefix.count),
      unsafe equalBytes(
        suffix.baseAddress, value.baseAddress, at: value.count - suffix.count,
        count: suffix.count)
    else { return nil }
    return unsafe UnsafeRawBufferPointer(rebasing: value[prefix.count..<(prefix.count + count)])
  }

  /// The bytes at `offset` of the heap; clamped to it.
  @inline(__always) func heapBytes(_ offset: Int, _ count: Int) -> UnsafeRawBufferPointer {
    unsafe offset &+ count <= heapByteCount
      ? UnsafeRawBufferPointer(start: heap + offset, count: count)
      : UnsafeRawBufferPointer(start: heap, count: 0)
  }

  /// Marks the rows whose stored bytes equal `body`: lengths are compared first, many at a time.
  func selectRows(
    equalTo body: UnsafeRawBufferPointer, into bitmap: UnsafeMutablePointer<UInt64>
  ) {
    let width = column.lengthWidth
    if width == 8 {
      var values = unsafe shortValues
      // An empty needle has no address.
      var needle = unsafe cambium_make_needle(
        (body.baseAddress ?? lengths).assumingMemoryBound(to: CChar.self), body.count)
      unsafe cambium_select_equal(&values, &needle, bitmap)
      if column.hasNulls {
        for word in 0..<column.bitmapWordCount { unsafe bitmap[word] &= column.presence(word) }
      }
      return
    }
    let wanted = LeafColumn.PackedRange(low: UInt64(body.count), span: 0)
    if width == 0 && fixedLength != body.count { return }
    if UInt64(body.count) > PackedIntegers.maximum(width) && width > 0 { return }
    for word in 0..<column.bitmapWordCount {
      var rows = column.presence(word)
      if width > 0 {
        unsafe rows &= LeafColumn.mask(lengths, width, word: word, rowCount: entryCount, wanted)
      }
      var equal: UInt64 = 0
      while rows != 0 {
        let bit = rows.trailingZeroBitCount
        rows &= rows &- 1
        let entry = unsafe entry(word &* 64 &+ bit)
        if entry.count == body.count,
          unsafe equalBytes(entry.baseAddress, body.baseAddress, count: body.count)
        {
          equal |= 1 &<< UInt64(bit)
        }
      }
      unsafe bitmap[word] = equal
    }
  }

  /// The stored bytes of all rows, given that their lengths have one byte.
  @inline(__always) var shortValues: cambium_values {
    unsafe cambium_values(
      lengths: lengths.assumingMemoryBound(to: UInt8.self), count: entryCount, anchors: anchors,
      anchor_byte_count: Int32(column.anchorWidth &>> 3),
      bytes: heap.assumingMemoryBound(to: CChar.self), limit: heapByteCount)
  }

  /// Marks the rows whose stored bytes contain the needle: the heap is searched as a whole, and each
  /// hit looked up by its place.
  func selectRows(
    containing needle: UnsafePointer<UInt8>, count: Int,
    into bitmap: UnsafeMutablePointer<UInt64>
  ) {
    let bytes = unsafe heap.assumingMemoryBound(to: UInt8.self)
    var row = 0
    var rowStart = 0
    var place = unsafe cambium_find(bytes, heapByteCount, 0, needle, count)
    while place < heapByteCount {
      // Forward to the row that the hit begins in, by whole groups first.
      if column.lengthWidth == 0 {
        guard fixedLength > 0 else { return }
        row = place / fixedLength
        rowStart = row &* fixedLength
      } else {
        var group = row / LeafEntry.anchorSpan &+ 1
        while group &* LeafEntry.anchorSpan < entryCount, anchor(group) <= place {
          row = group &* LeafEntry.anchorSpan
          rowStart = anchor(group)
          group &+= 1
        }
        while row < entryCount, rowStart &+ length(row) <= place {
          rowStart &+= length(row)
          row &+= 1
        }
      }
      guard row < entryCount else { return }
      let rowEnd = rowStart &+ length(row)
      var next = place &+ 1
      if place &+ count <= rowEnd {
        if !column.isNull(row) { unsafe bitmap[row >> 6] |= 1 &<< UInt64(row & 63) }
        next = max(next, rowEnd)
      }
      place = unsafe cambium_find(bytes, heapByteCount, next, needle, count)
    }
  }

  /// Marks the rows in which the needle begins within the common prefix or ends within the common
  /// suffix.
  ///
  /// Most needles can do neither, whatever the row.
  func selectRows(
    straddledBy needle: UnsafeRawBufferPointer, into bitmap: UnsafeMutablePointer<UInt64>
  ) {
    let count = needle.count
    let heads = (1..<max(1, count)).filter { share in
      unsafe share <= prefix.count
        && equalBytes(
          needle.baseAddress, prefix.baseAddress, at: prefix.count - share, count: share)
    }
    let tails = (1..<max(1, count)).filter { share in
      unsafe share <= suffix.count
        && equalBytes(suffix.baseAddress, needle.baseAddress, at: count - share, count: share)
    }
    if heads.isEmpty && tails.isEmpty { return }
    var offset = 0
    for row in 0..<column.rowCount {
      let body = unsafe heapBytes(offset, length(row))
      offset &+= length(row)
      if column.isNull(row) { continue }
      let isMatch =
        heads.contains { unsafe continues(needle, from: $0, in: body) }
        || tails.contains { unsafe precedes(needle, upTo: count - $0, in: body) }
      if isMatch { unsafe bitmap[row >> 6] |= 1 &<< UInt64(row & 63) }
    }
  }

  /// Whether `body` and the common suffix begin with the needle from `start` on.
  private func continues(
    _ needle: UnsafeRawBufferPointer, from start: Int, in body: UnsafeRawBufferPointer
  ) -> Bool {
    let rest = needle.count - start
    let inner = min(rest, body.count)
    let outer = rest - inner
    return unsafe outer <= suffix.count
      && equalBytes(body.baseAddress, needle.baseAddress, at: start, count: inner)
      && equalBytes(suffix.baseAddress, needle.baseAddress, at: start + inner, count: outer)
  }

  /// Whether the common prefix and `body` end with the first `end` bytes of the needle.
  private func precedes(
    _ needle: UnsafeRawBufferPointer, upTo end: Int, in body: UnsafeRawBufferPointer
  ) -> Bool {
    let inner = min(end, body.count)
    let outer = end - inner
    guard unsafe outer <= prefix.count else { return false }
    return unsafe equalBytes(
      needle.baseAddress.map { unsafe $0 + outer }, body.baseAddress, at: body.count - inner,
      count: inner)
      && equalBytes(
        needle.baseAddress, prefix.baseAddress, at: prefix.count - outer, count: outer)
  }
}
