import CambiumCore
import CambiumStoreKit

/// One write to a file store: gathers pages, writes them out in runs, and commits.
final class FileWriter: PageWriter {
  let base: Head
  let version: Version
  /// The newest version of the file; that of `base`, or one that it follows in the log.
  let fileVersion: Version
  let store: FileStore
  /// Whether the commit writes the whole free map anew.
  let rebuildsFreeMap: Bool
  let relocation: Relocation?
  /// Whether this commit stores its pages, however small it is, so that some are moved.
  private(set) lazy var movesPages = relocation != nil && store.isTimeToMove(version)
  // Exclusivity is not checked: a write has one user, and no access to these calls out.
  @exclusivity(unchecked) var ledger = WriteLedger()
  /// Whether a sync will likely wait for this version.
  var expectsSync = true
  private var hasEnded = false
  /// How large the file may become; nil for any size.
  private let sizeLimit: SizeLimit?
  /// How much it takes for pages of the store's own, which is no addition.
  private var metadataUnitCount: UInt64 = 0
  /// How much the pages take that lie in memory, which is none either.
  private lazy var residentUnitCount: UInt64 = {
    guard sizeLimit != nil, let residence = base.residence else { return 0 }
    return UInt64(residence.byteCount / Extent.unitByteCount)
  }()
  /// Set when nothing more can come of this write.
  private var failure: StoreError?
  /// Whether small commits like this one may stay in memory.
  private(set) var mayUseLog = false
  /// How much room the log has for a small commit, and how many bytes of pages may lie in memory; nil while that was
  /// not asked.
  private var logRoom: (recordByteCount: Int, pageByteCount: Int)?
  /// Whether the file has no room behind what is used of it for what a commit like this one leaves in memory.
  var lacksRoom = false
  /// Whether a durable commit like this one would have used a log in the file, had there been one with room.
  var wantsLog = false

  /// Begins at `base`; makes the version that follows, or the same one with all its pages stored (`stores`).
  init(
    store: FileStore, base: Head, rebuildsFreeMap: Bool = false, relocation: Relocation? = nil,
    stores: Bool = false
  ) {
    self.store = store
    self.relocation = relocation
    self.rebuildsFreeMap = rebuildsFreeMap
    self.base = base
    fileVersion = store.state.withLock { $0.newest.head.version }
    version = stores ? base.version : base.version + 1
    // What others left in memory is published: the limit does not keep it from being stored, and it is no addition
    // of who stores it beside changes of its own.
    let limit = stores ? nil : store.options.maximumByteCount
    sizeLimit = limit.map { limit in
      SizeLimit(limit, present: store.state.withLock { $0.newest.byteCount })
    }
  }

  deinit { abort() }

  private func ensureRunning() throws(StoreError) {
    precondition(!hasEnded, "The write has ended; begin another one.")
    if store.isForked { throw .forked(path: store.path) }
    if let failure { throw failure }
  }

  func expect(_ durability: Durability) {
    expectsSync = durability == .full
    mayUseLog =
      !rebuildsFreeMap && store.mayLogContent
      && (!expectsSync || store.usesStoredLog && !store.isMediumFull.load(ordering: .relaxed))
  }

  var isContended: Bool {
    // The lock of the group may be the parent's.
    !store.isForked && (store.writers.waiterCount > 0 || store.group.isBusy)
  }

  /// How much room there is for what the commit leaves in memory.
  func roomInMemory() -> (recordByteCount: Int, pageByteCount: Int) {
    if let logRoom { return logRoom }
    store.usesLog.store(true, ordering: .relaxed)
    let (newest, used) = store.state.withLock { ($0.newest, $0.logged?.end ?? 0) }
    // Something is in the log: it is there.
    let isThere =
      used > 0
      || !store.isMediumFull.load(ordering: .relaxed)
        && SharedLog(memory: store.memory).prepare()
    let room =
      isThere ? (SharedLayout.logByteCount - used, store.loggedByteLimit(newest)) : (0, 0)
    logRoom = room
    return room
  }

  func reserve(byteCount: Int) throws(StoreError) {
    try ensureRunning()
    // The record follows the pages in the same run.
    let record =
      unsafe 1024 + byteCount / 128 + ledger.freed.count * FileLayout.Record.entryByteCount
    try store.withMap { books throws(StoreError) in
      // Who may not have so much gets it page by page, as far as it goes.
      do throws(StoreError) {
        try books.space.reserve(byteCount: byteCount + record) { blockCount throws(StoreError) in
          try checkGrowth(to: blockCount, usesSpare: false)
        }
      } catch .sizeLimitReached {}
    }
  }

  /// Whether this write frees as much as it takes when it takes `unitCount` more: it may use what is kept
  /// for such, of a limited file and of a full medium.
  func isShrinking(adding unitCount: UInt64 = 0) -> Bool {
    unsafe ledger.isShrinking(adding: unitCount, spared: metadataUnitCount + residentUnitCount)
  }

  /// How many bytes have to be left behind what it writes on a full medium: none where it frees as much as it takes.
  ///
  /// What lies in memory has its room; all others need as much as is always kept.
  var leftByteCount: Int {
    if isShrinking() { return 0 }
    if base.residence == nil { return .max }
    return store.spareByteCount(in: store.state.withLock { $0.newest.byteCount })
  }

  /// Looks whether the file may grow; it does when pages are written, not when room is given out.
  private func checkGrowth(to blockCount: Int, usesSpare: Bool) throws(StoreError) {
    // A block more: readers look at a few bytes behind a page at once.
    try sizeLimit?.check(
      (blockCount + 1) * FileLayout.blockByteCount, usesSpare: usesSpare, path: store.path)
  }

  /// Throws when this write only adds, and more is in use than such a one may take.
  ///
  /// It may have found holes in what is kept for others, and runs are longer than the page that they were
  /// taken for.
  func checkSize() throws(StoreError) {
    guard let sizeLimit, version > base.version, !isShrinking() else { return }
    let used = try store.withMap { books in books.usedByteCount }
    try sizeLimit.check(used + FileLayout.blockByteCount, usesSpare: false, path: store.path)
  }

  func allocate(byteCount: Int) throws(StoreError) -> Extent {
    try allocate(byteCount: byteCount, isMetadata: false)
  }

  /// Gives out room, `isMetadata` for a page of the store's own.
  func allocate(byteCount: Int, isMetadata: Bool) throws(StoreError) -> Extent {
    try ensureRunning()
    try StoreLimits.checkPage(byteCount: byteCount)
    let usesSpare = isMetadata || isShrinking(adding: Extent.unitCount(forByteCount: byteCount))
    let extent = try store.withMap { books throws(StoreError) in
      try books.space.allocate(byteCount: byteCount) { blockCount throws(StoreError) in
        try checkGrowth(to: blockCount, usesSpare: usesSpare)
      }
    }
    unsafe ledger.take(extent)
    if isMetadata { metadataUnitCount += extent.unitCount }
    return extent
  }

  /// Takes back room that was given out for a page of the store's own, and not written.
  func takeBack(_ extent: Extent) {
    guard unsafe ledger.giveUp(extent) else { return }
    metadataUnitCount -= extent.unitCount
    store.books.withLock { $0.space.takeBack(extent) }
  }

  func write(
    _ bytes: Span<UInt8>, to extent: Extent, checksum: UInt64
  ) throws(StoreError) {
    try unsafe bytes.withUnsafeBytes { bytes throws(StoreError) in
      try unsafe write(bytes, to: extent, checksum: checksum)
    }
  }

  func write(
    _ bytes: UnsafeRawBufferPointer, to extent: Extent, checksum: UInt64
  ) throws(StoreError) {
    try ensureRunning()
    unsafe ledger.noteWritten(bytes.count, to: extent, checksum: checksum)
    if unsafe store.buffer.append(bytes, at: extent.byteOffset) { return }
    do throws(StoreError) {
      // Blocks that are on their way to the medium already are costly to write again.
      let wholeBlocks = !expectsSync && store.buffer.endOffset == extent.byteOffset
      if isBulk, store.isLarge(store.buffer.byteCount) {
        try passOn(wholeBlocks: wholeBlocks)
      } else {
        try flush()
      }
      if unsafe !store.buffer.append(bytes, at: extent.byteOffset) {
        try store.behind.finish()
        try unsafe store.writeOut(
          bytes, at: extent.byteOffset, isBulk: true, expectsSync: expectsSync)
      }
    } catch {
      failure = error
      throw error
    }
  }

  /// Whether the commit is too large to wait for the file to grow ahead of it.
  var isBulk: Bool {
    // The first buffer of bulk work is full before more is allocated.
    unsafe ledger.allocations.unitCount
      > UInt64(store.options.gatheredByteCount / 2 / Extent.unitByteCount)
  }

  /// Hands over what is gathered, or its whole blocks, to be written while more is gathered.
  private func passOn(wholeBlocks: Bool) throws(StoreError) {
    let expectsSync = expectsSync
    // The writer keeps the store, and does not end before the chunk is written.
    try unsafe store.buffer.pass(
      to: store.behind, wholeBlocks: wholeBlocks, endsRun: endsRun
    ) { [unowned store] bytes, offset throws(StoreError) in
      try unsafe store.writeOut(bytes, at: offset, isBulk: true, expectsSync: expectsSync)
    }
  }

  /// Writes out what is gathered.
  func flush() throws(StoreError) {
    try store.behind.finish()
    let isBulk = isBulk
    try unsafe store.buffer.flush(endsRun: endsRun) { bytes, offset throws(StoreError) in
      try unsafe store.writeOut(
        bytes, at: offset, isBulk: isBulk, expectsSync: expectsSync, left: leftByteCount)
    }
  }

  /// Whether nothing else lies in the block behind what is gathered.
  private var endsRun: Bool {
    let end = store.books.withLock { Int($0.space.allocationEnd) * Extent.unitByteCount }
    return store.buffer.endOffset == end
  }

  func free(_ reference: PageReference) {
    precondition(!hasEnded, "The write has ended; begin another one.")
    if store.isForked { return }
    if unsafe ledger.free(reference, version: version) {
      store.books.withLock { $0.space.takeBack(reference.extent) }
    }
  }

  func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8], beforeNext: (Head) -> Void
  ) throws(StoreError) -> Pin {
    precondition(!hasEnded, "The write has ended; begin another one.")
    precondition(!root.reference.isDirty, "The root must be written before it is published.")
    do throws(StoreError) {
      try ensureRunning()
      try StoreLimits.check(metadata: metadata)
      let pin = try commit(
        root: root, durability: durability,
        metadata: version > base.version ? metadata : store.metadata(of: version))
      end(showing: pin.head, beforeNext) { [store] in store.cutFreeTail() }
      return pin
    } catch {
      abort()
      throw error
    }
  }

  /// Ends a write whose version, that of `head`, is published.
  func end(showing head: Head, _ beforeNext: (Head) -> Void, _ finish: () -> Void = {}) {
    hasEnded = true
    beforeNext(head)
    finish()
    store.releaseWriterLock()
  }

  func abort() {
    if hasEnded { return }
    hasEnded = true
    // The write and the writer lock are the parent's, and so may be locks and the thread that would be waited for.
    if store.isForked { return }
    store.behind.drop()
    store.buffer.drop()
    store.books.withLock { unsafe $0.space.rollBack(ledger.allocations) }
    store.releaseWriterLock()
    // Who has left them may have gone meanwhile, and could not store them while this wrote.
    if base.residence != nil, version > base.version { store.scheduleSync() }
  }
}
