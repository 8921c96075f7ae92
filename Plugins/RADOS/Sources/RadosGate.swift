#if RADOS
  import CambiumCore
  import Synchronization

  /// Lets users of a connection in until it is closed, and counts those who are in.
  ///
  /// Thread-safe.
  final class RadosGate: Sendable {
    private struct State {
      var userCount = 0
      var isClosed = false
      var hasEnded = false
    }

    private let state = Mutex(State())
    private let signal = CommitSignal()

    /// Counts one user more; false when the gate is closed.
    func enter() -> Bool {
      state.withLock { state in
        if !state.isClosed { state.userCount += 1 }
        return !state.isClosed
      }
    }

    /// Counts one user less.
    func leave() {
      let isLast = state.withLock { state in
        state.userCount -= 1
        return state.isClosed && state.userCount == 0
      }
      if isLast { signal.raise() }
    }

    /// Whether nobody comes in any more.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Lets nobody in any more; false when it was so before.
    func close() -> Bool {
      state.withLock { state in
        defer { state.isClosed = true }
        return !state.isClosed
      }
    }

    /// Waits until all have left.
    func waitUntilEmpty() {
      signal.wait(timeoutNanoseconds: .max) { state.withLock { $0.userCount == 0 } }
    }

    /// Tells that what is behind the gate is no longer there.
    func end() {
      state.withLock { $0.hasEnded = true }
      signal.raise()
    }

    /// Waits until what is behind the gate is no longer there.
    func waitUntilEnded() {
      signal.wait(timeoutNanoseconds: .max) { state.withLock { $0.hasEnded } }
    }
  }
#endif
