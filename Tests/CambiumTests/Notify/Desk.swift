import Cambium
import Dispatch
import Synchronization

/// A serial queue with a Realm, and what its observers were told.
final class Desk: @unchecked Sendable {
  // Unchecked: everything but the log is used on the queue alone.
  let queue = DispatchQueue(label: "desk")
  let configuration: Realm.Configuration
  var realm: Realm!
  var tokens: [NotificationToken] = []
  private let log = Mutex<[String]>([])
  private let told = DispatchSemaphore(value: 0)

  init(_ configuration: Realm.Configuration) throws {
    self.configuration = configuration
    try queue.sync { realm = try Realm(configuration: configuration, queue: queue) }
  }

  func note(_ text: String) {
    log.withLock { $0.append(text) }
    told.signal()
  }

  func note<Collection: RealmCollection>(_ change: RealmCollectionChange<Collection>) {
    switch change {
    case .initial(let collection): note("initial \(collection.count)")
    case .update(_, let deletions, let insertions, let modifications):
      note("-\(deletions) +\(insertions) ~\(modifications)")
    case .error: note("error")
    }
  }

  /// The next thing that was told.
  func next() async -> String {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [self] in
        told.wait()
        continuation.resume(returning: log.withLock { $0.removeFirst() })
      }
    }
  }

  func run<Value>(_ body: (Realm) throws -> Value) rethrows -> Value {
    try queue.sync { try body(realm) }
  }
}
