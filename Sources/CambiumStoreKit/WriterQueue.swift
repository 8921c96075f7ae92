import CPlatform
import CambiumCore
import Synchronization

/// Lets one writer in at a time.
///
/// Who comes while nobody writes begins at once; who comes while somebody does looks for its turn for a
/// moment, and then sleeps. Sleepers are called in the order in which they came. Waking up takes a
/// thread longer than a small write takes, so nobody is made to wait for that: while the first sleeper
/// comes to its senses, those who are awake may go before it. From then on the next turn is its own, and
/// after a long turn it is so from the start. (Strict order makes a queue of sleepers that never ends,
/// since each turn then begins with waking somebody: a lock convoy.)
///
/// Belongs to no thread: a write may begin on one and end on another.
public final class WriterQueue: Sendable {
  /// Whether somebody writes (``taken``), and whether the next turn is the first sleeper's
  /// (``claimed``).
  private let state = Atomic<UInt32>(0)
  private static let taken: UInt32 = 1
  private static let claimed: UInt32 = 2
  private let sleepers = Mutex<[Sleeper]>([])
  /// How many sleepers there are; only who has the turn takes one away, itself.
  let sleeperCount = Atomic(0)
  private let waiting = Atomic(0)
  /// When the turn began.
  private let begun = Atomic<Int64>(0)
  private let clock: MonotonicClock
  /// Beside a turn that was longer, waking somebody takes no time.
  private static let longNanoseconds: Int64 = 1_000_000
  /// How often somebody looks for its turn before it sleeps: about 0.1 ms, or not at all where that
  /// would keep the writer from its only processor.
  private static let lookCount = cambium_processor_count() > 1 ? 2000 : 0

  private final class Sleeper: Sendable {
    /// Set by who calls it, unset when it goes to sleep again.
    let isCalled = Atomic(false)
    let signal = CommitSignal()
    /// Called when it has the turn; nil for a thread, which takes the turn itself.
    let then: (@Sendable () -> Void)?

    init(then: (@Sendable () -> Void)? = nil) { self.then = then }
  }

  /// A queue in which nobody waits.
  public convenience init() { self.init(clock: .system) }

  package init(clock: MonotonicClock) { self.clock = clock }

  /// How many wait for their turn.
  public var waiterCount: Int { waiting.load(ordering: .sequentiallyConsistent) }

  /// Waits for its turn.
  public func enter() {
    if !take(from: 0) { wait() }
    begun.store(clock.now, ordering: .relaxed)
  }

  /// Takes the turn if nobody has it and nobody sleeps for it; whether it did.
  public func enterIfFree() -> Bool {
    guard sleeperCount.load(ordering: .sequentiallyConsistent) == 0, take(from: 0) else {
      return false
    }
    begun.store(clock.now, ordering: .relaxed)
    return true
  }

  /// Calls `then` when it has the turn: at once where nobody writes, otherwise on the thread of who
  /// leaves, which it must not keep.
  ///
  /// Served in one order with those who wait on a thread.
  public func enter(then: @escaping @Sendable () -> Void) {
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

  /// Lets the next one in.
  public func leave() {
    let hasSleepers = sleeperCount.load(ordering: .sequentiallyConsistent) > 0
    if hasSleepers, clock.now - begun.load(ordering: .relaxed) > Self.longNanoseconds {
      state.bitwiseOr(Self.claimed, ordering: .sequentiallyConsistent)
    }
    state.bitwiseAnd(~Self.taken, ordering: .sequentiallyConsistent)
    callFirst()
  }

  /// Takes the turn if the state is `free`.
  private func take(from free: UInt32) -> Bool {
    state.compareExchange(
      expected: free, desired: Self.taken, ordering: .sequentiallyConsistent
    ).exchanged
  }

  /// Takes the turn if the state comes to be `free` soon.
  private func look(for free: UInt32) -> Bool {
    for _ in 0..<Self.lookCount {
      if state.load(ordering: .relaxed) == free, take(from: free) { return true }
      cambium_relax()
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

  /// Sleeps until it is the first and has taken the turn.
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

  /// Wakes the first sleeper, unless it is awake, or gives it the turn if it is no thread.
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
      // Who has the turn comes here when it leaves.
      guard take(from: 0) || take(from: Self.claimed) else { return }
      if let next = takeCallback() {
        begun.store(clock.now, ordering: .relaxed)
        return next()
      }
      // Meanwhile it was served, and a thread is the first one.
      state.bitwiseAnd(~Self.taken, ordering: .sequentiallyConsistent)
    }
  }

  /// Takes the first sleeper off the list if it is no thread; called by who has the turn.
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
