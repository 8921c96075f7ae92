import Foundation
import Synchronization

/// Work that undoes itself when a signal is to end the process: it is asked to stop, and the process ends when it
/// has.
///
/// For what other threads cannot undo. A second signal ends the process without waiting for the work.
final class StopRequest: Sendable {
  /// What ``check()`` throws; nobody gets to see it.
  struct Asked: Error {}

  private let isAsked = Atomic<Bool>(false)
  private let isOver = DispatchSemaphore(value: 0)
  private let cleanup = Mutex<Cleanup?>(nil)

  init() {
    let cleanup = Cleanup(
      again: { [isOver] in isOver.signal() },
      { [self] in
        isAsked.store(true, ordering: .relaxed)
        isOver.wait()
      })
    self.cleanup.withLock { $0 = cleanup }
  }

  /// Throws when the work shall end.
  func check() throws(Asked) { if isAsked.load(ordering: .relaxed) { throw Asked() } }

  /// The work has ended, and was undone if it was asked to; does not return when the process ends now.
  func end() {
    isOver.signal()
    cleanup.withLock { $0.take() }?.forget()
  }
}
