import CPlatform

/// How a page is made of a former one: pieces of new bytes, each followed by a run of the former page's.
///
/// A piece, little-endian: how many bytes are new, how many are copied and from where (32 bits each), and the new
/// bytes. Rows that are added move what lies behind them: so runs are also looked for in nearby places.
///
/// Pointers: both pages are the caller's for the time of the call, and are read within their lengths.
enum PageDelta {
  static let pieceByteCount = 12
  private static let wordByteCount = 8
  /// A shorter run is not worth a piece.
  private static let leastRun = 16
  /// How far the bytes of a page may have moved where nothing else is known.
  private static let nearby = 128
  /// So often at most it is looked where bytes have gone: a page that was laid out anew has nothing in common with
  /// the former one.
  private static let lookLimit = 64

  /// Appends the pieces of which `page` is made; false, with some bytes appended, when they take more than half of its
  /// length, for which there must be room.
  ///
  /// `shift` is how far bytes behind a change may have moved.
  static func append(
    of page: UnsafeRawBufferPointer, from former: UnsafeRawBufferPointer, shift: Int,
    to bytes: inout OutputRawSpan
  ) -> Bool {
    let limit = bytes.byteCount + page.count / 2
    var search = unsafe Search(page: page, former: former, hint: shift)
    // Where the new bytes begin, and how far the former page's are behind those of this one.
    var (start, position, offset) = (0, 0, 0)
    while position < page.count {
      let run = search.run(position, offset)
      if run < leastRun && position + run < page.count {
        // What has moved lies behind what was put there.
        if run == 0, position > start, let found = search.look(position, offset) {
          offset = found
        } else {
          position = min(position + wordByteCount, page.count)
        }
        continue
      }
      guard bytes.byteCount + position - start + pieceByteCount <= limit else { return false }
      unsafe put(page[start..<position], run, position + offset, &bytes)
      position += run
      start = position
    }
    if start == position { return true }
    guard bytes.byteCount + position - start + pieceByteCount <= limit else { return false }
    unsafe put(page[start..<position], 0, 0, &bytes)
    return true
  }

  private static func put(
    _ new: Slice<UnsafeRawBufferPointer>, _ run: Int, _ place: Int, _ bytes: inout OutputRawSpan
  ) {
    unsafe bytes.append(new.count)
    bytes.append(run)
    bytes.append(place)
    unsafe bytes.append(copying: UnsafeRawBufferPointer(rebasing: new))
  }

  /// The page of `byteCount` bytes that the pieces in `delta` make of `former`; nil when they do not.
  static func page(_ delta: [UInt8], of former: [UInt8], byteCount: Int) -> [UInt8]? {
    var reader = ByteReader(delta)
    var page: [UInt8] = []
    page.reserveCapacity(byteCount)
    while !reader.isAtEnd {
      guard let newCount = reader.get(UInt32.self).map(Int.init),
        let run = reader.get(UInt32.self).map(Int.init),
        let offset = reader.get(UInt32.self).map(Int.init), let new = reader.get(count: newCount),
        run <= former.count, offset <= former.count - run,
        newCount + run <= byteCount - page.count
      else { return nil }
      page += new
      page += former[offset..<offset + run]
    }
    return page.count == byteCount ? page : nil
  }

  /// Looks for bytes of a page in a former one.
  @safe private struct Search {
    let page: UnsafeRawBufferPointer
    let former: UnsafeRawBufferPointer
    let hint: Int
    var lookCount = 0

    /// How many bytes from `position` on are the same `offset` bytes further in the former page: whole words, or all
    /// to the end.
    @inline(__always)
    func run(_ position: Int, _ offset: Int) -> Int {
      guard let page = unsafe page.baseAddress, let former = unsafe former.baseAddress,
        position + offset >= 0
      else { return 0 }
      let end = unsafe min(self.page.count, self.former.count - offset)
      guard position < end else { return 0 }
      let run = unsafe cambium_equal_prefix(
        page + position, former + position + offset, end - position)
      // The former page's last bytes count where this one ends with them.
      return unsafe end == self.page.count ? run : run & ~(wordByteCount - 1)
    }

    /// Where else in the former page the two words at `position` are, if they are near; zeros are anywhere.
    mutating func look(_ position: Int, _ offset: Int) -> Int? {
      guard let page = unsafe page.baseAddress, let former = unsafe former.baseAddress,
        unsafe position + leastRun <= self.page.count, lookCount < lookLimit
      else { return nil }
      let first = unsafe page.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      let second = unsafe page.loadUnaligned(
        fromByteOffset: position + wordByteCount, as: UInt64.self)
      if first == 0 { return nil }
      lookCount += 1
      let last = unsafe self.former.count - leastRun
      func isThere(_ place: Int) -> Bool {
        unsafe former.loadUnaligned(fromByteOffset: place, as: UInt64.self) == first
          && former.loadUnaligned(fromByteOffset: place + wordByteCount, as: UInt64.self) == second
      }
      let place = position + offset
      let hinted = position + hint
      if hinted >= 0, hinted <= last, isThere(hinted) { return hint }
      var near = place - wordByteCount
      while near >= max(0, place - nearby), near <= last {
        if isThere(near) { return near - position }
        near -= wordByteCount
      }
      near = place + wordByteCount
      while near <= min(last, place + nearby), near >= 0 {
        if isThere(near) { return near - position }
        near += wordByteCount
      }
      return nil
    }
  }
}
