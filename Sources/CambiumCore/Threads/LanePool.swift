import CPlatform
import Synchronization

/// The threads that run the jobs of all lanes of the process.
///
/// One thread keeps the time: it waits until a lane has a job that is due. At most ``workerLimit`` others run
/// lanes, each lane on one of them at a time, in the order in which they became due. So a thousand databases
/// have no more threads than one. All of them end a second after there was something to do.
///
/// Jobs may wait for the medium, for another lane, or in what a program is called back with. Where that keeps all
/// workers for ``stallNanoseconds`` while others are due, there is one more, and so on, until these are through:
/// a medium that hangs holds nobody else up for longer than that, and no wait can be for a thread that never
/// comes.
///
/// Thread-safe. A child of a fork has none of the threads, and a lock may be held by one of them for ever: there is
/// another pool in the child.
final class LanePool: Sendable {
  private static let pools = PerProcess { LanePool() }

  /// The pool of this process.
  static var shared: LanePool { pools.object }

  private let forkCount = cambium_fork_count()
  /// Whether this process is a child of the one that has the threads.
  var isForked: Bool { forkCount != cambium_fork_count() }

  /// A thread that waits for a lane.
  private final class Worker: Sendable {
    let signal = CommitSignal()
    let isWoken = Atomic(false)

    func wake() {
      isWoken.store(true, ordering: .sequentiallyConsistent)
      signal.raise()
    }
  }

  private struct Status {
    var lane: BackgroundLane
    /// When it has a job that is due; `.max` while it runs and no job has come since.
    var due: Int64
    /// Whether it is among those that are ready, or runs.
    var isTaken = false
  }

  private struct State {
    var lanes: [ObjectIdentifier: Status] = [:]
    /// Lanes that are due and wait for a worker, in the order in which they became so.
    var ready: [BackgroundLane] = []
    var idle: [Worker] = []
    var workerCount = 0
    var hasTimekeeper = false
    /// When the timekeeper looks again, unless it is told to do so sooner.
    var nextLook = Int64.min
    /// When a worker last took a lane.
    var lastTaken: Int64 = 0
  }

  private static let workerLimit = 6
  /// However many jobs wait for each other, there are no more workers.
  private static let extraWorkerLimit = 512
  private static let stallNanoseconds: Int64 = 50_000_000
  private static let lingerNanoseconds: Int64 = 1_000_000_000

  private let state = Mutex(State())
  /// Raised when the timekeeper has to look again.
  private let time = CommitSignal()

  private var now: Int64 { MonotonicClock.system.now }

  /// How many threads there are now.
  var threadCount: Int { state.withLock { $0.workerCount + ($0.hasTimekeeper ? 1 : 0) } }

  /// How many lanes have jobs, or run.
  var laneCount: Int { state.withLock { $0.lanes.count } }

  /// Says that `lane` has a job that is due at that time; false when the system has no thread for it.
  func announce(_ lane: BackgroundLane, due: Int64) -> Bool {
    let now = now
    let (isHeard, worker, isSooner) = state.withLock { state -> (Bool, Worker?, Bool) in
      let id = ObjectIdentifier(lane)
      var status = state.lanes[id] ?? Status(lane: lane, due: .max)
      status.due = min(status.due, due)
      defer { state.lanes[id] = status }
      // Whoever runs it looks again.
      if status.isTaken { return (true, nil, false) }
      guard due <= now else {
        return (keepTime(&state), nil, due < state.nextLook)
      }
      status.isTaken = true
      state.ready.append(lane)
      if state.ready.count == 1 { state.lastTaken = now }
      let worker = findWorker(&state)
      // All may be busy for long.
      let mustWatch = worker == nil && keepTime(&state)
      if state.workerCount == 0, !mustWatch {
        // Nobody comes for it: it is announced anew with the next job.
        state.ready.removeLast()
        status.isTaken = false
      }
      return (
        state.workerCount > 0, worker, mustWatch && now + Self.stallNanoseconds < state.nextLook
      )
    }
    worker?.wake()
    if isSooner { time.raise() }
    return isHeard
  }

  /// Says that jobs of `lane` were taken back: no thread begins for a lane that has none.
  func look(again lane: BackgroundLane) {
    state.withLock { state in
      let id = ObjectIdentifier(lane)
      guard let status = state.lanes[id], !status.isTaken else { return }
      if let due = lane.nextDue { state.lanes[id]?.due = due } else { state.lanes[id] = nil }
    }
  }

  /// A worker to be woken; nil when one was started, or all are busy.
  private func findWorker(_ state: inout State) -> Worker? {
    if let worker = state.idle.popLast() { return worker }
    if state.workerCount < Self.workerLimit { startWorker(&state) }
    return nil
  }

  private func startWorker(_ state: inout State) {
    // It waits for the lock.
    if DetachedThread.start({ [self] in work() }) { state.workerCount += 1 }
  }

  // MARK: Running lanes

  private func work() {
    let worker = Worker()
    while true {
      if let lane = next() {
        lane.runDue()
        // Without a thread that keeps the time this one does.
        if !put(back: lane) { worker.signal.wait(timeoutNanoseconds: 1_000_000) { false } }
        continue
      }
      guard wait(worker) else { return }
    }
  }

  /// A lane that is due, which nobody else takes meanwhile.
  private func next() -> BackgroundLane? {
    state.withLock { state in
      guard !state.ready.isEmpty else { return nil }
      state.lastTaken = now
      let lane = state.ready.removeFirst()
      state.lanes[ObjectIdentifier(lane)]?.due = .max
      return lane
    }
  }

  /// Lets a lane that has run be taken again when its next job is due; false when nobody keeps the time and it is
  /// to be taken at once.
  private func put(back lane: BackgroundLane) -> Bool {
    let next = lane.nextDue ?? .max
    let (isKept, isSooner) = state.withLock { state -> (Bool, Bool) in
      let id = ObjectIdentifier(lane)
      guard let status = state.lanes[id] else { return (true, false) }
      let due = min(status.due, next)
      if due == .max {
        state.lanes[id] = nil
        return (true, false)
      }
      state.lanes[id]?.due = due
      if due > now, keepTime(&state) {
        state.lanes[id]?.isTaken = false
        return (true, due < state.nextLook)
      }
      state.ready.append(lane)
      return (due <= now, false)
    }
    if isSooner { time.raise() }
    return isKept
  }

  /// Waits until there is something to do; false when there was nothing for a while, and then the thread ends.
  private func wait(_ worker: Worker) -> Bool {
    let goesOn = state.withLock { state -> Bool? in
      if !state.ready.isEmpty { return true }
      // One more than there need be was for others that were stuck.
      if state.workerCount > Self.workerLimit {
        state.workerCount -= 1
        return false
      }
      worker.isWoken.store(false, ordering: .sequentiallyConsistent)
      state.idle.append(worker)
      return nil
    }
    if let goesOn { return goesOn }
    worker.signal.wait(timeoutNanoseconds: Self.lingerNanoseconds) {
      worker.isWoken.load(ordering: .sequentiallyConsistent)
    }
    return state.withLock { state in
      if worker.isWoken.load(ordering: .sequentiallyConsistent) || !state.ready.isEmpty {
        state.idle.removeAll { $0 === worker }
        return true
      }
      state.idle.removeAll { $0 === worker }
      state.workerCount -= 1
      return false
    }
  }

  // MARK: Keeping the time

  /// Sees to it that somebody watches the time; false when the system has no thread for that.
  private func keepTime(_ state: inout State) -> Bool {
    if !state.hasTimekeeper {
      state.hasTimekeeper = DetachedThread.start { [self] in watch() }
    }
    return state.hasTimekeeper
  }

  private func watch() {
    while true {
      let seen = time.raiseCount
      let (wait, workers) = state.withLock { look(&$0) }
      for worker in workers { worker.wake() }
      time.wait(timeoutNanoseconds: wait ?? Self.lingerNanoseconds) { time.raiseCount != seen }
      if wait != nil || time.raiseCount != seen { continue }
      let isOver = state.withLock { state in
        state.hasTimekeeper = !state.lanes.isEmpty
        return !state.hasTimekeeper
      }
      if isOver { return }
    }
  }

  /// Makes lanes ready that are due; how long to wait until there may be more to do, and whom to wake.
  private func look(_ state: inout State) -> (wait: Int64?, workers: [Worker]) {
    let now = now
    var next = Int64.max
    var workers: [Worker] = []
    var due: [Status] = []
    for status in state.lanes.values where !status.isTaken {
      if status.due <= now { due.append(status) } else { next = min(next, status.due) }
    }
    for status in due.sorted(by: { $0.due < $1.due }) {
      state.lanes[ObjectIdentifier(status.lane)]?.isTaken = true
      if state.ready.isEmpty { state.lastTaken = now }
      state.ready.append(status.lane)
      if let worker = findWorker(&state) { workers.append(worker) }
    }
    if state.ready.count > workers.count, state.idle.isEmpty {
      if now - state.lastTaken >= Self.stallNanoseconds,
        state.workerCount < Self.extraWorkerLimit
      {
        state.lastTaken = now
        startWorker(&state)
      }
      next = min(next, now + Self.stallNanoseconds)
    }
    state.nextLook = next
    return (next == .max ? nil : max(0, next - now), workers)
  }
}
