extension ColumnTreeEditor {
  // MARK: Size of a leaf

  /// Decides from a leaf's estimated size whether it is full, and when to look again.
  func checkSize(_ builder: LeafBuilder) {
    let rows = unsafe builder.rowCount
    let raw = builder.estimatedByteCount
    let estimate = unsafe Int(Double(raw) * packedRatio)
    let target = options.leafByteCount
    unsafe builder.isFull = false
    if rows >= options.maximumRowCount
      || estimate >= target && rows >= options.minimumRowCount
    {
      unsafe builder.isFull = true
      unsafe builder.checkAt = .max
      return
    }
    unsafe leaf?.heldByteCount = builder.heldByteCount
    let remaining = (target - estimate) / max(1, estimate / max(1, rows))
    // Values may grow from row to row, so never look too far ahead.
    let step = max(1, min(remaining * 3 / 4, rows))
    unsafe builder.checkAt = min(options.maximumRowCount, rows + step)
  }

  /// Packs a leaf that seems full to see its true size; false when a row still fits at `row`.
  func isReallyFull(_ leaf: DirtyLeaf, _ builder: LeafBuilder, at row: Int) -> Bool {
    // Both halves of a leaf that is cut are to have enough rows.
    if row > 0, unsafe row < builder.rowCount, unsafe builder.rowCount < options.maximumRowCount,
      unsafe builder.rowCount < options.minimumRowCount * 2
    {
      return false
    }
    packNow(leaf)
    guard unsafe builder.rowCount < options.maximumRowCount,
      unsafe leaf.byteCount < options.leafByteCount * 7 / 8
    else { return true }
    checkSize(builder)
    return unsafe builder.isFull
  }

  /// Packs a leaf and learns how much smaller than estimated it came out.
  func packNow(_ leaf: DirtyLeaf) {
    guard let builder = unsafe leaf.builder, unsafe !builder.isPacked else { return }
    LeafPacker(builder, scratch: scratch).pack(into: leaf)
    unsafe builder.isPacked = true
    learn(leaf, builder)
  }

  /// Notes how much smaller than estimated a leaf was packed.
  func learn(_ leaf: DirtyLeaf, _ builder: LeafBuilder) {
    unsafe learn(byteCount: leaf.byteCount, builder)
  }

  func learn(byteCount: Int, _ builder: LeafBuilder) {
    guard unsafe builder.rowCount >= 8 else { return }
    let ratio = Double(byteCount) / Double(builder.estimatedByteCount)
    unsafe packedRatio = min(1.25, max(1.0 / 16, ratio))
  }

  // MARK: Splitting

  /// Inserts a row into a full leaf, which is packed, by making two of it.
  ///
  /// A row at either end opens a leaf of its own, so that rows that come in order fill their leaves;
  /// otherwise the leaf is cut in half.
  func insertSplitting(
    _ values: UnsafeBufferPointer<ColumnValue>, key: Int64, row: Int, leaf: DirtyLeaf,
    _ builder: LeafBuilder
  ) throws(StoreError) {
    settleFinger()
    noteShape()
    let position = unsafe finger.first + row
    let slot = unsafe steps.last?.child ?? 0
    let separator =
      unsafe steps.last.map { branch($0)[slot].separator } ?? (isPositional ? 0 : .min)
    let rows = unsafe builder.rowCount
    try settleLog()
    if row > 0 && row < rows {
      let right = LeafBuilder(layout: layout, isPositional: isPositional, capacity: rows)
      let middle = rows / 2
      right.append(builder, middle..<rows)
      builder.truncate(to: middle)
      if let step = unsafe steps.last { branch(step).addRows(middle - rows, at: slot) }
      let child = unsafe Child(
        separator: right.keys.map { unsafe $0[0] } ?? 0, reference: adopt(right),
        rowCount: UInt64(rows - middle))
      unsafe insertChild(child, at: slot + 1, depth: steps.count - 1, siblingSeparator: separator)
      dropFinger()
      if isPositional { try reach(position: position) } else { try reach(key) }
      let row = unsafe isPositional ? position - finger.first : try self.position(of: key).row
      let leaf = try ownLeaf()
      return try unsafe insert(values, key: key, row: row, into: try self.builder(of: leaf))
    }
    let overflow = try unsafe overflowCells(values)
    unsafe leaf.builder = nil
    // Nobody keeps the builder for this leaf any more, whether what follows succeeds or not.
    unsafe hot = nil
    let firstKey = unsafe builder.keys.map { unsafe $0[0] } ?? 0
    recycle(builder)
    let fresh = makeBuilder()
    unsafe fresh.insert(at: 0, key: key, values: values, overflow: overflow)
    unsafe root.rowCount &+= 1
    for step in unsafe steps.dropLast() { branch(step).addRows(1, at: step.child) }
    if row == 0 {
      let child = Child(separator: separator, reference: adopt(fresh), rowCount: 1)
      if let step = unsafe steps.last { branch(step).setSeparator(firstKey, at: slot) }
      unsafe insertChild(child, at: slot, depth: steps.count - 1, siblingSeparator: firstKey)
    } else {
      let child = Child(
        separator: isPositional ? 0 : key, reference: adopt(fresh), rowCount: 1)
      unsafe insertChild(child, at: slot + 1, depth: steps.count - 1, siblingSeparator: separator)
      let isLast = unsafe isPositional ? position == count - 1 : finger.high == .max
      if isLast { try writeAhead(leaf) }
    }
    dropFinger()
    if isPositional { try reach(position: position) } else { try reach(key) }
  }

  /// Writes the leaf under the finger, if the transaction is large: rows are appended, so that it
  /// is likely done.
  ///
  /// Its memory serves the next one, and the medium is busy before the commit.
  func writeAhead(_ leaf: DirtyLeaf) throws(StoreError) {
    guard unsafe context.dirty.byteCount >= options.writeAheadByteCount, leaf.isPacked,
      !isOver(leaf),
      unsafe !steps.isEmpty
    else { return }
    let old = unsafe childReference(steps.count)
    unsafe replaceChild(steps.count, by: try context.write(leaf))
    unsafe self.leaf = nil
    context.dirty.remove(old)
    unsafe spareLeaf = leaf
  }

  /// A new dirty leaf with the rows of `builder`.
  func adopt(_ builder: LeafBuilder) -> PageReference {
    guard let leaf = unsafe spareLeaf else {
      return context.dirty.insert(DirtyLeaf(builder: builder, scratch: scratch))
    }
    unsafe spareLeaf = nil
    unsafe leaf.builder = builder
    return context.dirty.insert(leaf)
  }

  /// Inserts a child into the branch at `depth` of the finger's path, splitting full branches on
  /// the way up.
  ///
  /// Depth -1 puts a new root over the old one, whose separator becomes `siblingSeparator`.
  func insertChild(
    _ child: Child, at index: Int, depth: Int, siblingSeparator: Int64
  ) {
    if depth < 0 {
      let top = unsafe DirtyBranch(
        level: Int(root.height), isPositional: isPositional, room: options.branchRoom)
      let old = unsafe Child(
        separator: siblingSeparator, reference: root.reference,
        rowCount: root.rowCount &- child.rowCount)
      top.insert(old, at: 0)
      top.insert(child, at: index)
      unsafe root.reference = context.dirty.insert(top)
      unsafe root.height += 1
      return
    }
    let branch = unsafe branch(steps[depth])
    if branch.count < branch.room { return branch.insert(child, at: index) }
    let right = DirtyBranch(
      level: branch.level, isPositional: isPositional, room: branch.room)
    if index == branch.count {
      right.insert(child, at: 0)
    } else {
      var children = branch.children
      children.insert(child, at: index)
      let middle = children.count / 2
      branch.setChildren(children[..<middle])
      right.setChildren(children[middle...])
    }
    let parentSlot = unsafe depth > 0 ? steps[depth - 1].child : 0
    var separator: Int64 = isPositional ? 0 : .min
    if depth > 0 {
      let parent = unsafe self.branch(steps[depth - 1])
      var left = parent[parentSlot]
      left.rowCount = branch.rowCount
      parent[parentSlot] = left
      separator = left.separator
    }
    let sibling = Child(
      separator: right[0].separator, reference: context.dirty.insert(right),
      rowCount: right.rowCount)
    insertChild(sibling, at: parentSlot + 1, depth: depth - 1, siblingSeparator: separator)
  }

  // MARK: Removing

  /// Removes the leaf under the finger, which has lost its last row, and branches that it empties.
  func dropLeaf() {
    settleFinger()
    unsafe context.free(childReference(steps.count))
    unsafe finger.changeCount = 0
    unsafe leaf = nil
    var depth = unsafe steps.count - 1
    while depth >= 0 {
      let branch = unsafe branch(steps[depth])
      unsafe branch.remove(at: steps[depth].child)
      if branch.count > 0 { break }
      unsafe context.free(steps[depth].reference)
      depth -= 1
    }
    unsafe steps.removeAll(keepingCapacity: true)
    if depth < 0 { unsafe root = unsafe .empty(root.kind) }
    dropFinger()
  }

  /// Removes all rows.
  ///
  /// What is stored is abandoned whole, for the transaction to free later.
  public func removeAll() throws(StoreError) {
    try context.change { () throws(StoreError) in
      dropFinger()
      try settleLog()
      try unsafe context.discard(root)
      unsafe root = unsafe .empty(root.kind)
    }
  }

  /// Packs every builder, which has the columns of an older layout.
  func layoutChanged() {
    dropFinger()
    unsafe spareBuilders = []
    unsafe packBuilders(root.reference, level: Int(root.height) - 1)
  }

  private func packBuilders(_ reference: PageReference, level: Int) {
    guard reference.isDirty else { return }
    if level == 0 {
      let leaf = unsafe unsafeDowncast(context.dirty[reference.dirtyIndex], to: DirtyLeaf.self)
      packNow(leaf)
      unsafe leaf.builder = nil
      return
    }
    let branch = unsafe unsafeDowncast(context.dirty[reference.dirtyIndex], to: DirtyBranch.self)
    for child in branch.children { packBuilders(child.reference, level: level - 1) }
  }
}
