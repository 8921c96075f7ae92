/// Trees that were dropped whole and whose pages wait to be freed.
///
/// Freeing a large tree at once would make one commit pay for all of it. Its root goes on a list in
/// the catalog instead, and every commit frees a bounded number of pages: a root's children take its
/// place on the list until only leaves are left.
struct DeadRoots {
  let catalog: KeyTreeEditor
  let context: WriteContext

  /// The last entry of the list's beginning that cannot be read, none of which is tried again until
  /// somebody opens the database anew.
  struct Passed: Sendable {
    fileprivate var key: [UInt8]
    fileprivate var root: TreeRoot
  }

  /// What is known of the list from one commit to the next.
  struct Progress: Sendable {
    fileprivate var passed: Passed?
    /// The version in which nothing was listed.
    fileprivate var empty: (version: Version, epoch: UInt64)?

    /// Whether nothing is listed in the version of `head`.
    func isEmpty(in head: Head) -> Bool {
      empty.map { $0 == (head.version, head.epoch) } ?? false
    }

    /// Notes that what was true of the list in the version of `base` is so in that of `head`.
    mutating func advance(from base: Head, to head: Head) {
      empty = isEmpty(in: base) ? (head.version, head.epoch) : nil
    }
  }

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
  ///
  /// Begins behind `passed`, and moves that on over trees of which nothing can be freed: they stay on the
  /// list as they are.
  ///
  /// In `progress`, an empty list is said to be one of the version at which the transaction began.
  func reclaim(pageLimit: Int, _ progress: inout Progress, base: Head) throws(StoreError) {
    var budget = pageLimit
    var unreadable: [TreeRoot] = []
    var isListed = false
    progress.empty = nil
    if let known = progress.passed, try !self.isListed(known) { progress.passed = nil }
    while budget > 0, let (key, first) = try next(behind: progress.passed) {
      budget -= 1
      isListed = true
      guard var waiting = try freeIfReadable(first) else {
        progress.passed = Passed(key: key, root: first)
        continue
      }
      _ = try catalog.remove(key)
      var ahead = ReadAhead(context.source, toEnd: true)
      while budget > 0, !waiting.isEmpty {
        ahead.step(to: waiting.count - 1, of: waiting.count, by: -1) { waiting[$0].reference }
        let root = waiting.removeLast()
        budget -= 1
        if let children = try freeIfReadable(root) {
          if !children.isEmpty { ahead.restart() }
          waiting += children
        } else {
          unreadable.append(root)
        }
      }
      for root in waiting { try add(root) }
    }
    for root in unreadable { try add(root) }
    if !isListed, progress.passed == nil, pageLimit > 0 {
      progress.empty = (base.version, base.epoch)
    }
  }

  /// Whether nothing is listed in the version of `base`, at which the transaction began; looks where `progress`
  /// does not know.
  func isEmpty(_ progress: inout Progress, in base: Head) throws(StoreError) -> Bool {
    if progress.isEmpty(in: base) { return true }
    guard progress.passed == nil, try next(behind: nil) == nil else { return false }
    progress.empty = (base.version, base.epoch)
    return true
  }

  /// Whether the list still begins as it did: numbers are given again when it has been empty.
  private func isListed(_ passed: Passed) throws(StoreError) -> Bool {
    try catalog.tree.value(for: passed.key) == CatalogEntry.deadRoot(passed.root).bytes
  }

  /// The oldest tree on the list behind `passed`; nil when there is none.
  private func next(
    behind passed: Passed?
  ) throws(StoreError) -> (key: [UInt8], root: TreeRoot)? {
    var cursor = catalog.tree.cursor()
    guard try cursor.seek(to: passed.map { $0.key + [0] } ?? Catalog.deadRootPrefix),
      cursor.hasPrefix(Catalog.deadRootPrefix)
    else { return nil }
    guard let entry = CatalogEntry(try cursor.copyValue()), case .deadRoot(let root) = entry else {
      throw .damaged(Damage(.catalog, "the list of dead roots cannot be read"))
    }
    return (cursor.key, root)
  }

  /// Frees the top page of a tree; its subtrees, or nil when it is damaged, no codec opens it, or the
  /// medium refuses it.
  private func freeIfReadable(_ root: TreeRoot) throws(StoreError) -> [TreeRoot]? {
    do throws(StoreError) {
      return try Self.free(root, in: context)
    } catch {
      switch error {
      case .damaged, .codecFailure, .system: return nil
      default: throw error
      }
    }
  }

  /// Frees the top page of a tree, with everything that hangs from a leaf; returns the subtrees
  /// that are left, and the trees that the rows of a leaf own.
  ///
  /// Nothing is freed when any of it is damaged.
  static func free(_ root: TreeRoot, in context: WriteContext) throws(StoreError) -> [TreeRoot] {
    if root.isEmpty { return [] }
    let role = PageRole(root)
    let page = try context.source.page(root.reference, role.kind)
    var subtrees: [TreeRoot] = []
    var values: [OverflowValue] = []
    try page.forEachLink(as: role) { link in
      switch link.target {
      case .child(let rowCount):
        subtrees.append(
          TreeRoot(
            reference: link.reference, height: root.height - 1, kind: root.kind,
            rowCount: rowCount))
      case .tree(let owned): subtrees.append(owned)
      case .value(let value): values.append(value)
      case .piece: break
      }
    }
    try OverflowValue.free(values, in: context)
    context.free(root.reference)
    return subtrees
  }
}
