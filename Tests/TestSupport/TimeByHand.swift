import CambiumCore
import Synchronization

/// A lane that runs when a test says so, and the time by which its jobs are due.
public final class TimeByHand: Sendable {
  private final class Source: Sendable { let now = Atomic<Int64>(0) }

  private let source: Source
  /// Does nothing by itself: what is due runs in ``pass(milliseconds:)``, on the thread of the caller.
  public let lane: BackgroundLane

  /// Creates a time that stands at zero.
  public init() {
    let source = Source()
    self.source = source
    lane = BackgroundLane(byHand: MonotonicClock { source.now.load(ordering: .relaxed) })
  }

  /// Lets time pass, and does what is due then.
  public func pass(milliseconds: Int64) {
    source.now.add(milliseconds * 1_000_000, ordering: .relaxed)
    lane.runDue()
  }
}
