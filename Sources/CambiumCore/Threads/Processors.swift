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

  /// Until when nobody begins another thread, in nanoseconds since ``clockStart``.
  private static let busyEnd = Atomic<Int64>(0)
  private static let clockStart = ContinuousClock.now

  private static var now: Int64 { nanoseconds(clockStart.duration(to: .now)) }

  private static func nanoseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }

  /// How often a thread was seen to be without a processor.
  static let starvedCount = Atomic<Int>(0)

  /// Lets nobody begin another thread for a while.
  static func noteStarved(rest: Duration = .seconds(2)) {
    starvedCount.add(1, ordering: .relaxed)
    busyEnd.max(now + nanoseconds(rest), ordering: .relaxed)
  }

  /// Whether there seems to be one for a second thread.
  static var areIdle: Bool { count > 1 && now >= busyEnd.load(ordering: .relaxed) }
}
