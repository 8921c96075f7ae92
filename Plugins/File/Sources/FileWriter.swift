import CambiumCore

/// One write to a file store: gathers pages, writes them out in runs, and commits.
final class FileWriter: PageWriter {
  let base: Head
  let version: Version
  let store: FileStore
  /// Whether the commit writes the whole free map anew.
  let rebuildsFreeMap: Bool
  let relocation: Relocation?
  // Exclusivity is not checked: a write has one user, and no access to these calls out.
  @exclusivity(unchecked) var allocations = AllocationLog()
  @exclusivity(unchecked) var freed: [VersionLedger.Dead] = []
  /// Where the head of this version may lie, at the beginning of the run.
  @exclusivity(unchecked) var headPlace: HeadPlace?
  /// Whether such a place was not looked for yet.
  @exclusivity(unchecked) var seeksHeadPlace = true
  /// How durable the version will likely have to be.
  var expected = Durability.full
  private var hasEnded = false
  /// Set when nothing more can come of this write.
  private var failure: StoreError?

  init(
    store: FileStore, base: Head, rebuildsFreeMap: Bool = false, relocation: Relocation? = nil
  ) {
    self.store = store
    self.relocation = relocation
    self.rebuildsFreeMap = rebuildsFreeMap
    self.base = base
    version = base.version + 1
    freed.reserveCapacity(8)
  }

  deinit { abort() }

  private func ensureRunning() throws(StoreError) {
    precondition(!hasEnded, "The write has ended; begin another one.")
    if store.isForked { throw .forked(path: store.path) }
    if let failure { throw failure }
  }

  func expect(_ durability: Durability) { expected = durability }

  func reserve(byteCount: Int) throws(StoreError) {
    try ensureRunning()
    if beginChainedRun(byteCount: byteCount) { return }
    // The record follows the pages in the same run.
    let record = 1024 + byteCount / 128 + freed.count * FileLayout.Record.entryByteCount
    try store.state.withLock { state throws(StoreError) in
      // The file grows when pages are written, not when room is given out.
      try state.space.reserve(byteCount: byteCount + record) { _ in }
    }
  }

  func allocate(byteCount: Int) throws(StoreError) -> Extent {
    try ensureRunning()
    try Space.checkPageByteCount(byteCount)
    if seeksHeadPlace { _ = beginChainedRun(byteCount: max(byteCount, 12 << 10)) }
    let extent = try store.state.withLock { state throws(StoreError) in
      try state.space.allocate(byteCount: byteCount) { _ in }
    }
    allocations.append(extent)
    return extent
  }

  func write(_ bytes: UnsafeRawBufferPointer, to extent: Extent) throws(StoreError) {
    try write(bytes, to: extent, checksum: Checksum.hash(bytes))
  }

  func write(
    _ bytes: UnsafeRawBufferPointer, to extent: Extent, checksum: UInt64
  ) throws(StoreError) {
    try ensureRunning()
    allocations.noteWritten(bytes.count, to: extent, checksum: checksum)
    if store.buffer.append(bytes, at: extent.byteOffset) { return }
    do throws(StoreError) {
      // Blocks that are on their way to the medium already are costly to write again.
      let wholeBlocks = expected != .full && store.buffer.endOffset == extent.byteOffset
      if isBulk {
        try passOn(wholeBlocks: wholeBlocks)
      } else {
        try flush(endsCommit: false)
      }
      if !store.buffer.append(bytes, at: extent.byteOffset) {
        try store.behind.finish()
        try store.writeOut(
          bytes, at: extent.byteOffset, isBulk: true, expectsSync: expected == .full)
      }
    } catch {
      failure = error
      throw error
    }
  }

  /// Whether the commit is too large to wait for the file to grow ahead of it.
  private var isBulk: Bool {
    // The first buffer of bulk work is full before more is allocated.
    allocations.unitCount > UInt64(store.options.gatheredByteCount / 2 / Extent.unitByteCount)
  }

  /// Hands over what is gathered, or its whole blocks, to be written while more is gathered.
  private func passOn(wholeBlocks: Bool) throws(StoreError) {
    let expectsSync = expected == .full
    // The writer keeps the store, and does not end before the chunk is written.
    try store.buffer.pass(
      to: store.behind, wholeBlocks: wholeBlocks, endsRun: endsRun
    ) { [unowned store] bytes, offset throws(StoreError) in
      try store.writeOut(bytes, at: offset, isBulk: true, expectsSync: expectsSync)
    }
  }

  /// Writes out what is gathered; the block of the head only when the commit ends.
  func flush(endsCommit: Bool = true) throws(StoreError) {
    try store.behind.finish()
    let isBulk = isBulk
    try store.buffer.flush(
      endsRun: endsRun, endsCommit: endsCommit
    ) { bytes, offset throws(StoreError) in
      try store.writeOut(bytes, at: offset, isBulk: isBulk, expectsSync: expected == .full)
    }
  }

  /// Whether nothing else lies in the block behind what is gathered.
  private var endsRun: Bool {
    let end = store.state.withLock { Int($0.space.allocationEnd) * Extent.unitByteCount }
    return store.buffer.endOffset == end
  }

  func free(_ reference: PageReference) {
    precondition(!hasEnded, "The write has ended; begin another one.")
    precondition(!reference.isNone && !reference.isDirty, "Only stored pages can be freed.")
    if store.isForked { return }
    if reference.born == version, allocations.remove(reference.extent) {
      store.state.withLock { $0.space.takeBack(reference.extent) }
    } else {
      freed.append(VersionLedger.Dead(extent: reference.extent, born: reference.born))
    }
  }

  func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8]
  ) throws(StoreError) -> Pin {
    try publish(root: root, durability: durability, metadata: metadata) { _ in }
  }

  func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8], beforeNext: (Head) -> Void
  ) throws(StoreError) -> Pin {
    precondition(!hasEnded, "The write has ended; begin another one.")
    precondition(!root.reference.isDirty, "The root must be written before it is published.")
    do throws(StoreError) {
      try ensureRunning()
      try Space.checkMetadata(metadata)
      let pin = try commit(root: root, durability: durability, metadata: metadata)
      hasEnded = true
      beforeNext(pin.head)
      store.cutFreeTail()
      store.endWrite()
      return pin
    } catch {
      abort()
      throw error
    }
  }

  func abort() {
    if hasEnded { return }
    hasEnded = true
    // The write and the turn are the parent's, and so may be locks and the thread that would be waited for.
    if store.isForked { return }
    store.behind.drop()
    store.buffer.drop()
    store.state.withLock { $0.space.rollBack(allocations) }
    store.endWrite()
  }
}

extension FileStore {
  /// Ends a write.
  func endWrite() {
    let isLast = state.withLock { state in
      state.isWriting = false
      return state.takeLeave()
    }
    releaseWriterLock()
    if isLast { leave() }
  }
}
