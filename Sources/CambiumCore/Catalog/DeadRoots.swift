/// Trees that were dropped whole and whose pages wait to be freed.
///
/// Freeing a large tree at once would make one commit pay for all of it. Its root goes on a list in
/// the catalog instead, and every commit frees a bounded number of pages: a root's children take its
/// place on the list until only leaves are left.
struct DeadRoots {
  let catalog: KeyTreeEditor
  let context: WriteContext

  /// Puts `root` on the list.
  func add(_ root: TreeRoot) throws(StoreError) {
    var cursor = catalog.tree.cursor()
    var number: UInt64 = 0
    // The list's last entry is the last key with its prefix.
    let end: [UInt8] = Catalog.nextTableKey
    let isAtEnd = try cursor.seek(to: end)
    let hasPrevious = isAtEnd ? try cursor.previous() : try cursor.seekLast()
    if hasPrevious, cursor.key.starts(with: Catalog.deadRootPrefix) {
      let last = cursor.key.dropFirst(2).reduce(0) { $0 << 8 | UInt64($1) }
      guard last < .max else {
        throw .damaged(Damage(.catalog, "the list of dead roots has no number left"))
      }
      number = last + 1
    }
    _ = try catalog.set(Catalog.deadRootKey(number), CatalogEntry.deadRoot(root).bytes)
  }

  /// Frees at most about `pageLimit` pages of listed trees; what is left of them goes back on the
  /// list, and so does what is damaged or cannot be read: nobody's work depends on it.
  func reclaim(pageLimit: Int) throws(StoreError) {
    var budget = pageLimit
    var unreadable: [TreeRoot] = []
    while budget > 0, let first = try takeFirst() {
      var waiting = [first]
      while budget > 0, let root = waiting.popLast() {
        budget -= 1
        do throws(StoreError) {
          waiting += try free(root)
        } catch .damaged, .system {
          unreadable.append(root)
        }
      }
      for root in waiting { try add(root) }
    }
    for root in unreadable { try add(root) }
  }

  /// Takes the oldest tree off the list; nil when the list is empty.
  private func takeFirst() throws(StoreError) -> TreeRoot? {
    var cursor = catalog.tree.cursor()
    guard try cursor.seek(to: Catalog.deadRootPrefix) else { return nil }
    guard cursor.hasPrefix(Catalog.deadRootPrefix) else { return nil }
    let key = cursor.key
    guard let entry = CatalogEntry(try cursor.copyValue()), case .deadRoot(let root) = entry else {
      throw .damaged(Damage(.catalog, "the list of dead roots cannot be read"))
    }
    _ = try catalog.remove(key)
    return root
  }

  /// Frees the top page of a tree, with everything that hangs from a leaf; returns the subtrees
  /// that are left.
  ///
  /// Nothing is freed when any of it is damaged.
  private func free(_ root: TreeRoot) throws(StoreError) -> [TreeRoot] {
    if root.isEmpty { return [] }
    let children =
      switch root.kind {
      case .key: try KeyTree(root: root, source: context.source).dismantle(context)
      case .column, .position:
        try ColumnTree(root: root, source: context.source).dismantle(context)
      }
    context.free(root.reference)
    return children
  }
}
