import CPlatform
import CambiumCore
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The writer lock of a store within one process.
///
/// If no writer holds the lock, a caller acquires it at once. Otherwise it looks for the lock, in which other threads
/// may run as well, and then sleeps: after a tenth of a millisecond if it is the one who looks without a pause, after
/// 32 looks, each of which lets others run, if it is not.
/// Sleepers are woken in the order in which they came. A thread needs longer to wake up than a small write takes, so
/// nobody is made to wait for that: until the first sleeper is awake, threads that are awake may acquire the lock before
/// it. Once it is awake, or when the write before took longer than a millisecond, the lock is its own. (In strict order
/// the queue of sleepers would never end, because each write would begin by waking somebody: a lock convoy.)
///
/// The lock belongs to no thread: it may be acquired on one and released on another.
public final class WriterQueue: Sendable {
  /// Whether the lock is held (``taken``), and whether it goes to the first sleeper next
  /// (``claimed``).
  private let state = Atomic<UInt32>(0)
  private static let taken: UInt32 = 1
  private static let claimed: UInt32 = 2
  private let sleepers = Mutex<[Sleeper]>([])
  /// How many sleepers there are; only the holder of the writer lock takes one away, itself.
  let sleeperCount = Atomic(0)
  private let waiting = Atomic(0)
  /// When the lock was acquired.
  private let begun = Atomic<Int64>(0)
  private let clock: MonotonicClock
  /// Beside a write that was longer, waking somebody takes no time.
  private static let longNanoseconds: Int64 = 1_000_000
  /// How often a caller looks for the lock before it sleeps: about 0.1 ms, or not at all where that
  /// would keep the writer from its only processor.
  private static let lookCount = cambium_processor_count() > 1 ? 2000 : 0
  /// After so many looks it lets another thread run, if there is one.
  private static let looksPerYield = 256
  /// For so many looks counts one of a caller beside another one who watches, which takes a system call.
  private static let looksPerYieldBesideWatcher = 64
  /// Whether somebody looks for the lock all the time.
  let isWatched = Atomic(false)

  private final class Sleeper: Sendable {
    /// Set by who calls it, unset when it goes to sleep again.
    let isCalled = Atomic(false)
    let signal = CommitSignal()
    /// Called when it holds the writer lock; nil for a thread, which acquires the writer lock itself.
    let then: (@Sendable () -> Void)?

    init(then: (@Sendable () -> Void)? = nil) { self.then = then }
  }

  /// A queue in which nobody waits.
  public convenience init() { self.init(clock: .system) }

  package init(clock: MonotonicClock) { self.clock = clock }

  /// How many wait for the lock.
  public var waiterCount: Int { waiting.load(ordering: .sequentiallyConsistent) }

  /// Waits for the lock and acquires it.
  public func acquire() {
    if !take(from: 0) { wait() }
    begun.store(clock.now, ordering: .relaxed)
  }

  /// Acquires the writer lock if nobody has it and nobody sleeps for it; whether it did.
  public func tryAcquire() -> Bool {
    guard sleeperCount.load(ordering: .sequentiallyConsistent) == 0, take(from: 0) else {
      return false
    }
    begun.store(clock.now, ordering: .relaxed)
    return true
  }

  /// Calls `then` when it holds the writer lock: at once where nobody writes, otherwise on the thread of who
  /// leaves, which it must not keep.
  ///
  /// Served in one order with those who wait on a thread.
  public func acquire(then: @escaping @Sendable () -> Void) {
    if take(from: 0) {
      begun.store(clock.now, ordering: .relaxed)
      return then()
    }
    waiting.add(1, ordering: .sequentiallyConsistent)
    sleepers.withLock { $0.append(Sleeper(then: then)) }
    sleeperCount.add(1, ordering: .sequentiallyConsistent)
    // Who leaves from now on sees it; who left just now may not have.
    callFirst()
  }

  /// Releases the lock, and lets the next one have it.
  public func release() {
    let hasSleepers = sleeperCount.load(ordering: .sequentiallyConsistent) > 0
    if hasSleepers, clock.now - begun.load(ordering: .relaxed) > Self.longNanoseconds {
      state.bitwiseOr(Self.claimed, ordering: .sequentiallyConsistent)
    }
    state.bitwiseAnd(~Self.taken, ordering: .sequentiallyConsistent)
    callFirst()
  }

  /// Acquires the writer lock if the state is `free`.
  private func take(from free: UInt32) -> Bool {
    state.compareExchange(
      expected: free, desired: Self.taken, ordering: .sequentiallyConsistent
    ).exchanged
  }

  /// Acquires the writer lock if the state comes to be `free` soon.
  ///
  /// One caller who may be the next one watches it, so that the lock is not free for long. More would only keep a
  /// processor from those that have something to do: the others let them run between their looks.
  private func look(for free: UInt32) -> Bool {
    var isWatcher = false
    defer { if isWatcher { isWatched.store(false, ordering: .relaxed) } }
    var looks = 0
    while looks < Self.lookCount {
      let seen = state.load(ordering: .relaxed)
      if seen == free, take(from: free) { return true }
      var watches = free == Self.claimed
      if !watches, seen & Self.claimed == 0 {
        if !isWatcher { isWatcher = !isWatched.exchange(true, ordering: .relaxed) }
        watches = isWatcher
      }
      looks += watches ? 1 : Self.looksPerYieldBesideWatcher
      // The holder of the lock may be waiting for this processor, and so may who has just synced for others.
      if watches, looks % Self.looksPerYield > 0 { cambium_relax() } else { sched_yield() }
    }
    return false
  }

  private func wait() {
    waiting.add(1, ordering: .sequentiallyConsistent)
    defer { waiting.subtract(1, ordering: .sequentiallyConsistent) }
    if look(for: 0) { return }
    let sleeper = Sleeper()
    sleepers.withLock { $0.append(sleeper) }
    sleeperCount.add(1, ordering: .sequentiallyConsistent)
    // Who leaves from now on sees it; who left just now may not have.
    if !take(from: 0) { sleep(sleeper) }
    sleepers.withLock { list in list.removeAll { $0 === sleeper } }
    sleeperCount.subtract(1, ordering: .sequentiallyConsistent)
  }

  /// Sleeps until it is the first and has acquired the lock.
  private func sleep(_ sleeper: Sleeper) {
    while true {
      sleeper.signal.wait(timeoutNanoseconds: .max) {
        sleeper.isCalled.load(ordering: .sequentiallyConsistent)
      }
      state.bitwiseOr(Self.claimed, ordering: .sequentiallyConsistent)
      if look(for: Self.claimed) { return }
      sleeper.isCalled.store(false, ordering: .sequentiallyConsistent)
      // Who leaves from now on calls it again; who left just now may not have.
      if take(from: Self.claimed) { return }
    }
  }

  /// Wakes the first sleeper, unless it is awake, or gives it the lock if it is no thread.
  private func callFirst() {
    while sleeperCount.load(ordering: .sequentiallyConsistent) > 0,
      let first = sleepers.withLock({ $0.first })
    {
      if first.then == nil {
        if !first.isCalled.exchange(true, ordering: .sequentiallyConsistent) {
          first.signal.raise()
        }
        return
      }
      // The holder of the writer lock comes here when it leaves.
      let isUnclaimed = take(from: 0)
      guard isUnclaimed || take(from: Self.claimed) else { return }
      if let next = takeCallback() {
        begun.store(clock.now, ordering: .relaxed)
        return next()
      }
      // Meanwhile it was served, and a thread is the first one, which may have claimed the lock and look for that.
      if !isUnclaimed { state.bitwiseOr(Self.claimed, ordering: .sequentiallyConsistent) }
      state.bitwiseAnd(~Self.taken, ordering: .sequentiallyConsistent)
    }
  }

  /// Takes the first sleeper off the list if it is no thread; called by the holder of the writer lock.
  private func takeCallback() -> (@Sendable () -> Void)? {
    let then = sleepers.withLock { list -> (@Sendable () -> Void)? in
      guard let then = list.first?.then else { return nil }
      list.removeFirst()
      return then
    }
    if then != nil {
      sleeperCount.subtract(1, ordering: .sequentiallyConsistent)
      waiting.subtract(1, ordering: .sequentiallyConsistent)
    }
    return then
  }
}
