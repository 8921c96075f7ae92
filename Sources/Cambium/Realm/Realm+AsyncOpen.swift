import Dispatch
import Foundation
import Synchronization

extension Realm {
  /// Opens a Realm in the background and hands it to `callback`, which is called on `callbackQueue`,
  /// exactly once, with a Realm that belongs to that queue.
  ///
  /// `callbackQueue` has to be serial. The file is opened, compacted and migrated on another thread. May
  /// be called on any thread; the error that the callback gets is a `Realm.Error`, or, when the task was
  /// cancelled, `ECANCELED` in `NSPOSIXErrorDomain`.
  @discardableResult
  public static func asyncOpen(
    configuration: Realm.Configuration = .defaultConfiguration,
    callbackQueue: DispatchQueue = .main,
    callback: @escaping (Result<Realm, Swift.Error>) -> Void
  ) -> Realm.AsyncOpenTask {
    let opening = AsyncOpening(callbackQueue, callback)
    BlockingCalls.openings.run {
      let database = Result { try RealmInstance.prepare(configuration) }
      opening.finish {
        try withExtendedLifetime(database.get()) {
          try Realm(configuration: configuration, queue: callbackQueue)
        }
      }
    }
    return AsyncOpenTask(opening: opening)
  }

  /// An opening that was begun by ``asyncOpen(configuration:callbackQueue:callback:)``.
  @frozen public struct AsyncOpenTask: Sendable {
    @usableFromInline let opening: AsyncOpening

    /// Gives the opening up: unless the callback was called before, it gets the error `ECANCELED`.
    ///
    /// What has been done to the file by then stays. May be called on any thread, more than once.
    public func cancel() {
      opening.finish {
        throw NSError(
          domain: NSPOSIXErrorDomain, code: Int(POSIXErrorCode.ECANCELED.rawValue),
          userInfo: [NSLocalizedDescriptionKey: "Operation canceled"])
      }
    }
  }
}

/// Who waits for an opening.
///
/// Unchecked: the callback is called once, on its queue alone, and let go there.
@usableFromInline final class AsyncOpening: @unchecked Sendable {
  private let queue: DispatchQueue
  private var callback: ((Result<Realm, Swift.Error>) -> Void)?
  private let isFinished = Atomic(false)

  init(_ queue: DispatchQueue, _ callback: @escaping (Result<Realm, Swift.Error>) -> Void) {
    self.queue = queue
    self.callback = callback
  }

  /// Calls the callback with what `open` gives on the queue, unless it has been called.
  func finish(_ open: @escaping @Sendable () throws -> Realm) {
    if isFinished.exchange(true, ordering: .acquiringAndReleasing) { return }
    queue.async { [self] in
      let callback = callback
      self.callback = nil
      callback?(Result { try open() })
    }
  }
}
