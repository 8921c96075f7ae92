import CambiumCore
import Synchronization
import TestSupport

/// The clock and the background of a simulated process, driven by a seed: when time passes, and whether
/// the background is quick or late, is part of a run's history.
final class SimulatedBackground: Sendable {
  private final class Source: Sendable {
    let time = Atomic<Int64>(0)
    let generator: Mutex<SeededGenerator>

    init(seed: UInt64) { generator = Mutex(SeededGenerator(seed: seed)) }
  }

  private let source: Source
  /// Does everything that is to be done in the background.
  let lane: BackgroundLane

  init(seed: UInt64) {
    let source = Source(seed: seed)
    self.source = source
    lane = BackgroundLane(
      byHand: MonotonicClock { source.time.load(ordering: .relaxed) },
      runsAtOnce: { source.generator.withLock { Bool.random(using: &$0) } })
  }

  /// Lets time pass, too little or enough for what is done after a delay, and does what is due.
  func pass() {
    let milliseconds = source.generator.withLock { generator -> Int64 in
      [0, 10, 120, 1_100].randomElement(using: &generator) ?? 0
    }
    source.time.add(milliseconds * 1_000_000, ordering: .relaxed)
    lane.runDue()
  }
}
