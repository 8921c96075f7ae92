import CPlatform

/// Moves over the leaves of a ``ColumnTree`` in both directions.
///
/// Stands on a leaf or nowhere. Valid as long as the tree's snapshot; in a write transaction until
/// its next change.
public struct ColumnLeafCursor {
  /// A branch on the way down and the child taken.
  private struct Step {
    var branch: ColumnBranch
    var child: Int
  }

  private let tree: ColumnTree
  private var steps: [Step] = []
  private var current: ColumnLeaf?
  /// The index of the leaf's first row within the tree.
  public private(set) var firstIndex = 0

  init(tree: ColumnTree) {
    self.tree = tree
    steps.reserveCapacity(Int(tree.root.height))
  }

  /// Whether the cursor stands on a leaf.
  public var isValid: Bool { current != nil }

  /// The leaf; the cursor must stand on one.
  public var leaf: ColumnLeaf {
    guard let current else {
      preconditionFailure("The cursor stands on no leaf; move it and check what that returns.")
    }
    return current
  }

  /// Moves to the first leaf; false when the tree is empty.
  public mutating func first() throws(StoreError) -> Bool { try seek(toIndex: 0) }

  /// Moves to the last leaf; false when the tree is empty.
  public mutating func last() throws(StoreError) -> Bool { try seek(toIndex: tree.count - 1) }

  /// Moves to the leaf that holds `key` or, when no row has it, would hold it; false when the tree
  /// is empty.
  public mutating func seek(toKey key: Int64) throws(StoreError) -> Bool {
    if tree.isPositional { return try seek(toIndex: Int(truncatingIfNeeded: key)) }
    return try descend { branch, _ in (branch.child(for: key), 0) }
  }

  /// Moves to the leaf that holds the row at `index`; false out of bounds.
  public mutating func seek(toIndex index: Int) throws(StoreError) -> Bool {
    guard index >= 0, index < tree.count else {
      steps.removeAll(keepingCapacity: true)
      current = nil
      return false
    }
    return try descend { branch, before in
      let (child, _) = branch.child(at: UInt64(index) &- before)
      return (child, 0)
    }
  }

  /// Walks down from the root, asking `choose` for the child, given the rows before the branch.
  private mutating func descend(
    _ choose: (ColumnBranch, UInt64) -> (Int, Int)
  ) throws(StoreError) -> Bool {
    steps.removeAll(keepingCapacity: true)
    current = nil
    var reference = tree.root.reference
    if reference.isNone { return false }
    var before: UInt64 = 0
    for level in stride(from: Int(tree.root.height) - 1, to: 0, by: -1) {
      let branch = try branch(reference, level)
      let (child, _) = choose(branch, before)
      before &+= branch.rowsBefore(child)
      steps.append(Step(branch: branch, child: child))
      reference = branch.reference(child)
    }
    try stand(on: reference)
    firstIndex = Int(truncatingIfNeeded: before)
    return true
  }

  private func branch(
    _ reference: PageReference, _ level: Int
  ) throws(StoreError) -> ColumnBranch {
    let branch = ColumnBranch(try tree.source.page(reference, .columnBranch))
    guard branch.level == level, branch.count > 0 else { throw ColumnTree.wrongHeight(reference) }
    return branch
  }

  private mutating func stand(on reference: PageReference) throws(StoreError) {
    current = ColumnLeaf(try tree.source.page(reference, .columnLeaf))
  }

  /// Moves to the next leaf; false, and nowhere, past the last one.
  public mutating func next() throws(StoreError) -> Bool {
    guard let leaf = current else { return false }
    let index = firstIndex &+ leaf.rowCount
    guard try step(by: 1) else { return false }
    firstIndex = index
    return true
  }

  /// Moves to the previous leaf; false, and nowhere, before the first one.
  public mutating func previous() throws(StoreError) -> Bool {
    guard current != nil, try step(by: -1), let leaf = current else { return false }
    firstIndex &-= leaf.rowCount
    return true
  }

  /// Moves to the neighbour of the leaf, climbing as far as needed.
  private mutating func step(by direction: Int) throws(StoreError) -> Bool {
    var depth = steps.count - 1
    while depth >= 0 {
      let child = steps[depth].child &+ direction
      if child >= 0 && child < steps[depth].branch.count {
        steps[depth].child = child
        var reference = steps[depth].branch.reference(child)
        if depth + 1 < steps.count {
          for lower in (depth + 1)..<steps.count {
            let branch = try branch(reference, steps.count - lower)
            let child = direction > 0 ? 0 : branch.count - 1
            steps[lower] = Step(branch: branch, child: child)
            reference = branch.reference(child)
          }
        }
        prefetch(direction)
        try stand(on: reference)
        return true
      }
      depth -= 1
    }
    steps.removeAll(keepingCapacity: true)
    current = nil
    return false
  }

  /// Hints at the header of a leaf a few steps ahead.
  @inline(__always) private func prefetch(_ direction: Int) {
    guard let base = tree.source.base, let last = steps.last else { return }
    let ahead = last.child &+ direction &* 4
    guard ahead >= 0, ahead < last.branch.count else { return }
    let offset = last.branch.reference(ahead).byteOffset
    if offset < tree.source.readableByteCount {
      cambium_prefetch(base + offset)
      cambium_prefetch(base + offset + 64)
      cambium_prefetch(base + offset + 128)
    }
  }
}
