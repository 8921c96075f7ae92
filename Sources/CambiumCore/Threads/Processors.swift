import CPlatform
import Synchronization

/// How many processors the engine may use, and whether there seem to be any besides the caller's.
///
/// No system tells whether a processor is idle. A second thread that had work to do and did not do it
/// tells that none was: whoever has waited for one says so, and nobody in this process begins another
/// for a while.
public enum Processors {
  /// How many processors work for one call at most, the caller's own included: 4 unless set.
  ///
  /// Holds for all databases of the process and from the next call on: what sorts and scans much
  /// starts no thread of its own at 1, for servers whose requests have a processor each already. Threads
  /// that write or wait for a medium are not counted. May be set on any thread; below 1 the program stops.
  public static var limit: Int {
    get { limitStorage.load(ordering: .relaxed) }
    set {
      precondition(newValue > 0, "Processors.limit is \(newValue); a call needs one.")
      limitStorage.store(newValue, ordering: .relaxed)
    }
  }
  private static let limitStorage = Atomic<Int>(4)

  /// On how many processors this process may run.
  static let count = Int(cambium_processor_count())
  /// A wait of so many nanoseconds for work that takes a tenth of it is no longer unless its thread does
  /// not run.
  static let starvedWait: Int64 = 1_000_000

  /// Until when nobody begins another thread, by the system's clock.
  private static let busyEnd = Atomic<Int64>(0)

  /// How often a thread was seen to be without a processor.
  static let starvedCount = Atomic<Int>(0)

  /// Lets nobody begin another thread for `rest` nanoseconds.
  static func noteStarved(rest: Int64) {
    starvedCount.add(1, ordering: .relaxed)
    busyEnd.max(MonotonicClock.system.now + rest, ordering: .relaxed)
  }

  /// On how many processors a call may count.
  static var usableCount: Int { min(count, limit) }

  /// Whether there seems to be one for a second thread.
  static var areIdle: Bool {
    usableCount > 1 && MonotonicClock.system.now >= busyEnd.load(ordering: .relaxed)
  }
}
