import CPlatform
import Synchronization

/// Lets one writer in at a time, in the order of their calls.
///
/// A ticket lock that sleeps. It belongs to no thread: a write may begin on one and end on another.
///
/// Unchecked: the two words are atomics in memory that lives as long as the queue.
package final class WriterQueue: @unchecked Sendable {
  private let nextTicket = Atomic<UInt32>(0)
  /// The ticket whose holder may write; its address is what waiters sleep on.
  private let serving: UnsafeMutablePointer<Atomic<UInt32>>

  package init() {
    serving = .allocate(capacity: 1)
    serving.initialize(to: Atomic(0))
  }

  deinit {
    serving.deinitialize(count: 1)
    serving.deallocate()
  }

  /// Waits for its turn.
  package func enter() {
    let ticket = nextTicket.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
    while true {
      let current = serving.pointee.load(ordering: .sequentiallyConsistent)
      if current == ticket { return }
      _ = cambium_futex_wait(
        UnsafeRawPointer(serving).assumingMemoryBound(to: UInt32.self), current, -1)
    }
  }

  /// Lets the next one in.
  package func leave() {
    let next = serving.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
    // Who draws a ticket after this looks at whom it serves after that, and does not sleep.
    if nextTicket.load(ordering: .sequentiallyConsistent) == next { return }
    cambium_futex_wake(UnsafeRawPointer(serving).assumingMemoryBound(to: UInt32.self))
  }
}
