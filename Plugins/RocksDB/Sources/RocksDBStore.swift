#if RocksDB
  import CPlatform
  import CambiumCore
  import CambiumStoreKit
  import Synchronization

  /// Pages in a RocksDB database, which is a folder.
  ///
  /// A page is a value under its address, which is never used again. A commit is one atomic batch of new
  /// pages, deletions of pages that the new version does not reach, and the new head; the RocksDB
  /// snapshots that pins hold keep deleted pages readable for as long as somebody needs them, and
  /// compaction gives their room back afterwards.
  ///
  /// Thread-safe, as `PageStore` says. One process at a time writes, through one store; see
  /// ``RocksDBOptions/isReadOnly`` for readers. After a failed write or sync the store is poisoned: it
  /// can be read, but not written until it is closed and opened again. A child that was forked can
  /// neither use it nor open any store of this kind, because the threads of RocksDB stay with the
  /// parent; it has to run another program first.
  ///
  /// Pointers: a page that is given out lies in memory of RocksDB, which the `RocksValue` that is its
  /// owner pins. What is put into a batch is copied by RocksDB within the call.
  public final class RocksDBStore: PageStore {
    /// The kind's name.
    public static let kind = "rocksdb"

    /// What this store is; its path is the folder's.
    public let identity: StoreIdentity
    /// The codec that pages go through, bound to this store; nil for none.
    public let boundCodec: (any PageCodec)?
    /// What the store keeps for the codec.
    public let codecParameters: [UInt8]
    let path: String
    let options: RocksDBOptions
    let state: Mutex<RocksDBState>
    /// The pages of the running write that are not in the database yet.
    let gathered = GatheredPages()
    /// Where the folder lies.
    private let place: FilePlace?
    let writers = WriterQueue()
    let commits = CommitSignal()
    /// Held while a commit or the end is written.
    let writing = Mutex<Void>(())
    /// Held while what is relaxed is synced in the background.
    private let syncingSoon = Mutex<Void>(())
    /// Syncs what relaxed commits have written.
    private let syncing = BackgroundJob(BackgroundLane())
    /// Who is told of commits.
    package let watchers = CommitWatchers()
    /// Who is called when its write begins.
    private let beginnings = OrderedCalls(BackgroundLane())
    private let forkCount = cambium_fork_count()

    /// Opens the store in the folder at `path`, or makes it unless it is opened for reading only.
    ///
    /// Nothing is changed when this throws: `StoreError.notFound(path:)`,
    /// `StoreError.parentNotFound(path:)`, `StoreError.permissionDenied(path:operation:)`,
    /// `StoreError.notAStore(path:reason:)`,
    /// `StoreError.unsupportedFormat(path:version:supported:)`,
    /// `StoreError.wrongStoreKind(path:found:expected:)`,
    /// `StoreError.codecMismatch(path:found:expected:)`, `StoreError.inUse(path:holder:)`,
    /// `StoreError.damaged(_:)`, or what the system says.
    public init(path: String, options: RocksDBOptions = RocksDBOptions()) throws(StoreError) {
      self.path = path
      self.options = options
      let (database, record, codec) = try RocksDBOpening(path: path, options: options).open()
      place = FilePlace(path: path)
      boundCodec = codec
      codecParameters = record.parameters
      identity = StoreIdentity(
        kind: Self.kind, path: path, uuid: (record.uuidHigh, record.uuidLow),
        formatVersion: IdentityRecord.formatVersion, codec: record.codec,
        isReadOnly: options.isReadOnly)
      let (newest, isMarked) = try RocksDBOpening.newest(
        in: database, codec: codec, path: path, isReadOnly: options.isReadOnly)
      state = Mutex(RocksDBState(newest, in: database, isMarked: isMarked))
    }

    deinit { try? close() }

    var isForked: Bool { forkCount != cambium_fork_count() }

    func fail(_ failure: RocksFailure, _ operation: String) -> StoreError {
      StoreError(failure, path: path, operation: operation)
    }

    /// Runs `body` with the state and database of an open store.
    func withOpenState<Value>(
      _ body: (inout RocksDBState, RocksDatabase) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
      if isForked { throw .forked(path: path) }
      return try state.withLock { state throws(StoreError) in
        guard let database = state.database else { throw .closed(path: path) }
        return try body(&state, database)
      }
    }

    // MARK: Reading

    /// The newest head, without pinning it; throws when the store is closed.
    public func newestHead() throws(StoreError) -> Head {
      try withOpenState { state, _ in state.newest.head }
    }

    /// Pins the newest version, whose pages stay readable until the pin is released.
    public func pin() throws(StoreError) -> Pin {
      makePin(
        try withOpenState { state, _ in
          state.ledger.hold(state.newest.head.version, .pin)
          return state.newest.head
        })
    }

    /// The pin of a version that is held for it.
    func makePin(_ head: Head) -> Pin {
      unsafe Pin(head: head) { self.release(head.version, .pin) }
    }

    func release(_ version: Version, _ reason: VersionLedger.Reason) {
      // What a forked child holds is its parent's.
      if isForked { return }
      let view = state.withLock { $0.release(version, reason) }
      withExtendedLifetime(view) {}
    }

    /// The stored bytes of the page at `reference`, in RocksDB's memory where they lie there whole.
    ///
    /// Pages of pins can also be read when the store has been closed. Throws `StoreError.damaged(_:)`
    /// when there is no such page, or its file is damaged.
    public func read(_ reference: PageReference, at pin: Pin) throws(StoreError) -> Page {
      if isForked { throw .forked(path: path) }
      if let page = gathered.page(reference.location) { return page }
      guard reference.unitCount > 0, !reference.isDirty else {
        throw .damaged(Damage(.reference, at: reference, "an empty reference"))
      }
      let key = StoredKey.page(location: reference.location)
      let database = state.withLock { $0.database ?? $0.views.first?.value.source }
      guard let database else { throw .closed(path: path) }
      do throws(RocksFailure) {
        if let value = try database.value(key) { return try page(value, reference) }
        // A newer version does not reach it any more.
        let view = state.withLock { $0.views[pin.head.version] }
        if let view, let value = try database.value(key, at: view) {
          return try page(value, reference)
        }
      } catch {
        if error.text.hasPrefix("Corruption") {
          throw .damaged(Damage(.checksum, at: reference, "RocksDB says '\(error.text)'"))
        }
        throw fail(error, "read")
      }
      throw .damaged(Damage(.reference, at: reference, "there is no such page"))
    }

    private func page(
      _ value: RocksValue, _ reference: PageReference
    ) throws(RocksFailure) -> Page {
      guard value.byteCount == reference.byteCount else {
        throw RocksFailure(text: "Corruption: a page of \(value.byteCount) bytes")
      }
      return unsafe Page(bytes: value.bytes, byteCount: value.byteCount, owner: value)
    }

    /// What the latest commits were given.
    public func metadata(
      from first: Version, through pin: Pin
    ) throws(StoreError) -> [CommitMetadata]? {
      let last = pin.head.version
      if first > last { return [] }
      let database = try withOpenState { _, database in database }
      guard first > 0, last - first < Version(CommitMetadata.keptCount) else { return nil }
      var commits: [CommitMetadata] = []
      for version in first...last {
        do throws(RocksFailure) {
          guard let stored = try database.value(StoredKey.commit(version)) else { return nil }
          let record = try? unsafe HeadRecord(stored.buffer, boundCodec)
          guard let record, record.head.version == version else { return nil }
          commits.append(
            CommitMetadata(
              version: version, epoch: record.head.epoch, bytes: record.metadata))
        } catch {
          throw fail(error, "read")
        }
      }
      return commits
    }

    /// Waits until the newest version is above `version`, the store is closed or the time is up, and
    /// returns the newest version then.
    public func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version {
      if isForked { return version }
      commits.wait(timeoutNanoseconds: timeoutNanoseconds) {
        state.withLock { $0.newest.head.version > version || $0.database == nil }
      }
      return state.withLock { $0.newest.head.version }
    }

    // MARK: Writing

    /// Waits for the writer lock and begins a write at the newest version.
    ///
    /// Throws when the store is read-only, closed, not in place any more, or poisoned by a failed write or sync.
    public func beginWrite() throws(StoreError) -> any PageWriter {
      if options.isReadOnly { throw .readOnly(path: path) }
      try ensureWritable()
      writers.acquire()
      return try writer()
    }

    /// Begins a write if nobody writes and nobody waits.
    public func beginWriteIfFree() throws(StoreError) -> (any PageWriter)? {
      if options.isReadOnly { throw .readOnly(path: path) }
      try ensureWritable()
      return writers.tryAcquire() ? try writer() : nil
    }

    /// The same without a waiting thread.
    public func beginWrite(
      then: @escaping @Sendable (sending Result<any PageWriter, StoreError>) -> Void
    ) {
      do throws(StoreError) {
        if options.isReadOnly { throw .readOnly(path: path) }
        try ensureWritable()
      } catch {
        return beginnings.add { then(.failure(error)) }
      }
      writers.acquire { [self] in
        beginnings.add { [self] in
          do throws(StoreError) { then(.success(try writer())) } catch { then(.failure(error)) }
        }
      }
    }

    /// Begins a write; called by the holder of the writer lock.
    private func writer() throws(StoreError) -> RocksDBWriter {
      do throws(StoreError) {
        try ensureWritable()
        try place?.check()
        try beginEpoch()
        return try withOpenState { state, database in
          state.isWriting = true
          state.ledger.hold(state.newest.head.version, .pin)
          return RocksDBWriter(
            store: self, database: database, base: state.newest, firstAddress: state.nextAddress)
        }
      } catch {
        writers.release()
        throw error
      }
    }

    /// Before the first write: marks the store as open and begins an epoch, durably.
    ///
    /// What is committed next may be lost with the power; its version is given again then, but in another
    /// epoch.
    private func beginEpoch() throws(StoreError) {
      try writing.withLock { _ throws(StoreError) in
        let (isMarked, newest, database) = try withOpenState { state, database in
          (state.isMarked, state.newest, database)
        }
        if isMarked { return }
        var record = newest
        record.head.epoch += 1
        let batch = RocksBatch()
        unsafe batch.put(StoredKey.open, UnsafeRawBufferPointer(start: nil, count: 0))
        unsafe record.bytes(boundCodec).withUnsafeBytes { unsafe batch.put(StoredKey.head, $0) }
        try write(batch, to: database, isSynced: true)
        state.withLock { state in
          state.newest = record
          state.isMarked = true
        }
      }
    }

    /// Writes a batch; the store is poisoned when that fails for anything but want of room.
    func write(
      _ batch: RocksBatch, to database: RocksDatabase, isSynced: Bool
    ) throws(StoreError) {
      do throws(RocksFailure) {
        try database.write(batch, isSynced: isSynced)
      } catch {
        // RocksDB goes on by itself when there is room again.
        if !error.text.contains("No space left on device") { poison() }
        throw fail(error, "write")
      }
    }

    /// Whether the path still leads to this folder.
    public var isInPlace: Bool { place?.isInPlace ?? true }

    /// Throws when the store is closed, or poisoned by a failed write or sync.
    func ensureWritable() throws(StoreError) {
      try withOpenState { state, _ throws(StoreError) in
        if state.isPoisoned { throw .poisoned(path: path) }
      }
    }

    /// Ends the write that began at `base`.
    func leave(_ base: Version) {
      state.withLock { $0.isWriting = false }
      release(base, .pin)
      writers.release()
    }

    /// Refuses all further writes: what RocksDB holds and what it says it holds may differ.
    func poison() { state.withLock { $0.isPoisoned = true } }

    /// Makes everything published so far durable.
    public func sync() throws(StoreError) {
      let (newest, database) = try withOpenState { state, database throws(StoreError) in
        if state.isPoisoned { throw .poisoned(path: path) }
        return (state.newest.head.version, database)
      }
      try sync(newest, database)
    }

    /// Makes `version` durable, with all before it.
    public func makeDurable(_ version: Version) throws(StoreError) {
      let isDurable = try withOpenState { state, _ in
        state.durable >= min(version, state.newest.head.version)
      }
      if !isDurable { try sync() }
    }

    private func sync(_ newest: Version, _ database: RocksDatabase) throws(StoreError) {
      if options.isReadOnly || state.withLock({ $0.durable >= newest }) { return }
      let start = DatabaseEvents.now
      do throws(RocksFailure) {
        try database.sync()
      } catch {
        poison()
        throw fail(error, "sync")
      }
      DatabaseEvents.tell(since: start, path) { .synced(nanoseconds: $0) }
      state.withLock { $0.durable = max($0.durable, newest) }
    }

    /// Sees to it that relaxed commits are synced soon; without a thread the next sync, full commit or
    /// close does it.
    func syncSoon(_ version: Version) {
      state.withLock { $0.relaxed = max($0.relaxed, version) }
      syncing.schedule(at: syncing.now + options.relaxedDelayNanoseconds) { [weak self] _ in
        self?.syncRelaxed()
        return nil
      }
    }

    /// Syncs what is waiting for it, if the store is still open.
    private func syncRelaxed() {
      if isForked { return }
      syncingSoon.withLock { _ in
        let isWaiting = try? withOpenState { state, _ in state.relaxed > state.durable }
        // An error poisons the store, so that the next write says it.
        if isWaiting == true { try? sync() }
      }
    }

    /// Syncs what is published and lets go of the folder; with pins that are still alive, their end does.
    public func close() throws(StoreError) {
      if isForked { return }
      let (database, isPoisoned) = state.withLock { ($0.database, $0.isPoisoned) }
      guard let database else { return }
      syncing.cancel()
      // The job may be under way, and keeps the folder until it is through.
      defer { syncingSoon.withLock { _ in } }
      try writing.withLock { _ throws(StoreError) in
        let (wasOpen, last) = state.withLock { state in
          let wasOpen = state.database != nil
          state.database = nil
          return (wasOpen, state)
        }
        let newest = last.newest.head.version
        commits.raise()
        guard wasOpen else { return }
        defer { release(newest, .store) }
        if options.isReadOnly || isPoisoned { return }
        guard last.isMarked, !last.isWriting else { return try sync(newest, database) }
        let batch = RocksBatch()
        if let first = last.firstLeftover { batch.removePages(from: first, to: last.nextAddress) }
        batch.remove(StoredKey.open)
        do throws(RocksFailure) { try database.write(batch, isSynced: true) } catch {
          throw fail(error, "close")
        }
      }
    }

    /// Rewrites all files without what no version reaches any more; takes as long as that takes, and
    /// room for a second copy meanwhile.
    ///
    /// Readers and writers go on. Compaction in the background does the same by and by. Throws what
    /// stopped it, such as `StoreError.mediumFull(path:)`; the content is as it was then.
    public func compact() throws(StoreError) {
      if options.isReadOnly { throw .readOnly(path: path) }
      let database = try withOpenState { _, database in database }
      do throws(RocksFailure) { try database.compact() } catch { throw fail(error, "compact") }
    }
  }

  extension RocksDBStore: WatchableStore {
    /// None: a folder has one user.
    package var sharedSignal: CommitSignal? { nil }
  }
#endif
