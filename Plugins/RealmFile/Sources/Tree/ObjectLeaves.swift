/// The leaves of an object tree in their order, which is that of the keys.
struct ObjectLeaves {
  /// Whose tree it is.
  enum Owner {
    /// A class: keys are checked.
    case `class`
    /// A dictionary of formats 21 and 22: keys are hashes, and mean nothing.
    case dictionary
  }

  /// What a leaf is, and which keys it has.
  struct Item {
    var leaf: ObjectTreeLeaf
    /// Empty for a dictionary.
    var keys: [Int64]
  }

  private struct Level {
    var inner: ObjectTreeInner
    /// The next child.
    var next = 0
    /// What is added to the keys below.
    var base: Int64
    /// Above all keys below; nil for no limit.
    var limit: Int64?
    /// How many objects came before the node.
    var start: Int
  }

  static let largestDepth = 8

  private let walk: Walk
  private let owner: Owner
  private var levels: [Level] = []
  /// The root until it is read.
  private var root: Int?
  private var objectCount = 0

  init(root: Int, _ owner: Owner, _ walk: Walk) {
    self.root = root
    self.owner = owner
    self.walk = walk
  }

  /// The next leaf; nil after the last one.
  mutating func next() throws(ReadFault) -> Item? {
    if let root {
      self.root = nil
      if let item = try descend(to: root, base: 0, limit: nil) { return item }
    }
    while let level = levels.last {
      guard level.next < level.inner.childCount else {
        try checkCount(level)
        levels.removeLast()
        continue
      }
      levels[levels.count - 1].next += 1
      let (base, limit) = try range(of: level.next, in: level)
      if let item = try descend(to: level.inner.child(level.next), base: base, limit: limit) {
        return item
      }
    }
    return nil
  }

  /// The keys that a child may have.
  private func range(of child: Int, in level: Level) throws(ReadFault) -> (Int64, Int64?) {
    if owner == .dictionary { return (0, nil) }
    return try level.inner.range(of: child, base: level.base, limit: level.limit)
  }

  /// The node at `position` if it is a leaf; an inner node is put on the stack.
  private mutating func descend(
    to position: Int, base: Int64, limit: Int64?
  ) throws(ReadFault) -> Item? {
    let node = try walk.node(at: position)
    guard node.isInner else {
      let leaf = try ObjectTreeLeaf(node, walk)
      let keys = owner == .class ? try leaf.keys(base: base, limit: limit) : []
      objectCount += leaf.objectCount
      return Item(leaf: leaf, keys: keys)
    }
    guard levels.count < Self.largestDepth else {
      throw node.damage("an object tree has more than \(Self.largestDepth) levels")
    }
    let inner = try ObjectTreeInner(node, walk)
    if owner == .class { try inner.checkOffsets() }
    levels.append(Level(inner: inner, base: base, limit: limit, start: objectCount))
    return nil
  }

  private func checkCount(_ level: Level) throws(ReadFault) {
    let found = objectCount - level.start
    guard found == level.inner.objectCount else {
      throw level.inner.node.damage(
        "an object tree has \(found) objects instead of \(level.inner.objectCount)")
    }
  }
}
