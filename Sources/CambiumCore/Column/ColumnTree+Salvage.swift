/// Rows that cannot be read any more.
struct LostRows: Equatable {
  /// Their keys lie in here; in a tree by position these are positions.
  var keys: ClosedRange<Int64>
  /// How many there were, as the parent says.
  var count: Int
}

extension ColumnTree {
  /// Calls `body` with every leaf that can be read, ascending, and `lost` with what lies between.
  ///
  /// A page that two branches name is taken once. Only errors that say nothing about the tree's
  /// bytes, and those of `body`, are thrown.
  func salvage(
    _ body: (ColumnLeaf) throws(StoreError) -> Void, lost: (LostRows, Damage) -> Void
  ) throws(StoreError) {
    if root.isEmpty { return }
    var seen: Set<PageReference> = []
    let keys =
      isPositional ? 0...max(0, Int64(count) - 1) : Int64.min...Int64.max
    try salvage(
      root.reference, height: Int(root.height), LostRows(keys: keys, count: count), &seen, body,
      lost)
  }

  private func salvage(
    _ reference: PageReference, height: Int, _ range: LostRows, _ seen: inout Set<PageReference>,
    _ body: (ColumnLeaf) throws(StoreError) -> Void, _ lost: (LostRows, Damage) -> Void
  ) throws(StoreError) {
    guard seen.insert(reference).inserted else {
      return lost(range, Damage(.reference, at: reference, "two branches name the same page"))
    }
    let page: Page
    do throws(StoreError) {
      page = try source.page(reference, height == 1 ? .columnLeaf : .columnBranch)
    } catch {
      guard let damage = error.damage(at: reference) else { throw error }
      return lost(range, damage)
    }
    if height == 1 {
      let leaf = ColumnLeaf(page)
      guard leaf.isPositional == isPositional else {
        return lost(range, Damage(.encoding, at: reference, "a leaf of another kind of tree"))
      }
      return try body(leaf)
    }
    let branch = ColumnBranch(page)
    guard branch.level == height - 1, branch.isPositional == isPositional else {
      return lost(range, Damage(.height, at: reference, "a branch of another level or tree"))
    }
    for index in 0..<branch.count {
      try salvage(
        branch.reference(index), height: branch.level, part(of: branch, index, range), &seen, body,
        lost)
    }
    withExtendedLifetime(page) {}
  }

  /// What lies below child `index` of a branch that covers `range`.
  private func part(of branch: ColumnBranch, _ index: Int, _ range: LostRows) -> LostRows {
    // No more than a root can claim.
    let count = Int(min(branch.rowCount(index), 1 << 48))
    if isPositional {
      let first = range.keys.lowerBound &+ Int64(clamping: branch.rowsBefore(index))
      return LostRows(keys: first...max(first, first &+ Int64(count) &- 1), count: count)
    }
    let lower = index == 0 ? range.keys.lowerBound : branch.separator(index)
    var upper = range.keys.upperBound
    if index + 1 < branch.count, branch.separator(index + 1) > .min {
      upper = branch.separator(index + 1) - 1
    }
    return LostRows(keys: lower...max(lower, upper), count: count)
  }
}
