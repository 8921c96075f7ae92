import Synchronization

/// Calls when versions are durable: in the order of the versions, one at a time, whatever the order in which
/// the store says so.
///
/// Thread-safe.
final class DurableCalls: Sendable {
  private struct Entry: Sendable {
    let number: UInt64
    let version: Version
    let call: @Sendable (StoreError?) -> Void
    /// What has become of the version; nil before that is known.
    var outcome: Result<Void, StoreError>?
  }

  private struct State {
    /// In the order of versions.
    var entries: [Entry] = []
    var lastNumber: UInt64 = 0
    var isCalling = false
  }

  private let state = Mutex(State())

  /// Notes that `version` is about to be made, and whom to call; called by the holder of the writer
  /// lock, so that versions ascend.
  ///
  /// Who expected the same version before has not made it, and is about to forget it. Returns the number by which to
  /// do so.
  func expect(_ version: Version, _ call: @escaping @Sendable (StoreError?) -> Void) -> UInt64 {
    state.withLock { state in
      state.entries.removeAll { $0.version >= version }
      state.lastNumber += 1
      state.entries.append(Entry(number: state.lastNumber, version: version, call: call))
      return state.lastNumber
    }
  }

  /// Forgets a version that was not made.
  ///
  /// The writer lock is free by then: the next writer may have noted that it makes the same version, and may have made
  /// it durable already.
  func forget(_ number: UInt64) {
    state.withLock { $0.entries.removeAll { $0.number == number } }
    callAll()
  }

  /// Notes what has become of `version`, and calls all whose turn it is: a version that is durable makes
  /// those before it so, whether or not anybody has asked for them.
  func end(_ version: Version, _ failure: StoreError?) {
    state.withLock { state in
      for place in state.entries.indices where state.entries[place].outcome == nil {
        if state.entries[place].version > version { break }
        if failure == nil || state.entries[place].version == version {
          state.entries[place].outcome = failure.map { .failure($0) } ?? .success(())
        }
      }
    }
    callAll()
  }

  private func callAll() {
    let isMine = state.withLock { state in
      if state.isCalling { return false }
      state.isCalling = true
      return true
    }
    if !isMine { return }
    while let (call, outcome) = next() {
      if case .failure(let failure) = outcome { call(failure) } else { call(nil) }
    }
  }

  private func next() -> (call: @Sendable (StoreError?) -> Void, outcome: Result<Void, StoreError>)?
  {
    state.withLock { state in
      guard let first = state.entries.first, let outcome = first.outcome else {
        state.isCalling = false
        return nil
      }
      state.entries.removeFirst()
      return (first.call, outcome)
    }
  }
}
