import CambiumCore
import Synchronization

/// Who is to be called when a version is durable, and does not wait for it.
///
/// One thread waits for all of them, as any other that commits, and makes the calls: in the order of
/// versions, one at a time. It ends when nothing was to be done for a while.
final class CommitCalls: Sendable {
  /// Somebody who is to be called.
  struct Entry: Sendable {
    var version: Version
    var call: @Sendable (StoreError?) -> Void
    /// Kept until the call is made.
    var store: FileStore
  }

  private struct State {
    var entries: [Entry] = []
    var isThreadRunning = false
  }

  private let state = Mutex(State())
  private let signal = CommitSignal()
  /// How long the thread stays when there is nothing to do.
  private static let idleNanoseconds: Int64 = 1_000_000_000

  /// Adds somebody; whether a thread must be started for it.
  func add(_ entry: Entry) -> Bool {
    let mustStart = state.withLock { state in
      state.entries.append(entry)
      let mustStart = !state.isThreadRunning
      state.isThreadRunning = true
      return mustStart
    }
    signal.raise()
    return mustStart
  }

  /// Everybody there is, in the order of versions.
  ///
  /// Waits for a while if there is nobody; then the list is empty, and the thread has to end.
  func next() -> [Entry] {
    signal.wait(timeoutNanoseconds: Self.idleNanoseconds) {
      state.withLock { !$0.entries.isEmpty }
    }
    return take()
  }

  /// Everybody there is; with nobody the thread no longer counts as running.
  func take() -> [Entry] {
    state.withLock { state in
      defer { state.entries = [] }
      if state.entries.isEmpty { state.isThreadRunning = false }
      return state.entries.sorted { $0.version < $1.version }
    }
  }
}
