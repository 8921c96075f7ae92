import CambiumCore

/// Settling a store that has come to rest: about a second after the last small commit a settled head
/// is written, so that opening after a crash has nothing to verify.
extension FileStore {
  /// Notes that a commit has just become durable with a head that is not settled.
  ///
  /// Where the system has no thread for it the head is settled at close, as a large commit's is at once.
  func scheduleSettling() {
    let due = background.now + options.settleDelayNanoseconds
    state.withLock { $0.settleDue = due }
    background.settling.schedule(at: due) { [weak self] now in self?.settleWhenIdle(now: now) }
  }

  /// Settles the durable version if it is the newest and no commit came lately; when to come back
  /// otherwise.
  ///
  /// An error poisons the store, and the next write says so. Where somebody else is at the slots nobody
  /// waits: that one may be stopped, and relaxed commits of this store wait for the same lane.
  private func settleWhenIdle(now: Int64) -> Int64? {
    let (due, isClosed) = state.withLock { ($0.settleDue, $0.isClosed) }
    if isClosed { return nil }
    if due > now { return due }
    let isLogged = memory.live(sector)?.isLogged ?? false
    if isLogged, (try? storeIfFree()) == false { return now + options.settleDelayNanoseconds }
    let hadSlots = try? withSlotsIfFree { () throws(StoreError) in
      // What was stored, now or by somebody who has died since.
      if state.withLock({ $0.mark.version < $0.mark.log?.version ?? 0 }) { try syncNewest() }
      guard let head = try unsettledHead() else { return }
      try settle(head)
    }
    return hadSlots == false ? now + options.settleDelayNanoseconds : nil
  }

  /// The newest version's head if it is durable and no slot says so yet.
  func unsettledHead() throws(StoreError) -> HeadSector? {
    if isForked || memory.condition != .clean { return nil }
    return try state.withLock { state throws(StoreError) in
      guard !state.isClosed, !state.isPoisoned else { return nil }
      try followLiveHead(&state)
      let mark = state.mark
      guard mark.version == state.newest.head.version,
        state.slots[mark.slot]?.isSettled != true
      else { return nil }
      return state.newest
    }
  }
}
