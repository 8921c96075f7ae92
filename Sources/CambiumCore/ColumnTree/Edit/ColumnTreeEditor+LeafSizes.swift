/// Splits and merges dirty leaves before they are written.
extension ColumnTreeEditor {
  func isOver(_ leaf: DirtyLeaf) -> Bool {
    unsafe options.isOver(byteCount: leaf.byteCount, rowCount: leaf.rowCount)
  }

  func isUnder(_ byteCount: Int, _ rows: Int) -> Bool {
    byteCount < options.leafByteCount / 3 && rows < max(1, options.maximumRowCount / 3)
  }

  /// Whether a leaf is to be merged with a neighbour; one that only grew was too small before, and in vain.
  private func isUnder(_ leaf: DirtyLeaf) -> Bool {
    unsafe !leaf.hasOnlyGrown && isUnder(leaf.byteCount, leaf.rowCount)
  }

  private func fitTogether(_ left: DirtyLeaf, _ byteCount: Int, _ rows: Int) -> Bool {
    unsafe left.byteCount + byteCount <= options.leafByteCount
      && left.rowCount + rows <= options.maximumRowCount
  }

  /// Packs the dirty leaves of a branch and tells whether any of them is too large or too small.
  func areLeavesUneven(_ branch: DirtyBranch) -> Bool {
    var previous: DirtyLeaf?
    var isUneven = false
    var index = branch.nextDirty(from: 0)
    while index < branch.count {
      let leaf = dirtyLeaf(branch[index].reference)
      packNow(leaf)
      if isOver(leaf) || branch.count > 1 && isUnder(leaf)
        || previous.map({ unsafe fitTogether($0, leaf.byteCount, leaf.rowCount) }) ?? false
      {
        isUneven = true
      }
      let next = branch.nextDirty(from: index + 1)
      previous = next == index + 1 ? leaf : nil
      index = next
    }
    return isUneven
  }

  /// Splits leaves that are too large and merges those that fit together.
  func rebalanceLeaves(_ children: inout [Child]) throws(StoreError) {
    var pieces: [Child] = []
    for child in children {
      guard child.reference.isDirty else {
        pieces.append(child)
        continue
      }
      packNow(dirtyLeaf(child.reference))
      try appendPieces(of: child, to: &pieces)
    }
    children = pieces
    var index = 0
    while index < children.count {
      guard children[index].reference.isDirty else {
        index += 1
        continue
      }
      if index + 1 < children.count, try merge(index, &children) { continue }
      if isUnder(dirtyLeaf(children[index].reference)), children.count > 1 {
        let place = index + 1 < children.count ? index : index - 1
        if try mayJoin(children[place], children[place + 1]) { try join(place, &children) }
      }
      index += 1
    }
  }

  /// Lets go of the arrays of a packed leaf: its bytes are all that is written.
  private func releaseBuilder(of leaf: DirtyLeaf) {
    guard let builder = unsafe leaf.builder else { return }
    unsafe leaf.builder = nil
    recycle(builder)
  }

  /// Appends `child` or, when it is too large, the leaves it is cut into.
  private func appendPieces(of child: Child, to pieces: inout [Child]) throws(StoreError) {
    guard isOver(dirtyLeaf(child.reference)) else {
      releaseBuilder(of: dirtyLeaf(child.reference))
      return pieces.append(child)
    }
    let leaf = ownLeaf(child)
    let builder = try builder(of: leaf)
    let rows = unsafe builder.rowCount
    if rows < options.minimumRowCount * 2, rows <= options.maximumRowCount, try shed(builder) {
      packNow(leaf)
      return try appendPieces(of: child, to: &pieces)
    }
    let wanted = unsafe max(
      2, (leaf.byteCount + options.leafByteCount - 1) / options.leafByteCount,
      (rows + options.maximumRowCount - 1) / options.maximumRowCount)
    let count = min(rows, min(wanted, max(2, rows / max(1, options.minimumRowCount))))
    var cuts: [LeafBuilder] = []
    for index in 1..<count {
      let piece = LeafBuilder(
        layout: layout, isPositional: isPositional, capacity: rows / count + 1)
      piece.append(builder, (rows * index / count)..<(rows * (index + 1) / count))
      cuts.append(piece)
    }
    builder.truncate(to: rows / count)
    packNow(leaf)
    var first = child
    first.rowCount = unsafe UInt64(builder.rowCount)
    try appendPieces(of: first, to: &pieces)
    for piece in cuts {
      let fresh = DirtyLeaf(builder: piece, scratch: scratch)
      packNow(fresh)
      let child = unsafe Child(
        separator: piece.keys.map { unsafe $0[0] } ?? 0, reference: context.dirty.insert(fresh),
        rowCount: unsafe UInt64(piece.rowCount))
      try appendPieces(of: child, to: &pieces)
    }
  }

  /// Moves the largest values of a leaf to overflow pages until it keeps its limit; false when no
  /// value is worth it.
  private func shed(_ builder: LeafBuilder) throws(StoreError) -> Bool {
    let floor = OverflowCell.maximumByteCount * 2
    var cells: [(byteCount: Int, row: Int, column: Int)] = []
    for column in 0..<builder.columnCount where unsafe builder.columns[column].type == .bytes {
      for row in unsafe 0..<builder.rowCount where unsafe !builder.columns[column].isOverflow(row) {
        let count = unsafe builder.columns[column].bytes(row).count
        if count > floor { cells.append((count, row, column)) }
      }
    }
    cells.sort { $0.byteCount > $1.byteCount }
    var excess = builder.estimatedByteCount - options.leafByteLimit
    var isShed = false
    for cell in cells where excess > 0 || !isShed {
      let value = try unsafe OverflowValue.write(
        builder.columns[cell.column].bytes(cell.row), to: context)
      builder.update(
        row: cell.row, column: cell.column, value: .null,
        overflow: OverflowCell.bytes(for: value))
      excess -= cell.byteCount - OverflowCell.maximumByteCount
      isShed = true
    }
    return isShed
  }

  /// The packed size of a leaf, dirty or not.
  private func byteCount(_ child: Child) throws(StoreError) -> Int {
    if child.reference.isDirty { return unsafe dirtyLeaf(child.reference).byteCount }
    let page = try context.source.page(child.reference, .columnLeaf)
    return unsafe Int(page.bytes.single(LeafHeader.usedByteCount))
  }

  /// Whether two neighbours may be joined: a stored one is read and given up then.
  ///
  /// One that is damaged stays as it is: a small leaf beside it is no reason to refuse what was changed.
  func mayJoin(_ one: Child, _ other: Child) throws(StoreError) -> Bool {
    for child in [one, other] where !child.reference.isDirty {
      guard !context.storesSameVersion, let kind = PageKind(rawValue: child.reference.rawKind)
      else { return false }
      if try context.source.soundPage(child.reference, kind) == nil { return false }
    }
    return true
  }

  /// Merges a dirty leaf with the next one if both fit into one and the next one is dirty too, or
  /// either is too small to stay alone.
  private func merge(_ index: Int, _ children: inout [Child]) throws(StoreError) -> Bool {
    let leaf = dirtyLeaf(children[index].reference)
    let next = children[index + 1]
    if !next.reference.isDirty {
      guard isUnder(leaf), try mayJoin(children[index], next) else { return false }
    }
    guard fitTogether(leaf, try byteCount(next), Int(min(next.rowCount, TreeRoot.maximumRowCount)))
    else { return false }
    return try join(index, &children)
  }

  /// Makes one leaf of those at `index` and behind it, or two even ones if it would be too large.
  ///
  /// Returns whether it is one; leaves that share too little stay as they are.
  @discardableResult
  private func join(_ index: Int, _ children: inout [Child]) throws(StoreError) -> Bool {
    try own(leaf: &children[index])
    try own(leaf: &children[index + 1])
    let (leaf, next) = (ownLeaf(children[index]), ownLeaf(children[index + 1]))
    let (left, right) = (try builder(of: leaf), try builder(of: next))
    let leftCount = unsafe left.rowCount
    var isOne = unsafe fitTogether(leaf, next.byteCount, right.rowCount)
    if isOne {
      unsafe left.append(right, 0..<right.rowCount)
      packNow(leaf)
      if isOver(leaf) {
        // What the rows of each have in common, such as a prefix, those of both have not.
        left.truncate(to: leftCount)
        isOne = false
      } else {
        context.free(children[index + 1].reference)
        children.remove(at: index + 1)
      }
    } else if unsafe left.estimatedByteCount + right.estimatedByteCount <= options.leafByteLimit
      || left.rowCount + right.rowCount > options.maximumRowCount
        && leaf.byteCount + next.byteCount <= options.leafByteCount
    {
      unsafe left.append(right, 0..<right.rowCount)
      let rows = unsafe left.rowCount
      right.removeAll()
      right.append(left, (rows / 2)..<rows)
      left.truncate(to: rows / 2)
      children[index + 1].separator = unsafe right.keys.map { unsafe $0[0] } ?? 0
      children[index + 1].rowCount = unsafe UInt64(right.rowCount)
    }
    packNow(leaf)
    children[index].rowCount = unsafe UInt64(left.rowCount)
    if !isOne { packNow(next) }
    unsafe (leaf.builder, next.builder) = (nil, nil)
    recycle(left)
    return isOne
  }

  private func own(leaf child: inout Child) throws(StoreError) {
    if child.reference.isDirty { return }
    let old = child.reference
    let leaf = ColumnLeaf(try context.source.page(old, .columnLeaf))
    child.reference = context.dirty.insert(DirtyLeaf(copying: leaf, scratch: scratch))
    context.free(old)
  }
}
