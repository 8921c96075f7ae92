import CambiumCore
import Synchronization

/// Where the commits of one store meet that wait for the medium: one of them syncs for all.
///
/// Who comes while nobody syncs leads: it makes durable what is published by then. The others wait;
/// when the sync has ended those whose version it covered go on, and one of the rest leads next.
///
/// A leader lets as many come as wait for their turn to write, before it syncs: small syncs for a few
/// cost as much as large ones, and take the processor from those who write. Somebody who commits alone
/// waits for nobody.
final class CommitGroup: Sendable {
  private struct State {
    /// Whether somebody leads, or was told to.
    var isLed = false
    var waiters: [Waiter] = []
  }

  /// A thread that waits until a version is durable.
  final class Waiter: Sendable {
    /// What it was woken for.
    enum Call: Sendable {
      /// To lead.
      case lead
      /// Its version is durable, or syncing has failed.
      case goOn(StoreError?)
    }

    let version: Version
    private let call = Mutex<Call?>(nil)
    private let signal = CommitSignal()

    init(_ version: Version) { self.version = version }

    func wake(_ call: Call) {
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

  private let state = Mutex(State())
  /// Raised when enough have come for the leader who waits for them.
  private let gathered = CommitSignal()
  private let isGathering = Atomic(false)
  /// How long the last sync took, in nanoseconds.
  private let lastSync = Atomic<Int64>(0)
  /// A leader waits for others so long, or as long as a sync takes if that is longer.
  private static let patienceNanoseconds: Int64 = 2_000_000

  /// Whether somebody leads, or was told to.
  var isBusy: Bool { state.withLock { $0.isLed } }

  /// What to wait on for `version`; nil for who is to lead.
  ///
  /// `writerCount` is how many wait for their turn to write.
  func join(_ version: Version, writerCount: Int) -> Waiter? {
    let (waiter, count) = state.withLock { state -> (Waiter?, Int) in
      guard state.isLed else {
        state.isLed = true
        return (nil, 0)
      }
      let waiter = Waiter(version)
      state.waiters.append(waiter)
      return (waiter, state.waiters.count)
    }
    if waiter != nil, isGathering.load(ordering: .sequentiallyConsistent), count >= writerCount {
      gathered.raise()
    }
    return waiter
  }

  /// Lets others come before the leader syncs.
  func gather(writerCount: () -> Int) {
    if writerCount() == 0 { return }
    isGathering.store(true, ordering: .sequentiallyConsistent)
    defer { isGathering.store(false, ordering: .sequentiallyConsistent) }
    let patience = max(Self.patienceNanoseconds, lastSync.load(ordering: .relaxed))
    gathered.wait(timeoutNanoseconds: patience) {
      state.withLock { $0.waiters.count } >= writerCount()
    }
  }

  /// Notes how long a sync took.
  func noteSync(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    lastSync.store(seconds * 1_000_000_000 + attoseconds / 1_000_000_000, ordering: .relaxed)
  }

  /// Ends what the leader did: all up to `durable` are durable now, or it failed for all who wait.
  func finish(durable: Version, failure: StoreError?) {
    let (leader, others) = state.withLock { state -> (Waiter?, [Waiter]) in
      let ended = state.waiters.filter { failure != nil || $0.version <= durable }
      state.waiters.removeAll { failure != nil || $0.version <= durable }
      state.isLed = !state.waiters.isEmpty
      return (state.isLed ? state.waiters.removeFirst() : nil, ended)
    }
    // First who leads next, so that the medium does not wait for the others.
    leader?.wake(.lead)
    for waiter in others.sorted(by: { $0.version < $1.version }) { waiter.wake(.goOn(failure)) }
  }
}
