import CambiumCore
import CambiumStoreKit

/// How a write begins: the writer lock, what a crash has left, and what is known of the free space.
extension FileStore {
  /// Waits for the writer lock and begins a write at the newest version.
  ///
  /// Throws when the store is read-only, closed, not in place any more, or poisoned by a failed sync.
  public func beginWrite() throws(StoreError) -> any PageWriter {
    if options.isReadOnly { throw .readOnly(path: path) }
    try storeWhatOthersLeft()
    try waitForWriterLock()
    return try writer()
  }

  /// Near a limit has stored first what users without one have left in memory: it is published, and takes no room that
  /// the write may use.
  private func storeWhatOthersLeft() throws(StoreError) {
    guard options.maximumByteCount != nil else { return }
    let left = try withOpenState { state throws(StoreError) -> Int? in
      try followLiveHead(&state)
      return state.logged == nil ? nil : state.newest.byteCount
    }
    if let left, canHardlyGrow(left) { try storeLogged(waits: true) }
  }

  /// Whether room in one piece is to be kept for deletions: near a limit, where additions have left little more than
  /// what is kept for those.
  private func keepsRuns(_ freeByteCount: Int, _ newest: HeadSector) -> Bool {
    guard let limit = options.maximumByteCount, canHardlyGrow(newest.byteCount) else {
      return false
    }
    return freeByteCount < 2 * SizeLimit(limit).spareByteCount
  }

  /// Begins a write; called by who holds the writer lock.
  ///
  /// `stores` says that it makes the newest version once more.
  func writer(stores: Bool = false) throws(StoreError) -> FileWriter {
    do throws(StoreError) {
      // What was committed is stored wherever the file lies by now.
      if !stores { try place?.check() }
      try makeRoom()
    } catch {
      releaseWriterLock()
      throw error
    }
    var relocation: Relocation?
    let base = try prepareWrite { books, newest throws(StoreError) in
      try catchUp(&books)
      if !stores { relocation = relocate(&books, newest: newest.head.version) }
      books.space.blocks.fillsHoles = canHardlyGrow(newest.byteCount)
      books.space.blocks.keepsRuns = keepsRuns(books.space.freeByteCount, newest)
    }
    return FileWriter(store: self, base: base, relocation: relocation, stores: stores)
  }

  /// Waits for the writer lock, mends what a crash has left, and lets `prepare` see to what is
  /// known of the free space; the head at which the write begins.
  func acquireWriterLock(
    _ prepare: (inout FileBooks, HeadSector) throws(StoreError) -> Void
  ) throws(StoreError) -> Head {
    try waitForWriterLock()
    return try prepareWrite(prepare)
  }

  func waitForWriterLock() throws(StoreError) {
    try ensureWritable()
    writers.acquire()
    try noteWriter()
    do throws(StoreError) {
      try writerLock?.acquire()
    } catch {
      releaseWriterLock()
      throw error
    }
  }

  /// Notes that this store has a writer, who was given the lock of this process; releases that where the store is
  /// closed by now.
  ///
  /// Until ``releaseWriterLock()`` closing leaves to it what lies in memory: nobody else could store that meanwhile.
  private func noteWriter() throws(StoreError) {
    do throws(StoreError) {
      try withOpenState { $0.hasWriter = true }
    } catch {
      releaseWriters()
      throw error
    }
  }

  /// The same for who holds the writer lock, which is released when this throws.
  private func prepareWrite(
    _ prepare: (inout FileBooks, HeadSector) throws(StoreError) -> Void
  ) throws(StoreError) -> Head {
    do throws(StoreError) {
      try ensureWritable()
      try ensureCountable()
      // Only the first write has something to mend or begins an epoch; others need not wait for a sync.
      if memory.condition != .clean {
        try withSlots { () throws(StoreError) in
          // Closing may have come while this waited.
          try ensureWritable()
          try beginEpoch()
        }
      }
      try endForeignHeadBeforeWriting()
      try boundUnsynced()
      let newest = try withOpenState { state throws(StoreError) in
        try followLiveHead(&state)
        try followFileEnd(&state)
        return state.newest
      }
      try books.withLock { books throws(StoreError) in
        checkLiveness(&books, newest: newest.head.version)
        try prepare(&books, newest)
      }
      return try withOpenState { $0.newestHead }
    } catch {
      releaseWriterLock()
      throw error
    }
  }

  /// Whether relaxed commits have left so much unsynced that the next write has to wait for the medium: the
  /// durable version holds what they freed.
  private var hasMuchUnsynced: Bool {
    memory.unsyncedByteCount >= options.relaxedLimitByteCount
  }

  /// Syncs what relaxed commits have left, if it is much and the lane has not got to it.
  private func boundUnsynced() throws(StoreError) {
    guard hasMuchUnsynced else { return }
    try withSlots { () throws(StoreError) in
      // Closing may have come while this waited.
      try ensureWritable()
      try syncNewest()
    }
  }

  /// Lets the next writer in.
  func releaseWriterLock() {
    let isFinished = state.withLock { state in
      state.hasWriter = false
      // Closing has left it to this.
      if state.isFinished { state.isHandingOver = true }
      return state.isFinished
    }
    writerLock?.release(mayKeep: !isFinished)
    releaseWriters()
    if isFinished { handOver() }
  }

  /// Releases the writer lock of this process.
  private func releaseWriters() {
    writers.release()
    writerLock?.giveBackIfAsked()
  }

  /// Another writer may have made the file longer and died.
  private func followFileEnd(_ state: inout FileState) throws(StoreError) {
    guard let writerLock, writerLock.hasChangedHands else { return }
    state.fileByteCount = try FileOpening.fileByteCount(device, path: path)
    writerLock.noteFollowed()
  }

  // MARK: Without a thread that waits

  /// Waits for the writer lock in the background, and calls `then` once the write has begun.
  ///
  /// The writer lock of this process comes with the end of the write before; the lock among
  /// processes is tried now and then on a lane that all databases of the process share. What may touch
  /// the medium happens on a lane of this store, and there `then` is called.
  public func beginWrite(
    then: @escaping @Sendable (sending Result<any PageWriter, StoreError>) -> Void
  ) {
    do throws(StoreError) {
      if options.isReadOnly { throw .readOnly(path: path) }
      try ensureWritable()
    } catch {
      return background.beginnings.add { then(.failure(error)) }
    }
    writers.acquire { [self] in
      do throws(StoreError) {
        try withOpenState { $0.hasWriter = true }
      } catch {
        // Not here: who is next would be called by who is called.
        return background.beginnings.add { [self] in
          releaseWriters()
          then(.failure(error))
        }
      }
      guard let writerLock else { return begin(then) }
      lockAmongProcesses(writerLock, then)
    }
  }

  /// Begins a write if nobody writes and nobody waits, in this process or another one, and it need not wait
  /// for the medium.
  public func beginWriteIfFree() throws(StoreError) -> (any PageWriter)? {
    if options.isReadOnly { throw .readOnly(path: path) }
    try ensureWritable()
    guard try lockWriterIfFree() else { return nil }
    // Who asks this does not wait for the medium.
    if memory.condition != .clean || wantsRoom || hasMuchUnsynced {
      releaseWriterLock()
      return nil
    }
    return try writer()
  }

  /// Acquires the writer lock if nobody has it and nobody waits for it.
  func lockWriterIfFree() throws(StoreError) -> Bool {
    guard writers.tryAcquire() else { return false }
    try noteWriter()
    guard let writerLock else { return true }
    do throws(StoreError) {
      if try writerLock.tryAcquire(now: background.now) { return true }
    } catch {
      releaseWriterLock()
      throw error
    }
    releaseWriterLock()
    return false
  }

  private func lockAmongProcesses(
    _ lock: WriterLock,
    _ then: @escaping @Sendable (sending Result<any PageWriter, StoreError>) -> Void
  ) {
    let job = BackgroundJob(.shared)
    let isScheduled = job.schedule { [self] now in
      do throws(StoreError) {
        // Closing ends the wait.
        try ensureWritable()
        if try !lock.tryAcquire(now: now, waits: true) { return now + WriterLock.pauseNanoseconds }
        begin(then)
      } catch {
        lock.giveUp()
        releaseWriterLock()
        background.beginnings.add { then(.failure(error)) }
      }
      return nil
    }
    // Without a thread, or in a forked child, the caller waits.
    if isScheduled { return }
    do throws(StoreError) {
      try lock.acquire()
      begin(then)
    } catch {
      releaseWriterLock()
      background.beginnings.add { then(.failure(error)) }
    }
  }

  /// Begins the write of who holds the writer lock.
  private func begin(
    _ then: @escaping @Sendable (sending Result<any PageWriter, StoreError>) -> Void
  ) {
    background.beginnings.add { [self] in
      do throws(StoreError) { then(.success(try writer())) } catch { then(.failure(error)) }
    }
  }
}
