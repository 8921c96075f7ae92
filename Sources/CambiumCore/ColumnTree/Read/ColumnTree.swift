/// Rows under `Int64` keys, or by position, stored by column; one version of them, read only.
///
/// Cheap to copy. Every read throws ``StoreError/damaged(_:)`` when pages break the format.
///
/// Pointers: pages that a read goes through stay for the whole call, because of their owner, the pin of the
/// source, or the transaction, which changes nothing meanwhile. Bytes to look for are the caller's for the
/// time of the call.
public struct ColumnTree: VersionedTree {
  /// Where the tree hangs.
  public var root: TreeRoot
  /// What its pages are read through.
  public let source: PageSource

  /// The tree that hangs from `root`; reads nothing yet.
  public init(root: TreeRoot, source: PageSource) {
    self.root = root
    self.source = source
  }

  /// Whether rows are found by position, without keys.
  @inlinable public var isPositional: Bool { root.kind == .position }

  /// The row with `key`; in a tree by position, the row at it.
  @inlinable public func seek(_ key: Int64) throws(StoreError) -> RowPosition? {
    if isPositional { return try select(Int(truncatingIfNeeded: key)) }
    guard let leaf = try leaf(for: key), let row = leaf.find(key) else { return nil }
    return RowPosition(leaf: leaf, row: row, index: -1)
  }

  /// The leaf whose range holds `key`; nil when the tree is empty.
  @inlinable func leaf(for key: Int64) throws(StoreError) -> ColumnLeaf? {
    var reference = root.reference
    if reference.isNone { return nil }
    var level = Int(root.height) &- 1
    while level > 0 {
      let branch = try source.columnBranch(reference, level)
      reference = branch.reference(branch.child(for: key))
      level &-= 1
    }
    return ColumnLeaf(try source.page(reference, .columnLeaf))
  }

  /// The row at `index` in the order of keys; nil out of bounds.
  @inlinable public func select(_ index: Int) throws(StoreError) -> RowPosition? {
    if index < 0 || index >= count { return nil }
    var reference = root.reference
    var position = UInt64(index)
    var level = Int(root.height) &- 1
    while level > 0 {
      let branch = try source.columnBranch(reference, level)
      let (child, before) = branch.child(at: position)
      position &-= before
      reference = branch.reference(child)
      level &-= 1
    }
    let leaf = ColumnLeaf(try source.page(reference, .columnLeaf))
    guard position < UInt64(leaf.rowCount) else { throw ColumnTree.wrongCount(reference) }
    return RowPosition(leaf: leaf, row: Int(position), index: index)
  }

  /// How many rows have a key below `key`.
  public func rank(of key: Int64) throws(StoreError) -> Int {
    if isPositional { return max(0, min(count, Int(truncatingIfNeeded: key))) }
    var reference = root.reference
    if reference.isNone { return 0 }
    var rank: UInt64 = 0
    var level = Int(root.height) - 1
    while level > 0 {
      let branch = try source.columnBranch(reference, level)
      let child = branch.child(for: key)
      rank &+= branch.rowsBefore(child)
      reference = branch.reference(child)
      level -= 1
    }
    let leaf = ColumnLeaf(try source.page(reference, .columnLeaf))
    return Int(truncatingIfNeeded: rank &+ UInt64(leaf.lowerBound(key)))
  }

  /// Moves over the leaves; stands nowhere at first.
  ///
  /// Whoever is going to read all or most leaves names the columns in `columns`: they are fetched
  /// ahead of the cursor, which makes scans several times as fast.
  public func leafCursor(reading columns: [UInt16] = []) -> ColumnLeafCursor {
    ColumnLeafCursor(tree: self, columns: columns)
  }

  /// All bytes of `cell`, fetched from other pages where it lies there; nil for null and trees.
  public func bytes(of cell: BytesCell) throws(StoreError) -> [UInt8]? {
    switch cell.form {
    case .null, .tree: return nil
    case .inline: return cell.array
    case .overflow:
      guard let value = cell.overflow else {
        throw .damaged(Damage(.encoding, "a value outside of its leaf cannot be found"))
      }
      return try value.read(from: source)
    }
  }

  @usableFromInline @inline(never) static func wrongHeight(_ reference: PageReference) -> StoreError
  {
    .damaged(Damage(.height, at: reference, "a branch is not at the level its parent says"))
  }

  @usableFromInline @inline(never) static func wrongCount(_ reference: PageReference) -> StoreError
  {
    .damaged(Damage(.count, at: reference, "a page has fewer rows than its parent says"))
  }
}

extension PageSource {
  /// The branch at `reference`, which is expected at `level`.
  @inlinable @inline(__always)
  func columnBranch(_ reference: PageReference, _ level: Int) throws(StoreError) -> ColumnBranch {
    let branch = ColumnBranch(try page(reference, .columnBranch))
    if branch.level != level || branch.count == 0 { throw ColumnTree.wrongHeight(reference) }
    return branch
  }
}

/// A row of a tree, as found.
@frozen public struct RowPosition {
  /// The leaf that holds the row.
  public let leaf: ColumnLeaf
  /// The row within the leaf.
  public let row: Int
  /// The row's place in the tree; -1 when it was found by key, where ``ColumnTree/rank(of:)`` tells.
  public let index: Int

  /// The row at `row` of `leaf`; `index` is -1 where its place in the tree is not known.
  @inlinable public init(leaf: ColumnLeaf, row: Int, index: Int) {
    self.leaf = leaf
    self.row = row
    self.index = index
  }

  /// The row's key; in a tree by position without meaning.
  @inlinable public var key: Int64 { leaf.key(at: row) }

  /// Column `id` of the leaf; nil when every row there holds the default.
  @inlinable public func column(_ id: UInt16) -> LeafColumn? { leaf.column(id) }
}
