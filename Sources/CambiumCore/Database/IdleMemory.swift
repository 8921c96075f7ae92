import Synchronization

/// Gives back the memory that a database keeps to read faster, once nobody has begun to read or to write for a
/// minute or two.
///
/// A process may have a thousand databases open and use a few of them. Nothing of this is needed for right answers: who
/// comes back reads, opens and checks pages as at the first time. Pages that a snapshot has been lent stay while it is
/// held.
final class IdleMemory: Sendable {
  /// Whether there will be a look, and whether the database was used since the last one.
  private enum Use: UInt8, AtomicRepresentable {
    case unwatched
    case watched
    case used
  }

  private let use = Atomic(Use.unwatched)
  private let job: BackgroundJob
  private let trust: TrustTable
  private let cache: PageCache

  /// How long it takes from one look to the next.
  static let lookNanoseconds: Int64 = 60_000_000_000
  /// Apart from other jobs: each of many databases has one here that waits for long.
  private static let lane = BackgroundLane()

  /// Looks after `trust` and `cache` in `lane`; nil for that of the process.
  init(_ trust: TrustTable, _ cache: PageCache, lane: BackgroundLane?) {
    job = BackgroundJob(lane ?? Self.lane)
    self.trust = trust
    self.cache = cache
  }

  deinit { job.cancel() }

  /// Notes that somebody begins to read or to write.
  @inline(__always) func noteUse() {
    if use.load(ordering: .relaxed) == .used { return }
    if use.exchange(.used, ordering: .acquiringAndReleasing) == .unwatched { watch() }
  }

  private func watch() {
    let isScheduled = job.schedule(at: job.now + Self.lookNanoseconds) { [weak self] now in
      guard let self, isUsed() else { return nil }
      return now + Self.lookNanoseconds
    }
    if !isScheduled { use.store(.unwatched, ordering: .relaxed) }
  }

  /// Whether the database was used since the last look; gives the memory back otherwise.
  private func isUsed() -> Bool {
    func change(_ old: Use, to new: Use) -> Bool {
      use.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing).exchanged
    }
    if change(.used, to: .watched) || !change(.watched, to: .unwatched) { return true }
    cache.letGo()
    trust.letGo()
    return false
  }
}
