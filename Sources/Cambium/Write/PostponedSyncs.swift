import CambiumCore
import Synchronization

/// The commits of a run of blocks, for which the medium is asked when the run is over: one sync covers them
/// then, and does not disturb the blocks.
///
/// A block may wait for what it has committed itself, so nothing waits for the end of a run for long.
/// Thread-safe.
final class PostponedSyncs: Sendable {
  private let waiting = Mutex<[@Sendable () -> Void]>([])
  private let job = BackgroundJob(.shared)
  private static let delayNanoseconds: Int64 = 10_000_000

  /// Adds what asks for a commit.
  func add(_ sync: @escaping @Sendable () -> Void) {
    let isFirst = waiting.withLock { waiting in
      waiting.append(sync)
      return waiting.count == 1
    }
    if !isFirst { return }
    job.schedule(at: job.now + Self.delayNanoseconds) { [weak self] _ in
      self?.ask()
      return nil
    }
  }

  /// Asks for all of them.
  func ask() {
    let waiting = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    for sync in waiting { sync() }
  }
}
