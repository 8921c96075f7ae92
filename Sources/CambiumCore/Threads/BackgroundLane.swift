import Synchronization

/// Runs jobs in the background, one after the other, each when its time has come.
///
/// The lanes of a process share a few threads (`LanePool`). A job that hangs, for example in a sync, holds up
/// the jobs of its own lane and no others, so that stores have lanes of their own.
///
/// A lane *by hand* has no thread and a clock of the caller's: due jobs run in `runDue()`, on the
/// caller's thread. A simulation decides with it what happens when, and can do the same again.
///
/// Thread-safe.
public final class BackgroundLane: Sendable {
  /// For jobs that never wait for a medium, of all databases of the process.
  public static let shared = BackgroundLane()

  fileprivate typealias Body = @Sendable (_ now: Int64) -> Int64?

  private struct Entry {
    var job: BackgroundJob
    var due: Int64
    var body: Body
  }

  private struct State {
    /// In the order in which they came; each job once.
    var entries: [Entry] = []
    /// Whether ``BackgroundLane/runDue()`` is at work.
    var isRunning = false
    /// The job whose call is under way, unless it was cancelled meanwhile.
    var running: BackgroundJob?

    var nextDue: Int64? { entries.map(\.due).min() }

    /// Adds a job, or lets one that waits already run at the earlier time.
    mutating func add(_ entry: Entry) {
      if let place = entries.firstIndex(where: { $0.job === entry.job }) {
        entries[place].due = min(entries[place].due, entry.due)
      } else {
        entries.append(entry)
      }
    }

    /// Takes out the jobs that are due, in the order of their times.
    mutating func takeDue(_ now: Int64) -> [Entry] {
      let due = entries.filter { $0.due <= now }
      entries.removeAll { $0.due <= now }
      return due.sorted { $0.due < $1.due }
    }
  }

  /// Tells when jobs are due.
  package let clock: MonotonicClock
  /// Asked, in a lane by hand, whether a job that has just been scheduled and is due runs at once.
  private let runsAtOnce: (@Sendable () -> Bool)?
  private let state = Mutex(State())
  private let pool: LanePool

  /// A lane that threads run, and the system's clock.
  public convenience init() { self.init(LanePool.shared) }

  /// A lane that the threads of `pool` run.
  init(_ pool: LanePool) {
    self.pool = pool
    clock = .system
    runsAtOnce = nil
  }

  /// A lane by hand.
  ///
  /// `runsAtOnce` tells of each job that is due when it is scheduled whether it runs there
  /// and then, as if another thread had been quick; other jobs wait for ``runDue()``.
  package init(
    byHand clock: MonotonicClock, runsAtOnce: @escaping @Sendable () -> Bool = { false }
  ) {
    self.clock = clock
    self.runsAtOnce = runsAtOnce
    pool = .shared
  }

  fileprivate func schedule(
    _ job: BackgroundJob, at due: Int64, _ body: @escaping Body
  ) -> Bool {
    // The lock may be held for ever, by a thread that is not there.
    if pool.isForked { return false }
    let isEarliest = state.withLock { state in
      let next = state.nextDue ?? .max
      state.add(Entry(job: job, due: due, body: body))
      return due < next
    }
    if let runsAtOnce {
      if due <= clock.now, runsAtOnce() { runDue() }
      return true
    }
    if !isEarliest || pool.announce(self, due: due) { return true }
    cancel(job)
    return false
  }

  fileprivate func cancel(_ job: BackgroundJob) {
    if pool.isForked { return }
    // What its body holds is let go without the lock.
    let entries = state.withLock { state in
      let entries = state.entries.filter { $0.job === job }
      state.entries.removeAll { $0.job === job }
      if state.running === job { state.running = nil }
      return entries
    }
    if !entries.isEmpty, runsAtOnce == nil { pool.look(again: self) }
  }

  /// When the next job is due; nil when there is none.
  ///
  /// The pool asks this under its lock, which comes before the lane's.
  var nextDue: Int64? { state.withLock { $0.nextDue } }

  /// Runs the jobs that are due now, each once.
  ///
  /// Called by a job it does nothing.
  package func runDue() {
    let now = clock.now
    let due = state.withLock { state -> [Entry] in
      if state.isRunning { return [] }
      let due = state.takeDue(now)
      state.isRunning = !due.isEmpty
      return due
    }
    if due.isEmpty { return }
    for var entry in due {
      state.withLock { $0.running = entry.job }
      let next = entry.body(now)
      state.withLock { state in
        if let next, state.running === entry.job {
          entry.due = next
          state.add(entry)
        }
        state.running = nil
      }
    }
    state.withLock { $0.isRunning = false }
  }
}

/// Work that waits for one time at most, however often it is asked for.
///
/// Thread-safe.
public final class BackgroundJob: Sendable {
  private let lane: BackgroundLane

  /// A job of `lane`.
  public init(_ lane: BackgroundLane) { self.lane = lane }

  /// The time by the lane's clock, in nanoseconds.
  public var now: Int64 { lane.clock.now }

  /// Calls `body` once it is `due`, at once unless given, and again while it returns a new time.
  ///
  /// A job that waits already keeps its body and the earlier of both times; one that is running runs
  /// again. The lane keeps what `body` holds until then.
  /// False when the system has no thread for that, or the process was forked from the one that has it,
  /// and then nothing is called.
  @discardableResult
  public func schedule(
    at due: Int64 = .min, _ body: @escaping @Sendable (_ now: Int64) -> Int64?
  ) -> Bool {
    lane.schedule(self, at: due, body)
  }

  /// Forgets what waits; a call that is under way goes on, and is the last one whatever it returns.
  public func cancel() { lane.cancel(self) }
}
