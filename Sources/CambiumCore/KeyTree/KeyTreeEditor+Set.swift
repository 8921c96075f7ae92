extension KeyTreeEditor {
  /// Stores `value` under `key`; true if the key is new.
  ///
  /// Storing an equal value changes nothing. Throws ``StoreError/tooLarge(what:byteCount:limit:)``
  /// for a key of more than 512 bytes.
  @discardableResult
  public func set(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws(StoreError) -> Bool {
    guard key.count <= KeyNode.maximumKeyByteCount else {
      throw .tooLarge(what: "A key", byteCount: key.count, limit: KeyNode.maximumKeyByteCount)
    }
    return try context.change { () throws(StoreError) in
      if value.count <= KeyNode.maximumInlineByteCount {
        return try unsafe set(key, StoredValue(bytes: value, isOverflow: false))
      }
      return try unsafe setOverflow(key, value)
    }
  }

  /// Stores a value that has no room beside its key.
  private func setOverflow(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws(StoreError) -> Bool {
    let overflow = try unsafe OverflowValue.write(value, to: context)
    let form = UnsafeMutableRawPointer.allocate(
      byteCount: OverflowValue.storedByteCount, alignment: 8)
    defer { unsafe form.deallocate() }
    unsafe overflow.store(to: form)
    return try unsafe set(
      key,
      StoredValue(
        bytes: UnsafeRawBufferPointer(start: form, count: OverflowValue.storedByteCount),
        isOverflow: true))
  }

  /// Stores `value` under `key`; see ``set(_:_:)-(UnsafeRawBufferPointer,_)``.
  @discardableResult
  public func set(_ key: [UInt8], _ value: [UInt8]) throws(StoreError) -> Bool {
    try unsafe key.withUnsafeBufferPointer { key throws(StoreError) in
      try unsafe value.withUnsafeBufferPointer { value throws(StoreError) in
        try unsafe set(UnsafeRawBufferPointer(key), UnsafeRawBufferPointer(value))
      }
    }
  }

  private func set(_ key: UnsafeRawBufferPointer, _ value: StoredValue) throws(StoreError) -> Bool {
    if unsafe root.isEmpty { makeRoot(.keyLeaf) }
    let place: (index: Int, isFound: Bool)
    if let warm = unsafe warmPosition(key) { place = warm } else { place = try unsafe descend(key) }
    if place.isFound {
      let isDone = try replace(place.index, value)
      if !isDone { try unsafe insert(key, value, at: place.index) }
      return false
    }
    try makePathDirty()
    changeRowCount(by: 1)
    try unsafe insert(key, value, at: place.index)
    return true
  }

  /// Puts an empty node of `kind` in place of the empty tree.
  private func makeRoot(_ kind: PageKind) {
    let page = KeyPage(kind: kind, capacity: min(512, limit(kind)))
    unsafe root = unsafe TreeRoot(
      reference: context.dirty.insert(page), height: 1, kind: root.kind, rowCount: 0)
  }

  /// Replaces the value of entry `index` of the path's leaf.
  ///
  /// False if it does not fit: then the entry is gone and has to be inserted again.
  private func replace(_ index: Int, _ value: StoredValue) throws(StoreError) -> Bool {
    let stored = try unsafe context.source.page(path[path.count - 1].reference, .keyLeaf)
    let isEqual = withExtendedLifetime(stored) {
      let old = KeyNode(stored).storedValue(index)
      return unsafe !old.isOverflow && !value.isOverflow
        && ByteComparison.order(old.bytes, value.bytes) == 0
    }
    if isEqual { return true }
    try freeOverflow(index)
    try makePathDirty()
    let leaf = unsafe path[path.count - 1].page.unsafelyUnwrapped
    if leaf.replaceInPlace(at: index, value) { return true }
    leaf.remove(at: index)
    return false
  }

  /// Inserts an entry that the path's leaf does not have, splitting as far up as it takes.
  ///
  /// Row counts already include it.
  private func insert(
    _ key: UnsafeRawBufferPointer, _ value: StoredValue, at index: Int
  ) throws(StoreError) {
    let level = unsafe path.count - 1
    let leaf = unsafe path[level].page.unsafelyUnwrapped
    let prefixLength = leaf.node.prefixLength
    if unsafe leaf.node.prefixOrder(key) == 0 {
      let suffix = unsafe UnsafeRawBufferPointer(rebasing: key[prefixLength...])
      let cellByteCount =
        unsafe KeyNode.leafCellHeader + max(0, suffix.count - 4) + value.bytes.count
      let limit = leaf.count == 0 ? KeyNode.maximumByteCount : limits.leafByteCount
      if leaf.reserve(cellByteCount, limit: limit) {
        unsafe leaf.insert(at: index, suffix: suffix, value)
        return
      }
    } else {
      // The key shortens the prefix, so it is the first or last of the leaf.
      let entries = entries(.keyLeaf)
      unsafe collect(leaf, key, value, at: index)
      if entries.nodeByteCount(0..<entries.count) <= limits.leafByteCount {
        try entries.fill(leaf, 0..<entries.count)
        return
      }
    }
    try unsafe split(key, value, at: index)
  }

  /// Takes the leaf's entries and the new one.
  private func collect(
    _ leaf: KeyPage, _ key: UnsafeRawBufferPointer, _ value: StoredValue, at index: Int
  ) {
    let entries = entries(.keyLeaf)
    let node = leaf.node
    entries.removeAll()
    unsafe entries.append(node, 0..<index)
    unsafe entries.append(key, value)
    unsafe entries.append(node, index..<node.count)
  }

  /// Divides the path's leaf and inserts the entry into one of the halves.
  ///
  /// At either end of the leaf the new entry gets a leaf of its own: ascending and descending loads
  /// then fill their leaves, and a key that would ruin the prefix of its neighbours keeps away.
  private func split(
    _ key: UnsafeRawBufferPointer, _ value: StoredValue, at index: Int
  ) throws(StoreError) {
    let level = unsafe path.count - 1
    let leaf = unsafe path[level].page.unsafelyUnwrapped
    let (other, otherReference) = makePage(.keyLeaf)
    var left = unsafe Half(reference: path[level].reference, page: leaf)
    var right = Half(reference: otherReference, page: other)
    if index == 0 || index == leaf.count {
      // The neighbour a full leaf away tells how much of a prefix the next keys will share.
      let far = leaf.node.key(
        index == 0 ? leaf.count - 1 : 0, header: KeyNode.leafCellHeader)
      let shared = unsafe far.withUnsafeBytes { unsafe Self.commonPrefix($0, key) }
      let suffix = unsafe UnsafeRawBufferPointer(rebasing: key[shared...])
      let cellByteCount =
        unsafe KeyNode.leafCellHeader + max(0, suffix.count - 4) + value.bytes.count
      let byteCount =
        KeyNode.headerByteCount + KeyNode.slotByteCount + shared + cellByteCount
      unsafe other.reset(
        capacity: max(other.capacity, byteCount),
        prefix: UnsafeRawBufferPointer(rebasing: key[..<shared]))
      unsafe other.insert(at: 0, suffix: suffix, value)
      if index == 0 { swap(&left, &right) }
    } else {
      unsafe collect(leaf, key, value, at: index)
      let entries = entries(.keyLeaf)
      let middle = entries.middle(least: 1)
      try entries.fill(other, middle..<entries.count)
      try entries.fill(leaf, 0..<middle)
    }
    left.rowCount = left.page.count
    right.rowCount = right.page.count
    let separator = Self.separator(left.page.node, right.page.node)
    try insert(separator, left, right, above: level)
  }

  static func commonPrefix(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    guard let left = a.baseAddress, let right = b.baseAddress else { return 0 }
    return unsafe ByteComparison.commonPrefix(left, right, min(a.count, b.count))
  }

  /// The shortest key above all of the leaf `left` that is not above any of `right`.
  private static func separator(_ left: KeyNode, _ right: KeyNode) -> [UInt8] {
    let low = left.key(left.count - 1, header: KeyNode.leafCellHeader)
    let high = right.key(0, header: KeyNode.leafCellHeader)
    let shared = unsafe low.withUnsafeBytes { low in
      unsafe high.withUnsafeBytes { high in unsafe commonPrefix(low, high) }
    }
    return Array(high.prefix(shared + 1))
  }
}
