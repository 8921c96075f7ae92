/// A place in a ``KeyTree``: at one of its keys, or at none.
///
/// A new cursor is at no key; moving past either end leaves it there. Steps within a leaf cost a
/// few instructions and never allocate. Copies move on their own. A cursor must not be used after
/// its tree was changed. If a move throws, the cursor is at no key.
///
/// Pointers: `node` lies in `page`, which the cursor keeps with the branches above it, or in memory
/// that is kept for ever; entries are asked for below the leaf's count. Keys to seek belong to the
/// caller for the length of the call.
public struct KeyCursor {
  /// A branch on the way to the leaf.
  struct Step {
    var page: Page
    var index: Int
    var count: Int
  }

  /// The tree it moves in.
  public let tree: KeyTree
  var steps: [Step] = []
  /// Keeps the leaf's bytes alive.
  var page: Page?
  @usableFromInline var node: KeyNode
  @usableFromInline var index = 0
  /// How many entries the leaf has; 0 when at no key.
  @usableFromInline var leafCount = 0
  private var ahead: ReadAhead
  /// An overflow value that was read here.
  var overflow: ValueBuffer?

  /// A cursor at no key of `tree`.
  public init(_ tree: KeyTree) {
    self.tree = tree
    ahead = ReadAhead(tree.source, toEnd: false)
    node = Self.nowhere
  }

  /// A node without entries.
  private static let emptyBytes = PageBuffer(byteCount: 64)
  private static var nowhere: KeyNode { unsafe KeyNode(emptyBytes.bytes, byteCount: 64) }

  /// Whether it is at a key.
  @inlinable public var isValid: Bool { leafCount > 0 }

  // MARK: Moving

  /// Moves to the next key; false, at no key, if there is none.
  @inlinable @inline(__always)
  public mutating func next() throws(StoreError) -> Bool {
    if index &+ 1 < leafCount {
      index &+= 1
      return true
    }
    return try nextLeaf()
  }

  /// Moves to the key before; false, at no key, if there is none.
  @inlinable @inline(__always)
  public mutating func previous() throws(StoreError) -> Bool {
    if index > 0 {
      index &-= 1
      return true
    }
    return try previousLeaf()
  }

  /// Moves to the first key; false if the tree is empty.
  @discardableResult
  public mutating func seekFirst() throws(StoreError) -> Bool {
    reset()
    if tree.root.isEmpty { return false }
    return try descend(tree.root.reference, level: 0) { node, isLeaf throws(StoreError) in 0 }
  }

  /// Moves to the last key; false if the tree is empty.
  @discardableResult
  public mutating func seekLast() throws(StoreError) -> Bool {
    reset()
    if tree.root.isEmpty { return false }
    return try descend(tree.root.reference, level: 0) { node, _ throws(StoreError) in
      node.count - 1
    }
  }

  /// Moves to the first key that is not below `key`; false, at no key, if there is none.
  @discardableResult
  package mutating func seek(to key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    reset()
    if tree.root.isEmpty { return false }
    let isInLeaf = try descend(tree.root.reference, level: 0) { node, isLeaf throws(StoreError) in
      unsafe isLeaf
        ? node.search(key, from: 0, header: KeyNode.leafCellHeader).index : node.childIndex(key)
    }
    return isInLeaf ? true : try nextLeaf()
  }

  /// Moves to the last key below `key`; false, at no key, if there is none.
  @discardableResult
  package mutating func seek(below key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    try unsafe seek(to: key) ? try previous() : try seekLast()
  }

  /// Moves to the key with `rank` keys below it; false, at no key, if there is none.
  @discardableResult
  public mutating func seek(toRank rank: Int) throws(StoreError) -> Bool {
    reset()
    guard rank >= 0, unsafe rank < tree.count else { return false }
    var rest = rank
    let isInLeaf = try descend(tree.root.reference, level: 0) { node, isLeaf throws(StoreError) in
      if isLeaf { return rest }
      var child = 0
      while child < node.count {
        let rows = node.childRowCount(child)
        if rest < rows { return child }
        rest -= rows
        child += 1
      }
      throw .damaged(Damage(.count, "a tree has fewer rows than its root says"))
    }
    guard isInLeaf else {
      reset()
      throw .damaged(Damage(.count, "a leaf has fewer rows than its parent says"))
    }
    return true
  }

  /// Moves to the first key that is not below `key`; false, at no key, if there is none.
  @discardableResult
  public mutating func seek(to key: Span<UInt8>) throws(StoreError) -> Bool {
    try unsafe key.withUnsafeBytes { key throws(StoreError) in try unsafe seek(to: key) }
  }

  /// Moves to the first key that is not below `key`; false, at no key, if there is none.
  @discardableResult
  public mutating func seek(to key: [UInt8]) throws(StoreError) -> Bool { try seek(to: key.span) }

  /// Moves to the last key below `key`; false, at no key, if there is none.
  @discardableResult
  public mutating func seek(below key: [UInt8]) throws(StoreError) -> Bool {
    try seek(to: key) ? try previous() : try seekLast()
  }

  /// Where the cursor is: how many keys are below its own.
  ///
  /// It must be at a key.
  public var rank: Int {
    precondition(isValid, "A cursor at no key has no rank; seek first.")
    return steps.reduce(index) { $0 &+ KeyNode($1.page).rowCount(before: $1.index) }
  }

  private mutating func reset() {
    steps.removeAll(keepingCapacity: true)
    page = nil
    node = Self.nowhere
    index = 0
    leafCount = 0
    ahead.restart()
  }

  /// Goes down from the node at `reference` on `level` (the root's is 0) to a leaf, choosing a
  /// child or entry in each node.
  ///
  /// False if `choose` names an entry past the leaf's last; the cursor is then at no key, with the
  /// way kept for ``nextLeaf()``.
  private mutating func descend(
    _ reference: PageReference, level: Int, _ choose: (KeyNode, Bool) throws(StoreError) -> Int
  ) throws(StoreError) -> Bool {
    var reference = reference
    var level = level + 1
    do throws(StoreError) {
      while level < Int(tree.root.height) {
        let branch = try tree.source.page(reference, .keyBranch)
        let node = KeyNode(branch)
        let child = try choose(node, false)
        reference = node.child(child)
        steps.append(Step(page: branch, index: child, count: node.count))
        level += 1
      }
      let leaf = try tree.source.page(reference, .keyLeaf)
      page = leaf
      node = KeyNode(leaf)
      index = try choose(node, true)
      leafCount = index < node.count ? node.count : 0
      return leafCount > 0
    } catch {
      reset()
      throw error
    }
  }

  /// Tells the store what comes after the leaf that the cursor moves to, below the last of `steps`.
  private mutating func readAhead(_ direction: Int) {
    guard ahead.isWanted else { return }
    if ahead.needsPlace(direction) {
      var path = steps.map { step in
        LeafFrontier.Level(keyBranch: step.page, count: step.count, at: step.index &+ direction)
      }
      if let last = steps.last {
        path[path.count - 1] = LeafFrontier.Level(
          keyBranch: last.page, count: last.count, at: last.index)
      }
      ahead.place(LeafFrontier(path, depth: Int(tree.root.height) - 1, by: direction))
    }
    ahead.step()
  }

  /// Moves to the first key of the next leaf.
  @usableFromInline
  mutating func nextLeaf() throws(StoreError) -> Bool {
    while let last = steps.last {
      let child = last.index + 1
      if child < last.count {
        steps[steps.count - 1].index = child
        readAhead(1)
        return try descend(KeyNode(last.page).child(child), level: steps.count) {
          _, _ throws(StoreError) in 0
        }
      }
      steps.removeLast()
    }
    reset()
    return false
  }

  /// Moves to the last key of the leaf before.
  @usableFromInline
  mutating func previousLeaf() throws(StoreError) -> Bool {
    while let last = steps.last {
      let child = last.index - 1
      if child >= 0 {
        steps[steps.count - 1].index = child
        readAhead(-1)
        return try descend(KeyNode(last.page).child(child), level: steps.count) {
          node, _ throws(StoreError) in node.count - 1
        }
      }
      steps.removeLast()
    }
    reset()
    return false
  }
}
