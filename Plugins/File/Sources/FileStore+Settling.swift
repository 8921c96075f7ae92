import CambiumCore

/// Settling a store that has come to rest: about a second after the last small commit a settled head
/// is written, so that opening after a crash has nothing to verify.
extension FileStore {
  /// Notes that a commit has just become durable with a head that is not settled.
  func scheduleSettling() {
    let due = options.timer.now + options.settleDelayNanoseconds
    let mustSchedule = state.withLock { state in
      state.settleDue = due
      let mustSchedule = !state.isSettlingScheduled
      state.isSettlingScheduled = true
      return mustSchedule
    }
    guard mustSchedule else { return }
    let isScheduled = options.timer.schedule(at: due) { [weak self] now in
      self?.settleWhenIdle(now: now)
    }
    // Without a thread the head is settled at close, as a large commit's is at once.
    if !isScheduled { state.withLock { $0.isSettlingScheduled = false } }
  }

  /// Settles the durable version if it is the newest and no commit came lately; when to come back
  /// otherwise.
  ///
  /// An error poisons the store, and the next write says so. Where somebody else is at the slots nobody
  /// waits: the one thread of all stores must not, and that one may be stopped.
  private func settleWhenIdle(now: Int64) -> Int64? {
    let due = state.withLock { state -> Int64? in
      if state.settleDue > now { return state.settleDue }
      state.isSettlingScheduled = false
      return nil
    }
    if let due { return due }
    let hadSlots = try? withSlotsIfFree { () throws(StoreError) in
      guard let head = try unsettledHead() else { return }
      try settle(head)
    }
    if hadSlots != false { return nil }
    return state.withLock { state in
      if state.isSettlingScheduled || state.isClosed { return nil }
      state.isSettlingScheduled = true
      return now + options.settleDelayNanoseconds
    }
  }

  /// The newest version's head if it is durable and no slot says so yet.
  func unsettledHead() throws(StoreError) -> HeadSector? {
    if isForked || memory.condition != .clean { return nil }
    return try state.withLock { state throws(StoreError) in
      guard !state.isClosed, !state.isPoisoned else { return nil }
      try followLiveHead(&state)
      let mark = state.mark
      guard !mark.isVolatile, mark.version == state.newest.head.version,
        mark.slotVersion != mark.version || state.slots[mark.slot]?.isSettled != true
      else { return nil }
      return state.newest
    }
  }
}
