extension Database {
  /// Calls `visit` with the stored bytes of each page that `snapshot` reaches, parents first, and each page
  /// once.
  ///
  /// What `isKnown` says yes to is left out with all below it. Every page is checked against its reference;
  /// throws ``StoreError/damaged(_:)`` at the first one that does not fit.
  ///
  /// Pointers: the page that the store gave is kept until `visit` returns. A store promises that it is at
  /// least as long as its reference says.
  package func forEachStoredPage(
    of snapshot: Snapshot, unless isKnown: (PageReference) -> Bool,
    _ visit: (PageReference, UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    let root = snapshot.head.root
    try unsafe forEachStoredPage(
      below: root.reference, PageRole(root, isCatalog: true), depth: 0, snapshot, isKnown, visit)
  }

  private func forEachStoredPage(
    below reference: PageReference, _ role: PageRole, depth: Int, _ snapshot: Snapshot,
    _ isKnown: (PageReference) -> Bool,
    _ visit: (PageReference, UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    if reference.isNone || isKnown(reference) { return }
    guard depth <= OwnedTreeCopy.largestDepth else {
      throw .damaged(Damage(.height, at: reference, "trees lie too deep within trees"))
    }
    // Checks the stored bytes, and gives the page as it was before it went through a codec.
    let page = try snapshot.source.page(reference, role.kind)
    let stored = try store.read(reference, at: snapshot.pin)
    defer { withExtendedLifetime(stored) {} }
    guard stored.byteCount >= reference.byteCount else {
      throw .damaged(Damage(.reference, at: reference, "the store returned too few bytes"))
    }
    let bytes = unsafe UnsafeRawBufferPointer(start: stored.bytes, count: reference.byteCount)
    guard unsafe Checksum.hash(bytes) == reference.checksum else {
      throw .damaged(Damage(.checksum, at: reference, "a page of the version"))
    }
    try unsafe visit(reference, bytes)
    var ahead = ReadAhead(snapshot.source, toEnd: true)
    let children = ahead.isWanted ? try page.references(as: role).filter { !isKnown($0) } : []
    var index = 0
    try page.forEachLink(as: role) { link throws(StoreError) in
      if index < children.count, children[index] == link.reference {
        ahead.step(to: index, of: children.count) { children[$0] }
        index += 1
      }
      var depth = depth
      if case .tree = link.target { depth += 1 }
      try unsafe forEachStoredPage(
        below: link.reference, link.role, depth: depth, snapshot, isKnown, visit)
    }
  }

  /// What the store keeps for its codec; see ``PageStore/codecParameters``.
  package var codecParameters: [UInt8] { store.codecParameters }
}

extension Snapshot {
  /// What everything that it sees hangs from.
  package var head: Head { pin.head }

  /// Whether the store has all pages of the version; otherwise some lie in memory.
  package var areAllPagesStored: Bool { pin.head.residence == nil }
}
