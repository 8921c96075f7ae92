/// The leaves of an element tree, which holds the values of one collection, in their order.
///
/// ```
///  inner node   0          1 … N       N + 1
///              | offsets  | children  | total |     offsets and total: tagged, or offsets a ref
/// ```
///
/// Offsets are not needed to read everything, and are skipped. The caller adds to ``elementCount`` how
/// many elements each leaf had; it is compared with the totals.
struct ElementLeaves {
  private struct Level {
    var node: Node
    /// The next child.
    var next: Int
    /// How many elements came before the node.
    var start: Int
  }

  static let largestDepth = 8

  /// How many elements the leaves so far had.
  var elementCount = 0
  private let walk: Walk
  private var levels: [Level] = []
  /// The root until it is read.
  private var root: Int?

  init(root: Int, _ walk: Walk) {
    self.root = root
    self.walk = walk
  }

  /// The next leaf; nil after the last one.
  mutating func next() throws(ReadFault) -> Node? {
    if let root {
      self.root = nil
      if let leaf = try descend(to: root) { return leaf }
    }
    while let level = levels.last {
      let childrenEnd = level.node.count - 1
      guard level.next < childrenEnd else {
        try checkTotal(level)
        levels.removeLast()
        continue
      }
      levels[levels.count - 1].next += 1
      if let leaf = try descend(to: level.node.ref(level.next, "an element tree's child")) {
        return leaf
      }
    }
    return nil
  }

  /// The node at `position` if it is a leaf; an inner node is put on the stack.
  private mutating func descend(to position: Int) throws(ReadFault) -> Node? {
    let node = try walk.node(at: position)
    guard node.isInner else { return node }
    guard levels.count < Self.largestDepth else {
      throw node.damage("an element tree has more than \(Self.largestDepth) levels")
    }
    guard node.count >= 3 else {
      throw node.damage("an inner node of an element tree has \(node.count) elements")
    }
    levels.append(Level(node: node, next: 1, start: elementCount))
    return nil
  }

  private func checkTotal(_ level: Level) throws(ReadFault) {
    let total = try level.node.tagged(level.node.count - 1, "the total of an element tree")
    let found = elementCount - level.start
    guard total == Int64(found) else {
      throw level.node.damage("an element tree has \(found) elements instead of \(total)")
    }
  }
}
