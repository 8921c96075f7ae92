import CambiumCore
import Synchronization

/// Where the commits of one store meet that wait for the medium: one of them, the leader, syncs for all.
///
/// Who comes while nobody syncs leads: it makes durable what is published by then. The others sleep;
/// when the sync has ended those whose version it covered go on, and one of the rest leads next.
///
/// A leader lets as many come as wait for the writer lock, before it syncs: small syncs for a few
/// cost as much as large ones, and take the processor from those who write. Somebody who commits alone
/// waits for nobody.
///
/// Thread-safe.
final class CommitGroup: Sendable {
  private struct State {
    /// Whether somebody leads, or was told to.
    var isLed = false
    /// In the order in which they came; who leads is not among them.
    var waiters: [Waiter] = []
  }

  private let state = Mutex(State())
  /// Raised when enough have come for the leader who waits for them.
  private let gathered = CommitSignal()
  private let isGathering = Atomic(false)
  /// How long the last sync took, in nanoseconds.
  private let lastSync = Atomic<Int64>(0)
  /// A leader waits for others so long at most, or as long as a sync takes if that is longer.
  private static let gatherTimeoutNanoseconds: Int64 = 2_000_000
  /// It waits no longer when nobody has come for so long, or for a quarter of what a sync takes.
  private static let quietNanoseconds: Int64 = 100_000

  /// Whether somebody leads, or was told to.
  var isBusy: Bool { state.withLock { $0.isLed } }

  private var waitingCount: Int { state.withLock { $0.waiters.count } }

  /// What to wait on for `version`; nil for who is to lead, and has to call ``finish(durable:failure:)``.
  ///
  /// `writerCount` is how many wait for the writer lock.
  func join(_ version: Version, writerCount: Int) -> Waiter? {
    let waiter = state.withLock { state -> Waiter? in
      guard state.isLed else {
        state.isLed = true
        return nil
      }
      let waiter = Waiter(version)
      state.waiters.append(waiter)
      return waiter
    }
    if waiter != nil, isGathering.load(ordering: .sequentiallyConsistent),
      waitingCount >= writerCount
    {
      gathered.raise()
    }
    return waiter
  }

  /// Lets others come before the leader syncs.
  func gather(writerCount: () -> Int) {
    if writerCount() == 0 { return }
    isGathering.store(true, ordering: .sequentiallyConsistent)
    defer { isGathering.store(false, ordering: .sequentiallyConsistent) }
    let syncTime = lastSync.load(ordering: .relaxed)
    let quiet = max(Self.quietNanoseconds, syncTime / 4)
    // Who waits for the writer lock may want something else than a sync, or take long.
    for _ in 0..<max(1, max(Self.gatherTimeoutNanoseconds, syncTime) / quiet) {
      let count = waitingCount
      gathered.wait(timeoutNanoseconds: quiet) { waitingCount >= writerCount() }
      if waitingCount == count || waitingCount >= writerCount() { return }
    }
  }

  /// Notes how many nanoseconds a sync took.
  func noteSync(_ duration: Int64) { lastSync.store(duration, ordering: .relaxed) }

  /// Ends what the leader did: all up to `durable` are durable now, or it failed for all who wait.
  func finish(durable: Version, failure: StoreError?) {
    let (ended, next) = state.withLock { state -> ([Waiter], Waiter?) in
      let ended = state.waiters.filter { failure != nil || $0.version <= durable }
      state.waiters.removeAll { failure != nil || $0.version <= durable }
      state.isLed = !state.waiters.isEmpty
      return (ended, state.isLed ? state.waiters.removeFirst() : nil)
    }
    // First who leads next, so that the medium does not wait for the others.
    next?.wake(.lead)
    for waiter in ended.sorted(by: { $0.version < $1.version }) { waiter.wake(.end(failure)) }
  }
}

extension CommitGroup {
  /// A thread that sleeps until its version is durable, or it is to lead.
  final class Waiter: Sendable {
    /// What it is woken for, once.
    enum Call: Sendable {
      /// To lead.
      case lead
      /// Its version is durable, or the sync has failed.
      case end(StoreError?)
    }

    let version: Version
    private let call = Mutex<Call?>(nil)
    private let signal = CommitSignal()

    fileprivate init(_ version: Version) { self.version = version }

    fileprivate func wake(_ call: Call) {
      self.call.withLock { $0 = call }
      signal.raise()
    }

    /// Sleeps until it is woken.
    func wait() -> Call {
      var taken: Call?
      signal.wait(timeoutNanoseconds: .max) {
        taken = call.withLock { $0 }
        return taken != nil
      }
      return taken ?? .lead
    }
  }
}
