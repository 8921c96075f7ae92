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
  public static var shared: BackgroundLane { lanes.object }

  private static let lanes = PerProcess { BackgroundLane() }

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
    /// The jobs that were due when it began and were not called yet, in the order of their times.
    var round: [Entry] = []
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

    /// Begins a round with the jobs that are due; false where one is under way, or nothing is due.
    mutating func beginRound(_ now: Int64) -> Bool {
      if isRunning { return false }
      round = entries.filter { $0.due <= now }.sorted { $0.due < $1.due }
      entries.removeAll { $0.due <= now }
      isRunning = !round.isEmpty
      return isRunning
    }

    /// The next job of the round, which is running from now on; nil ends the round.
    mutating func next() -> Entry? {
      if round.isEmpty {
        isRunning = false
        return nil
      }
      let entry = round.removeFirst()
      running = entry.job
      return entry
    }

    /// Takes out what waits of a job.
    mutating func remove(_ job: BackgroundJob) -> [Entry] {
      let gone = (entries + round).filter { $0.job === job }
      entries.removeAll { $0.job === job }
      round.removeAll { $0.job === job }
      if running === job { running = nil }
      return gone
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
    let gone = state.withLock { $0.remove(job) }
    if !gone.isEmpty, runsAtOnce == nil { pool.look(again: self) }
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
    guard state.withLock({ $0.beginRound(now) }) else { return }
    while var entry = state.withLock({ $0.next() }) {
      let next = entry.body(now)
      state.withLock { state in
        if let next, state.running === entry.job {
          entry.due = next
          state.add(entry)
        }
        state.running = nil
      }
    }
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
