/// What bulk work does with the leaves of a tree, which it meets in their order.
protocol LeafWork: AnyObject {
  /// Whether rows with keys up to `high`, above those of the leaves before, may be concerned.
  func concerns(_ high: Int64) -> Bool

  /// Deals with a leaf: true, and what takes the leaf's place is or will be in `children`, or false
  /// if it stays as it is.
  func rewrite(
    _ leaf: ColumnLeaf, into children: inout [Child]
  ) throws(StoreError) -> Bool

  /// Completes what was begun: the next leaf is no neighbour, or there is none.
  func close(into children: inout [Child]) throws(StoreError)
}

extension LeafWork {
  func concerns(_ high: Int64) -> Bool { true }
  func close(into children: inout [Child]) {}
}

/// Bulk work: one way through the tree, leaf by leaf, in place of a way down for each row.
///
/// The work never makes more leaves than it was given, so that no branch outgrows its page. Large
/// transactions write leaves as soon as they are done.
extension ColumnTreeEditor {
  /// Shows `work` all leaves that concern it.
  func rewriteLeaves(_ work: some LeafWork) throws(StoreError) {
    try settleLog()
    dropFinger()
    if unsafe root.isEmpty { return }
    let top = unsafe Child(separator: .min, reference: root.reference, rowCount: root.rowCount)
    var nodes: [Child] = []
    if unsafe root.height == 1 {
      guard try rewrite(leaf: top, work, into: &nodes) else { return }
      try work.close(into: &nodes)
    } else {
      let level = unsafe Int(root.height) - 1
      guard try rewrite(branch: top, level: level, high: .max, work, into: &nodes) else { return }
    }
    guard let node = nodes.first else {
      unsafe root = unsafe .empty(root.kind)
      return
    }
    unsafe root.reference = node.reference
    unsafe root.rowCount = node.rowCount
  }

  /// Rewrites what is below a branch, and appends the branch to `nodes` unless nothing is left of it;
  /// false if it stays as it is.
  private func rewrite(
    branch node: Child, level: Int, high: Int64, _ work: some LeafWork, into nodes: inout [Child]
  ) throws(StoreError) -> Bool {
    let branch = try branch(node.reference, level)
    var children: [Child] = []
    children.reserveCapacity(branch.count)
    var isChanged = false
    var ahead = ReadAhead(context.source, toEnd: false)
    for index in 0..<branch.count {
      let child = Child(
        separator: branch.separator(index), reference: branch.reference(index),
        rowCount: branch.rowCount(index))
      let high = index + 1 < branch.count ? branch.separator(index + 1) &- 1 : high
      if level == 1, index + 1 < branch.count {
        context.source.prefetch(branch.reference(index + 1))
      }
      var isRewritten = false
      if isPositional || work.concerns(high) {
        ahead.step(to: index, of: branch.count) { branch.reference($0) }
        isRewritten =
          level > 1
          ? try rewrite(branch: child, level: level - 1, high: high, work, into: &children)
          : try rewrite(leaf: child, work, into: &children)
      }
      if isRewritten {
        isChanged = true
      } else {
        ahead.restart()
        try work.close(into: &children)
        children.append(child)
      }
    }
    try work.close(into: &children)
    guard isChanged else { return false }
    if children.isEmpty {
      context.free(node.reference)
      return true
    }
    var node = node
    let dirty: DirtyBranch
    if node.reference.isDirty {
      dirty = unsafe unsafeDowncast(context.dirty[node.reference.dirtyIndex], to: DirtyBranch.self)
    } else {
      dirty = DirtyBranch(copying: branch, isPositional: isPositional, room: options.branchRoom)
      context.free(node.reference)
      node.reference = context.dirty.insert(dirty)
    }
    dirty.setChildren(children)
    node.rowCount = dirty.rowCount
    nodes.append(node)
    return true
  }

  private func rewrite(
    leaf child: Child, _ work: some LeafWork, into children: inout [Child]
  ) throws(StoreError) -> Bool {
    let page: Page
    if child.reference.isDirty {
      let dirty = unsafe unsafeDowncast(
        context.dirty[child.reference.dirtyIndex], to: DirtyLeaf.self)
      packNow(dirty)
      // The work may use the leaf after it was given back.
      page = unsafe Page(bytes: dirty.bytes, byteCount: dirty.byteCount, owner: dirty)
    } else {
      page = try context.source.page(child.reference, .columnLeaf)
    }
    let leaf = ColumnLeaf(page)
    guard leaf.rowCount > 0, leaf.isPositional == isPositional else {
      throw ColumnTree.wrongCount(child.reference)
    }
    guard try work.rewrite(leaf, into: &children) else { return false }
    context.free(child.reference)
    return true
  }

  /// Whether leaves that are done are to be written at once.
  var writesFinishedLeaves: Bool { unsafe context.dirty.byteCount >= options.writeAheadByteCount }
}
