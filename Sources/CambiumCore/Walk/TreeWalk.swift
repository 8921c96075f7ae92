/// A subtree as its parent, or the tree's root, describes it.
struct TreePart: Equatable {
  /// Its top page.
  var reference: PageReference
  /// What that page is.
  var role: PageRole
  /// How many rows or keys it has.
  var rowCount: UInt64
  /// Where they lie.
  var keys: KeySpan

  /// Whether it is a single leaf.
  var isLeaf: Bool { role.height == 1 }

  /// How many rows or keys it has; no more than a root can claim.
  var count: Int { Int(min(rowCount, TreeRoot.maximumRowCount)) }
}

/// Goes through the pages of one tree, parents first, and checks what no page can know alone: kinds,
/// heights, the ranges that parents give, and row counts.
struct TreeWalk {
  /// Called before a page is read; may throw damage for a page that must not be.
  typealias Reach = (PageReference, PageKind) throws(StoreError) -> Void
  /// Called with each page that can be read.
  typealias Visit = (Page, TreePart) throws(StoreError) -> Void
  /// Called with each subtree that cannot be read, because its top page is damaged.
  typealias Lose = (TreePart, Damage) -> Void
  /// Called with what is wrong of pages that can be read.
  typealias Note = (Damage) -> Void

  private let root: TreeRoot
  private let source: PageSource

  /// Goes through the tree at `root`.
  init(_ root: TreeRoot, _ source: PageSource) {
    self.root = root
    self.source = source
  }

  /// Throws what `visit` throws and errors that say nothing about the tree's bytes.
  func run(
    reach: Reach, visit: Visit, lost: Lose, note: Note = { _ in }
  ) throws(StoreError) {
    if root.isEmpty { return }
    let all = TreePart(
      reference: root.reference, role: PageRole(root), rowCount: root.rowCount, keys: KeySpan(root))
    _ = try walk(all, reach, visit, lost, note)
  }

  /// Walks one subtree; how many rows it holds, unless it is damaged.
  private func walk(
    _ part: TreePart, _ reach: Reach, _ visit: Visit, _ lost: Lose, _ note: Note
  ) throws(StoreError) -> UInt64? {
    let reference = part.reference
    let page: Page
    do throws(StoreError) {
      guard reference.rawKind == part.role.kind.rawValue else {
        throw .damaged(
          Damage(
            .height, at: reference, "a page of kind \(reference.rawKind), not \(part.role.kind)"))
      }
      try reach(reference, part.role.kind)
      page = try source.page(reference, part.role.kind)
      try check(page, part)
    } catch {
      guard let damage = error.damage(at: reference) else { throw error }
      lost(part, damage)
      return nil
    }
    defer { withExtendedLifetime(page) {} }
    let excess = part.keys.excess(of: page, part.role)
    if excess.before {
      note(Damage(.order, at: reference, "the first key is below the range of its parent"))
    }
    if excess.behind {
      note(Damage(.order, at: reference, "the last key is above the range of its parent"))
    }
    try visit(page, part)
    let rowCount =
      part.isLeaf
      ? leafRowCount(page) : try walkChildren(of: page, part, reach, visit, lost, note)
    if let rowCount, rowCount != part.rowCount {
      note(Damage(.count, at: reference, "\(rowCount) rows, but its parent says \(part.rowCount)"))
    }
    return rowCount
  }

  private func walkChildren(
    of page: Page, _ part: TreePart, _ reach: Reach, _ visit: Visit, _ lost: Lose, _ note: Note
  ) throws(StoreError) -> UInt64? {
    var total: UInt64? = 0
    var ahead = ReadAhead(source, toEnd: true)
    let children = ahead.isWanted ? try page.references(as: part.role) : []
    try page.forEachLink(as: part.role) { link throws(StoreError) in
      guard case .child(let rowCount) = link.target else { return }
      ahead.step(to: link.index, of: children.count) { children[$0] }
      let child = TreePart(
        reference: link.reference, role: link.role, rowCount: rowCount,
        keys: part.keys.part(link.index, of: page))
      let rows = try walk(child, reach, visit, lost, note)
      if let sum = total, let rows { total = sum + rows } else { total = nil }
    }
    return total
  }

  private func leafRowCount(_ page: Page) -> UInt64 {
    UInt64(root.kind == .key ? KeyNode(page).count : ColumnLeaf(page).rowCount)
  }

  /// Checks that a page of a tree of rows belongs to this kind of tree and level.
  private func check(_ page: Page, _ part: TreePart) throws(StoreError) {
    if root.kind == .key { return }
    let isPositional: Bool
    if part.isLeaf {
      isPositional = ColumnLeaf(page).isPositional
    } else {
      let branch = ColumnBranch(page)
      guard branch.level == part.role.height - 1 else {
        throw ColumnTree.wrongHeight(part.reference)
      }
      isPositional = branch.isPositional
    }
    guard isPositional == (root.kind == .position) else {
      throw .damaged(Damage(.encoding, at: part.reference, "a page of another kind of tree"))
    }
  }
}

extension TreeWalk {
  /// Proves the tree: see ``VersionedTree/walk(_:tree:damage:)``.
  func verify(
    _ visit: Reach, tree: (TreeRoot) throws(StoreError) -> Void, damage: Note
  ) throws(StoreError) {
    try run(
      reach: visit,
      visit: { page, part throws(StoreError) in
        guard part.isLeaf else { return }
        try page.forEachLink(as: part.role) { link throws(StoreError) in
          switch link.target {
          case .tree(let root): try tree(root)
          case .value(let value): try verify(value, visit, damage)
          case .child, .piece: break
          }
        }
      }, lost: { damage($1) }, note: damage)
  }

  /// Proves the pages of a large value.
  private func verify(
    _ value: OverflowValue, _ visit: Reach, _ damage: Note
  ) throws(StoreError) {
    do throws(StoreError) {
      try value.forEachPage(in: source, readsChunks: true) { chunk, byteCount throws(StoreError) in
        try visit(chunk, .overflow)
        // Lists were read to get here.
        if let byteCount { try value.check(chunk, byteCount, in: source) }
      }
    } catch {
      guard let found = error.damage(at: value.reference) else { throw error }
      damage(found)
    }
  }

  /// Calls `visit` with every leaf that can be read, ascending, and `lost` with what lies between.
  ///
  /// A page that two branches name is taken once.
  func salvage(
    _ visit: (Page) throws(StoreError) -> Void, lost: Lose
  ) throws(StoreError) {
    try runOnce(
      visit: { page, part throws(StoreError) in if part.isLeaf { try visit(page) } }, lost: lost)
  }

  /// Goes through the tree; a page that two branches name is lost the second time.
  func runOnce(visit: Visit, lost: Lose) throws(StoreError) {
    var seen: Set<PageReference> = []
    try run(
      reach: { reference, _ throws(StoreError) in
        guard seen.insert(reference).inserted else {
          throw .damaged(Damage(.reference, at: reference, "two branches name the same page"))
        }
      }, visit: visit, lost: lost)
  }
}
