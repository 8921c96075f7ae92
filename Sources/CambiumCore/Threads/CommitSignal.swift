import CPlatform
import Synchronization

/// Wakes those who wait for a commit.
///
/// Unchecked: the words are atomics in memory that lives as long as the signal.
@safe public final class CommitSignal: @unchecked Sendable {
  /// How many times it was raised, and how many wait.
  private let words: UnsafeMutablePointer<Atomic<UInt32>>
  /// Keeps the words alive; nil when they are this object's.
  private let owner: AnyObject?

  /// A signal for this process.
  public init() {
    owner = nil
    unsafe words = .allocate(capacity: 2)
    unsafe words.initialize(to: Atomic(0))
    unsafe (words + 1).initialize(to: Atomic(0))
  }

  /// A signal between all who share the two words at `words`, which live as long as `owner`.
  ///
  /// A process that dies while it waits leaves a count of waiters that is too high, which costs a
  /// system call per commit and nothing else.
  package init(words: UnsafeMutablePointer<Atomic<UInt32>>, of owner: AnyObject) {
    unsafe self.words = unsafe words
    self.owner = owner
  }

  deinit {
    guard owner == nil else { return }
    unsafe words.deinitialize(count: 2)
    unsafe words.deallocate()
  }

  private var isShared: Bool { owner != nil }
  private var futexWord: UnsafePointer<UInt32> {
    unsafe UnsafeRawPointer(count).assumingMemoryBound(to: UInt32.self)
  }
  private var count: UnsafeMutablePointer<Atomic<UInt32>> { unsafe words }
  private var waiterCount: UnsafeMutablePointer<Atomic<UInt32>> { unsafe words + 1 }

  /// How many times it was raised.
  var raiseCount: UInt32 { unsafe count.pointee.load(ordering: .sequentiallyConsistent) }

  /// Counts one waiter more, or with -1 less, of those who wait in ``waitForAny(_:timeoutNanoseconds:)``.
  func countWaiters(_ change: Int) {
    unsafe waiterCount.pointee.wrappingAdd(
      UInt32(truncatingIfNeeded: change), ordering: .sequentiallyConsistent)
  }

  /// Waits until one of the signals is raised above the count that was seen, at most
  /// `timeoutNanoseconds`, or for ever if that is negative; false where the system cannot wait for
  /// several.
  ///
  /// The caller has counted itself as a waiter of each before it saw the counts.
  static func waitForAny(
    _ signals: [(signal: CommitSignal, seen: UInt32)], timeoutNanoseconds: Int64
  ) -> Bool {
    let words = unsafe signals.map {
      unsafe cambium_futex_expectation(
        word: $0.signal.futexWord, expected: $0.seen, is_shared: $0.signal.isShared)
    }
    return withExtendedLifetime(signals) {
      unsafe cambium_futex_wait_any(words, Int32(words.count), timeoutNanoseconds)
    }
  }

  /// How many signals can be waited for at a time.
  static let waitLimit = Int(CAMBIUM_FUTEX_LIMIT)

  /// Wakes all waiters.
  public func raise() {
    unsafe count.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
    guard unsafe waiterCount.pointee.load(ordering: .sequentiallyConsistent) > 0 else { return }
    unsafe cambium_futex_wake(futexWord, isShared)
  }

  /// Waits until `condition` holds, asking it again after each ``raise()``, at most
  /// `timeoutNanoseconds`.
  public func wait(timeoutNanoseconds: Int64, until condition: () -> Bool) {
    unsafe waiterCount.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
    defer { unsafe waiterCount.pointee.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
    let begin = MonotonicClock.system.now
    while true {
      let seen = unsafe count.pointee.load(ordering: .sequentiallyConsistent)
      if condition() { return }
      let left = timeoutNanoseconds - (MonotonicClock.system.now - begin)
      if left <= 0 { return }
      _ = unsafe cambium_futex_wait(futexWord, seen, left, isShared)
    }
  }
}
