import CPlatform
import Synchronization

/// Calls back when a time has come: one thread for all stores and databases of the process, asleep
/// while there is nothing to wait for.
///
/// Thread-safe. Tests make one with a clock of their own, which starts no thread: they call
/// ``fire()`` themselves.
package final class IdleTimer: Sendable {
  /// The timer that all share.
  package static let shared = IdleTimer()

  private struct Entry: Sendable {
    /// Called when the time has come; the new time to be called at, or nil when that is all.
    var call: @Sendable (_ now: Int64) -> Int64?
    var due: Int64
  }

  private struct State {
    var entries: [Entry] = []
    var isThreadRunning = false
  }

  private let state = Mutex(State())
  private let wake = CommitSignal()
  private let clock: (@Sendable () -> Int64)?
  private let forkCount = cambium_fork_count()
  private static let origin = ContinuousClock.now

  /// A timer whose time is `clock`, in nanoseconds; nil for the system's, with a thread that watches
  /// it.
  package init(clock: (@Sendable () -> Int64)? = nil) { self.clock = clock }

  /// Nanoseconds since some moment.
  package var now: Int64 {
    if let clock { return clock() }
    let (seconds, attoseconds) = Self.origin.duration(to: .now).components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }

  /// Calls `call` once it is `due`; it is called again while it returns a new time.
  ///
  /// False when the system has no thread for that, or the process was forked from the one that has
  /// it, and then nothing is called.
  package func schedule(
    at due: Int64, _ call: @escaping @Sendable (_ now: Int64) -> Int64?
  ) -> Bool {
    // The lock may be held for ever, by a thread that is not there.
    if forkCount != cambium_fork_count() { return false }
    let isScheduled = state.withLock { state in
      if clock == nil, !state.isThreadRunning {
        // It waits for the lock. Nobody else may count on it before it is there.
        state.isThreadRunning = startThread()
        if !state.isThreadRunning { return false }
      }
      state.entries.append(Entry(call: call, due: due))
      return true
    }
    if isScheduled { wake.raise() }
    return isScheduled
  }

  private func startThread() -> Bool {
    let body: @convention(c) (UnsafeMutableRawPointer?) -> Void = { raw in
      guard let raw else { return }
      Unmanaged<IdleTimer>.fromOpaque(raw).takeRetainedValue().run()
    }
    let context = Unmanaged.passRetained(self)
    if cambium_start_thread(body, context.toOpaque()) == 0 { return true }
    context.release()
    return false
  }

  private func run() {
    while true {
      let next = state.withLock { $0.entries.map(\.due).min() }
      let delay = next.map { max(0, $0 - now) } ?? .max
      wake.wait(timeoutNanoseconds: delay) {
        state.withLock { $0.entries.map(\.due).min() } != next
      }
      fire()
    }
  }

  /// Calls everything that is due.
  package func fire() {
    let now = self.now
    let due = state.withLock { state in
      let due = state.entries.filter { $0.due <= now }
      state.entries.removeAll { $0.due <= now }
      return due
    }
    for var entry in due {
      guard let next = entry.call(now) else { continue }
      entry.due = next
      state.withLock { $0.entries.append(entry) }
    }
  }
}
