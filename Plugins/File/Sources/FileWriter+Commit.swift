import CambiumCore

/// How a write becomes a version: free map, record, pages out, head.
extension FileWriter {
  /// What a commit changes in the store's state when it succeeds.
  struct Outcome {
    var head: HeadSector
    /// The free map, if it was written anew.
    var freeMap: FreeMap?
    var record: CommitRecord
  }

  /// Commits; when this throws, the caller aborts.
  func commit(
    root: TreeRoot, durability: Durability, metadata: [UInt8]
  ) throws(StoreError) -> Pin {
    try store.ensureWritable()
    if durability != .full { expectsSync = false }
    if durability == .full, let pin = try commitChained(root: root, metadata: metadata) {
      return pin
    }
    leaveHeadPlace()
    // Only a head that a sync covers begins a chain.
    return try commit(
      root: root, metadata: metadata, isFollowed: durability == .full
    ) { outcome throws(StoreError) in
      try flush()
      try coverHighWaterMark(outcome.head)
      return try store.publish(outcome, self, durability)
    }
  }

  /// Writes record and free map and lets `publish` see to the rest; `isFollowed` says whether the head
  /// names a place for the next one.
  func commit(
    root: TreeRoot, metadata: [UInt8], isFollowed: Bool,
    _ publish: (Outcome) throws(StoreError) -> Pin
  ) throws(StoreError) -> Pin {
    let freeMap = try checkpointFreeMap()
    let record = try writeRecord(metadata: metadata)
    var head = store.state.withLock { $0.newest }
    head.head = Head(version: version, epoch: base.epoch, root: root)
    head.isSettled = false
    head.record = record.parts[0]
    if let freeMap { head.freeMap = freeMap.directory.page }
    head.blockCount = try applyCounts()
    let next = isFollowed ? store.books.withLock { $0.space.placeOfNextRun() } : nil
    head.chain(link: 0, next: next ?? 0)
    do throws(StoreError) {
      try checkSize()
      return try publish(Outcome(head: head, freeMap: freeMap, record: record))
    } catch {
      store.books.withLock {
        $0.space.unapplyReachable(allocations, freed: freed, version: version)
      }
      throw error
    }
  }

  /// Checks what is freed and moves the counts on; the high-water mark in blocks.
  private func applyCounts() throws(StoreError) -> Int {
    let (refused, blockCount) = try store.withMap { books throws(StoreError) -> (Int?, Int) in
      let refused = try books.space.applyReachable(allocations, freed: freed, version: version)
      return (refused, books.space.blocks.usedBlockCount())
    }
    if let index = refused {
      throw .damaged(
        Damage(.reference, "the page at byte \(freed[index].extent.byteOffset) is not in use"))
    }
    return blockCount
  }

  /// Makes the file a block longer than its head says: the last room given out may be unwritten, and
  /// readers look at a few bytes behind a page at once.
  private func coverHighWaterMark(_ head: HeadSector) throws(StoreError) {
    let fileByteCount = store.state.withLock { $0.fileByteCount }
    let needed = head.byteCount + FileLayout.blockByteCount
    guard fileByteCount < needed else { return }
    try store.writeZeros(from: fileByteCount, to: needed)
    store.state.withLock { $0.fileByteCount = needed }
  }

  // MARK: The record

  private func writeRecord(metadata: [UInt8]) throws(StoreError) -> CommitRecord {
    let previous = store.state.withLock { $0.newest.record }
    var record = CommitRecord(version: version, epoch: base.epoch, previous: previous)
    record.allocated = allocations.live.map {
      CommitRecord.Allocated(extent: $0.extent, checksum: $0.checksum)
    }
    record.isChained = headPlace != nil
    record.freed = freed
    record.metadata = metadata
    let sector = store.sector
    var next = PageReference.none
    for var part in record.packedParts(uuidHigh: sector.uuidHigh, uuidLow: sector.uuidLow) {
      part.store(next, at: FileLayout.Record.next)
      next = try writePage(part.bytes, rawKind: FileLayout.Kind.record)
      record.parts.insert(next, at: 0)
    }
    return record
  }
}

extension FileStore {
  /// Makes a written commit the newest version, as durable as asked, and pins it.
  ///
  /// When this throws, the old version is the newest one still; after a failed write of a slot or a
  /// failed sync the store is poisoned.
  fileprivate func publish(
    _ outcome: FileWriter.Outcome, _ writer: FileWriter, _ durability: Durability
  ) throws(StoreError) -> Pin {
    // What the durable version holds meanwhile is freed block by block.
    let byteCount = writer.allocations.blockCount * FileLayout.blockByteCount
    switch durability {
    case .full:
      let (pin, isSettled) = try withSlots { () throws(StoreError) in
        try publishDurably(outcome, writer, byteCount: byteCount)
      }
      if !isSettled { scheduleSettling() }
      return pin
    case .relaxed:
      let pin = try installUnlessClosed(outcome, writer, byteCount: byteCount)
      scheduleSync()
      if memory.unsyncedByteCount >= options.relaxedLimitByteCount {
        // The commit has taken place; an error here poisons the store, and the next write says so.
        try? withSlots { () throws(StoreError) in try syncNewest() }
      }
      return pin
    }
  }

  private func publishDurably(
    _ outcome: FileWriter.Outcome, _ writer: FileWriter, byteCount: Int
  ) throws(StoreError) -> (pin: Pin, isSettled: Bool) {
    try ensureWritable()
    var outcome = outcome
    let mark = state.withLock { $0.mark }
    let isSmall = memory.unsyncedByteCount + byteCount <= options.largestSingleSyncByteCount
    if !isSmall { try syncDevice() }
    outcome.head.sequence = mark.sequence + 1
    outcome.head.durable = isSmall ? mark.version : outcome.head.head.version
    outcome.head.isSettled = !isSmall
    let slot = 1 - mark.slot
    let link = try writeSlot(slot, outcome.head, holdsWriterLock: true)
    try syncDevice()
    let durable = DurableMark(inSlot: slot, outcome.head, link: link)
    return (installDurable(outcome, writer, durable), !isSmall)
  }

  /// Installs a commit that was synced, under the slots' lock.
  func installDurable(
    _ outcome: FileWriter.Outcome, _ writer: FileWriter, _ durable: DurableMark
  ) -> Pin {
    // Closing waits for the slots, so the file is still this store's.
    let pin = books.withLock { books in
      let pin = state.withLock { show(outcome.head, durable, &$0) }
      install(&books, outcome, writer)
      return pin
    }
    memory.addUnsynced(-memory.unsyncedByteCount)
    commits.raise()
    return pin
  }

  /// Installs a commit that is not durable yet.
  private func installUnlessClosed(
    _ outcome: FileWriter.Outcome, _ writer: FileWriter, byteCount: Int
  ) throws(StoreError) -> Pin {
    let pin = try books.withLock { books throws(StoreError) in
      let pin = try withOpenState { state throws(StoreError) in show(outcome.head, nil, &state) }
      install(&books, outcome, writer)
      return pin
    }
    memory.addUnsynced(byteCount)
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
    // First the head, then the look at the pins: who pins the version before from now on sees that
    // there is a newer one.
    memory.publish(state.newest, sector)
    state.seenLive = memory.liveWord
    if let durable { publish(durable, &state) }
    state.hasWritten = true
    // Without a mapping that reaches everything, pages are read one by one; the commit stands.
    try? ensureMapping(&state)
    let isPinned = state.pins.hold(state.newest.head)
    precondition(isPinned, "S2: somebody has published a version without holding the writer lock.")
    return pin(state.newest.head, state)
  }

  /// Moves the books on by a commit that readers see already.
  private func install(
    _ books: inout FileBooks, _ outcome: FileWriter.Outcome, _ writer: FileWriter
  ) {
    let version = outcome.head.head.version
    followHeld(&books)
    books.publish(version: version, freed: writer.freed)
    books.version = version
    noteSpaceVersion(version)
    if let freeMap = outcome.freeMap {
      books.space.blocks.adopt(freeMap.update)
      books.directory = freeMap.directory
      books.records.removeAll { $0.version <= freeMap.directory.retired }
    }
    books.records.append(FileBooks.LiveRecord(outcome.record))
  }
}
