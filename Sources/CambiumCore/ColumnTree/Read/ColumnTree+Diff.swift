extension ColumnTree {
  /// Calls `visit` with each row in which the trees, which have keys, differ; see
  /// ``VersionedTree/diff(old:new:_:)``.
  public static func diff(
    old: ColumnTree, new: ColumnTree,
    _ visit: (TreeDifference<RowPosition>) throws(StoreError) -> Void
  ) throws(StoreError) {
    precondition(
      !old.isPositional && !new.isPositional, "Only trees with keys can be compared by key.")
    if old.root.reference == new.root.reference, old.isSameRoot(as: new) { return }
    try RowDiffCursor.diff(RowDiffCursor(old), RowDiffCursor(new), visit)
  }

  private func isSameRoot(as other: ColumnTree) -> Bool {
    source.isSame(root.reference, in: other.source)
  }

  /// The keys in which the trees differ, each list ascending.
  public static func diff(
    old: ColumnTree, new: ColumnTree
  ) throws(StoreError) -> (inserted: [Int64], removed: [Int64], modified: [Int64]) {
    var keys = (inserted: [Int64](), removed: [Int64](), modified: [Int64]())
    try diff(old: old, new: new) { difference throws(StoreError) in
      switch difference {
      case .inserted(let row): keys.inserted.append(row.key)
      case .removed(let row): keys.removed.append(row.key)
      case .modified(_, let row): keys.modified.append(row.key)
      }
    }
    return keys
  }
}

private struct RowDiffCursor: DiffCursor {
  private struct Frame {
    var branch: ColumnBranch
    var child: Int
    /// No key below the branch is under this.
    var bound: Int64
  }

  private let source: PageSource
  private var frames: [Frame] = []
  private var leaf: ColumnLeaf?
  private var row = 0
  private(set) var subtree: PageReference?
  private(set) var height: Int
  /// The key it is at, or the least key its subtree may hold.
  private var bound = Int64.min

  init(_ tree: ColumnTree) {
    source = tree.source
    subtree = tree.root.isEmpty ? nil : tree.root.reference
    height = Int(tree.root.height)
  }

  var isAtEnd: Bool { subtree == nil && leaf == nil }

  var element: RowPosition {
    guard let leaf else { preconditionFailure("The cursor is at a row.") }
    return RowPosition(leaf: leaf, row: row, index: -1)
  }

  func order(_ other: RowDiffCursor) -> Int {
    bound == other.bound ? 0 : bound < other.bound ? -1 : 1
  }

  func hasSameValue(as other: RowDiffCursor) -> Bool { element.hasSameCells(as: other.element) }

  func hasSameSubtree(as other: RowDiffCursor) -> Bool {
    subtree.map { source.isSame($0, in: other.source) } ?? false
  }

  mutating func enter() throws(StoreError) {
    guard let reference = subtree else { return }
    subtree = nil
    if height == 1 {
      let opened = ColumnLeaf(try source.page(reference, .columnLeaf))
      guard opened.rowCount > 0 else { throw ColumnTree.wrongCount(reference) }
      leaf = opened
      row = 0
      bound = opened.key(at: 0)
      return
    }
    let branch = try source.columnBranch(reference, height - 1)
    frames.append(Frame(branch: branch, child: 0, bound: bound))
    standBeforeChild()
  }

  mutating func moveOn() {
    subtree = nil
    if let leaf {
      row += 1
      if row < leaf.rowCount {
        bound = leaf.key(at: row)
        return
      }
      self.leaf = nil
    }
    nextChild()
  }

  private mutating func nextChild() {
    while let top = frames.last {
      if top.child + 1 < top.branch.count {
        frames[frames.count - 1].child += 1
        standBeforeChild()
        return
      }
      frames.removeLast()
    }
  }

  private mutating func standBeforeChild() {
    guard let top = frames.last else { return }
    subtree = top.branch.reference(top.child)
    height = top.branch.level
    bound = top.child == 0 ? top.bound : top.branch.separator(top.child)
  }
}

extension RowPosition {
  /// Whether both rows, of the same tree at different times, have equal cells.
  func hasSameCells(as other: RowPosition) -> Bool {
    var isSame = true
    forEachColumn(with: other) { mine, theirs in
      if !LeafColumn.areEqual(mine, row, theirs, other.row) { isSame = false }
      return isSame
    }
    return isSame
  }

  /// The columns in which this row differs from `other`, the same row at another time; ascending.
  public func changedColumns(from other: RowPosition) -> [UInt16] {
    var changed: [UInt16] = []
    forEachColumn(with: other) { mine, theirs in
      if !LeafColumn.areEqual(mine, row, theirs, other.row) {
        changed.append(mine?.id ?? theirs?.id ?? 0)
      }
      return true
    }
    return changed
  }

  /// Calls `visit` with the columns that either leaf has, until it returns false.
  private func forEachColumn(
    with other: RowPosition, _ visit: (LeafColumn?, LeafColumn?) -> Bool
  ) {
    let mine = leaf.columnIDs
    let theirs = other.leaf.columnIDs
    var (left, right) = (0, 0)
    while left < mine.count || right < theirs.count {
      let id = min(
        left < mine.count ? mine[left] : .max, right < theirs.count ? theirs[right] : .max)
      if left < mine.count, mine[left] == id { left += 1 }
      if right < theirs.count, theirs[right] == id { right += 1 }
      if !visit(leaf.column(id), other.leaf.column(id)) { return }
    }
  }
}

extension LeafColumn {
  /// Whether two cells of the same column are equal; a missing column reads as its default.
  static func areEqual(_ left: LeafColumn?, _ row: Int, _ right: LeafColumn?, _ other: Int) -> Bool
  {
    switch (left, right) {
    case (nil, nil): true
    case (let column?, nil): column.isDefault(row)
    case (nil, let column?): column.isDefault(other)
    case (let left?, let right?): left.isEqual(row, right, other)
    }
  }

  func isDefault(_ row: Int) -> Bool {
    if isNull(row) || isNullable { return isNull(row) }
    switch type {
    case .int: return int(row) == 0
    case .bool: return !bool(row)
    case .float: return float(row).bitPattern == 0
    case .double: return double(row).bitPattern == 0
    case .wide: return wide(row) == (0, 0)
    case .bytes:
      let cell = bytes(row)
      return cell.form == .inline && cell.count == 0
    }
  }

  private func isEqual(_ row: Int, _ right: LeafColumn, _ other: Int) -> Bool {
    guard type == right.type, isNull(row) == right.isNull(other) else { return false }
    if isNull(row) { return true }
    switch type {
    case .int: return int(row) == right.int(other)
    case .bool: return bool(row) == right.bool(other)
    case .float: return float(row).bitPattern == right.float(other).bitPattern
    case .double: return double(row).bitPattern == right.double(other).bitPattern
    case .wide: return wide(row) == right.wide(other)
    case .bytes:
      let (cell, model) = (bytes(row), right.bytes(other))
      guard cell.form == model.form, cell.count == model.count else { return false }
      if cell.form != .inline {
        return unsafe cell.body.count == model.body.count
          && equalBytes(cell.body.baseAddress, model.body.baseAddress, count: cell.body.count)
      }
      return unsafe model.withBytes { unsafe cell.equals($0) }
    }
  }
}
