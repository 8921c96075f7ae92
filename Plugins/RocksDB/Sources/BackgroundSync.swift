#if RocksDB
  import CPlatform
  import CambiumCore
  import Synchronization

  /// A thread that syncs the relaxed commits of one store; started by the first of them.
  ///
  /// Thread-safe.
  final class BackgroundSync: Sendable {
    private struct State {
      weak var store: RocksDBStore?
      var isRunning = false
      var hasEnded = false
      var hasWork = false
    }

    private let state = Mutex(State())
    private let wake = CommitSignal()

    /// Says that a commit waits to be synced.
    func begin(_ store: RocksDBStore) {
      let (isFirst, isNews) = state.withLock { state in
        let isFirst = !state.isRunning && !state.hasEnded
        let isNews = !state.hasWork
        state.store = store
        state.hasWork = true
        if isFirst { state.isRunning = true }
        return (isFirst, isNews)
      }
      if isNews { wake.raise() }
      guard isFirst else { return }
      let context = Unmanaged.passRetained(self)
      let code = cambium_start_thread(
        { context in
          guard let context else { return }
          Unmanaged<BackgroundSync>.fromOpaque(context).takeRetainedValue().run()
        }, context.toOpaque())
      if code != 0 {
        // No thread: the next sync, full commit or close makes it durable.
        context.release()
        state.withLock { $0.isRunning = false }
      }
    }

    /// Lets the thread end.
    func end() {
      state.withLock { $0.hasEnded = true }
      wake.raise()
    }

    private func run() {
      while true {
        wake.wait(timeoutNanoseconds: .max) { state.withLock { $0.hasWork || $0.hasEnded } }
        guard let delay = state.withLock({ $0.store?.options.relaxedDelayNanoseconds }) else {
          return
        }
        wake.wait(timeoutNanoseconds: delay) { state.withLock { $0.hasEnded } }
        let store = state.withLock { state in
          state.hasWork = false
          return state.hasEnded ? nil : state.store
        }
        guard let store, store.syncRelaxed() else { return }
      }
    }
  }
#endif
