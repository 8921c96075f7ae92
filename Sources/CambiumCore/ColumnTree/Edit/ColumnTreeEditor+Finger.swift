extension ColumnTreeEditor {
  /// Points the finger at the leaf whose range holds `key`.
  ///
  /// Nothing when the tree is empty.
  @inline(__always) func reach(_ key: Int64) throws(StoreError) {
    if unsafe finger.isSet, unsafe key >= finger.low, unsafe key <= finger.high { return }
    try descend(key)
  }

  /// Walks down to the leaf whose range holds `key`.
  func descend(_ key: Int64) throws(StoreError) {
    liftFinger()
    try settleLog()
    var reference = unsafe root.reference
    if reference.isNone { return }
    var low = Int64.min
    var high = Int64.max
    unsafe steps.reserveCapacity(Int(root.height))
    for level in unsafe stride(from: Int(root.height) - 1, to: 0, by: -1) {
      let branch = try branch(reference, level)
      let child = branch.child(for: key)
      if child > 0 { low = branch.separator(child) }
      if child + 1 < branch.count { high = branch.separator(child + 1) &- 1 }
      unsafe steps.append(Step(reference: reference, child: child))
      reference = branch.reference(child)
    }
    try stand(on: reference)
    unsafe finger.low = low
    unsafe finger.high = high
  }

  /// Points the finger at the leaf that holds the row at `position`, or at the last one for the
  /// position past the end.
  ///
  /// A row that is to be inserted may follow the last one of the leaf at which the finger points already: those of a
  /// batch fill that leaf. The tree is not empty.
  func reach(position: Int, forInsertion isInsertion: Bool = false) throws(StoreError) {
    if unsafe finger.isSet, unsafe position >= finger.first {
      let end = unsafe finger.first + leafRowCount
      if position < end || position == end && (isInsertion || end == count) { return }
    }
    liftFinger()
    try settleLog()
    var reference = unsafe root.reference
    var rest = UInt64(position)
    for level in unsafe stride(from: Int(root.height) - 1, to: 0, by: -1) {
      let branch = try branch(reference, level)
      let (child, before) = branch.child(at: rest)
      rest &-= before
      unsafe steps.append(Step(reference: reference, child: child))
      reference = branch.reference(child)
    }
    try stand(on: reference)
    unsafe finger.first = position - Int(truncatingIfNeeded: rest)
    guard unsafe position <= finger.first + leafRowCount else {
      throw ColumnTree.wrongCount(reference)
    }
  }

  func branch(_ reference: PageReference, _ level: Int) throws(StoreError) -> ColumnBranch {
    if reference.isDirty {
      let page = context.dirty.look(at: reference.dirtyIndex)
      return unsafe unsafeDowncast(page, to: DirtyBranch.self).branch
    }
    return try context.source.columnBranch(reference, level)
  }

  private func stand(on reference: PageReference) throws(StoreError) {
    if reference.isDirty {
      guard let own = context.dirty.own(at: reference.dirtyIndex) else {
        unsafe cleanLeaf = ColumnLeaf(context.dirty.look(at: reference.dirtyIndex).frozen)
        unsafe finger.isSet = true
        return
      }
      let dirty = unsafe unsafeDowncast(own, to: DirtyLeaf.self)
      unsafe leaf = dirty
      if !isPositional {
        unsafe hot = unsafe dirty.builder.map { unsafe Unmanaged.passUnretained($0) }
      }
    } else {
      let page = ColumnLeaf(try context.source.page(reference, .columnLeaf))
      guard page.rowCount > 0, page.isPositional == isPositional else {
        throw ColumnTree.wrongCount(reference)
      }
      unsafe cleanLeaf = page
    }
    unsafe finger.isSet = true
  }

  var leafRowCount: Int { unsafe leaf?.rowCount ?? cleanLeaf?.rowCount ?? 0 }

  /// Lets go of the leaf before the tree is changed in other ways than through the finger.
  func dropFinger() {
    rowsMoved()
    liftFinger()
  }

  /// Says that rows lie elsewhere.
  @inline(__always) func rowsMoved() { unsafe rowGeneration?.pointee &+= 1 }

  /// Lets go of the leaf, after counting what was added to it.
  private func liftFinger() {
    settleFinger()
    // A leaf that took many changes is likely done: packed now, its memory serves the next one.
    if unsafe finger.changeCount > 0, let leaf = unsafe leaf, let builder = unsafe leaf.builder {
      if unsafe finger.changeCount >= 16 {
        packNow(leaf)
        unsafe leaf.builder = nil
        recycle(builder)
      } else {
        // It may have grown; the transaction's budget counts it while it stays.
        unsafe leaf.heldByteCount = builder.heldByteCount
      }
    }
    unsafe finger = Finger()
    unsafe leaf = nil
    unsafe cleanLeaf = nil
    unsafe steps.removeAll(keepingCapacity: true)
  }

  /// Brings the row counts of the branches above the finger up to date.
  func settleFinger() {
    let rows = unsafe finger.pendingRows
    if rows == 0 { return }
    unsafe finger.pendingRows = 0
    for step in unsafe steps { branch(step).addRows(rows, at: step.child) }
  }

  /// The dirty branch of a step.
  func branch(_ step: Step) -> DirtyBranch {
    unsafe unsafeDowncast(context.dirty[step.reference.dirtyIndex], to: DirtyBranch.self)
  }

  /// Makes the leaf under the finger, and every branch above it, private pages.
  @inline(__always) func ownLeaf() throws(StoreError) -> DirtyLeaf {
    if let leaf = unsafe leaf { return leaf }
    return try makeDirty()
  }

  private func makeDirty() throws(StoreError) -> DirtyLeaf {
    guard let cleanLeaf = unsafe cleanLeaf else {
      preconditionFailure("The finger points at a leaf.")
    }
    return try makeDirty(as: DirtyLeaf(copying: cleanLeaf, scratch: scratch))
  }

  /// Makes `copy`, in which the leaf under the finger may have been changed already, a private page, and every
  /// branch above it.
  @discardableResult
  func makeDirty(as copy: DirtyLeaf) throws(StoreError) -> DirtyLeaf {
    rowsMoved()
    if unsafe steps.last?.reference.isDirty ?? true {
      let known = unsafe childReference(steps.count)
      if known.isDirty {
        // A leaf of a published version: nothing above it changes.
        let former = context.dirty.look(at: known.dirtyIndex)
        unsafe copy.hasOnlyGrown =
          unsafe unsafeDowncast(former, to: DirtyLeaf.self).hasOnlyGrown
        context.dirty.replace(known.dirtyIndex, by: copy)
        unsafe cleanLeaf = nil
        unsafe leaf = copy
        return copy
      }
    }
    for depth in unsafe steps.indices where unsafe !steps[depth].reference.isDirty {
      let old = unsafe steps[depth].reference
      let page = try context.source.page(old, .columnBranch)
      let copy = DirtyBranch(
        copying: ColumnBranch(page), isPositional: isPositional, room: options.branchRoom)
      unsafe steps[depth].reference = context.dirty.insert(copy)
      unsafe replaceChild(depth, by: steps[depth].reference)
      context.free(old)
    }
    let old = unsafe childReference(steps.count)
    unsafe copy.origin = old
    unsafe copy.hasOnlyGrown = true
    unsafe replaceChild(steps.count, by: context.dirty.insert(copy))
    unsafe cleanLeaf = nil
    unsafe leaf = copy
    context.free(old)
    return copy
  }

  /// The reference by which the page at `depth` is named, from its parent or the root.
  func childReference(_ depth: Int) -> PageReference {
    guard depth > 0 else { return unsafe root.reference }
    let step = unsafe steps[depth - 1]
    let page = context.dirty.look(at: step.reference.dirtyIndex)
    return unsafe unsafeDowncast(page, to: DirtyBranch.self)[step.child].reference
  }

  func replaceChild(_ depth: Int, by reference: PageReference) {
    if depth == 0 {
      unsafe root.reference = reference
    } else {
      unsafe branch(steps[depth - 1]).setReference(reference, at: steps[depth - 1].child)
    }
  }

  /// Where `key` is, or would be, in the leaf under the finger.
  @inline(__always)
  func position(of key: Int64) throws(StoreError) -> (row: Int, isFound: Bool) {
    if unsafe finger.row >= 0, unsafe finger.key == key { return unsafe (finger.row, true) }
    return searchLeaf(key)
  }

  private func searchLeaf(_ key: Int64) -> (row: Int, isFound: Bool) {
    let row: Int
    let isFound: Bool
    if let leaf = unsafe leaf {
      row = leaf.lowerBound(key)
      isFound = row < leaf.rowCount && leaf.key(at: row) == key
    } else if let cleanLeaf = unsafe cleanLeaf {
      row = cleanLeaf.lowerBound(key)
      isFound = row < cleanLeaf.rowCount && cleanLeaf.key(at: row) == key
    } else {
      return (0, false)
    }
    if isFound {
      unsafe finger.row = row
      unsafe finger.key = key
    }
    return (row, isFound)
  }

  /// The builder of a leaf, made of its packed bytes when there is none.
  @inline(__always) func builder(of leaf: DirtyLeaf) throws(StoreError) -> LeafBuilder {
    if let builder = unsafe leaf.builder { return builder }
    return try loadBuilder(of: leaf)
  }

  /// No leaf has more cells once the columns that it lacks are filled with defaults, for which its bytes do not pay.
  private static let loadedCellLimit = 1 << 24

  private func loadBuilder(of leaf: DirtyLeaf) throws(StoreError) -> LeafBuilder {
    rowsMoved()
    let packed = leaf.packed
    guard unsafe packed.rowCount * columnCount <= Self.loadedCellLimit else {
      throw unsafe .damaged(
        Damage(.count, "\(packed.rowCount) rows of \(columnCount) columns in one leaf"))
    }
    let builder = makeBuilder(capacity: packed.rowCount + 32)
    unsafe builder.load(packed)
    try releaseDroppedColumns(packed)
    learn(leaf, builder)
    checkSize(builder)
    unsafe leaf.builder = builder
    return builder
  }

  /// Gives back what the columns that the layout lacks keep outside of the leaf: they end here.
  func releaseDroppedColumns(_ leaf: ColumnLeaf) throws(StoreError) {
    for index in 0..<leaf.columnCount {
      let entry = unsafe leaf.page.bytes + LeafHeader.byteCount + index * LeafEntry.byteCount
      guard unsafe entry.single(LeafEntry.overflow) != 0 else { continue }
      let id = unsafe entry.half(LeafEntry.id)
      guard let column = leaf.column(id) else { continue }
      if let index = layout.index(of: id), layout.columns[index].type == column.type { continue }
      for row in 0..<leaf.rowCount {
        if let cell = Self.overflowCell(leaf, row: row, column: id) { try release(cell) }
      }
    }
  }

  /// An empty builder for the layout.
  func makeBuilder(capacity: Int = 256) -> LeafBuilder {
    unsafe spareBuilders.popLast()
      ?? LeafBuilder(layout: layout, isPositional: isPositional, capacity: capacity)
  }

  /// So many builders are at work on neighbouring leaves at most.
  private static let spareBuilderLimit = 4

  /// Keeps `builder` for another leaf.
  func recycle(_ builder: LeafBuilder) {
    guard builder.layout == layout, unsafe spareBuilders.count < Self.spareBuilderLimit else {
      return
    }
    builder.removeAll()
    unsafe spareBuilders.append(builder)
  }
}
