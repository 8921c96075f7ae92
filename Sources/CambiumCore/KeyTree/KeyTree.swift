import CPlatform

/// A map from byte keys to byte values, in the order of `memcmp`: a copy-on-write B+tree.
///
/// A value of this type is one version of the tree. Keys have at most 512 bytes; values any length.
/// Changes are made with a ``KeyTreeEditor``.
///
/// Pointers: keys belong to the caller for the length of a call. A page is kept while its node is read,
/// and what a value lies in until `body` returns. To count keys follows none: their number stands in
/// the root.
public struct KeyTree: @unsafe VersionedTree {
  /// Where the tree hangs.
  public var root: TreeRoot
  /// Reads its pages.
  public let source: PageSource

  /// The tree at `root`, read through `source`.
  public init(root: TreeRoot, source: PageSource) {
    self.root = root
    self.source = source
  }

  /// Calls `body` with the leaf where `key` belongs, if the tree has any.
  @usableFromInline
  func leaf(
    for key: UnsafeRawBufferPointer
  ) throws(StoreError) -> Page? {
    if root.isEmpty { return nil }
    var reference = root.reference
    var level = Int(root.height)
    while level > 1 {
      let page = try source.page(reference, .keyBranch)
      let node = KeyNode(page)
      reference = unsafe node.child(node.childIndex(key))
      withExtendedLifetime(page) {}
      level &-= 1
    }
    return try source.page(reference, .keyLeaf)
  }

  /// Calls `body` with the value stored under `key`; nil without a call if there is none.
  ///
  /// The bytes are valid during the call.
  package func withValue<Result>(
    for key: UnsafeRawBufferPointer,
    _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    guard let page = try unsafe leaf(for: key) else { return nil }
    let node = KeyNode(page)
    let (index, isFound) = unsafe node.search(key, from: 0, header: KeyNode.leafCellHeader)
    guard isFound else { return nil }
    let value = node.storedValue(index)
    if value.isOverflow {
      let bytes = try value.read(from: source)
      return unsafe try bytes.withUnsafeBufferPointer { bytes throws(StoreError) in
        try unsafe body(UnsafeRawBufferPointer(bytes))
      }
    }
    let result = try unsafe body(value.bytes)
    withExtendedLifetime(page) {}
    return result
  }

  /// The value stored under `key`; nil if there is none.
  package func value(for key: UnsafeRawBufferPointer) throws(StoreError) -> [UInt8]? {
    try unsafe withValue(for: key) { bytes throws(StoreError) in unsafe [UInt8](bytes) }
  }

  /// The value stored under `key`; nil if there is none.
  public func value(for key: [UInt8]) throws(StoreError) -> [UInt8]? {
    try unsafe key.withUnsafeBufferPointer { key throws(StoreError) in
      try unsafe value(for: UnsafeRawBufferPointer(key))
    }
  }

  /// Whether there is a value under `key`.
  package func contains(_ key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    guard let page = try unsafe leaf(for: key) else { return false }
    let node = KeyNode(page)
    let isFound = unsafe node.search(key, from: 0, header: KeyNode.leafCellHeader).isFound
    withExtendedLifetime(page) {}
    return isFound
  }

  /// Whether there is a value under `key`.
  public func contains(_ key: [UInt8]) throws(StoreError) -> Bool {
    try unsafe key.withUnsafeBufferPointer { key throws(StoreError) in
      try unsafe contains(UnsafeRawBufferPointer(key))
    }
  }

  /// How many keys are below `key`.
  package func rank(of key: UnsafeRawBufferPointer) throws(StoreError) -> Int {
    if root.isEmpty { return 0 }
    var reference = root.reference
    var level = Int(root.height)
    var rank = 0
    while level > 1 {
      let page = try source.page(reference, .keyBranch)
      let node = KeyNode(page)
      let index = unsafe node.childIndex(key)
      rank &+= node.rowCount(before: index)
      reference = node.child(index)
      withExtendedLifetime(page) {}
      level &-= 1
    }
    let page = try source.page(reference, .keyLeaf)
    let index = unsafe KeyNode(page).search(key, from: 0, header: KeyNode.leafCellHeader).index
    withExtendedLifetime(page) {}
    return rank &+ index
  }

  /// How many keys are below `key`.
  public func rank(of key: [UInt8]) throws(StoreError) -> Int {
    try unsafe key.withUnsafeBufferPointer { key throws(StoreError) in
      try unsafe rank(of: UnsafeRawBufferPointer(key))
    }
  }

  /// How many keys there are from `lower` on, up to, not including, `upper`.
  ///
  /// One way down while both belong to one child, which for close ones is all of it.
  public func count(
    from lower: UnsafeRawBufferPointer, below upper: UnsafeRawBufferPointer
  ) throws(StoreError) -> Int {
    if root.isEmpty { return 0 }
    var reference = root.reference
    var level = Int(root.height)
    while level > 1 {
      let page = try source.page(reference, .keyBranch)
      let node = KeyNode(page)
      let index = unsafe node.childIndex(lower)
      if index &+ 1 < node.count,
        unsafe node.order(index &+ 1, header: KeyNode.branchCellHeader, upper) <= 0
      {
        return unsafe max(
          0, try rank(of: upper, below: page, level) - rank(of: lower, below: page, level))
      }
      reference = node.child(index)
      if level == 2 { prefetchLeaf(reference, keyCount: node.childRowCount(index)) }
      withExtendedLifetime(page) {}
      level &-= 1
    }
    let page = try source.page(reference, .keyLeaf)
    let node = KeyNode(page)
    let first = unsafe node.search(lower, from: 0, header: KeyNode.leafCellHeader).index
    // Mostly the end is near: twice as far each time, then in between.
    var (low, step) = (first, 1)
    while low &+ step < node.count,
      unsafe node.order(low &+ step &- 1, header: KeyNode.leafCellHeader, upper) < 0
    {
      low &+= step
      step &*= 2
    }
    let end = unsafe node.search(
      upper, from: low, to: min(node.count, low &+ step), header: KeyNode.leafCellHeader
    ).index
    withExtendedLifetime(page) {}
    return end &- first
  }

  /// Hints at all slots of a leaf of `keyCount` keys, and at what the keys share: a search that comes to
  /// them one after the other waits for each.
  private func prefetchLeaf(_ reference: PageReference, keyCount: Int) {
    guard let base = unsafe source.base,
      reference.byteOffset &+ reference.byteCount <= source.readableByteCount
    else { return }
    let bytes = unsafe base + reference.byteOffset
    unsafe cambium_prefetch(bytes)
    unsafe cambium_prefetch(bytes + (reference.byteCount &- 64))
    var line = 64
    let end = min(16 &+ keyCount &* 8, reference.byteCount)
    while line < end {
      unsafe cambium_prefetch(bytes + line)
      line &+= 64
    }
  }

  /// How many keys below the branch `page` on level `level` are below `key`.
  private func rank(
    of key: UnsafeRawBufferPointer, below page: Page, _ level: Int
  ) throws(StoreError) -> Int {
    let node = KeyNode(page)
    let index = unsafe node.childIndex(key)
    let child = KeyTree(
      root: TreeRoot(
        reference: node.child(index), height: UInt8(level - 1), kind: root.kind,
        rowCount: UInt64(node.childRowCount(index))), source: source)
    let before = node.rowCount(before: index)
    withExtendedLifetime(page) {}
    return unsafe before &+ (try child.rank(of: key))
  }

  /// Whether `key` has a value in a leaf that lies in memory.
  func isUnstored(_ key: [UInt8]) throws(StoreError) -> Bool {
    var reference = root.reference
    var level = Int(root.height)
    while level > 0, reference.isDirty {
      let page = try source.page(reference, level == 1 ? .keyLeaf : .keyBranch)
      defer { withExtendedLifetime(page) {} }
      let node = KeyNode(page)
      let isThere = unsafe key.withUnsafeBytes { key in
        if level > 1 {
          reference = unsafe node.child(node.childIndex(key))
          return false
        }
        let (index, isFound) = unsafe node.search(key, from: 0, header: KeyNode.leafCellHeader)
        return isFound && !node.storedValue(index).isOverflow
      }
      if level == 1 { return isThere }
      level -= 1
    }
    return false
  }

  /// Calls `body` with the entries of leaves that lie in memory, but for those with long values.
  func forEachUnstoredEntry(
    _ body: ([UInt8], [UInt8]) throws(StoreError) -> Void
  ) throws(StoreError) {
    try forEachUnstoredEntry(below: root.reference, height: Int(root.height), body)
  }

  private func forEachUnstoredEntry(
    below reference: PageReference, height: Int,
    _ body: ([UInt8], [UInt8]) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard height > 0, reference.isDirty else { return }
    let page = try source.page(reference, height == 1 ? .keyLeaf : .keyBranch)
    defer { withExtendedLifetime(page) {} }
    let node = KeyNode(page)
    for index in 0..<node.count {
      if height > 1 {
        try forEachUnstoredEntry(below: node.child(index), height: height - 1, body)
      } else {
        let value = node.storedValue(index)
        if value.isOverflow { continue }
        try unsafe body(node.key(index, header: KeyNode.leafCellHeader), Array(value.bytes))
      }
    }
  }

  /// A cursor, at no key yet.
  public func cursor() -> KeyCursor { KeyCursor(self) }
}
