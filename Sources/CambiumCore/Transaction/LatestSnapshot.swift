import CPlatform
import Synchronization

/// The snapshot of the newest version that a database last handed out.
///
/// Known while somebody holds it. A version that is asked for again when nobody does *rests*: the
/// database keeps its snapshot, so that the next read begins without a pin. So does a version that this
/// database publishes, if the one before was read. Nothing rests for long: a commit of this database
/// ends it, and a look every quarter of a second when it is not the newest version any more, because
/// somebody else has committed, or was not asked for since the last look. The timer runs only while
/// something rests.
final class LatestSnapshot: Sendable {
  private struct State {
    /// Not what rests: an object that was referred to weakly counts its references in a table beside it,
    /// which takes twice as long.
    weak var latest: Snapshot?
    var resting: Snapshot?
    /// Whether the one at rest was asked for since the last look.
    var wasUsed = false
    /// Whether the timer will have a look.
    var isWatched = false
    /// The version that was pinned for a reader last.
    var pinned: Version?
    /// What is older does not come to rest.
    var oldest: Version = 0
    /// Whether a reader has pinned the version that this database published last, or a later one.
    var isRead = false
    /// Whether the version was read that a commit has just superseded.
    var wasRead = false
    var isClosed = false

    /// Remembers `snapshot` for as long as somebody holds it.
    mutating func know(_ snapshot: Snapshot) {
      if let latest, latest.version > snapshot.version { return }
      latest = snapshot
    }
  }

  private let state = Mutex(State())
  private let timer: IdleTimer
  private let forkCount = cambium_fork_count()
  /// How long it takes from one look to the next.
  static let lookNanoseconds: Int64 = 250_000_000

  init(timer: IdleTimer) { self.timer = timer }

  /// Whether this process is the child of the one that made this: the lock may be held for ever, by a
  /// thread that is not there.
  private var isForked: Bool { forkCount != cambium_fork_count() }

  /// The snapshot handed out last, if there is still one; it need not be the newest.
  ///
  /// Nil in a forked child, which the store then refuses.
  @inline(__always) var known: Snapshot? {
    if isForked { return nil }
    return state.withLock { state in
      if let resting = state.resting {
        state.wasUsed = true
        return resting
      }
      return state.latest
    }
  }

  /// The pin of `head`, if its version rests.
  func restingPin(of head: Head) -> Pin? {
    if isForked { return nil }
    return state.withLock { state in
      guard let resting = state.resting, resting.pin.head == head else { return nil }
      return resting.pin
    }
  }

  /// Remembers `snapshot`, which this database has published; it rests if the version before was
  /// read.
  func note(published snapshot: Snapshot) {
    note(snapshot, isUsed: false) { state in
      defer { state.wasRead = false }
      return state.wasRead
    }
  }

  /// Remembers `snapshot`, which was pinned for a reader; it rests if its version was pinned for one
  /// before.
  func note(pinned snapshot: Snapshot) {
    note(snapshot, isUsed: true) { state in
      defer { state.pinned = snapshot.version }
      state.isRead = true
      return state.pinned == snapshot.version
    }
  }

  /// Remembers `snapshot` for as long as somebody holds it, or for longer if it comes to rest, which
  /// `condition` tells.
  private func note(
    _ snapshot: Snapshot, isUsed: Bool, restsIf condition: (inout State) -> Bool
  ) {
    let superseded: Snapshot?
    let mustSchedule: Bool
    (superseded, mustSchedule) = state.withLock { state in
      let mayRest = snapshot.version >= state.oldest && !state.isClosed
      let rests = condition(&state) && mayRest
      if !rests { state.know(snapshot) }
      // What is older rests no longer, either.
      guard mayRest, rests || state.resting != nil else { return (nil, false) }
      let superseded = state.resting
      state.resting = rests ? snapshot : nil
      state.wasUsed = isUsed
      let mustSchedule = rests && !state.isWatched
      if mustSchedule { state.isWatched = true }
      return (superseded, mustSchedule)
    }
    withExtendedLifetime(superseded) {}
    if mustSchedule { watch() }
  }

  /// Lets go of what rests and is older than `version`, which this database has published.
  func supersede(by version: Version) {
    end { state in
      state.oldest = max(state.oldest, version)
      state.wasRead = state.isRead || state.resting != nil && state.wasUsed
      state.isRead = false
      return state.resting?.version ?? version < version
    }
  }

  /// Lets go of what rests, now and, if this `closes` the database, for good.
  func letGo(closes: Bool = false) {
    end { state in
      if closes { state.isClosed = true }
      return true
    }
  }

  /// Lets go of what rests if `condition` says so; whether it does.
  @discardableResult
  private func end(where condition: (inout State) -> Bool) -> Bool {
    if isForked { return false }
    // Its pin ends when the lock is free again.
    let (isOver, ended): (Bool, Snapshot?) = state.withLock { state in
      guard condition(&state) else { return (false, nil) }
      guard let ended = state.resting.take() else { return (true, nil) }
      if ended.version >= state.oldest { state.know(ended) }
      return (true, ended)
    }
    withExtendedLifetime(ended) {}
    return isOver
  }

  private func watch() {
    let isScheduled = timer.schedule(at: timer.now + Self.lookNanoseconds) { [weak self] now in
      self?.look(now: now)
    }
    if isScheduled { return }
    // Nothing rests that nobody would look after.
    end { state in
      state.isWatched = false
      return true
    }
  }

  /// Lets go of what rests if it is not the newest any more, nobody has asked for it lately, or who
  /// begins to read is better off with a new one; when to look again, if at all.
  private func look(now: Int64) -> Int64? {
    let resting = state.withLock { $0.resting }
    let mayStay =
      resting.map { $0.source.store.isNewest($0.pin) && !$0.source.isOutworn } ?? false
    let isOver = end { state in
      // Another one that came meanwhile has been used just now.
      let isKept = state.resting != nil && state.wasUsed && (mayStay || state.resting !== resting)
      state.wasUsed = false
      state.isWatched = isKept
      return !isKept
    }
    return isOver ? nil : now + Self.lookNanoseconds
  }
}
