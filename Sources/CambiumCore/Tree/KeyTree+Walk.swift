extension KeyTree {
  /// Visits every page of the tree and checks what no page can know alone: heights, the ranges that
  /// parents give, the order across pages, row counts, and overflow values.
  ///
  /// `visit` is called once for each page, parents first, before the page itself is read; overflow
  /// pages of a leaf follow it. It may throw damage for a page that must not be read. `damage` is
  /// called for each finding; what lies below a damaged page cannot be walked and is left out. Only
  /// errors that say nothing about the tree's bytes are thrown.
  public func walk(
    _ visit: (PageReference, PageKind) throws(StoreError) -> Void, damage: (Damage) -> Void
  ) throws(StoreError) {
    if root.isEmpty { return }
    let bounds = Bounds(lower: nil, upper: nil)
    let rows = try walk(root.reference, height: Int(root.height), bounds, visit, damage)
    if let rows, rows != root.rowCount {
      damage(
        Damage(.count, at: root.reference, "\(rows) keys, but the root says \(root.rowCount)"))
    }
  }

  /// The keys a node may hold: from `lower` on, below `upper`.
  private struct Bounds {
    var lower: [UInt8]?
    var upper: [UInt8]?
  }

  /// Walks one node and all below; returns how many keys it holds, unless it is damaged.
  private func walk(
    _ reference: PageReference, height: Int, _ bounds: Bounds,
    _ visit: (PageReference, PageKind) throws(StoreError) -> Void, _ damage: (Damage) -> Void
  ) throws(StoreError) -> UInt64? {
    let kind: PageKind = height == 1 ? .keyLeaf : .keyBranch
    let page: Page
    do throws(StoreError) {
      try visit(reference, kind)
      page = try source.page(reference, kind)
    } catch {
      guard let found = error.damage(at: reference) else { throw error }
      damage(found)
      return nil
    }
    let node = KeyNode(page)
    checkBounds(node, kind, reference, bounds, damage)
    if height > 1 {
      return try walkChildren(node, reference, height: height, bounds, visit, damage)
    }
    for index in 0..<node.count where node.storedValue(index).isOverflow {
      do throws(StoreError) {
        let value = try node.storedValue(index).overflow()
        try value.forEachPage(in: source) { chunk, byteCount throws(StoreError) in
          try visit(chunk, .overflow)
          // Lists were read to get here.
          if let byteCount { try value.check(chunk, byteCount, in: source) }
        }
      } catch {
        guard let found = error.damage(at: reference) else { throw error }
        damage(found)
      }
    }
    return UInt64(node.count)
  }

  private func walkChildren(
    _ node: KeyNode, _ reference: PageReference, height: Int, _ bounds: Bounds,
    _ visit: (PageReference, PageKind) throws(StoreError) -> Void, _ damage: (Damage) -> Void
  ) throws(StoreError) -> UInt64? {
    var total: UInt64? = 0
    var lower = bounds.lower
    for index in 0..<node.count {
      let upper =
        index + 1 < node.count
        ? node.key(index + 1, header: KeyNode.branchCellHeader) : bounds.upper
      let child = node.child(index)
      if child.rawKind != (height == 2 ? PageKind.keyLeaf : .keyBranch).rawValue {
        damage(Damage(.height, at: reference, "child \(index) is of kind \(child.rawKind)"))
        total = nil
        lower = upper
        continue
      }
      let range = Bounds(lower: lower, upper: upper)
      let rows = try walk(child, height: height - 1, range, visit, damage)
      let expected = UInt64(node.childRowCount(index))
      if let rows, rows != expected {
        damage(
          Damage(.count, at: child, "\(rows) keys, but the parent says \(expected)"))
      }
      if let sum = total, let rows { total = sum + rows } else { total = nil }
      lower = upper
    }
    return total
  }

  /// Reports keys or separators out of the range that the parents give.
  ///
  /// Their own order was checked with the page, so that the first and last tell.
  private func checkBounds(
    _ node: KeyNode, _ kind: PageKind, _ reference: PageReference, _ bounds: Bounds,
    _ damage: (Damage) -> Void
  ) {
    let isLeaf = kind == .keyLeaf
    let header = isLeaf ? KeyNode.leafCellHeader : KeyNode.branchCellHeader
    let first = isLeaf ? 0 : 1
    guard first < node.count else { return }
    if let lower = bounds.lower {
      let order = lower.withUnsafeBytes { node.order(first, header: header, $0) }
      // A branch's first separator lies above the lowest key of its first child.
      if isLeaf ? order < 0 : order <= 0 {
        damage(Damage(.order, at: reference, "the first key is below the range of its parent"))
      }
    }
    if let upper = bounds.upper,
      upper.withUnsafeBytes({ node.order(node.count - 1, header: header, $0) }) >= 0
    {
      damage(Damage(.order, at: reference, "the last key is above the range of its parent"))
    }
  }
}
