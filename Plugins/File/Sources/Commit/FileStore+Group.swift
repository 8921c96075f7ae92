import CambiumCore

/// Commits that wait for the medium together: one of them syncs for all.
extension FileStore {
  /// Waits until `version`, which is published, is durable; who waits at the same time shares one
  /// sync.
  ///
  /// One caller writes the head of the newest version into a slot and syncs it together with the
  /// pages of all commits since the last durable one; the others sleep meanwhile. What is published
  /// while it syncs waits for the next one. Where `version` is one of small commits that lie in memory it waits for
  /// the writer lock, and so must not be called by who holds it. When the sync fails everybody who waits is told, and the
  /// store is poisoned.
  ///
  /// A store that was opened for reading only throws `StoreError.readOnly(path:)` while the version is
  /// not durable: it writes nothing for others.
  public func makeDurable(_ version: Version) throws(StoreError) {
    if isForked { throw .forked(path: path) }
    while !isDurable(version) {
      if options.isReadOnly { throw .readOnly(path: path) }
      do throws(StoreError) {
        if try isInLog(version) { try storeLogged(waits: true) }
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
    case .lead: try lead()
    case .end(nil): return
    case .end(let failure?): throw failure
    }
  }

  /// Whether `version` is later than the newest one of the file.
  private func isInLog(_ version: Version) throws(StoreError) -> Bool {
    try withOpenState { state throws(StoreError) in
      try followLiveHead(&state)
      return version > state.newest.head.version
    }
  }

  private func isDurable(_ version: Version) -> Bool {
    durableVersion ?? 0 >= version
  }

  /// Makes the newest version durable for all who wait.
  private func lead() throws(StoreError) {
    group.gather { writers.waiterCount }
    let start = background.now
    do throws(StoreError) {
      try withSlots { () throws(StoreError) in
        // Nothing is written once the file may be somebody else's.
        try ensureWritable()
        try syncGroup()
      }
    } catch {
      group.finish(durable: 0, failure: error)
      throw error
    }
    group.noteSync(background.now - start)
    group.finish(durable: memory.durableMark?.durableVersion ?? 0, failure: nil)
    scheduleSettling()
  }

  /// Makes the newest version durable, with one sync when little was written since the last one.
  ///
  /// Recovery verifies the records of all versions since then before it accepts the head.
  private func syncGroup() throws(StoreError) {
    let mark = state.withLock { $0.mark }
    guard memory.condition == .clean,
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
