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
  /// An error poisons the store, and the next write says so.
  private func settleWhenIdle(now: Int64) -> Int64? {
    let due = state.withLock { state -> Int64? in
      if state.settleDue > now { return state.settleDue }
      state.isSettlingScheduled = false
      return nil
    }
    if let due { return due }
    io.withLock { _ in
      guard let head = state.withLock({ $0.unsettledHead }) else { return }
      try? settle(head)
      state.withLock { state in
        guard !state.isPoisoned else { return }
        state.newest.sequence = state.sequence
        lockFile?.publish(state.newest)
      }
    }
    return nil
  }
}

extension FileState {
  /// The newest version's head if it is durable and no slot says so yet.
  fileprivate var unsettledHead: HeadSector? {
    guard !isClosed, !isPoisoned, !isVolatile, recovered == nil,
      durableVersion == newest.head.version, slots[durableSlot]?.isSettled != true
    else { return nil }
    return newest
  }
}
