import CPlatform
import Synchronization

/// Wakes those who wait for a commit.
///
/// Unchecked: the word is an atomic in memory that lives as long as the signal.
package final class CommitSignal: @unchecked Sendable {
  private let count: UnsafeMutablePointer<Atomic<UInt32>>
  private let waiterCount = Atomic<Int>(0)

  package init() {
    count = .allocate(capacity: 1)
    count.initialize(to: Atomic(0))
  }

  deinit {
    count.deinitialize(count: 1)
    count.deallocate()
  }

  /// Wakes all waiters.
  package func raise() {
    count.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
    guard waiterCount.load(ordering: .sequentiallyConsistent) > 0 else { return }
    cambium_futex_wake(UnsafeRawPointer(count).assumingMemoryBound(to: UInt32.self))
  }

  /// Waits until `condition` holds, asking it again after each ``raise()``, at most
  /// `timeoutNanoseconds`.
  package func wait(timeoutNanoseconds: Int64, until condition: () -> Bool) {
    waiterCount.wrappingAdd(1, ordering: .sequentiallyConsistent)
    defer { waiterCount.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
    let clock = ContinuousClock()
    let end = clock.now.advanced(by: .nanoseconds(max(0, timeoutNanoseconds)))
    while true {
      let seen = count.pointee.load(ordering: .sequentiallyConsistent)
      if condition() { return }
      let (seconds, attoseconds) = clock.now.duration(to: end).components
      // A wait is cut at an hour, so that the sum below cannot overflow.
      let left = min(seconds, 3600) * 1_000_000_000 + attoseconds / 1_000_000_000
      if left <= 0 { return }
      _ = cambium_futex_wait(
        UnsafeRawPointer(count).assumingMemoryBound(to: UInt32.self), seen, left)
    }
  }
}
