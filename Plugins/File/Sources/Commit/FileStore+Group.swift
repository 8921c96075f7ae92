import CambiumCore

/// Commits that wait for the medium together: one of them syncs for all.
extension FileStore {
  /// Waits until `version`, which is published, is durable; who waits at the same time shares one
  /// sync.
  ///
  /// One caller syncs for all, the others sleep meanwhile; what is published while it syncs waits for the next one. What
  /// small commits have left in memory it writes into the log of the file, which has room for those that are to be
  /// awaited; of others the caller may wait for the writer lock, to have the pages stored before, and so must not hold it.
  /// Of versions of the file it writes the newest head into a slot, and syncs it together with the pages of all commits
  /// since the last durable one. When the sync fails everybody who waits is told, and the store is poisoned.
  ///
  /// A store that was opened for reading only throws `StoreError.readOnly(path:)` while the version is
  /// not durable: it writes nothing for others.
  public func makeDurable(_ version: Version) throws(StoreError) {
    if isForked { throw .forked(path: path) }
    while !isDurable(version) {
      if options.isReadOnly { throw .readOnly(path: path) }
      do throws(StoreError) {
        try waitOrLead(version)
      } catch {
        // Closing sees to it.
        if error == .closed(path: path) { waitUntilFinished() }
        if isDurable(version) { return }
        throw error
      }
    }
  }

  /// The same without waiting: `then` is called in the background, one call after the other.
  ///
  /// The sync that the first of several callers waits for covers what was published when it began.
  public func makeDurable(_ version: Version, then: @escaping @Sendable (StoreError?) -> Void) {
    // The thread, and perhaps a lock, are the parent's.
    if isForked { return then(.forked(path: path)) }
    background.durable.add { [self] in
      do throws(StoreError) {
        try makeDurable(version)
        then(nil)
      } catch {
        then(error)
      }
    }
  }

  /// Waits until closing has done its work.
  private func waitUntilFinished() {
    finished.wait(timeoutNanoseconds: .max) { state.withLock { $0.isFinished } }
  }

  private func waitOrLead(_ version: Version) throws(StoreError) {
    try ensureWritable()
    switch group.join(version, writerCount: writers.waiterCount)?.wait() ?? .lead {
    case .lead:
      try lead(version)
      // What the log has no room for, others may go on without, one of whom may hold the writer lock.
      if !isDurable(version) { try storeLogged(waits: true, through: version) }
    case .end(nil): return
    case .end(let failure?): throw failure
    }
  }

  private func isDurable(_ version: Version) -> Bool {
    durableVersion ?? 0 >= version
  }

  /// Makes durable what is published, for all who wait, as far as nobody has to wait for the writer lock for that.
  private func lead(_ version: Version) throws(StoreError) {
    group.gather { writers.waiterCount }
    do throws(StoreError) { try syncGroup(version) } catch {
      group.finish(durable: 0, failure: error)
      throw error
    }
    group.finish(durable: memory.durableMark?.durableVersion ?? 0, failure: nil)
    scheduleSettling()
  }

  /// Makes durable what is published, as far as its pages are in the file or the log of that has room for its records.
  private func syncGroup(_ version: Version) throws(StoreError) {
    let start = background.now
    try withSlots { () throws(StoreError) in
      // Nothing is written once the file may be somebody else's.
      try ensureWritable()
      // Who closes the store from now on waits for the slots.
      try withOpenState { state throws(StoreError) in state.hasWritten = true }
      // A version of the file that is published meanwhile is synced, too, if `version` is to follow it.
      for _ in 0..<8 {
        try syncFileVersion()
        if try storeLoggedInLog() || isDurable(version) { break }
      }
    }
    group.noteSync(background.now - start)
  }

  /// Makes the newest version of the file durable, with one sync when little was written since the last one.
  ///
  /// Recovery verifies the records of all versions since then before it accepts the head.
  private func syncFileVersion() throws(StoreError) {
    let mark = state.withLock { $0.mark }
    guard memory.condition == .clean, memory.syncState != .unsure,
      memory.unsyncedByteCount <= options.largestSingleSyncByteCount
    else { return try syncNewest() }
    guard let work = try holdNewestUnlessDurable() else { return }
    defer { unpin(work.heldVersion) }
    var head = work.head
    let slot = 1 - mark.slot
    head.sequence = mark.sequence + 1
    head.durable = mark.version
    head.isSettled = false
    try writeSlot(slot, head)
    try syncDevice()
    state.withLock { publish(DurableMark(inSlot: slot, head), &$0) }
    memory.addUnsynced(-work.byteCount)
  }
}
