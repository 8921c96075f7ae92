import CPlatform
import Synchronization

/// Looks after signals that other processes may raise: one thread for all of the process, which is there
/// while something is watched.
///
/// Thread-safe.
final class SignalWatch: Sendable {
  private static let watches = PerProcess { SignalWatch() }

  /// For all databases of the process.
  static var shared: SignalWatch { watches.object }

  private struct Entry: Sendable {
    let id: UInt64
    let signal: CommitSignal
    let body: @Sendable () -> Void
  }

  private struct State {
    /// No other process gives the same numbers: a child may end what its parent began.
    var lastID = UInt64(cambium_fork_count()) << 32
    var entries: [Entry] = []
    var hasThread = false
  }

  private let state = Mutex(State())
  /// Raised when the entries have changed.
  private let change = CommitSignal()
  /// How long it rests after a look, so that who raises a signal often seldom has to wake the thread.
  private static let restNanoseconds: Int64 = 1_000_000
  /// How often it looks where the system cannot wait for several signals, or for so many.
  private static let lookNanoseconds: Int64 = 10_000_000

  /// Calls `body` on the thread whenever `signal` was raised; calls coalesce.
  ///
  /// Returns what to end that by; nil where the system has no thread for it.
  func add(_ signal: CommitSignal, _ body: @escaping @Sendable () -> Void) -> UInt64? {
    let id = state.withLock { state -> UInt64? in
      if !state.hasThread {
        state.hasThread = DetachedThread.start { [self] in run() }
        if !state.hasThread { return nil }
      }
      state.lastID += 1
      state.entries.append(Entry(id: state.lastID, signal: signal, body: body))
      return state.lastID
    }
    change.raise()
    return id
  }

  /// Ends what ``add(_:_:)`` began; a call that is under way goes on.
  func remove(_ id: UInt64) {
    let gone = state.withLock { state in
      let gone = state.entries.filter { $0.id == id }
      state.entries.removeAll { $0.id == id }
      return gone
    }
    withExtendedLifetime(gone) {}
    change.raise()
  }

  private func run() {
    var seen: [UInt64: UInt32] = [:]
    while look(&seen) {}
  }

  /// Calls who has to be called, and waits; false when nothing is watched any more.
  private func look(_ seen: inout [UInt64: UInt32]) -> Bool {
    let changeCount = change.raiseCount
    let entries = state.withLock { state in
      state.hasThread = !state.entries.isEmpty
      return state.entries
    }
    if entries.isEmpty { return false }
    var hasRaised = false
    for entry in entries {
      let count = entry.signal.raiseCount
      if let last = seen.updateValue(count, forKey: entry.id), last == count { continue }
      hasRaised = true
      entry.body()
    }
    if seen.count > entries.count {
      let ids = Set(entries.map(\.id))
      seen = seen.filter { ids.contains($0.key) }
    }
    if hasRaised {
      // It wakes for changes of the entries alone.
      change.wait(timeoutNanoseconds: Self.restNanoseconds) { change.raiseCount != changeCount }
      return true
    }
    wait(entries, seen, changeCount)
    return true
  }

  private func wait(_ entries: [Entry], _ seen: [UInt64: UInt32], _ changeCount: UInt32) {
    let watched = entries.prefix(CommitSignal.waitLimit - 1)
    var signals = watched.map { (signal: $0.signal, seen: seen[$0.id] ?? 0) }
    signals.append((change, changeCount))
    for entry in signals { entry.signal.countWaiters(1) }
    defer { for entry in signals { entry.signal.countWaiters(-1) } }
    let isAll = watched.count == entries.count
    if CommitSignal.waitForAny(signals, timeoutNanoseconds: isAll ? -1 : Self.lookNanoseconds) {
      return
    }
    change.wait(timeoutNanoseconds: Self.lookNanoseconds) { change.raiseCount != changeCount }
  }
}
