import CambiumCore
import CambiumStoreKit

extension FileStore {
  /// Rebuilds the free map of the store at `path` from what its newest version reaches.
  ///
  /// For a store that can be read but not written, because the map or the records it needs are
  /// damaged. Returns what was found wrong, a line each; when nothing was, the file is untouched.
  /// The content stays as it is, under a new version; afterwards the store is closed.
  ///
  /// `progress` is called now and then with the number of bytes walked. Throws
  /// `StoreError.inUse(path:holder:)` when somebody has the store open, and `StoreError.damaged(_:)`
  /// when trees are damaged as well: what they reach cannot be known then. After an error, power
  /// loss included, the content is as it was and the repair can be tried again.
  public static func repairFreeMap(
    path: String, options: FileStoreOptions = FileStoreOptions(), codec: (any PageCodec)? = nil,
    progress: ((Int) -> Void)? = nil
  ) throws(StoreError) -> [String] {
    var options = options
    options.codec = codec
    // What is in use is found by a walk, and must not change meanwhile.
    options.storesUnasked = false
    let store = try FileStore(path: path, options: options)
    guard store.becomeAlone() else {
      throw .inUse(path: path, holder: FilePaths.holder(path: path, besides: store.slot))
    }
    let database = try Database(store: store)
    do throws(StoreError) {
      let findings = try store.repairFreeMap(database, progress)
      try database.close()
      return findings
    } catch {
      try? database.close()
      throw error
    }
  }

  private func repairFreeMap(
    _ database: Database, _ progress: ((Int) -> Void)?
  ) throws(StoreError) -> [String] {
    let (report, extents) = try database.walkNewest(progress: progress)
    if let first = report.findings.first {
      throw .damaged(
        Damage(.reference, "the free map cannot be rebuilt, because trees are damaged: \(first)"))
    }
    let findings = try check(reachable: extents)
    // Of the file's version, which the newest one follows in the log.
    var others = try newestHead().residence?.freedReferences.map(\.extent) ?? []
    if let log = state.withLock({ $0.newest.log }) { others.append(log) }
    if !findings.isEmpty { try rebuildFreeMap(reachable: extents + others) }
    return findings
  }

  /// Commits the newest version once more with a new free map: `reachable` are the extents of its
  /// trees, and of those of the file's version if it lies in memory, and everything else is free.
  ///
  /// Its head is settled first, so that recovery needs none of the records that are lost here.
  func rebuildFreeMap(reachable: [Extent]) throws(StoreError) {
    try withSlots { () throws(StoreError) in
      try syncNewest()
      if let head = try unsettledHead() { try settle(head) }
    }
    let base = try acquireWriterLock { books, newest throws(StoreError) in
      // None of the records up to the head that was just settled is needed, or there any more.
      followHeld(&books)
      try books.forgetFreeMap(reachable: reachable, newest, from: mapPages)
    }
    let isLogged = base.residence != nil
    let writer = FileWriter(store: self, base: base, rebuildsFreeMap: true, stores: isLogged)
    if isLogged { return try storePages(writer) }
    _ = try writer.publish(root: base.root, durability: .full, metadata: [])
  }
}

extension FileBooks {
  /// Takes `reachable` for all that is in use.
  ///
  /// The next commit has to write all of the map.
  fileprivate mutating func forgetFreeMap(
    reachable: [Extent], _ newest: HeadSector, from pages: FreeMapPages
  ) throws(StoreError) {
    let version = newest.head.version
    var blocks = BlockMap(firstBlock: pages.identity.firstBlock, from: pages)
    blocks.extend(toBlockCount: newest.blockCount)
    for extent in reachable {
      guard blocks.contains(extent) else {
        throw .damaged(
          Damage(.reference, "the page at byte \(extent.byteOffset) lies outside of the store"))
      }
      try blocks.load(extent)
      guard blocks.canHold(extent) else {
        throw .damaged(
          Damage(.reference, "the page at byte \(extent.byteOffset) is used twice"))
      }
      blocks.hold(extent)
      _ = blocks.addReachable(extent, version)
    }
    space = Space(blocks)
    space.ledger.hold(version, .store)
    directory = FreeMapDirectory()
    records = []
    isOfOlderFormat = false
    self.version = version
  }
}
