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
    bitmap.update(repeating: 0, count: bitmapWordCount)
    guard let parts = bytesColumn else { return }
    if let body = parts.body(of: needle) {
      if encoding == .variable {
        parts.selectRows(equalTo: body, into: bitmap)
      } else {
        selectEntries(parts, into: bitmap) { entry in
          entry.count == body.count
            && equalBytes(entry.baseAddress, body.baseAddress, count: body.count)
        }
      }
    }
    try selectOverflow(parts, into: bitmap, source: source) { byteCount in
      byteCount == needle.count
    } matches: { bytes in
      equalBytes(bytes.baseAddress, needle.baseAddress, count: needle.count)
    }
  }

  /// Marks the rows whose bytes begin with `needle`; see ``selectBytes(equalTo:into:source:)``.
  public func selectBytes(
    withPrefix needle: UnsafeRawBufferPointer, into bitmap: UnsafeMutablePointer<UInt64>,
    source: PageSource
  ) throws(StoreError) {
    try selectBytes(into: bitmap, source: source) { bytes in
      bytes.count >= needle.count
        && equalBytes(bytes.baseAddress, needle.baseAddress, count: needle.count)
    }
  }

  /// Marks the rows whose bytes end with `needle`; see ``selectBytes(equalTo:into:source:)``.
  public func selectBytes(
    withSuffix needle: UnsafeRawBufferPointer, into bitmap: UnsafeMutablePointer<UInt64>,
    source: PageSource
  ) throws(StoreError) {
    try selectBytes(into: bitmap, source: source) { bytes in
      bytes.count >= needle.count
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
    guard let pattern = needle.baseAddress?.assumingMemoryBound(to: UInt8.self), !needle.isEmpty,
      let parts = bytesColumn, encoding == .variable
    else {
      return try selectBytes(into: bitmap, source: source) { Self.contains($0, needle) }
    }
    if Self.contains(parts.prefix, needle) || Self.contains(parts.suffix, needle) {
      return copyPresence(into: bitmap)
    }
    bitmap.update(repeating: 0, count: bitmapWordCount)
    parts.selectRows(containing: pattern, count: needle.count, into: bitmap)
    if !parts.prefix.isEmpty || !parts.suffix.isEmpty {
      return parts.selectRows(straddledBy: needle, into: bitmap)
    }
    try selectOverflow(parts, into: bitmap, source: source) { byteCount in
      byteCount >= needle.count
    } matches: { bytes in
      Self.contains(bytes, needle)
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
    bitmap.update(repeating: 0, count: bitmapWordCount)
    guard let parts = bytesColumn else { return }
    if parts.prefix.isEmpty && parts.suffix.isEmpty {
      selectEntries(parts, into: bitmap, where: condition)
    } else {
      let (prefix, suffix) = (parts.prefix, parts.suffix)
      let longest = (0..<parts.entryCount).reduce(0) { max($0, parts.entry($1).count) }
      withUnsafeTemporaryAllocation(
        byteCount: prefix.count + longest + suffix.count, alignment: 16
      ) { buffer in
        let start = buffer.baseAddress.unsafelyUnwrapped
        if let bytes = prefix.baseAddress {
          start.copyMemory(from: bytes, byteCount: prefix.count)
        }
        selectEntries(parts, into: bitmap) { entry in
          if let bytes = entry.baseAddress {
            (start + prefix.count).copyMemory(from: bytes, byteCount: entry.count)
          }
          if let bytes = suffix.baseAddress {
            (start + prefix.count + entry.count).copyMemory(
              from: bytes, byteCount: suffix.count)
          }
          return condition(
            UnsafeRawBufferPointer(
              start: start, count: prefix.count + entry.count + suffix.count))
        }
      }
    }
    try selectOverflow(
      parts, into: bitmap, source: source, canMatch: { _ in true }, matches: condition)
  }

  /// Marks the rows whose entry meets `condition`, overflow ones left out.
  @inline(__always) private func selectEntries(
    _ parts: BytesColumn, into bitmap: UnsafeMutablePointer<UInt64>,
    where condition: (UnsafeRawBufferPointer) -> Bool
  ) {
    switch encoding {
    case .constant:
      if condition(parts.entry(0)) { copyPresence(into: bitmap) }
    case .dictionary:
      withUnsafeTemporaryAllocation(of: Bool.self, capacity: parts.entryCount) { isMatch in
        isMatch.initialize(repeating: false)
        var matches: [Int] = []
        for code in 0..<parts.entryCount where condition(parts.entry(code)) {
          isMatch[code] = true
          matches.append(code)
        }
        if matches.count <= 4 {
          for code in matches {
            let range = PackedRange(low: UInt64(code), span: 0)
            for word in 0..<bitmapWordCount { bitmap[word] |= offsetMask(word, range) }
          }
        } else {
          for row in 0..<rowCount where isMatch[parts.entryIndex(ofRow: row)] {
            bitmap[row >> 6] |= 1 << UInt64(row & 63)
          }
        }
      }
      for word in 0..<bitmapWordCount { bitmap[word] &= presence(word) }
    default:
      var offset = 0
      for row in 0..<rowCount {
        let count = parts.length(row)
        let bytes = parts.heapBytes(offset, count)
        offset &+= count
        if isNull(row) || parts.isOverflow(row) { continue }
        if condition(bytes) { bitmap[row >> 6] |= 1 << UInt64(row & 63) }
      }
    }
  }

  /// Marks the rows whose value lies in overflow pages and meets `matches`.
  private func selectOverflow(
    _ parts: BytesColumn, into bitmap: UnsafeMutablePointer<UInt64>, source: PageSource,
    canMatch: (Int) -> Bool, matches: (UnsafeRawBufferPointer) -> Bool
  ) throws(StoreError) {
    guard overflow != nil else { return }
    for row in 0..<rowCount where parts.isOverflow(row) && !isNull(row) {
      bitmap[row >> 6] &= ~(1 << UInt64(row & 63))
      guard let value = parts.cell(row).overflow, canMatch(Int(clamping: value.byteCount)) else {
        continue
      }
      let bytes = try value.read(from: source)
      if bytes.withUnsafeBytes(matches) { bitmap[row >> 6] |= 1 << UInt64(row & 63) }
    }
  }

  static func contains(_ bytes: UnsafeRawBufferPointer, _ needle: UnsafeRawBufferPointer) -> Bool {
    if needle.isEmpty { return true }
    guard bytes.count >= needle.count, let start = bytes.baseAddress,
      let pattern = needle.baseAddress
    else { return false }
    return cambium_find(
      start.assumingMemoryBound(to: UInt8.self), bytes.count, 0,
      pattern.assumingMemoryBound(to: UInt8.self), needle.count) < bytes.count
  }
}

extension BytesColumn {
  /// What a stored entry must be for its value to be `value`; nil when the value lacks the common
  /// prefix or suffix.
  func body(of value: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    let count = value.count - prefix.count - suffix.count
    guard count >= 0, equalBytes(prefix.baseAddress, value.baseAddress, count: prefix.count),
      equalBytes(
        suffix.baseAddress, value.baseAddress, at: value.count - suffix.count,
        count: suffix.count)
    else { return nil }
    return UnsafeRawBufferPointer(rebasing: value[prefix.count..<(prefix.count + count)])
  }

  /// The bytes at `offset` of the heap; clamped to it.
  @inline(__always) func heapBytes(_ offset: Int, _ count: Int) -> UnsafeRawBufferPointer {
    offset &+ count <= heapByteCount
      ? UnsafeRawBufferPointer(start: heap + offset, count: count)
      : UnsafeRawBufferPointer(start: heap, count: 0)
  }

  /// Marks the rows whose stored bytes equal `body`: lengths are compared first, many at a time.
  func selectRows(
    equalTo body: UnsafeRawBufferPointer, into bitmap: UnsafeMutablePointer<UInt64>
  ) {
    let width = column.lengthWidth
    if width == 8 {
      var values = shortValues
      // An empty needle has no address.
      var needle = cambium_make_needle(
        (body.baseAddress ?? lengths).assumingMemoryBound(to: CChar.self), body.count)
      cambium_select_equal(&values, &needle, bitmap)
      if column.hasNulls {
        for word in 0..<column.bitmapWordCount { bitmap[word] &= column.presence(word) }
      }
      return
    }
    let wanted = LeafColumn.PackedRange(low: UInt64(body.count), span: 0)
    if width == 0 && fixedLength != body.count { return }
    if UInt64(body.count) > PackedIntegers.maximum(width) && width > 0 { return }
    for word in 0..<column.bitmapWordCount {
      var rows = column.presence(word)
      if width > 0 {
        rows &= LeafColumn.mask(lengths, width, word: word, rowCount: entryCount, wanted)
      }
      var equal: UInt64 = 0
      while rows != 0 {
        let bit = rows.trailingZeroBitCount
        rows &= rows &- 1
        let entry = entry(word &* 64 &+ bit)
        if entry.count == body.count,
          equalBytes(entry.baseAddress, body.baseAddress, count: body.count)
        {
          equal |= 1 &<< UInt64(bit)
        }
      }
      bitmap[word] = equal
    }
  }

  /// The stored bytes of all rows, given that their lengths have one byte.
  @inline(__always) var shortValues: cambium_values {
    cambium_values(
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
    let bytes = heap.assumingMemoryBound(to: UInt8.self)
    var row = 0
    var rowStart = 0
    var place = cambium_find(bytes, heapByteCount, 0, needle, count)
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
        if !column.isNull(row) { bitmap[row >> 6] |= 1 &<< UInt64(row & 63) }
        next = max(next, rowEnd)
      }
      place = cambium_find(bytes, heapByteCount, next, needle, count)
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
      share <= prefix.count
        && equalBytes(
          needle.baseAddress, prefix.baseAddress, at: prefix.count - share, count: share)
    }
    let tails = (1..<max(1, count)).filter { share in
      share <= suffix.count
        && equalBytes(suffix.baseAddress, needle.baseAddress, at: count - share, count: share)
    }
    if heads.isEmpty && tails.isEmpty { return }
    var offset = 0
    for row in 0..<column.rowCount {
      let body = heapBytes(offset, length(row))
      offset &+= length(row)
      if column.isNull(row) { continue }
      let isMatch =
        heads.contains { continues(needle, from: $0, in: body) }
        || tails.contains { precedes(needle, upTo: count - $0, in: body) }
      if isMatch { bitmap[row >> 6] |= 1 &<< UInt64(row & 63) }
    }
  }

  /// Whether `body` and the common suffix begin with the needle from `start` on.
  private func continues(
    _ needle: UnsafeRawBufferPointer, from start: Int, in body: UnsafeRawBufferPointer
  ) -> Bool {
    let rest = needle.count - start
    let inner = min(rest, body.count)
    let outer = rest - inner
    return outer <= suffix.count
      && equalBytes(body.baseAddress, needle.baseAddress, at: start, count: inner)
      && equalBytes(suffix.baseAddress, needle.baseAddress, at: start + inner, count: outer)
  }

  /// Whether the common prefix and `body` end with the first `end` bytes of the needle.
  private func precedes(
    _ needle: UnsafeRawBufferPointer, upTo end: Int, in body: UnsafeRawBufferPointer
  ) -> Bool {
    let inner = min(end, body.count)
    let outer = end - inner
    guard outer <= prefix.count else { return false }
    return equalBytes(
      needle.baseAddress.map { $0 + outer }, body.baseAddress, at: body.count - inner,
      count: inner)
      && equalBytes(
        needle.baseAddress, prefix.baseAddress, at: prefix.count - outer, count: outer)
  }
}
