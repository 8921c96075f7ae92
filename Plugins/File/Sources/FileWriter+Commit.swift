import CambiumCore

/// How a write becomes a version: free map, record, pages out, head.
extension FileWriter {
  /// What a commit changes in the store's state when it succeeds.
  struct Outcome {
    var head: HeadSector
    /// The free map's directory, if it was written anew.
    var directory: FreeMapDirectory?
    var record: CommitRecord
  }

  /// Commits; when this throws, the caller aborts.
  func commit(
    root: TreeRoot, durability: Durability, metadata: [UInt8]
  ) throws(StoreError) -> Pin {
    try store.ensureWritable()
    if durability != .full { expected = durability }
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
    let directory = try foldFreeMap()
    let record = try writeRecord(metadata: metadata)
    var head = store.state.withLock { $0.newest }
    head.head = Head(version: version, epoch: base.epoch, root: root)
    head.isSettled = false
    head.record = record.parts[0]
    if let directory { head.freeMap = directory.page }
    head.blockCount = try applyCounts()
    let next = isFollowed ? store.state.withLock { $0.space.placeOfNextRun() } : nil
    head.chain(link: 0, next: next ?? 0)
    do throws(StoreError) {
      try checkSize()
      return try publish(Outcome(head: head, directory: directory, record: record))
    } catch {
      store.state.withLock { $0.space.unapplyReachable(allocations, freed: freed) }
      throw error
    }
  }

  /// Checks what is freed and moves the counts on; the high-water mark in blocks.
  private func applyCounts() throws(StoreError) -> Int {
    try store.state.withLock { state throws(StoreError) in
      if let index = state.space.applyReachable(allocations, freed: freed) {
        throw .damaged(
          Damage(.reference, "the page at byte \(freed[index].extent.byteOffset) is not in use"))
      }
      return state.space.blocks.usedBlockCount
    }
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

  // MARK: The store's own pages

  private func writePage(_ page: [UInt8], rawKind: UInt8) throws(StoreError) -> PageReference {
    let seal = store.sector.seal
    let byteCount = page.count + (seal == nil ? 0 : RecordSeal.pageByteCount)
    let extent: Extent
    if let front = allocateInFront(byteCount: byteCount) {
      extent = front
      ownUnitCount += extent.unitCount
    } else {
      extent = try allocate(byteCount: byteCount, isOwn: true)
    }
    let bytes =
      seal?.sealedPage(page, rawKind: rawKind, extent: extent, version: version) ?? page
    let result = bytes.withUnsafeBytes { bytes in
      Result<UInt64, StoreError> { () throws(StoreError) in
        let checksum = Checksum.hash(bytes)
        try write(bytes, to: extent, checksum: checksum)
        return checksum
      }
    }
    return PageReference(
      checksum: try result.get(), extent: extent, rawKind: rawKind, born: version)
  }

  /// Brings a few regions of the free map up to date when many records have piled up, and frees the
  /// records that are no longer needed; the new directory, or nil when there was nothing to do.
  ///
  /// A region's page shows the version before this one: this commit's own record comes on top, so
  /// that the page need not know its own place.
  private func foldFreeMap() throws(StoreError) -> FreeMapDirectory? {
    let threshold = store.options.foldAfterRecordCount
    // Recovery may need every later record, and the heads that are kept with them.
    let (records, settled) = store.state.withLock { state in
      (state.records, min(base.version, state.heldMark.settledVersion))
    }
    var regionCount = Int.max
    if !rebuildsFreeMap {
      // Those behind it stay, however many they are.
      guard records.count > threshold, records[threshold - 1].version <= settled else {
        return nil
      }
      regionCount = records.count > 16 * threshold ? 64 : records.count > 4 * threshold ? 8 : 2
    }
    var directory = store.state.withLock { $0.directory }
    for region in directory.oldest(regionCount) + directory.pages(behind: relocation?.address) {
      let old = directory.regions[region].page
      var counts = store.state.withLock {
        Array($0.space.blocks.reachableCounts(ofRegion: region))
      }
      counts += [UInt8](repeating: 0, count: (64 - counts.count % 64) % 64)
      let page =
        counts.isEmpty
        ? PageReference.none : try writePage(counts, rawKind: FileLayout.Kind.region)
      directory.regions[region] = FreeMapDirectory.Region(page: page, version: base.version)
      if !old.isNone { giveUp(old.extent) }
    }
    let complete = directory.completeVersion(newest: base.version)
    let kept = rebuildsFreeMap ? 0 : min(base.version, Version(threshold / 2))
    directory.retired = max(
      directory.retired,
      min(
        complete, settled, store.oldestSpaceVersion(newest: base.version), base.version - kept))
    let retiring = records.filter { $0.version <= directory.retired }
    for record in retiring {
      for part in record.parts { giveUp(part.extent) }
      if let head = record.head { giveUp(head) }
    }
    try keepWaiting(retiring, &directory)
    if !directory.page.isNone { giveUp(directory.page.extent) }
    directory.page = try writePage(directory.packed, rawKind: FileLayout.Kind.directory)
    return directory
  }

  /// Frees a page of the store's own, which no reader sees: said to be born in this version, it waits
  /// until this version is durable and for nobody else.
  private func giveUp(_ extent: Extent) {
    freed.append(VersionLedger.Dead(extent: extent, born: version))
  }

  /// Writes down what pinned versions see of what the records that are given up have freed.
  private func keepWaiting(
    _ retiring: [FileState.LiveRecord], _ directory: inout FreeMapDirectory
  ) throws(StoreError) {
    let (held, new) = store.state.withLock { state in
      let isPinned = directory.waiting.map { state.isPinned($0.versions) }
      return (isPinned, retiring.flatMap { state.waiting($0) })
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
      let old = try last.read(identity: store.sector, store.device, path: store.path)
      entries += store.state.withLock { state in
        old.filter { $0.freed > $0.dead.born && state.isPinned($0.dead.born...$0.freed - 1) }
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
    case .none:
      // What another one does to the slots from now on it would also do behind the lock.
      let isVolatile = state.withLock { state in
        state.seenSlots == memory.durableWord && state.mark.isVolatile && !state.mark.isBeingSynced
      }
      if !isVolatile { try withSlots { () throws(StoreError) in try becomeVolatile() } }
      return try installUnlessClosed(outcome, writer, byteCount: byteCount)
    }
  }

  private func publishDurably(
    _ outcome: FileWriter.Outcome, _ writer: FileWriter, byteCount: Int
  ) throws(StoreError) -> (pin: Pin, isSettled: Bool) {
    try ensureWritable()
    var outcome = outcome
    let mark = state.withLock { $0.mark }
    let isSmall =
      memory.unsyncedByteCount + byteCount <= options.largestSingleSyncByteCount && !mark.isVolatile
    if !isSmall { try syncDevice() }
    outcome.head.sequence = mark.sequence + 1
    outcome.head.durable = isSmall ? mark.version : outcome.head.head.version
    outcome.head.isSettled = !isSmall
    outcome.head.isVolatile = false
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
    let pin = state.withLock { install(&$0, outcome, writer, durable: durable) }
    memory.addUnsynced(-memory.unsyncedByteCount)
    commits.raise()
    return pin
  }

  /// Says on the medium that what follows is unsynced data, before any of it can overwrite the durable
  /// version, which is no longer held from then on.
  private func becomeVolatile() throws(StoreError) {
    try ensureWritable()
    let (mark, newest) = state.withLock { ($0.mark, $0.newest) }
    if mark.isVolatile {
      // Who was ending it has been killed.
      if mark.isBeingSynced {
        var mark = mark
        mark.isBeingSynced = false
        state.withLock { publish(mark, &$0) }
      }
      return
    }
    var head = newest
    head.sequence = mark.sequence + 1
    head.isSettled = false
    head.isVolatile = true
    head.boot = SharedMemory.bootIdentity
    head.chain(link: 0, next: 0)
    let slot = 1 - mark.slot
    // What was written before need not survive: with this head, none of it is read in another boot.
    try writeSlot(slot, head, isSynced: true, holdsWriterLock: true)
    state.withLock { state in
      publish(
        DurableMark(
          version: mark.version, slot: slot, sequence: head.sequence, isVolatile: true,
          slotVersion: mark.version), &state)
    }
  }

  /// Installs a commit that is not durable yet.
  private func installUnlessClosed(
    _ outcome: FileWriter.Outcome, _ writer: FileWriter, byteCount: Int
  ) throws(StoreError) -> Pin {
    let pin = try withOpenState { state throws(StoreError) in
      install(&state, outcome, writer, durable: nil)
    }
    memory.addUnsynced(byteCount)
    commits.raise()
    return pin
  }

  /// Changes the state: the one moment at which a commit takes place for readers.
  ///
  /// `durable` says where its synced head is, if it has one.
  private func install(
    _ state: inout FileState, _ outcome: FileWriter.Outcome, _ writer: FileWriter,
    durable: DurableMark?
  ) -> Pin {
    let version = outcome.head.head.version
    state.newest = outcome.head
    // First the head, then the look at the pins: who pins the version before from now on sees that
    // there is a newer one.
    memory.publish(state.newest, sector)
    state.seenLive = memory.liveWord
    if let durable { publish(durable, &state) }
    followHeld(&state)
    state.publishSpace(version: version, freed: writer.freed)
    state.spaceVersion = version
    noteSpaceVersion(version)
    state.hasWritten = true
    state.noteRecord(outcome, writer)
    // Without a mapping that reaches everything, pages are read one by one; the commit stands.
    try? ensureMapping(&state)
    let isPinned = state.pins.hold(state.newest.head)
    precondition(isPinned, "S2: somebody has published a version without having the turn.")
    return pin(state.newest.head, state)
  }
}

extension FileState {
  /// Moves the bookkeeping of records and regions on by one commit.
  fileprivate mutating func noteRecord(_ outcome: FileWriter.Outcome, _ writer: FileWriter) {
    if let directory = outcome.directory {
      self.directory = directory
      records.removeAll { $0.version <= directory.retired }
    }
    for entry in writer.allocations.live { directory.touch(entry.extent, version: writer.version) }
    for dead in writer.freed { directory.touch(dead.extent, version: writer.version) }
    records.append(LiveRecord(outcome.record))
  }
}
