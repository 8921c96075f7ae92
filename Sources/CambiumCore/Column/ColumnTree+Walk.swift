extension ColumnTree {
  /// Visits every page of the tree and checks what no page can know alone: heights, the ranges that
  /// parents give, the order across pages, row counts, and values outside of their leaf.
  ///
  /// `visit` is called once for each page, parents first, before the page itself is read; overflow
  /// pages of a leaf follow it. It may throw damage for a page that must not be read. `tree` is called
  /// with each tree that a row owns. `damage` is called for each finding; what lies below a damaged
  /// page cannot be walked and is left out. Only errors that say nothing about the tree's bytes are
  /// thrown, and those of `tree`.
  public func walk(
    _ visit: (PageReference, PageKind) throws(StoreError) -> Void,
    tree: (TreeRoot) throws(StoreError) -> Void, damage: (Damage) -> Void
  ) throws(StoreError) {
    if root.isEmpty { return }
    let rows = try walk(
      root.reference, height: Int(root.height), Range(lower: .min, upper: .max), visit, tree,
      damage)
    if let rows, rows != root.rowCount {
      damage(
        Damage(.count, at: root.reference, "\(rows) rows, but the root says \(root.rowCount)"))
    }
  }

  /// The keys a node may hold, both ends included.
  private struct Range {
    var lower: Int64
    var upper: Int64
  }

  /// Walks one node and all below; returns how many rows it holds, unless it is damaged.
  private func walk(
    _ reference: PageReference, height: Int, _ range: Range,
    _ visit: (PageReference, PageKind) throws(StoreError) -> Void,
    _ tree: (TreeRoot) throws(StoreError) -> Void, _ damage: (Damage) -> Void
  ) throws(StoreError) -> UInt64? {
    let kind: PageKind = height == 1 ? .columnLeaf : .columnBranch
    let page: Page
    do throws(StoreError) {
      try visit(reference, kind)
      page = try source.page(reference, kind)
    } catch {
      guard let found = error.damage(at: reference) else { throw error }
      damage(found)
      return nil
    }
    if height == 1 {
      let leaf = ColumnLeaf(page)
      check(leaf, reference, range, damage)
      try walkValues(of: leaf, visit, tree, damage)
      return UInt64(leaf.rowCount)
    }
    let branch = ColumnBranch(page)
    guard branch.level == height - 1 else {
      damage(
        Damage(.height, at: reference, "a branch at level \(branch.level), not \(height - 1)"))
      return nil
    }
    return try walkChildren(branch, reference, range, visit, tree, damage)
  }

  private func walkChildren(
    _ branch: ColumnBranch, _ reference: PageReference, _ range: Range,
    _ visit: (PageReference, PageKind) throws(StoreError) -> Void,
    _ tree: (TreeRoot) throws(StoreError) -> Void, _ damage: (Damage) -> Void
  ) throws(StoreError) -> UInt64? {
    if branch.isPositional != isPositional {
      damage(Damage(.encoding, at: reference, "a branch of another kind of tree"))
    }
    var total: UInt64? = 0
    var lower = range.lower
    for index in 0..<branch.count {
      var upper = range.upper
      if index + 1 < branch.count, !isPositional {
        let next = branch.separator(index + 1)
        if next <= lower || next > range.upper {
          damage(
            Damage(.order, at: reference, "separator \(index + 1) is out of its parent's range"))
        }
        upper = next == .min ? next : next - 1
      }
      let child = branch.reference(index)
      let rows = try walk(
        child, height: branch.level, Range(lower: lower, upper: upper), visit, tree, damage)
      let expected = branch.rowCount(index)
      if let rows, rows != expected {
        damage(Damage(.count, at: child, "\(rows) rows, but the parent says \(expected)"))
      }
      if let sum = total, let rows { total = sum + rows } else { total = nil }
      if !isPositional { lower = upper == .max ? upper : upper + 1 }
    }
    return total
  }

  /// Reports keys out of the range that the parents give.
  ///
  /// Their own order was checked with the page, so that the first and last tell.
  private func check(
    _ leaf: ColumnLeaf, _ reference: PageReference, _ range: Range, _ damage: (Damage) -> Void
  ) {
    guard leaf.isPositional == isPositional else {
      return damage(Damage(.encoding, at: reference, "a leaf of another kind of tree"))
    }
    guard !isPositional, leaf.rowCount > 0 else { return }
    if leaf.key(at: 0) < range.lower {
      damage(Damage(.order, at: reference, "the first key is below the range of its parent"))
    }
    if leaf.key(at: leaf.rowCount - 1) > range.upper {
      damage(Damage(.order, at: reference, "the last key is above the range of its parent"))
    }
  }

  /// Walks what the rows of a leaf keep outside of it.
  private func walkValues(
    of leaf: ColumnLeaf, _ visit: (PageReference, PageKind) throws(StoreError) -> Void,
    _ tree: (TreeRoot) throws(StoreError) -> Void, _ damage: (Damage) -> Void
  ) throws(StoreError) {
    try leaf.forEachOutboardCell { cell throws(StoreError) in
      if let root = cell.root { return try tree(root) }
      guard let value = cell.overflow else { return }
      do throws(StoreError) {
        try value.forEachPage(in: source) { chunk, byteCount throws(StoreError) in
          try visit(chunk, .overflow)
          // Lists were read to get here.
          if let byteCount { try value.check(chunk, byteCount, in: source) }
        }
      } catch {
        guard let found = error.damage(at: value.reference) else { throw error }
        damage(found)
      }
    }
  }
}

extension ColumnLeaf {
  /// Calls `visit` with each cell whose value lives outside of the leaf.
  func forEachOutboardCell(
    _ visit: (OutboardCell) throws(StoreError) -> Void
  ) throws(StoreError) {
    try forEachOutboardRow { _, cell throws(StoreError) in try visit(cell) }
  }

  /// Calls `visit` with the row and the cell of each value that lives outside of the leaf.
  func forEachOutboardRow(
    _ visit: (Int, OutboardCell) throws(StoreError) -> Void
  ) throws(StoreError) {
    try forEachOutboardEntry { row, _, cell throws(StoreError) in try visit(row, cell) }
  }

  /// Calls `visit` with the row, the stored bytes and the cell of each value that lives outside of the
  /// leaf.
  func forEachOutboardEntry<Failure: Error>(
    _ visit: (Int, UnsafeRawBufferPointer, OutboardCell) throws(Failure) -> Void
  ) throws(Failure) {
    for index in 0..<columnCount {
      let entry = page.bytes + LeafHeader.byteCount + index * LeafEntry.byteCount
      guard let column = LeafColumn(entry: entry, leaf: self), column.outboard != nil,
        let parts = column.bytesColumn
      else { continue }
      for row in 0..<rowCount where parts.isOutboard(row) {
        let entry = parts.entry(row)
        if let cell = OutboardCell(entry) { try visit(row, entry, cell) }
      }
    }
  }
}
