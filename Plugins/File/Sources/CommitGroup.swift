import CambiumCore
import Synchronization

/// Where the commits of one store meet that wait for the medium: one of them syncs for all.
///
/// Who comes while nobody syncs leads: it makes durable what is published by then. The others wait;
/// when the sync has ended those whose version it covered go on, and one of the rest leads next.
///
/// A leader lets as many come as wait for the writer lock, before it syncs: small syncs for a few
/// cost as much as large ones, and take the processor from those who write. Somebody who commits alone
/// waits for nobody.
final class CommitGroup: Sendable {
  private let queue = LeaderQueue<Version, StoreError>()
  /// Raised when enough have come for the leader who waits for them.
  private let gathered = CommitSignal()
  private let isGathering = Atomic(false)
  /// How long the last sync took, in nanoseconds.
  private let lastSync = Atomic<Int64>(0)
  /// A leader waits for others so long, or as long as a sync takes if that is longer.
  private static let gatherTimeoutNanoseconds: Int64 = 2_000_000

  /// Whether somebody leads, or was told to.
  var isBusy: Bool { queue.isLed }

  /// What to wait on for `version`; nil for who is to lead.
  ///
  /// `writerCount` is how many wait for the writer lock.
  func join(_ version: Version, writerCount: Int) -> LeaderQueue<Version, StoreError>.Waiter? {
    guard let waiter = queue.join(version) else { return nil }
    if isGathering.load(ordering: .sequentiallyConsistent), queue.waitingCount >= writerCount {
      gathered.raise()
    }
    return waiter
  }

  /// Lets others come before the leader syncs.
  func gather(writerCount: () -> Int) {
    if writerCount() == 0 { return }
    isGathering.store(true, ordering: .sequentiallyConsistent)
    defer { isGathering.store(false, ordering: .sequentiallyConsistent) }
    let timeout = max(Self.gatherTimeoutNanoseconds, lastSync.load(ordering: .relaxed))
    gathered.wait(timeoutNanoseconds: timeout) {
      queue.waitingCount >= writerCount()
    }
  }

  /// Notes how many nanoseconds a sync took.
  func noteSync(_ duration: Int64) { lastSync.store(duration, ordering: .relaxed) }

  /// Ends what the leader did: all up to `durable` are durable now, or it failed for all who wait.
  func finish(durable: Version, failure: StoreError?) {
    let ended = queue.take { failure != nil || $0 <= durable }
    // First who leads next, so that the medium does not wait for the others.
    queue.passLead()
    for waiter in ended.sorted(by: { $0.work < $1.work }) { waiter.end(failure) }
  }
}
