extension KeyTree {
  /// Calls `visit` with each key in which the trees differ; see ``VersionedTree/diff(old:new:_:)``.
  public static func diff(
    old: KeyTree, new: KeyTree,
    _ visit: (TreeDifference<UnsafeRawBufferPointer>) throws(StoreError) -> Void
  ) throws(StoreError) {
    if old.root.reference == new.root.reference, old.isSameRoot(as: new) { return }
    try unsafe KeyDiffCursor.diff(KeyDiffCursor(old), KeyDiffCursor(new), visit)
  }

  private func isSameRoot(as other: KeyTree) -> Bool {
    source.isSame(root.reference, in: other.source)
  }
}

/// Where a comparison of two trees of keys stands in one of them.
///
/// Pointers: `key` is memory of `keyOwner`, to which this cursor alone writes; a key that it has no
/// room for is not copied. Pages of nodes stay in `frames`. An element is valid until the cursor moves.
@safe private struct KeyDiffCursor: @unsafe DiffCursor {
  private struct Frame {
    var page: Page
    var index: Int
    var height: Int
  }

  private let source: PageSource
  private var frames: [Frame] = []
  /// The tree before it is entered.
  private var root: TreeRoot?
  /// The key it is at, or the least key its subtree may hold.
  private let key: UnsafeMutableRawBufferPointer
  private var keyByteCount = 0
  private let keyOwner: ValueBuffer

  init(_ tree: KeyTree) {
    source = tree.source
    root = unsafe tree.isEmpty ? nil : tree.root
    keyOwner = ValueBuffer([UInt8](repeating: 0, count: 2 * KeyNode.maximumKeyByteCount))
    unsafe key = unsafe UnsafeMutableRawBufferPointer(mutating: keyOwner.bytes)
  }

  var isAtEnd: Bool { root == nil && frames.isEmpty }

  var subtree: PageReference? {
    if let root { return root.reference }
    guard let top = frames.last, top.height > 1 else { return nil }
    return KeyNode(top.page).child(top.index)
  }

  var height: Int {
    if let root { return Int(root.height) }
    return (frames.last?.height ?? 1) - 1
  }

  /// The key it is at, or the least key its subtree may hold.
  var element: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(key)[..<keyByteCount])
  }

  func order(_ other: KeyDiffCursor) -> Int { unsafe ByteComparison.order(element, other.element) }

  func hasSameSubtree(as other: KeyDiffCursor) -> Bool {
    subtree.map { source.isSame($0, in: other.source) } ?? false
  }

  mutating func enter() throws(StoreError) {
    guard let subtree else { return }
    let height = height
    let page = try source.page(subtree, height == 1 ? .keyLeaf : .keyBranch)
    root = nil
    frames.append(Frame(page: page, index: 0, height: height))
    // Its first child begins where the subtree begins.
    if height == 1 { loadKey() }
  }

  mutating func moveOn() {
    root = nil
    while let top = frames.last {
      if top.index + 1 < KeyNode(top.page).count {
        frames[frames.count - 1].index += 1
        loadKey()
        return
      }
      frames.removeLast()
    }
  }

  /// Takes the key, or the separator of the subtree, where the top frame is.
  private mutating func loadKey() {
    guard let top = frames.last, let base = unsafe key.baseAddress else { return }
    let node = KeyNode(top.page)
    let header = top.height == 1 ? KeyNode.leafCellHeader : KeyNode.branchCellHeader
    let slot = node.slot(top.index)
    guard unsafe node.keyByteCount(slot) <= key.count else {
      keyByteCount = 0
      return
    }
    keyByteCount = unsafe node.copyKey(slot, header: header, to: base)
  }

  /// Whether the values under both keys are stored alike: the same bytes, or the same pages.
  func hasSameValue(as other: KeyDiffCursor) -> Bool {
    guard let mine = frames.last, let their = other.frames.last else { return false }
    let left = KeyNode(mine.page).storedValue(mine.index)
    let right = KeyNode(their.page).storedValue(their.index)
    return unsafe left.isOverflow == right.isOverflow
      && ByteComparison.order(left.bytes, right.bytes) == 0
  }
}
