import CPlatform
import Synchronization

/// Whether there seem to be processors for more threads than the caller's.
///
/// No system tells whether a processor is idle. A second thread that had work to do and did not do it
/// tells that none was: whoever has waited for one says so, and nobody in this process begins another
/// for a while.
enum Processors {
  /// On how many processors this process may run.
  static let count = Int(cambium_processor_count())
  /// A wait for work that takes a tenth of it is no longer unless its thread does not run.
  static let patience = Duration.milliseconds(1)
  /// How long nobody tries again.
  private static let rest = Duration.seconds(2)

  /// When a thread was last seen to be without a processor, in nanoseconds; 0 for never.
  static let lastStarved = Atomic<Int64>(0)
  private static let clockStart = ContinuousClock.now

  /// The time, which begins late enough for `never` to be long ago.
  private static var now: Int64 { nanoseconds(clockStart.duration(to: .now) + rest) }

  private static func nanoseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }

  /// Lets nobody begin another thread for a while.
  static func noteStarved() { lastStarved.store(now, ordering: .relaxed) }

  /// Whether there seems to be one for a second thread.
  static var areIdle: Bool {
    count > 1 && now - lastStarved.load(ordering: .relaxed) >= nanoseconds(rest)
  }
}
