import CambiumCore

/// How a write becomes a version. ``commit(root:durability:metadata:)`` is the protocol; its steps follow.
extension FileWriter {
  /// A commit that is recorded, and to which nothing leads yet.
  struct Staged {
    var head: HeadSector
    /// What of the free map was written anew.
    var freeMap: FreeMap?
    var record: CommitRecord
  }

  /// Makes the written pages the newest version; when this throws, the caller aborts.
  ///
  /// Each commit is staged (checkpoint of the free map, record, head), written, synced as far as it is to
  /// be durable, and installed. What differs is where the head goes: a durable commit writes it into a
  /// slot; that of a relaxed one is in shared memory alone, until a sync in the background.
  func commit(
    root: TreeRoot, durability: Durability, metadata: [UInt8]
  ) throws(StoreError) -> Pin {
    try store.ensureWritable()
    if durability != .full { expectsSync = false }
    return try stage(root, metadata) { staged throws(StoreError) in
      try flush()
      try coverHighWaterMark(staged.head)
      switch durability {
      case .full:
        let pin = try store.withSlots { () throws(StoreError) in
          try store.ensureWritable()
          let mark = try store.syncInSlot(&staged.head, of: self)
          return store.installDurable(staged, self, mark)
        }
        if !staged.head.isSettled { store.scheduleSettling() }
        return pin
      case .relaxed:
        let pin = try store.installRelaxed(staged, self)
        // Who has a version stored once more syncs it.
        if version > base.version { store.scheduleSync() }
        return pin
      }
    }
  }

  /// Checkpoints the free map if it is time, writes the record, makes the head and moves the counts on; then
  /// lets `publish` see to the rest, and takes the counts back when that throws.
  func stage(
    _ root: TreeRoot, _ metadata: [UInt8],
    _ publish: (inout Staged) throws(StoreError) -> Pin
  ) throws(StoreError) -> Pin {
    let freeMap = try checkpointFreeMap()
    try makeRoomInMemory()
    let log = try placeOfLog()
    let record = try writeRecord(metadata: metadata)
    var head = store.state.withLock { $0.newest }
    head.log = log
    head.head = Head(version: version, epoch: base.epoch, root: root)
    head.isSettled = false
    head.record = record.parts[0]
    if let freeMap { head.freeMap = freeMap.directory.page }
    head.blockCount = try applyCounts()
    do throws(StoreError) {
      try checkSize()
      var staged = Staged(head: head, freeMap: freeMap, record: record)
      return try publish(&staged)
    } catch {
      store.books.withLock {
        unsafe $0.space.unapplyReachable(
          ledger.allocations, freed: ledger.freed, version: version)
      }
      throw error
    }
  }

  /// What becomes unsynced by this commit: the durable version holds whole blocks of what it frees.
  fileprivate var blockByteCount: Int {
    unsafe ledger.allocations.blockCount * FileLayout.blockByteCount
  }

  /// Checks what is freed and moves the counts on; the high-water mark in blocks.
  private func applyCounts() throws(StoreError) -> Int {
    let (refused, blockCount) = try store.withMap { books throws(StoreError) -> (Int?, Int) in
      let refused = try unsafe books.space.applyReachable(
        ledger.allocations, freed: ledger.freed, version: version)
      return (refused, books.space.blocks.usedBlockCount())
    }
    if let index = refused {
      throw .damaged(
        Damage(
          .reference,
          unsafe "the page at byte \(ledger.freed[index].extent.byteOffset) is not in use"))
    }
    return blockCount
  }

  /// Makes the file a block longer than its head says: the last room given out may be unwritten, and
  /// readers look at a few bytes behind a page at once.
  ///
  /// A small commit has kept room for deletions behind its pages when it wrote them; a large one does so here.
  private func coverHighWaterMark(_ head: HeadSector) throws(StoreError) {
    let needed = head.byteCount + FileLayout.blockByteCount
    if isBulk {
      return try store.growAhead(to: needed, left: leftByteCount)
    }
    let fileByteCount = store.state.withLock { $0.fileByteCount }
    guard fileByteCount < needed else { return }
    try store.writeZeros(from: fileByteCount, to: needed)
    store.state.withLock { $0.fileByteCount = needed }
  }

  // MARK: The record

  private func writeRecord(metadata: [UInt8]) throws(StoreError) -> CommitRecord {
    let previous = store.state.withLock { $0.newest.record }
    var record = CommitRecord(version: version, epoch: base.epoch, previous: previous)
    record.allocated = unsafe ledger.allocations.live.map {
      CommitRecord.Allocated(extent: $0.extent, checksum: $0.checksum)
    }
    record.freed = unsafe ledger.freed
    record.keep(store.smallCommits(from: fileVersion + 1, below: version), metadata)
    let sector = store.sector
    var next = PageReference.none
    for var part in record.packedParts(uuidHigh: sector.uuidHigh, uuidLow: sector.uuidLow) {
      part.put { $0.store(next, at: FileLayout.Record.next) }
      next = try writePage(part.bytes, rawKind: FileLayout.Kind.record)
      record.parts.insert(next, at: 0)
    }
    return record
  }
}

extension FileStore {
  /// Syncs what was written and writes `head` into the free slot; in one sync, with a head that recovery
  /// verifies, when little was written since the last one.
  ///
  /// Under the slots' lock. When this throws, the store is poisoned.
  fileprivate func syncInSlot(
    _ head: inout HeadSector, of writer: FileWriter
  ) throws(StoreError) -> DurableMark {
    let mark = state.withLock { $0.mark }
    let unsynced = memory.unsyncedByteCount + writer.blockByteCount
    let isSmall = unsynced <= options.largestSingleSyncByteCount
    if !isSmall { try syncDevice() }
    head.sequence = mark.sequence + 1
    head.durable = isSmall ? mark.version : head.head.version
    head.isSettled = !isSmall
    let slot = 1 - mark.slot
    try writeSlot(slot, head, holdsWriterLock: true)
    try syncDevice()
    return DurableMark(inSlot: slot, head)
  }

  /// Installs a commit that was synced, under the slots' lock.
  fileprivate func installDurable(
    _ staged: FileWriter.Staged, _ writer: FileWriter, _ durable: DurableMark
  ) -> Pin {
    // Closing waits for the slots, so the file is still this store's.
    let pin = books.withLock { books in
      let pin = state.withLock { show(staged.head, durable, &$0) }
      // Nobody changes the mark before the slots' lock is released.
      books.heldMark = durable
      books.seenDurable = memory.durableWord
      install(&books, staged, writer)
      return pin
    }
    memory.addUnsynced(-memory.unsyncedByteCount)
    commits.raise()
    return pin
  }

  /// Installs a commit that is not durable yet.
  fileprivate func installRelaxed(
    _ staged: FileWriter.Staged, _ writer: FileWriter
  ) throws(StoreError) -> Pin {
    let pin = try books.withLock { books throws(StoreError) in
      let pin = try withOpenState { state throws(StoreError) in show(staged.head, nil, &state) }
      install(&books, staged, writer)
      return pin
    }
    memory.addUnsynced(writer.blockByteCount)
    commits.raise()
    return pin
  }

  /// Changes the newest version: the one moment at which a commit takes place for readers.
  ///
  /// `durable` says where its synced head is, if it has one.
  private func show(
    _ head: HeadSector, _ durable: DurableMark?, _ state: inout FileState
  ) -> Pin {
    state.newest = head
    state.logged = nil
    // First the head, then the look at the pins: who pins the version before from now on sees that
    // there is a newer one.
    memory.publish(state.newest, sector)
    state.seenLive = memory.liveWord
    if let durable { publish(durable, &state) }
    state.hasWritten = true
    // Without a mapping that reaches everything, pages are read one by one; the commit stands.
    try? ensureMapping(&state)
    let isPinned = state.pins.hold(state.newest.head, whileLive: state.seenLive)
    precondition(isPinned, "S2: somebody has published a version without holding the writer lock.")
    return pin(state.newest.head, state)
  }

  /// Moves the books on by a commit that readers see already.
  private func install(
    _ books: inout FileBooks, _ staged: FileWriter.Staged, _ writer: FileWriter
  ) {
    let version = staged.head.head.version
    followHeld(&books)
    guard let previous = books.version else {
      preconditionFailure("S2: a commit without knowing what is free.")
    }
    unsafe books.publish(version: version, after: previous, freed: writer.ledger.freed)
    books.version = version
    noteSpaceVersion(version)
    if let freeMap = staged.freeMap {
      books.space.blocks.adopt(freeMap.update)
      books.directory = freeMap.directory
      books.records.removeAll { $0.version <= freeMap.directory.retired }
    }
    books.records.append(FileBooks.LiveRecord(staged.record))
  }
}
