/// Builds a ``KeyTree`` from keys that ascend: full pages, written as they fill.
///
/// Made by ``KeyTreeEditor/build(_:)``. There is no way down per key and no page in memory but one per
/// level.
///
/// Pointers: keys and values belong to the caller for the length of a call, and are copied to lists and
/// pages that belong to the builder. A key of a list is not used once the list has changed.
public final class KeyTreeBuilder {
  /// A node that is written, on its way into a branch.
  private struct Child {
    /// The shortest key above all before it that is not above any of its own.
    var separator: [UInt8]
    var reference: PageReference
    var rowCount: Int
  }

  /// Children that no branch holds yet.
  private struct Level {
    var children: [Child] = []
    /// How large a branch of them is at most.
    var byteCount = KeyNode.headerByteCount
  }

  private let context: WriteContext
  private let limits: KeyTreeEditor.Limits
  private let kind: TreeRoot.Kind
  private let leafEntries = KeyEntryList(isLeaf: true)
  private let branchEntries = KeyEntryList(isLeaf: false)
  private let leafPage: KeyPage
  private let branchPage: KeyPage
  // Exclusivity is not checked: one user, and no access to these calls out.

  /// What all keys of the leaf begin with.
  @exclusivity(unchecked) private final var sharedByteCount = 0
  /// How large the leaf is.
  @exclusivity(unchecked) private final var leafByteCount = 0
  @exclusivity(unchecked) private final var separator: [UInt8] = []
  @exclusivity(unchecked) private final var levels: [Level] = []
  @exclusivity(unchecked) private final var rowCount: UInt64 = 0

  init(_ context: WriteContext, _ limits: KeyTreeEditor.Limits, kind: TreeRoot.Kind) {
    self.context = context
    self.limits = limits
    self.kind = kind
    leafPage = KeyPage(kind: .keyLeaf, capacity: limits.leafByteCount)
    branchPage = KeyPage(kind: .keyBranch, capacity: limits.branchByteCount)
  }

  // MARK: Adding

  /// Adds a key, which is above all before it, and its value.
  ///
  /// Throws ``StoreError/tooLarge(what:byteCount:limit:)`` for a key of more than 512 bytes.
  public func append(
    _ key: UnsafeRawBufferPointer,
    _ value: UnsafeRawBufferPointer = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
  ) throws(StoreError) {
    unsafe precondition(isAbove(key), "The keys of a tree that is built ascend; sort them first.")
    guard key.count <= KeyNode.maximumKeyByteCount else {
      throw .tooLarge(what: "A key", byteCount: key.count, limit: KeyNode.maximumKeyByteCount)
    }
    if value.count <= KeyNode.maximumInlineByteCount {
      return try unsafe append(key, StoredValue(bytes: value, isOverflow: false))
    }
    var form = [UInt8](repeating: 0, count: OverflowValue.storedByteCount)
    let overflow = try unsafe OverflowValue.write(value, to: context)
    unsafe form.withUnsafeMutableBytes { buffer in
      if let start = buffer.baseAddress { unsafe overflow.store(to: start) }
    }
    try unsafe form.withBytes { form throws(StoreError) in
      try unsafe append(key, StoredValue(bytes: form, isOverflow: true))
    }
  }

  /// Whether `key` is above all keys so far.
  func isAbove(_ key: UnsafeRawBufferPointer) -> Bool {
    unsafe leafEntries.count == 0
      || ByteComparison.order(leafEntries.key(leafEntries.count - 1), key) < 0
  }

  private func append(_ key: UnsafeRawBufferPointer, _ value: StoredValue) throws(StoreError) {
    let count = leafEntries.count
    if count == 0 {
      unsafe begin(key, value)
    } else {
      let shared = unsafe min(
        sharedByteCount, KeyTreeEditor.commonPrefix(leafEntries.key(0), key))
      var byteCount = unsafe leafByteCount
      // Shorter ones leave more of every key to its cell.
      if unsafe shared < sharedByteCount {
        unsafe leafEntries.append(key, value)
        byteCount = leafEntries.nodeByteCount(0..<count + 1)
        leafEntries.removeLast()
      } else {
        unsafe byteCount += Self.entryByteCount(key, value, shared)
      }
      if byteCount > limits.leafByteCount {
        let last = unsafe leafEntries.key(count - 1)
        let next = unsafe Array(key.prefix(KeyTreeEditor.commonPrefix(last, key) + 1))
        try writeLeaf()
        unsafe separator = next
        unsafe begin(key, value)
      } else {
        unsafe (sharedByteCount, leafByteCount) = (shared, byteCount)
      }
    }
    unsafe leafEntries.append(key, value)
    unsafe rowCount += 1
  }

  /// Sets the sizes of a leaf with one entry.
  private func begin(_ key: UnsafeRawBufferPointer, _ value: StoredValue) {
    // A lone key shares all of its bytes.
    unsafe sharedByteCount = key.count
    unsafe leafByteCount =
      unsafe KeyNode.headerByteCount + key.count + Self.entryByteCount(key, value, key.count)
  }

  private static func entryByteCount(
    _ key: UnsafeRawBufferPointer, _ value: StoredValue, _ shared: Int
  ) -> Int {
    unsafe KeyNode.slotByteCount + KeyNode.leafCellHeader + max(0, key.count - shared - 4)
      + value.bytes.count
  }

  // MARK: Writing

  private func writeLeaf() throws(StoreError) {
    let count = leafEntries.count
    try leafEntries.fill(leafPage, 0..<count)
    leafEntries.removeAll()
    try unsafe add(
      Child(separator: separator, reference: try write(leafPage), rowCount: count), at: 0)
  }

  private func write(_ page: KeyPage) throws(StoreError) -> PageReference {
    let byteCount = page.tighten()
    return try unsafe context.write(
      UnsafeRawBufferPointer(start: page.bytes, count: byteCount), kind: page.kind)
  }

  /// Takes a node in; when a branch of those on its level would be too large, writes one.
  private func add(_ child: Child, at level: Int) throws(StoreError) {
    if unsafe level == levels.count { unsafe levels.append(Level()) }
    let byteCount =
      KeyNode.slotByteCount + KeyNode.branchCellHeader + max(0, child.separator.count - 4)
    if unsafe levels[level].children.count > 2,
      unsafe levels[level].byteCount + byteCount > limits.branchByteCount
    {
      // One stays, so that the next branch has two children at least.
      let last = unsafe levels[level].children.removeLast()
      try writeBranch(level)
      try add(last, at: level)
    }
    unsafe levels[level].children.append(child)
    unsafe levels[level].byteCount += byteCount
  }

  /// Writes a branch of all children on `level` and hands it on.
  private func writeBranch(_ level: Int) throws(StoreError) {
    let children = unsafe levels[level].children
    unsafe levels[level] = Level()
    branchEntries.removeAll()
    for child in children {
      unsafe child.separator.withUnsafeBytes {
        unsafe branchEntries.appendChild($0, child.reference, rowCount: child.rowCount)
      }
    }
    try branchEntries.fill(branchPage, 0..<children.count)
    let branch = Child(
      separator: children[0].separator, reference: try write(branchPage),
      rowCount: children.reduce(0) { $0 + $1.rowCount })
    try add(branch, at: level + 1)
  }

  /// Writes what is left and returns the root.
  func finish() throws(StoreError) -> TreeRoot {
    if unsafe rowCount == 0 { return .empty(kind) }
    try writeLeaf()
    var level = 0
    while unsafe level < levels.count - 1 || levels[level].children.count > 1 {
      try writeBranch(level)
      level += 1
    }
    return unsafe TreeRoot(
      reference: levels[level].children[0].reference, height: UInt8(level + 1), kind: kind,
      rowCount: rowCount)
  }
}

extension KeyTreeEditor {
  /// Fills the tree, which is empty, with the keys that `body` appends in ascending order.
  public func build(
    _ body: (KeyTreeBuilder) throws(StoreError) -> Void
  ) throws(StoreError) {
    unsafe precondition(root.isEmpty, "Only an empty tree is built; add to others by set(_:_:).")
    // What was written before an error hangs from nothing.
    unsafe root = try context.change { () throws(StoreError) in
      let builder = unsafe KeyTreeBuilder(context, limits, kind: root.kind)
      try body(builder)
      return try builder.finish()
    }
    unsafe path.removeAll(keepingCapacity: true)
    unsafe isWarm = false
  }
}
