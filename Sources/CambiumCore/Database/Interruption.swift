import Synchronization

/// Asks long evaluations to give up: at a deadline, or when somebody cancels them.
///
/// Who evaluates asks ``check()`` at every leaf, which is every thousand rows or so. May be used by any
/// number of threads.
public final class Interruption: Sendable {
  /// Why an evaluation gave up.
  public enum Reason: UInt8, Sendable {
    /// The time was over.
    case deadline = 1
    /// Somebody called ``Interruption/cancel()``.
    case cancellation
  }

  /// Whether the time is over.
  private let isOver: (@Sendable () -> Bool)?
  private let isCancelled = Atomic(false)
  /// The raw value of the reason for which the first evaluation gave up; 0 while none did.
  private let given = Atomic<UInt8>(0)

  /// Interrupts after `timeout` from now on, or only when it is cancelled.
  public convenience init(after timeout: Duration?) {
    guard let timeout else {
      self.init(when: nil)
      return
    }
    let deadline = ContinuousClock.now.advanced(by: timeout)
    self.init(when: { deadline <= .now })
  }

  /// Interrupts as soon as `isOver` says so, which every check asks, or only when it is cancelled.
  package init(when isOver: (@Sendable () -> Bool)?) { self.isOver = isOver }

  /// Why evaluations gave up; nil while none did.
  public var reason: Reason? { Reason(rawValue: given.load(ordering: .acquiring)) }

  /// Lets evaluations give up at once.
  public func cancel() { isCancelled.store(true, ordering: .releasing) }

  /// Throws ``StoreError/interrupted`` when an evaluation is to give up; all later ones are, too.
  public func check() throws(StoreError) {
    if reason != nil { throw .interrupted }
    if isCancelled.load(ordering: .acquiring) { throw giveUp(.cancellation) }
    if let isOver, isOver() { throw giveUp(.deadline) }
  }

  private func giveUp(_ reason: Reason) -> StoreError {
    _ = given.compareExchange(
      expected: 0, desired: reason.rawValue, ordering: .acquiringAndReleasing)
    return .interrupted
  }
}
