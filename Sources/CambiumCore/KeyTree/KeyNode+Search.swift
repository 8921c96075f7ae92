import CPlatform

/// Where a key belongs in a node.
extension KeyNode {
  /// Below, at or above zero as the shared prefix sorts before, is a prefix of, or sorts after
  /// `key`.
  ///
  /// A key that ends inside the prefix sorts before it.
  @inlinable @inline(__always)
  func prefixOrder(_ key: UnsafeRawBufferPointer) -> Int {
    let count = min(key.count, prefixLength)
    if count > 0, let base = key.baseAddress {
      let order = unsafe ByteComparison.order(bytes + prefixStart, base, count)
      if order != 0 { return order }
    }
    return prefixLength &- count
  }

  /// Orders what follows prefix and head of entry `slot` against that of a key whose head is equal.
  @inlinable @inline(__always)
  func restOrder(
    _ slot: KeySlot, _ header: Int, _ suffix: UnsafeRawPointer, _ suffixLength: Int
  ) -> Int {
    if slot.suffixLength > 4, suffixLength > 4 {
      let rest = unsafe rest(slot, cell: cell(slot, header: header), header: header)
      let count = min(rest.count, suffixLength &- 4)
      if let base = rest.baseAddress {
        let order = unsafe ByteComparison.order(base, suffix + 4, count)
        if order != 0 { return order }
      }
    }
    return slot.suffixLength &- suffixLength
  }

  /// Below, at or above zero as key `index` sorts before, with or after `key`.
  @inlinable
  func order(_ index: Int, header: Int, _ key: UnsafeRawBufferPointer) -> Int {
    let prefixOrder = unsafe prefixOrder(key)
    if prefixOrder != 0 { return prefixOrder }
    guard let base = key.baseAddress else { return slot(index).suffixLength }
    let suffix = unsafe base + prefixLength
    let slot = slot(index)
    let head = unsafe KeySlot.head(suffix, key.count &- prefixLength)
    if slot.head != head { return slot.head < head ? -1 : 1 }
    return unsafe restOrder(slot, header, suffix, key.count &- prefixLength)
  }

  /// The first entry from `first` on whose key is not below `key`, and whether it is `key` itself.
  @inlinable @inline(__always)
  func search(
    _ key: UnsafeRawBufferPointer, from first: Int, header: Int
  ) -> (index: Int, isFound: Bool) { unsafe search(key, from: first, to: count, header: header) }

  /// As ``search(_:from:header:)`` among the entries before `count`, which is the result when none of
  /// them is at or above `key`.
  @inlinable @inline(__always)
  func search(
    _ key: UnsafeRawBufferPointer, from first: Int, to count: Int, header: Int
  ) -> (index: Int, isFound: Bool) {
    let prefixOrder = unsafe prefixOrder(key)
    if prefixOrder != 0 { return (prefixOrder < 0 ? max(first, count) : first, false) }
    var low = first
    var length = count &- first
    // A search waits for each line it comes to, one after the other, unless they are on their way.
    let isLong = length > 96
    if isLong {
      let stride = length >> 3 &* 8
      var line = unsafe bytes + (16 &+ first &* 8)
      for _ in 0..<7 {
        unsafe line += stride
        unsafe cambium_prefetch(line)
      }
    }
    // The empty key has no address; it can only meet an empty prefix.
    guard let base = key.baseAddress else {
      return (first, length > 0 && slot(first).suffixLength == 0)
    }
    let suffix = unsafe base + prefixLength
    let suffixLength = key.count &- prefixLength
    let head = unsafe KeySlot.head(suffix, suffixLength)
    if isLong {
      while length > 64 {
        let half = length >> 1
        let isBelow = slot(low &+ half).head < head
        low = isBelow ? low &+ half &+ 1 : low
        length = isBelow ? length &- half &- 1 : half
      }
      for line in 0..<8 { unsafe cambium_prefetch(bytes + (16 &+ low &* 8 &+ line &* 64)) }
    }
    while length > 0 {
      let half = length >> 1
      let isBelow = slot(low &+ half).head < head
      low = isBelow ? low &+ half &+ 1 : low
      length = isBelow ? length &- half &- 1 : half
    }
    if low >= count || slot(low).head != head { return (low, false) }
    let order = unsafe restOrder(slot(low), header, suffix, suffixLength)
    if order >= 0 { return (low, order == 0) }
    return unsafe searchTies(
      from: low &+ 1, to: count, head: head, header: header, suffix: suffix,
      suffixLength: suffixLength)
  }

  /// Searches the entries from `first` on, none of which has a smaller head.
  @usableFromInline
  func searchTies(
    from first: Int, to end: Int, head: UInt32, header: Int, suffix: UnsafeRawPointer,
    suffixLength: Int
  ) -> (index: Int, isFound: Bool) {
    var low = first
    var high = first
    // The end of the ties is near, mostly.
    var step = 4
    while high < end, slot(high).head == head {
      unsafe cambium_prefetch(bytes + cell(slot(high), header: header))
      high &+= step
      step &*= 2
    }
    high = min(high, end)
    while low < high {
      let middle = (low &+ high) >> 1
      let slot = slot(middle)
      let order = unsafe slot.head != head ? 1 : restOrder(slot, header, suffix, suffixLength)
      if order == 0 { return (middle, true) }
      if order < 0 { low = middle &+ 1 } else { high = middle }
    }
    return (low, false)
  }

  /// The child of a branch whose range holds `key`.
  @inlinable @inline(__always)
  func childIndex(_ key: UnsafeRawBufferPointer) -> Int {
    let (index, isFound) = unsafe search(key, from: 1, header: Self.branchCellHeader)
    return isFound ? index : index &- 1
  }
}
