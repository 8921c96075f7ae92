import CambiumCore
import CambiumStoreKit

/// Storing the free map with a commit, and other pages of the store's own.
extension FileWriter {
  /// Writes a page of the store's own.
  func writePage(_ page: [UInt8], rawKind: UInt8) throws(StoreError) -> PageReference {
    let seal = store.sector.seal
    let byteCount = page.count + (seal == nil ? 0 : RecordSeal.pageByteCount)
    let extent = try allocate(byteCount: byteCount, isMetadata: true)
    let bytes =
      seal?.sealedPage(page, rawKind: rawKind, extent: extent, version: version) ?? page
    let checksum = try unsafe bytes.withBytes { bytes throws(StoreError) -> UInt64 in
      let checksum = unsafe Checksum.hash(bytes)
      try unsafe write(bytes, to: extent, checksum: checksum)
      return checksum
    }
    return PageReference(checksum: checksum, extent: extent, rawKind: rawKind, born: version)
  }

  /// A free map that was written anew, before it is the store's.
  struct FreeMap {
    var directory: FreeMapDirectory
    var update: BlockMap.Update
  }

  /// How many branches above leaves a commit looks through for pages that are to be moved.
  private static let relocatedBranchCount = 256

  /// So many records may pile up: each keeps a block, which are many where there is little room.
  private var recordCountLimit: Int {
    let limit = store.options.checkpointAfterRecordCount
    return store.books.withLock { $0.space.blocks.fillsHoles } ? min(limit, 8) : limit
  }

  /// Brings the stored free map up to date when many records have piled up, and frees the records that are
  /// no longer needed; nil when there was nothing to do.
  ///
  /// Only pages of parts that have changed are written. They show the version before this one: this commit's
  /// own record comes on top, so that no page need know its own place.
  func checkpointFreeMap() throws(StoreError) -> FreeMap? {
    let threshold = recordCountLimit
    // Recovery may need every later record.
    let options = store.options
    let isDue = store.books.withLock { books in
      rebuildsFreeMap || books.space.blocks.changedLeafCount > options.checkpointAfterLeafCount
        || books.recordByteCountSinceCheckpoint > options.checkpointAfterRecordByteCount
        // Those behind it stay, however many they are.
        || books.records.count > threshold
          && books.records[threshold - 1].version
            <= min(fileVersion, books.heldMark.version)
    }
    guard isDue else { return nil }
    let update = try writeFreeMap()
    var directory = store.books.withLock { $0.directory }
    guard update.stored.isPlausible(firstBlock: store.sector.firstBlock) else {
      throw directory.wrongCount
    }
    let kept = rebuildsFreeMap ? 0 : min(fileVersion, Version(threshold / 2))
    let oldest = store.oldestSpaceVersion(newest: fileVersion)
    let (retired, retiring) = store.books.withLock { books in
      let retired = max(
        books.directory.retired,
        min(books.heldMark.version, oldest, fileVersion - kept))
      return (retired, books.records.filter { $0.version <= retired })
    }
    directory.retired = retired
    for record in retiring {
      for part in record.parts { giveUp(part.extent) }
      if let head = record.head { giveUp(head) }
    }
    try keepWaiting(retiring, &directory)
    if !directory.page.isNone { giveUp(directory.page.extent) }
    directory.page = try writePage(
      directory.packed(update.stored), rawKind: FileLayout.Kind.directory)
    return FreeMap(directory: directory, update: update)
  }

  /// Writes the pages of the map that have changed, and those that lie where the file is to end.
  private func writeFreeMap() throws(StoreError) -> BlockMap.Update {
    let pages = store.mapPages
    let changes = try store.withMap { books throws(StoreError) in
      if let relocation {
        books.nextRelocatedLeaf = try books.space.blocks.mark(
          behind: relocation.ranges.first?.lowerBound ?? .max, fromLeaf: books.nextRelocatedLeaf,
          count: Self.relocatedBranchCount)
      }
      return books.space.blocks.changes(version: fileVersion)
    }
    return try BlockMap.Update(changes) { part, level in
      giveUp(pages.extent(of: part, level: level))
    } write: { page throws(StoreError) in
      let (bytes, rawKind) = FreeMapPages.packed(page)
      let reference = try writePage(bytes, rawKind: rawKind)
      return (reference.checksum, reference.address)
    }
  }

  /// Frees a page of the store's own, which no reader sees: said to be born in this version, it waits
  /// until this version is durable and for nobody else.
  func giveUp(_ extent: Extent) {
    unsafe ledger.free(VersionLedger.Dead(extent: extent, born: version))
  }

  /// Writes down what pinned versions see of what the records that are given up have freed.
  private func keepWaiting(
    _ retiring: [FileBooks.LiveRecord], _ directory: inout FreeMapDirectory
  ) throws(StoreError) {
    let waiting = directory.waiting
    let (held, new) = store.books.withLock { books in
      let isPinned = waiting.map { books.isPinned($0.versions) }
      return (isPinned, retiring.flatMap { books.waiting($0) })
    }
    for (page, isHeld) in zip(directory.waiting, held) where !isHeld {
      giveUp(page.reference.extent)
    }
    directory.waiting = zip(directory.waiting, held).filter(\.1).map(\.0)
    if new.isEmpty { return }
    var entries = new
    while let last = directory.waiting.last,
      last.entryCount <= min(entries.count, WaitingPage.largestEntryCount / 2)
    {
      let old = try last.read(store.mapPages)
      entries += store.books.withLock { books in
        old.filter { $0.freed > $0.dead.born && books.isPinned($0.dead.born...$0.freed - 1) }
      }
      giveUp(last.reference.extent)
      directory.waiting.removeLast()
    }
    while !entries.isEmpty {
      let part = entries.prefix(WaitingPage.largestEntryCount)
      let page = try writePage(WaitingPage.packed(part), rawKind: FileLayout.Kind.waiting)
      let first = part.reduce(Version.max) { min($0, $1.dead.born) }
      let last = part.reduce(Version(0)) { max($0, $1.freed - 1) }
      directory.waiting.append(WaitingPage(reference: page, versions: first...last))
      entries.removeFirst(part.count)
    }
  }
}
