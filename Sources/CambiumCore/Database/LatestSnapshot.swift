import CPlatform
import Synchronization

/// The snapshot of the newest version that a database last handed out.
///
/// Known while somebody holds it. A version that is asked for again when nobody does is *cached*: the
/// database keeps its snapshot, so that the next read begins without a pin. So is a version that this
/// database publishes, from which its next transaction begins, too. Nothing is cached for long: a commit of this
/// database ends it, and a look every quarter of a second when it is not the newest version any more,
/// because somebody else has committed, or was not asked for since the last look. Nobody looks while
/// nothing is cached.
final class LatestSnapshot: Sendable {
  private struct State {
    /// Not what is cached: an object that was referred to weakly counts its references in a table of
    /// their own, which takes twice as long.
    weak var latest: Snapshot?
    var cached: Snapshot?
    /// Whether the cached one was asked for since the last look.
    var wasUsed = false
    /// Whether there will be a look.
    var isWatched = false
    /// The version that was pinned for a reader last.
    var pinned: Version?
    /// What is older is not cached.
    var oldest: Version = 0
    var isClosed = false

    /// Remembers `snapshot` for as long as somebody holds it; what was remembered, to be let go of without the lock.
    mutating func know(_ snapshot: Snapshot) -> Snapshot? {
      let known = latest
      if known?.version ?? 0 <= snapshot.version { latest = snapshot }
      return known
    }
  }

  private let state = Mutex(State())
  private let lane: BackgroundLane
  private let forkCount = cambium_fork_count()
  /// How long it takes from one look to the next.
  static let lookNanoseconds: Int64 = 250_000_000

  init(lane: BackgroundLane) { self.lane = lane }

  /// Whether this process is the child of the one that made this: the lock may be held for ever, by a
  /// thread that is not there.
  private var isForked: Bool { forkCount != cambium_fork_count() }

  /// The snapshot handed out last, if there is still one; it need not be the newest.
  ///
  /// Nil in a forked child, which the store then refuses.
  @inline(__always) var known: Snapshot? {
    if isForked { return nil }
    return state.withLock { state in
      if let cached = state.cached {
        state.wasUsed = true
        return cached
      }
      return state.latest
    }
  }

  /// The pin of `head`, if its version is cached, with the same pages in memory.
  func cachedPin(of head: Head) -> Pin? {
    if isForked { return nil }
    return state.withLock { state in
      guard let cached = state.cached, cached.pin.head == head,
        cached.pin.head.residence === head.residence
      else { return nil }
      return cached.pin
    }
  }

  /// Caches `snapshot`, which this database has published: it is likely read, or written on, next.
  func note(published snapshot: Snapshot) {
    note(snapshot, isUsed: false) { _ in true }
  }

  /// Remembers `snapshot`, which was pinned for a reader; it is cached if its version was pinned for one
  /// before.
  func note(pinned snapshot: Snapshot) {
    note(snapshot, isUsed: true) { state in
      defer { state.pinned = snapshot.version }
      return state.pinned == snapshot.version
    }
  }

  /// Remembers `snapshot` for as long as somebody holds it, or for longer if it comes to be cached, which
  /// `condition` tells.
  private func note(
    _ snapshot: Snapshot, isUsed: Bool, cachedIf condition: (inout State) -> Bool
  ) {
    var known: Snapshot?
    let superseded: Snapshot?
    let mustSchedule: Bool
    (superseded, mustSchedule) = state.withLock { state in
      let mayBeCached = snapshot.version >= state.oldest && !state.isClosed
      let isCached = condition(&state) && mayBeCached
      if !isCached { known = state.know(snapshot) }
      // What is older is cached no longer, either.
      guard mayBeCached, isCached || state.cached != nil else { return (nil, false) }
      let superseded = state.cached
      state.cached = isCached ? snapshot : nil
      state.wasUsed = isUsed
      let mustSchedule = isCached && !state.isWatched
      if mustSchedule { state.isWatched = true }
      return (superseded, mustSchedule)
    }
    withExtendedLifetime((known, superseded)) {}
    if mustSchedule { watch() }
  }

  /// Lets go of what is cached and is older than `version`, which this database has published.
  func supersede(by version: Version) {
    end { state in
      state.oldest = max(state.oldest, version)
      return state.cached?.version ?? version < version
    }
  }

  /// Lets go of what is cached, now and, if this `closes` the database, for good.
  func letGo(closes: Bool = false) {
    end { state in
      if closes { state.isClosed = true }
      return true
    }
  }

  /// Lets go of what is cached if `condition` says so; whether it does.
  @discardableResult
  private func end(where condition: (inout State) -> Bool) -> Bool {
    if isForked { return false }
    // Pins end when the lock is free again.
    var known: Snapshot?
    let (isOver, ended): (Bool, Snapshot?) = state.withLock { state in
      guard condition(&state) else { return (false, nil) }
      guard let ended = state.cached.take() else { return (true, nil) }
      if ended.version >= state.oldest { known = state.know(ended) }
      return (true, ended)
    }
    withExtendedLifetime((known, ended)) {}
    return isOver
  }

  private func watch() {
    let isScheduled = BackgroundJob(lane).schedule(
      at: lane.clock.now + Self.lookNanoseconds
    ) { [weak self] now in
      self?.look(now: now)
    }
    if isScheduled { return }
    // Nothing is cached that nobody would look after.
    end { state in
      state.isWatched = false
      return true
    }
  }

  /// Lets go of what is cached if it is not the newest any more, nobody has asked for it lately, or who
  /// begins to read is better off with a new one; when to look again, if at all.
  private func look(now: Int64) -> Int64? {
    let isOver = end { state in
      // Asked under the lock: a snapshot that this held without it would outlive what lets go of it meanwhile, and with
      // it its pin the closing of the store.
      let mayStay =
        state.cached.map { $0.source.store.isNewest($0.pin) && !$0.source.isOutworn } ?? false
      let isKept = state.wasUsed && mayStay
      state.wasUsed = false
      state.isWatched = isKept
      return !isKept
    }
    return isOver ? nil : now + Self.lookNanoseconds
  }
}
