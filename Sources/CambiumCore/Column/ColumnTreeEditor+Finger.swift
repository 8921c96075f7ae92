extension ColumnTreeEditor {
  /// Points the finger at the leaf whose range holds `key`.
  ///
  /// Nothing when the tree is empty.
  @inline(__always) func reach(_ key: Int64) throws(StoreError) {
    if finger.isSet, key >= finger.low, key <= finger.high { return }
    try descend(key)
  }

  /// Walks down to the leaf whose range holds `key`; `isNew` if that leaf was just put there.
  func descend(_ key: Int64, isNew: Bool = false) throws(StoreError) {
    liftFinger()
    if !isNew { try finishPipeline() }
    var reference = root.reference
    if reference.isNone { return }
    var low = Int64.min
    var high = Int64.max
    steps.reserveCapacity(Int(root.height))
    for level in stride(from: Int(root.height) - 1, to: 0, by: -1) {
      let branch = try branch(reference, level)
      let child = branch.child(for: key)
      if child > 0 { low = branch.separator(child) }
      if child + 1 < branch.count { high = branch.separator(child + 1) &- 1 }
      steps.append(Step(reference: reference, child: child))
      reference = branch.reference(child)
    }
    try stand(on: reference)
    finger.low = low
    finger.high = high
  }

  /// Points the finger at the leaf that holds the row at `position`, or at the last one for the
  /// position past the end.
  ///
  /// The tree is not empty.
  /// `isNew` says that the leaf was just put there.
  func reach(position: Int, isNew: Bool = false) throws(StoreError) {
    if finger.isSet, position >= finger.first {
      let end = finger.first + leafRowCount
      if position < end || position == end && end == count { return }
    }
    liftFinger()
    if !isNew { try finishPipeline() }
    var reference = root.reference
    var rest = UInt64(position)
    for level in stride(from: Int(root.height) - 1, to: 0, by: -1) {
      let branch = try branch(reference, level)
      let (child, before) = branch.child(at: rest)
      rest &-= before
      steps.append(Step(reference: reference, child: child))
      reference = branch.reference(child)
    }
    try stand(on: reference)
    finger.first = position - Int(truncatingIfNeeded: rest)
    guard position <= finger.first + leafRowCount else {
      throw ColumnTree.wrongCount(reference)
    }
  }

  func branch(_ reference: PageReference, _ level: Int) throws(StoreError) -> ColumnBranch {
    if reference.isDirty {
      return unsafeDowncast(context.dirty[reference.dirtyIndex], to: DirtyBranch.self).branch
    }
    let branch = ColumnBranch(try context.source.page(reference, .columnBranch))
    guard branch.level == level, branch.count > 0 else { throw ColumnTree.wrongHeight(reference) }
    return branch
  }

  private func stand(on reference: PageReference) throws(StoreError) {
    if reference.isDirty {
      let dirty = unsafeDowncast(context.dirty[reference.dirtyIndex], to: DirtyLeaf.self)
      leaf = dirty
      if !isPositional { hot = dirty.builder.map { Unmanaged.passUnretained($0) } }
    } else {
      let page = ColumnLeaf(try context.source.page(reference, .columnLeaf))
      guard page.rowCount > 0, page.isPositional == isPositional else {
        throw ColumnTree.wrongCount(reference)
      }
      cleanLeaf = page
    }
    finger.isSet = true
  }

  var leafRowCount: Int { leaf?.rowCount ?? cleanLeaf?.rowCount ?? 0 }

  /// Lets go of the leaf before the tree is changed in other ways than through the finger.
  func dropFinger() {
    rowsMoved()
    liftFinger()
  }

  /// Says that rows lie elsewhere.
  @inline(__always) func rowsMoved() { rowGeneration?.pointee &+= 1 }

  /// Lets go of the leaf, after counting what was added to it.
  private func liftFinger() {
    settleFinger()
    // A leaf that took many changes is likely done: packed now, its memory serves the next one.
    if finger.changeCount > 0, let leaf, let builder = leaf.builder {
      if finger.changeCount >= 16 {
        packNow(leaf)
        leaf.builder = nil
        recycle(builder)
      } else {
        // It may have grown; the transaction's budget counts it while it stays.
        leaf.heldByteCount = builder.heldByteCount
      }
    }
    finger = Finger()
    leaf = nil
    cleanLeaf = nil
    steps.removeAll(keepingCapacity: true)
  }

  /// Brings the row counts of the branches above the finger up to date.
  func settleFinger() {
    let rows = finger.pendingRows
    if rows == 0 { return }
    finger.pendingRows = 0
    for step in steps { branch(step).addRows(rows, at: step.child) }
  }

  /// The dirty branch of a step.
  func branch(_ step: Step) -> DirtyBranch {
    unsafeDowncast(context.dirty[step.reference.dirtyIndex], to: DirtyBranch.self)
  }

  /// Makes the leaf under the finger, and every branch above it, private pages.
  @inline(__always) func ownLeaf() throws(StoreError) -> DirtyLeaf {
    if let leaf { return leaf }
    return try makeDirty()
  }

  private func makeDirty() throws(StoreError) -> DirtyLeaf {
    rowsMoved()
    guard let cleanLeaf else { preconditionFailure("The finger points at a leaf.") }
    for depth in steps.indices where !steps[depth].reference.isDirty {
      let old = steps[depth].reference
      let page = try context.source.page(old, .columnBranch)
      let copy = DirtyBranch(
        copying: ColumnBranch(page), isPositional: isPositional, room: options.branchRoom)
      steps[depth].reference = context.dirty.insert(copy)
      replaceChild(depth, by: steps[depth].reference)
      context.free(old)
    }
    let old = childReference(steps.count)
    let copy = DirtyLeaf(copying: cleanLeaf, scratch: scratch)
    copy.hasOnlyGrown = true
    replaceChild(steps.count, by: context.dirty.insert(copy))
    self.cleanLeaf = nil
    leaf = copy
    context.free(old)
    return copy
  }

  /// The reference by which the page at `depth` is named, from its parent or the root.
  func childReference(_ depth: Int) -> PageReference {
    depth == 0 ? root.reference : branch(steps[depth - 1])[steps[depth - 1].child].reference
  }

  func replaceChild(_ depth: Int, by reference: PageReference) {
    if depth == 0 {
      root.reference = reference
    } else {
      branch(steps[depth - 1]).setReference(reference, at: steps[depth - 1].child)
    }
  }

  /// Where `key` is, or would be, in the leaf under the finger.
  @inline(__always)
  func position(of key: Int64) throws(StoreError) -> (row: Int, isFound: Bool) {
    if finger.row >= 0, finger.key == key { return (finger.row, true) }
    return searchLeaf(key)
  }

  private func searchLeaf(_ key: Int64) -> (row: Int, isFound: Bool) {
    let row: Int
    let isFound: Bool
    if let leaf {
      row = leaf.lowerBound(key)
      isFound = row < leaf.rowCount && leaf.key(at: row) == key
    } else if let cleanLeaf {
      row = cleanLeaf.lowerBound(key)
      isFound = row < cleanLeaf.rowCount && cleanLeaf.key(at: row) == key
    } else {
      return (0, false)
    }
    if isFound {
      finger.row = row
      finger.key = key
    }
    return (row, isFound)
  }

  /// The builder of a leaf, made of its packed bytes when there is none.
  @inline(__always) func builder(of leaf: DirtyLeaf) throws(StoreError) -> LeafBuilder {
    if let builder = leaf.builder { return builder }
    return try loadBuilder(of: leaf)
  }

  private func loadBuilder(of leaf: DirtyLeaf) throws(StoreError) -> LeafBuilder {
    rowsMoved()
    let packed = leaf.packed
    let builder = makeBuilder(capacity: packed.rowCount + 32)
    builder.load(packed)
    try releaseDroppedColumns(packed)
    learn(leaf, builder)
    checkSize(builder)
    leaf.builder = builder
    return builder
  }

  /// Gives back what the columns that the layout lacks keep outside of the leaf: they end here.
  func releaseDroppedColumns(_ leaf: ColumnLeaf) throws(StoreError) {
    for index in 0..<leaf.columnCount {
      let entry = leaf.page.bytes + LeafHeader.byteCount + index * LeafEntry.byteCount
      guard entry.single(LeafEntry.overflow) != 0 else { continue }
      let id = entry.half(LeafEntry.id)
      guard let column = leaf.column(id) else { continue }
      if let index = layout.index(of: id), layout.columns[index].type == column.type { continue }
      for row in 0..<leaf.rowCount {
        if let cell = Self.overflowCell(leaf, row: row, column: id) { try release(cell) }
      }
    }
  }

  /// An empty builder for the layout.
  func makeBuilder(capacity: Int = 256) -> LeafBuilder {
    spareBuilders.popLast()
      ?? LeafBuilder(layout: layout, isPositional: isPositional, capacity: capacity)
  }

  /// Keeps `builder` for another leaf.
  func recycle(_ builder: LeafBuilder) {
    guard builder.layout == layout, spareBuilders.count < LeafPipeline.capacity else { return }
    builder.removeAll()
    spareBuilders.append(builder)
  }
}
