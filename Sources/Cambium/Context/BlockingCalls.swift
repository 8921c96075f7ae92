import Dispatch
import Foundation
import Synchronization

/// Runs calls that compute or wait for long, so many at a time, each on a thread that no task misses.
///
/// The threads of the system's concurrent queues are those that Swift's tasks run on, and there are no more than cores:
/// a few long calls there would keep all tasks waiting. A serial queue has a thread of its own.
///
/// Thread-safe.
final class BlockingCalls: Sendable {
  /// Reads of tasks.
  static let reads = BlockingCalls()
  /// Openings of databases, which may wait for each other.
  static let openings = BlockingCalls()

  private struct State {
    var waiting: [@Sendable () -> Void] = []
    var workerCount = 0
  }

  private let state = Mutex(State())
  private let limit = max(8, 2 * ProcessInfo.processInfo.activeProcessorCount)

  /// Runs `body` soon; calls that wait begin in their order.
  func run(_ body: @escaping @Sendable () -> Void) {
    let needsWorker = state.withLock { state in
      state.waiting.append(body)
      guard state.workerCount < limit else { return false }
      state.workerCount += 1
      return true
    }
    if needsWorker { DispatchQueue(label: "cambium.calls").async { self.work() } }
  }

  private func work() {
    while let body = next() { autoreleasepool { body() } }
  }

  /// The call that waits longest; nil when the worker ends because there is none.
  private func next() -> (@Sendable () -> Void)? {
    state.withLock { state in
      if state.waiting.isEmpty {
        state.workerCount -= 1
        return nil
      }
      return state.waiting.removeFirst()
    }
  }
}
