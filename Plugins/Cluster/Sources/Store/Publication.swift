import CambiumCore
import Synchronization

/// What becomes of a commit that is on its way to the root: whoever waits for it learns that here.
///
/// Thread-safe.
final class Publication: Sendable {
  private let outcome = Mutex<Result<Void, StoreError>?>(nil)
  private let waiters = Atomic(0)
  private let signal = CommitSignal()

  /// What has become of it; nil while it is on its way.
  var result: Result<Void, StoreError>? { outcome.withLock { $0 } }

  /// Whether somebody waits for it.
  var hasWaiters: Bool { waiters.load(ordering: .sequentiallyConsistent) > 0 }

  /// It is in the root, or will never be, or nobody can tell.
  func end(_ result: Result<Void, StoreError>) {
    outcome.withLock { $0 = result }
    signal.raise()
  }

  /// Lets who waits for it look around.
  func call() { signal.raise() }

  /// Waits until it has ended, or `condition` holds when ``call()`` was called.
  func wait(or condition: () -> Bool) {
    waiters.add(1, ordering: .sequentiallyConsistent)
    defer { waiters.subtract(1, ordering: .sequentiallyConsistent) }
    signal.wait(timeoutNanoseconds: .max) { result != nil || condition() }
  }
}
