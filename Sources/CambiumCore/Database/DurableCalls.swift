import Synchronization

/// Calls when versions are durable: in the order of the versions, one at a time, whatever the order in which
/// the store says so.
///
/// Thread-safe.
final class DurableCalls: Sendable {
  private struct Entry: Sendable {
    let version: Version
    let call: @Sendable (StoreError?) -> Void
    /// What has become of the version; nil before that is known.
    var outcome: Result<Void, StoreError>?
  }

  private struct State {
    /// In the order of versions.
    var entries: [Entry] = []
    var isCalling = false
  }

  private let state = Mutex(State())

  /// Notes that `version` is about to be made, and whom to call; called by the holder of the writer
  /// lock, so that versions ascend.
  func expect(_ version: Version, _ call: @escaping @Sendable (StoreError?) -> Void) {
    state.withLock { $0.entries.append(Entry(version: version, call: call)) }
  }

  /// Forgets a version that was not made.
  func forget(_ version: Version) {
    state.withLock { $0.entries.removeAll { $0.version == version } }
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
