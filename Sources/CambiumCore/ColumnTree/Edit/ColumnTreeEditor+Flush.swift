extension ColumnTreeEditor {
  /// Writes all dirty pages, children before their branches, and returns the root of the stored
  /// tree.
  ///
  /// The editor goes on from there.
  ///
  /// Leaves that became too large are split, those below a third of their size are merged with a
  /// neighbour, and a root with a single child gives way to it.
  public func flush() throws(StoreError) -> TreeRoot {
    try context.change { () throws(StoreError) in
      try letGo()
      guard unsafe root.reference.isDirty else { return unsafe root }
      try rebalance()
      try unsafe root.checkHeight()
      // A root with a single child may have given way to a stored page.
      guard unsafe root.reference.isDirty else { return unsafe root }
      unsafe root.reference = try unsafe write(root.reference, level: Int(root.height) - 1)
      return unsafe root
    }
  }

  /// Lets go of all pages, with every change in them; returns the root, which may be dirty.
  func settle() throws(StoreError) -> TreeRoot {
    try context.change { () throws(StoreError) in
      try letGo()
      return unsafe root
    }
  }

  private func letGo() throws(StoreError) {
    dropFinger()
    try settleLog()
  }

  private func write(
    _ reference: PageReference, level: Int
  ) throws(StoreError) -> PageReference {
    let page: DirtyPage
    if level == 0 {
      let leaf = dirtyLeaf(reference)
      packNow(leaf)
      page = leaf
    } else {
      let branch = unsafe unsafeDowncast(
        context.dirty[reference.dirtyIndex], to: DirtyBranch.self)
      page = branch
      var index = branch.nextDirty(from: 0)
      while index < branch.count {
        branch.setReference(try write(branch[index].reference, level: level - 1), at: index)
        index = branch.nextDirty(from: index + 1)
      }
      branch.shrink()
    }
    let stored = try context.write(page)
    context.dirty.remove(reference)
    return stored
  }

  // MARK: Rebalancing

  /// Brings every dirty node to a proper size, from the leaves up.
  private func rebalance() throws(StoreError) {
    var nodes: [Child]?
    if unsafe root.height == 1 {
      var children = unsafe [
        Child(separator: .min, reference: root.reference, rowCount: root.rowCount)
      ]
      try rebalanceLeaves(&children)
      nodes = children
    } else {
      nodes = try unsafe rebalance(branch: root.reference, separator: .min)
    }
    while let list = nodes, list.count > 1 {
      unsafe root.height += 1
      nodes = unsafe branches(of: list, level: Int(root.height) - 1, reusing: nil)
    }
    if let only = nodes?.first { unsafe root.reference = only.reference }
    while unsafe root.height > 1 {
      // One that is damaged stays as it is.
      guard let page = try unsafe context.source.soundPage(root.reference, .columnBranch)
      else { break }
      let branch = ColumnBranch(page)
      // A stored one is reached by who reads the version in its other form.
      guard unsafe branch.count == 1 && (root.reference.isDirty || !context.storesSameVersion)
      else { break }
      let old = unsafe root.reference
      unsafe root.reference = branch.reference(0)
      unsafe root.height -= 1
      context.free(old)
    }
  }

  /// Rebalances what is below a dirty branch.
  ///
  /// Returns the nodes that take its place, or nil when it stays.
  private func rebalance(
    branch reference: PageReference, separator: Int64
  ) throws(StoreError) -> [Child]? {
    let branch = unsafe unsafeDowncast(context.dirty[reference.dirtyIndex], to: DirtyBranch.self)
    var children: [Child]
    if branch.level == 1 {
      guard areLeavesUneven(branch) else { return nil }
      children = branch.children
      try rebalanceLeaves(&children)
    } else {
      guard let uneven = try rebalanceBranches(below: branch) else { return nil }
      children = uneven
      try mergeBranches(&children)
    }
    let nodes = branches(
      of: children, level: branch.level,
      reusing: (branch, Child(separator: separator, reference: reference, rowCount: 0)))
    return nodes.count > 1 || nodes.first?.reference != reference ? nodes : nil
  }

  /// Rebalances the dirty branches below another one; what its children are then, or nil when all of
  /// them stay and are large enough.
  private func rebalanceBranches(below branch: DirtyBranch) throws(StoreError) -> [Child]? {
    var children: [Child]?
    var next = branch.nextDirty(from: 0)
    for index in next..<branch.count {
      guard index == next else {
        children?.append(branch[index])
        continue
      }
      next = branch.nextDirty(from: index + 1)
      let child = branch[index]
      let nodes = try rebalance(branch: child.reference, separator: child.separator)
      if children == nil, nodes != nil || isSmall(child) {
        children = (0..<index).map { branch[$0] }
      }
      if let nodes { children?.append(contentsOf: nodes) } else { children?.append(child) }
    }
    return children
  }

  /// The dirty branch of a child, to change it.
  private func ownBranch(_ child: Child) -> DirtyBranch {
    unsafe unsafeDowncast(context.dirty[child.reference.dirtyIndex], to: DirtyBranch.self)
  }

  /// Whether a dirty branch is to be joined with a neighbour.
  private func isSmall(_ child: Child) -> Bool {
    let page = context.dirty.look(at: child.reference.dirtyIndex)
    return unsafe unsafeDowncast(page, to: DirtyBranch.self).count < options.branchRoom / 3
  }

  /// A dirty leaf, to look at it and to pack it: it may belong to a published version.
  func dirtyLeaf(_ reference: PageReference) -> DirtyLeaf {
    unsafe unsafeDowncast(context.dirty.look(at: reference.dirtyIndex), to: DirtyLeaf.self)
  }

  /// A dirty leaf, to change it.
  func ownLeaf(_ child: Child) -> DirtyLeaf {
    unsafe unsafeDowncast(context.dirty[child.reference.dirtyIndex], to: DirtyLeaf.self)
  }

  /// Spreads children over as few branches at `level` as hold them, evenly.
  private func branches(
    of children: [Child], level: Int, reusing old: (branch: DirtyBranch, child: Child)?
  ) -> [Child] {
    let nodeCount = (children.count + options.branchRoom - 1) / options.branchRoom
    var nodes: [Child] = []
    for index in 0..<nodeCount {
      let range =
        (children.count * index / nodeCount)..<(children.count * (index + 1) / nodeCount)
      let former = index == 0 ? old : nil
      var node = Child(
        separator: former?.child.separator ?? children[range.lowerBound].separator,
        reference: .none, rowCount: 0)
      let branch: DirtyBranch
      if let former, former.branch.room >= range.count {
        branch = former.branch
        node.reference = former.child.reference
      } else {
        if let former { context.free(former.child.reference) }
        branch = DirtyBranch(level: level, isPositional: isPositional, room: options.branchRoom)
        node.reference = context.dirty.insert(branch)
      }
      branch.setChildren(children[range])
      node.rowCount = branch.rowCount
      nodes.append(node)
    }
    return nodes
  }

  /// Joins branches below a third of their size with a neighbour.
  private func mergeBranches(_ children: inout [Child]) throws(StoreError) {
    var index = 0
    while index < children.count, children.count > 1 {
      guard children[index].reference.isDirty, isSmall(children[index]) else {
        index += 1
        continue
      }
      let left = index + 1 < children.count ? index : index - 1
      guard try mayJoin(children[left], children[left + 1]) else {
        index += 1
        continue
      }
      try own(branch: &children[left])
      try own(branch: &children[left + 1])
      let (first, second) = (ownBranch(children[left]), ownBranch(children[left + 1]))
      var all = first.children
      var moved = second.children
      // The first child's own separator says nothing; its branch's does.
      moved[0].separator = children[left + 1].separator
      all += moved
      guard (all.count + 1) / 2 <= min(first.room, second.room) else {
        index += 1
        continue
      }
      if all.count <= min(options.branchRoom, first.room) {
        first.setChildren(all)
        context.free(children[left + 1].reference)
        children.remove(at: left + 1)
      } else {
        let middle = all.count / 2
        first.setChildren(all[..<middle])
        second.setChildren(all[middle...])
        children[left + 1].separator = all[middle].separator
        children[left + 1].rowCount = second.rowCount
        index += 1
      }
      children[left].rowCount = first.rowCount
    }
  }

  private func own(branch child: inout Child) throws(StoreError) {
    if child.reference.isDirty { return }
    let old = child.reference
    let page = try context.source.page(old, .columnBranch)
    child.reference = context.dirty.insert(
      DirtyBranch(
        copying: ColumnBranch(page), isPositional: isPositional, room: options.branchRoom))
    context.free(old)
  }
}
