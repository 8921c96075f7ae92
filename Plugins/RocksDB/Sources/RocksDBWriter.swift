#if RocksDB
  import CambiumCore
  import CambiumStoreKit

  /// One write to a RocksDB store.
  ///
  /// Its pages gather in memory and go into the database with the head, in one batch. A large write puts
  /// pages into the database ahead: nothing leads to them before the head does. What is left of a write
  /// that did not end is removed with the next batch, at closing, or when the store is opened.
  ///
  /// Pointers: pages are copied into buffers of their own length; what is put into a batch is copied by
  /// RocksDB within the call.
  final class RocksDBWriter: PageWriter {
    let base: Head
    let version: Version
    private let store: RocksDBStore
    /// Nil when the write has ended, so that it does not keep the database open.
    private var held: RocksDatabase?
    private let record: HeadRecord
    private var ledger = WriteLedger()
    private var freedAddresses: Set<UInt64> = []
    /// Pages of this write that were written ahead and taken back.
    private var abandoned: [Extent] = []
    /// A page that was given back twice, which fails the commit.
    private var twice: PageReference?
    /// Where this write's pages begin.
    private let firstAddress: UInt64
    private var hasWrittenAhead = false
    private var hasEnded = false

    init(store: RocksDBStore, database: RocksDatabase, base: HeadRecord, firstAddress: UInt64) {
      self.store = store
      held = database
      record = base
      self.base = base.head
      version = base.head.version + 1
      self.firstAddress = firstAddress
    }

    deinit { abort() }

    private var database: RocksDatabase {
      guard let held else { preconditionFailure("The write has ended; begin another one.") }
      return held
    }

    private func ensureRunning() {
      precondition(!hasEnded, "The write has ended; begin another one.")
    }

    /// Throws in a child that was forked.
    private func ensureUsable() throws(StoreError) {
      ensureRunning()
      if store.isForked { throw .forked(path: store.path) }
    }

    func reserve(byteCount: Int) throws(StoreError) { try ensureUsable() }

    func allocate(byteCount: Int) throws(StoreError) -> Extent {
      try ensureUsable()
      try StoreLimits.checkPage(byteCount: byteCount)
      let unitCount = Extent.unitCount(forByteCount: byteCount)
      let address = store.state.withLock { state in
        defer { state.nextAddress += unitCount }
        return state.nextAddress
      }
      guard address + unitCount < 1 << 48 else {
        throw .exhausted(what: "addresses for pages", limit: 1 << 48)
      }
      if let limit = store.options.maximumByteCount, !ledger.isShrinking(adding: unitCount) {
        // The commit asks again: what is freed until then counts.
        let added = ledger.allocations.unitCount + unitCount - ledger.freedUnitCount
        try SizeLimit(limit, present: record.pageByteCount).check(
          record.pageByteCount + Int(added) * Extent.unitByteCount, usesSpare: true,
          path: store.path)
      }
      let extent = Extent(address: address, unitCount: unitCount)
      ledger.take(extent)
      return extent
    }

    func write(
      _ bytes: Span<UInt8>, to extent: Extent, checksum: UInt64
    ) throws(StoreError) {
      try ensureUsable()
      ledger.noteWritten(bytes.count, to: extent)
      let buffer = PageBuffer(copying: bytes)
      let byteCount = store.gathered.put(buffer, at: extent.address << 16 | extent.unitCount)
      if byteCount >= store.options.batchByteCount { try writeAhead() }
    }

    /// Puts what has gathered into the database, where nothing leads to it yet.
    private func writeAhead() throws(StoreError) {
      let batch = RocksBatch()
      removeLeftovers(in: batch)
      store.gathered.add(to: batch)
      hasWrittenAhead = true
      try store.write(batch, to: database, isSynced: false)
      store.state.withLock { $0.firstLeftover = nil }
      store.gathered.removeAll()
    }

    /// Adds to `batch` that the pages go which earlier writes have left behind.
    private func removeLeftovers(in batch: RocksBatch) {
      guard let first = store.state.withLock({ $0.firstLeftover }) else { return }
      batch.removePages(from: first, to: firstAddress)
    }

    func free(_ reference: PageReference) {
      ensureRunning()
      if store.isForked { return }
      if ledger.free(reference, version: version) {
        if !store.gathered.remove(reference.location), hasWrittenAhead {
          abandoned.append(reference.extent)
        }
        return
      }
      if !freedAddresses.insert(reference.address).inserted { twice = reference }
    }

    func publish(
      root: TreeRoot, durability: Durability, metadata: [UInt8], beforeNext: (Head) -> Void
    ) throws(StoreError) -> Pin {
      ensureRunning()
      precondition(!root.reference.isDirty, "The root must be written before it is published.")
      do throws(StoreError) {
        try ensureUsable()
        try StoreLimits.check(metadata: metadata)
        if let twice {
          throw .damaged(Damage(.reference, at: twice, "the page was freed twice"))
        }
        let next = try store.writing.withLock { _ throws(StoreError) in
          try commit(root, durability, metadata)
        }
        hasEnded = true
        held = nil
        store.commits.raise()
        beforeNext(next.head)
        store.leave(base.version)
        if durability == .relaxed { store.syncSoon(version) }
        return store.makePin(next.head)
      } catch {
        abort()
        throw error
      }
    }

    /// Writes the batch that makes the new version, and makes it the newest one, with a hold for a pin.
    private func commit(
      _ root: TreeRoot, _ durability: Durability, _ metadata: [UInt8]
    ) throws(StoreError) -> HeadRecord {
      // Who has closed the store meanwhile has let go of its newest version.
      try store.ensureWritable()
      var next = record
      next.head = Head(version: version, epoch: base.epoch, root: root)
      next.nextAddress = store.state.withLock { $0.nextAddress }
      next.metadata = metadata
      let (allocations, freed) = (ledger.allocations, ledger.freed)
      let freedUnitCount = freed.reduce(0) { $0 + $1.extent.unitCount }
      next.pageCount += allocations.count - freed.count
      next.pageByteCount +=
        (Int(allocations.unitCount) - Int(freedUnitCount)) * Extent.unitByteCount
      guard next.pageCount >= 0, next.pageByteCount >= 0 else {
        throw .damaged(Damage(.head, "the head counts fewer pages than its version has"))
      }
      if let limit = store.options.maximumByteCount, next.pageByteCount > record.pageByteCount {
        try SizeLimit(limit).check(next.pageByteCount, usesSpare: false, path: store.path)
      }
      let batch = RocksBatch()
      removeLeftovers(in: batch)
      store.gathered.add(to: batch)
      for dead in freed { batch.remove(StoredKey.page(dead.extent)) }
      for extent in abandoned { batch.remove(StoredKey.page(extent)) }
      unsafe next.bytes(store.boundCodec).withUnsafeBytes { bytes in
        unsafe batch.put(StoredKey.head, bytes)
        unsafe batch.put(StoredKey.commit(version), bytes)
      }
      let start = DatabaseEvents.now
      try store.write(batch, to: database, isSynced: durability == .full)
      if durability == .full {
        DatabaseEvents.tell(since: start, store.path) { .synced(nanoseconds: $0) }
      }
      let view = database.snapshot()
      let base = base.version
      let old = store.state.withLock { state in
        state.views[version] = view
        state.ledger.hold(version, .store)
        state.ledger.hold(version, .pin)
        for dead in freed { _ = state.ledger.take(dead, freed: version) }
        state.newest = next
        state.firstLeftover = nil
        if durability == .full { state.durable = version }
        return state.release(base, .store)
      }
      withExtendedLifetime(old) {}
      store.gathered.removeAll()
      return next
    }

    func abort() {
      if hasEnded { return }
      hasEnded = true
      // In a child that was forked the write is its parent's still.
      if store.isForked { return }
      store.gathered.removeAll()
      if hasWrittenAhead {
        store.state.withLock { $0.firstLeftover = $0.firstLeftover ?? firstAddress }
      }
      held = nil
      store.leave(base.version)
    }
  }
#endif
