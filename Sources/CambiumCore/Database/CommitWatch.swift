import Synchronization

/// Who is told of the commits to one store, in this process.
///
/// Versions are told in rising order, one at a time; of several that come while somebody is being told the
/// last one.
///
/// Thread-safe.
package final class CommitWatchers: Sendable {
  private struct State {
    var lastID: UInt64 = 0
    var watchers: [Watcher] = []
    /// The newest version that is to be told.
    var newest: Version = 0
    var isTelling = false
  }

  private struct Watcher {
    let id: UInt64
    let body: @Sendable (Version) -> Void
    /// The newest version that it was told of, or knew when it came.
    var told: Version
  }

  private let state = Mutex(State())
  private let count = Atomic(0)

  package init() {}

  /// Whether anybody is told.
  @inline(__always) package var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

  /// Tells `body` of versions after `version`.
  func add(after version: Version, _ body: @escaping @Sendable (Version) -> Void) -> UInt64 {
    count.add(1, ordering: .sequentiallyConsistent)
    return state.withLock { state in
      state.lastID += 1
      state.watchers.append(Watcher(id: state.lastID, body: body, told: version))
      return state.lastID
    }
  }

  func remove(_ id: UInt64) {
    let gone = state.withLock { state -> Watcher? in
      guard let place = state.watchers.firstIndex(where: { $0.id == id }) else { return nil }
      return state.watchers.remove(at: place)
    }
    if gone != nil { count.subtract(1, ordering: .sequentiallyConsistent) }
  }

  /// Tells of `version` all who do not know of it.
  package func tell(_ version: Version) {
    let isMine = state.withLock { state in
      state.newest = max(state.newest, version)
      if state.isTelling { return false }
      state.isTelling = true
      return true
    }
    if !isMine { return }
    while let (version, bodies) = next() {
      for body in bodies { body(version) }
    }
  }

  /// What is to be told next; nil when all was.
  private func next() -> (Version, [@Sendable (Version) -> Void])? {
    state.withLock { state in
      var bodies: [@Sendable (Version) -> Void] = []
      for index in state.watchers.indices where state.watchers[index].told < state.newest {
        state.watchers[index].told = state.newest
        bodies.append(state.watchers[index].body)
      }
      if bodies.isEmpty {
        state.isTelling = false
        return nil
      }
      return (state.newest, bodies)
    }
  }
}

/// A store whose commits can be watched without asking it again and again.
package protocol WatchableStore: PageStore {
  /// Who is told of the commits; shared by all that use the same content in this process.
  var watchers: CommitWatchers { get }

  /// Raised with each commit, of other processes, too; nil where there are no others.
  var sharedSignal: CommitSignal? { get }
}

/// Tells of the commits to a database until it is ended, or let go.
public final class CommitWatch: Sendable {
  private let watchers: CommitWatchers
  private let number: UInt64
  private let signal: UInt64?
  private let polling: BackgroundJob?
  private let isOver = Atomic(false)
  private static let pollNanoseconds: Int64 = 10_000_000

  fileprivate init(
    _ store: any PageStore, _ watchers: CommitWatchers,
    _ body: @escaping @Sendable (Version) -> Void
  ) {
    self.watchers = watchers
    let known = (try? store.newestHead())?.version ?? 0
    number = watchers.add(after: known, body)
    let watchable = store as? any WatchableStore
    let shared = watchable?.sharedSignal
    signal = shared.flatMap { signal in
      SignalWatch.shared.add(signal) { [weak store, weak watchers] in
        if let version = try? store?.newestHead().version { watchers?.tell(version) }
      }
    }
    // Where the system has no thread for that, the store is asked now and then, as one is that has no signal.
    if signal == nil, watchable == nil || shared != nil {
      let job = BackgroundJob(.shared)
      polling = job
      job.schedule(at: job.now + Self.pollNanoseconds) { [weak store, weak watchers] now in
        guard let version = try? store?.newestHead().version else { return nil }
        watchers?.tell(version)
        return now + Self.pollNanoseconds
      }
    } else {
      polling = nil
    }
    // Of what was committed in between nobody was told.
    if let newest = try? store.newestHead().version, newest > known { watchers.tell(newest) }
  }

  /// Ends it; a call that is under way goes on.
  ///
  /// May be called from anywhere, and again.
  public func end() {
    if isOver.exchange(true, ordering: .acquiringAndReleasing) { return }
    watchers.remove(number)
    if let signal { SignalWatch.shared.remove(signal) }
    polling?.cancel()
  }

  deinit { end() }
}

extension Database {
  /// Calls `body` with the number of each new version, until what is returned is ended or let go.
  ///
  /// Commits of this process are told on the thread that committed, after the next writer was let in;
  /// those of other processes on a thread of the engine, of which there is one for all databases, within
  /// about a millisecond. Numbers rise; of versions that come fast some are left out. `body` must be short:
  /// who commits waits for it. After closing nothing is told.
  public func watchCommits(_ body: @escaping @Sendable (Version) -> Void) -> CommitWatch {
    CommitWatch(store, watchers, body)
  }
}

extension Database {
  /// Returns when this process knows of all versions that were committed by the time of the call, or could
  /// not find out: at once but for stores on other machines.
  public func lookForCommits(_isolation: isolated (any Actor)? = #isolation) async {
    await withCheckedContinuation { continuation in
      store.lookForCommits { continuation.resume() }
    }
  }
}
