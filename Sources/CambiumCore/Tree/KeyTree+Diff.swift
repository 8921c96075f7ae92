/// What happened to one key between two trees.
@frozen public enum KeyDifference {
  /// Only the new tree has the key.
  case inserted
  /// Only the old tree has the key.
  case removed
  /// Both have the key, with different values.
  case changed
}

extension KeyTree {
  /// Calls `visit` with each key in which the trees differ, ascending.
  ///
  /// Subtrees that both share are skipped without being read: the cost follows the change, not the
  /// size. A key whose overflow value was written again with equal bytes may count as changed. The
  /// key's bytes are valid during the call.
  public static func diff(
    old: KeyTree, new: KeyTree,
    _ visit: (KeyDifference, UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    if old.root.reference == new.root.reference { return }
    var left = DiffCursor(old)
    var right = DiffCursor(new)
    while true {
      switch (left.isAtEnd, right.isAtEnd) {
      case (true, true): return
      case (true, false): try right.advance { key throws(StoreError) in try visit(.inserted, key) }
      case (false, true): try left.advance { key throws(StoreError) in try visit(.removed, key) }
      case (false, false): try step(&left, &right, visit)
      }
    }
  }

  /// Moves on by one key or subtree, on the side that is behind.
  private static func step(
    _ left: inout DiffCursor, _ right: inout DiffCursor,
    _ visit: (KeyDifference, UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    if let old = left.subtree, let new = right.subtree, old == new {
      left.skip()
      right.skip()
      return
    }
    // What begins lower comes first. Of two that begin alike, the higher is opened, and a subtree
    // before a key: what it holds may be the other's equal.
    let order = ByteComparison.order(left.bound, right.bound)
    switch (left.subtree != nil, right.subtree != nil) {
    case (true, true):
      if order < 0 || (order == 0 && left.height >= right.height) {
        try left.enter()
      } else {
        try right.enter()
      }
    case (true, false):
      if order <= 0 {
        try left.enter()
      } else {
        try right.advance { key throws(StoreError) in try visit(.inserted, key) }
      }
    case (false, true):
      if order >= 0 {
        try right.enter()
      } else {
        try left.advance { key throws(StoreError) in try visit(.removed, key) }
      }
    case (false, false):
      if order < 0 {
        try left.advance { key throws(StoreError) in try visit(.removed, key) }
      } else if order > 0 {
        try right.advance { key throws(StoreError) in try visit(.inserted, key) }
      } else {
        if !left.hasSameValue(as: right) { try visit(.changed, left.bound) }
        try left.advance { _ throws(StoreError) in }
        try right.advance { _ throws(StoreError) in }
      }
    }
  }
}

/// Walks a tree so that whole subtrees can be stepped over: it stands before a subtree that is still
/// closed, or at a key.
private struct DiffCursor {
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
    root = tree.isEmpty ? nil : tree.root
    keyOwner = ValueBuffer([UInt8](repeating: 0, count: 2 * KeyNode.maximumKeyByteCount))
    key = UnsafeMutableRawBufferPointer(mutating: keyOwner.bytes)
  }

  var isAtEnd: Bool { root == nil && frames.isEmpty }

  /// The closed subtree it stands before.
  var subtree: PageReference? {
    if let root { return root.reference }
    guard let top = frames.last, top.height > 1 else { return nil }
    return KeyNode(top.page).child(top.index)
  }

  /// How many levels the closed subtree has.
  var height: Int {
    if let root { return Int(root.height) }
    return (frames.last?.height ?? 1) - 1
  }

  /// The key it is at, or the least key its subtree may hold.
  var bound: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(key)[..<keyByteCount])
  }

  /// Goes into the closed subtree, before its first child or at its first key.
  mutating func enter() throws(StoreError) {
    guard let subtree else { return }
    let height = height
    let page = try source.page(subtree, height == 1 ? .keyLeaf : .keyBranch)
    root = nil
    frames.append(Frame(page: page, index: 0, height: height))
    // Its first child begins where the subtree begins.
    if height == 1 { loadKey() }
  }

  /// Steps over the closed subtree.
  mutating func skip() {
    root = nil
    moveOn()
  }

  /// Steps over the key it is at, handing it to `visit` first; or goes into the closed subtree.
  mutating func advance(
    _ visit: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    if subtree != nil { return try enter() }
    try visit(bound)
    moveOn()
  }

  private mutating func moveOn() {
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
    guard let top = frames.last, let base = key.baseAddress else { return }
    let node = KeyNode(top.page)
    let header = top.height == 1 ? KeyNode.leafCellHeader : KeyNode.branchCellHeader
    let slot = node.slot(top.index)
    guard node.keyByteCount(slot) <= key.count else {
      keyByteCount = 0
      return
    }
    keyByteCount = node.copyKey(slot, header: header, to: base)
  }

  /// Whether the values under both keys are stored alike: the same bytes, or the same pages.
  func hasSameValue(as other: DiffCursor) -> Bool {
    guard let mine = frames.last, let their = other.frames.last else { return false }
    let left = KeyNode(mine.page).storedValue(mine.index)
    let right = KeyNode(their.page).storedValue(their.index)
    return left.isOverflow == right.isOverflow
      && ByteComparison.order(left.bytes, right.bytes) == 0
  }
}
