import Synchronization

/// Calls when versions are durable: in the order of the versions, one at a time, whatever the order in which
/// the store says so.
///
/// Thread-safe.
final class DurableCalls: Sendable {
  private struct Entry: Sendable {
    let version: Version
    /// What is to be called, once the version's fate is known.
    var call: (@Sendable () -> Void)?
  }

  private struct State {
    /// In the order of versions.
    var entries: [Entry] = []
    var isCalling = false
  }

  private let state = Mutex(State())

  /// Notes that `version` is about to be made; called by who has the turn to write, so that versions ascend.
  func expect(_ version: Version) {
    state.withLock { $0.entries.append(Entry(version: version)) }
  }

  /// Forgets a version that was not made.
  func forget(_ version: Version) {
    state.withLock { $0.entries.removeAll { $0.version == version && $0.call == nil } }
    callAll()
  }

  /// Makes `call` when all before it were made.
  func add(_ version: Version, _ call: @escaping @Sendable () -> Void) {
    state.withLock { state in
      guard let place = state.entries.firstIndex(where: { $0.version == version && $0.call == nil })
      else { return }
      state.entries[place].call = call
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
    while let call = next() { call() }
  }

  private func next() -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard let call = state.entries.first?.call else {
        state.isCalling = false
        return nil
      }
      state.entries.removeFirst()
      return call
    }
  }
}
