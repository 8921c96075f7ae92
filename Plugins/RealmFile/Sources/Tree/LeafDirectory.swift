/// Where the leaves of a class's object tree lie, and with which key each may begin.
final class LeafDirectory {
  /// The least key that leads to each leaf, ascending.
  private var bases: [Int64] = []
  private var positions: [Int] = []

  var count: Int { bases.count }

  /// Reads the inner nodes of the tree, and its root.
  init(root: Int, _ walk: Walk) throws(ReadFault) {
    try add(root, base: 0, limit: nil, depth: 0, walk)
  }

  private func add(
    _ position: Int, base: Int64, limit: Int64?, depth: Int, _ walk: Walk
  ) throws(ReadFault) {
    let node = try walk.node(at: position)
    guard node.isInner else {
      bases.append(base)
      positions.append(position)
      return
    }
    guard depth < ObjectLeaves.largestDepth else {
      throw node.damage("an object tree has more than \(ObjectLeaves.largestDepth) levels")
    }
    let inner = try ObjectTreeInner(node, walk)
    try inner.checkOffsets()
    for index in 0..<inner.childCount {
      let range = try inner.range(of: index, base: base, limit: limit)
      let child = try inner.child(index)
      if inner.hasLeaves {
        // Leaves are read when something is looked for in them.
        bases.append(range.base)
        positions.append(child)
      } else {
        try add(child, base: range.base, limit: range.limit, depth: depth + 1, walk)
      }
    }
  }

  /// Whether `key` leads to that leaf.
  func leads(_ key: Int64, to leaf: Int) -> Bool {
    key >= bases[leaf] && (leaf + 1 == count || key < bases[leaf + 1])
  }

  /// The leaf to which a key leads that is not negative.
  func index(of key: Int64) -> Int {
    var (low, high) = (0, count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if bases[middle] <= key { low = middle } else { high = middle }
    }
    return low
  }

  /// Where a leaf lies.
  func position(of leaf: Int) -> Int { positions[leaf] }

  /// Reads a leaf.
  func leaf(_ leaf: Int, _ walk: Walk) throws(ReadFault) -> ObjectTreeLeaf {
    let node = try walk.node(at: positions[leaf])
    guard !node.isInner else {
      throw node.damage("an inner node stands in the place of a leaf of an object tree")
    }
    return try ObjectTreeLeaf(node, walk)
  }

  /// Reads the keys of a leaf.
  func keys(of leaf: Int, _ walk: Walk) throws(ReadFault) -> [Int64] {
    try self.leaf(leaf, walk).keys(
      base: bases[leaf], limit: leaf + 1 == count ? nil : bases[leaf + 1])
  }
}
