import CPlatform
import Synchronization

/// Lets one writer in at a time, in the order of their calls.
///
/// A ticket lock that sleeps. It belongs to no thread: a write may begin on one and end on another.
/// Who leaves wakes the next one and nobody else, and the one behind it, which has then come to its
/// senses when its turn comes: small writes take no longer than a thread takes to wake up.
///
/// Unchecked: the words are atomics in memory that lives as long as the queue.
package final class WriterQueue: @unchecked Sendable {
  private let nextTicket = Atomic<UInt32>(0)
  /// The ticket whose holder may write.
  private let serving = Atomic<UInt32>(0)
  /// What waiters sleep on: each ticket on one of these, which is raised when its turn comes.
  private let words: UnsafeMutablePointer<Atomic<UInt32>>
  private static let wordCount: UInt32 = 64
  /// How often the next one looks for its turn before it sleeps: about 0.1 ms, or not at all where
  /// that would keep the writer from its only processor.
  private static let lookCount = cambium_processor_count() > 1 ? 2000 : 0

  package init() {
    words = .allocate(capacity: Int(Self.wordCount))
    for index in 0..<Int(Self.wordCount) { (words + index).initialize(to: Atomic(0)) }
  }

  deinit {
    words.deinitialize(count: Int(Self.wordCount))
    words.deallocate()
  }

  private func word(_ ticket: UInt32) -> UnsafeMutablePointer<Atomic<UInt32>> {
    words + Int(ticket % Self.wordCount)
  }

  /// How many wait for their turn.
  package var waiterCount: Int {
    let served = serving.load(ordering: .relaxed)
    return max(0, Int(Int32(bitPattern: nextTicket.load(ordering: .relaxed) &- served)) - 1)
  }

  /// Waits for its turn.
  package func enter() {
    let ticket = nextTicket.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
    let word = word(ticket)
    while true {
      let seen = word.pointee.load(ordering: .sequentiallyConsistent)
      let current = serving.load(ordering: .sequentiallyConsistent)
      if current == ticket { return }
      if ticket &- current == 1, comesSoon(ticket) { return }
      _ = cambium_futex_wait(
        UnsafeRawPointer(word).assumingMemoryBound(to: UInt32.self), seen, -1)
    }
  }

  /// Whether the turn of the next one comes at once.
  private func comesSoon(_ ticket: UInt32) -> Bool {
    for _ in 0..<Self.lookCount {
      if serving.load(ordering: .sequentiallyConsistent) == ticket { return true }
      cambium_relax()
    }
    return false
  }

  /// Lets the next one in.
  package func leave() {
    let next = serving.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
    // Who draws a ticket after this looks at whom it serves after that, and does not sleep.
    let waiterCount = nextTicket.load(ordering: .sequentiallyConsistent) &- next
    if waiterCount > 0 { wake(next) }
    if waiterCount > 1 { wake(next &+ 1) }
  }

  private func wake(_ ticket: UInt32) {
    let word = word(ticket)
    word.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
    cambium_futex_wake(UnsafeRawPointer(word).assumingMemoryBound(to: UInt32.self))
  }
}
