import CPlatform
import Synchronization

/// Work in parts, each of which is done once, by whatever thread comes first: the caller's, or one that
/// was started for it.
///
/// A thread that gets no processor costs nothing before it has begun a part, the caller does it then; and
/// one that loses its processor in the middle of a part is waited for and told to ``Processors``.
///
/// Unchecked: parts are claimed by an atomic counter, what they did is handed over by a release and an
/// acquire of another one, and the body is changed only when no part is under way.
@safe final class ParallelParts: @unchecked Sendable {
  typealias Body = (Int) throws(StoreError) -> Void

  private let count: Int
  /// Does a part; nil when all are done, so that a thread that comes late keeps nothing alive.
  private var body: Body?
  /// What each part threw.
  private let errors: UnsafeMutablePointer<StoreError?>
  private let next = Atomic<Int>(0)
  /// How many parts are done.
  private let done = Atomic<Int>(0)
  /// Raised when all parts are done.
  private let end = CommitSignal()
  /// How often the caller looks before it sleeps: to be woken takes longer than most waits.
  private static let lookCount = 4_000

  private init(_ count: Int, _ body: @escaping Body) {
    self.count = count
    self.body = body
    unsafe errors = .allocate(capacity: count)
    unsafe errors.initialize(repeating: nil, count: count)
  }

  deinit {
    unsafe errors.deinitialize(count: count)
    unsafe errors.deallocate()
  }

  /// Into how many parts work is best cut that takes long enough for a thread of its own: one for each
  /// processor that may be used; one when none is idle.
  static var idleCount: Int { Processors.areIdle ? Processors.usableCount : 1 }

  /// Calls `body` once with each number below `count`, at the same time where processors are idle, and
  /// returns when all of that is done; throws what the first part that failed has thrown.
  ///
  /// Parts must not touch what another one changes.
  static func run(
    _ count: Int, clock: MonotonicClock = .system, _ body: @escaping Body
  ) throws(StoreError) {
    precondition(count > 0, "Work has at least one part.")
    if count == 1 { return try body(0) }
    let parts = ParallelParts(count, body)
    // Where the system has no further thread the others do its parts.
    for _ in 1..<count { _ = DetachedThread.start { parts.work() } }
    let start = clock.now
    parts.work()
    let end = clock.now
    parts.wait()
    // Parts take about as long as each other. Whatever is lost here is a twentieth of the time at most.
    let wait = clock.now - end
    if wait > max(Processors.starvedWait, end - start) {
      Processors.noteStarved(rest: wait * 20)
    }
    parts.body = nil
    for part in 0..<count {
      if let error = unsafe parts.errors[part] { throw error }
    }
  }

  /// Does parts as long as there are some.
  private func work() {
    while true {
      let part = next.add(1, ordering: .relaxed).oldValue
      if part >= count { return }
      perform(part)
      if done.add(1, ordering: .releasing).newValue == count { end.raise() }
    }
  }

  /// Not inlined: whatever it holds is let go before the part counts as done.
  @inline(never) private func perform(_ part: Int) {
    do throws(StoreError) { try body?(part) } catch { unsafe errors[part] = error }
  }

  /// Waits until all parts are done, each of which was begun.
  private func wait() {
    for _ in 0..<Self.lookCount {
      if done.load(ordering: .acquiring) == count { return }
      cambium_relax()
    }
    end.wait(timeoutNanoseconds: .max) { done.load(ordering: .acquiring) == count }
  }
}
