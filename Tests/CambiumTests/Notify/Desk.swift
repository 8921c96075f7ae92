import Cambium
import Dispatch
import Foundation
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

  func note<Sections>(_ name: String, _ change: SectionedResultsChange<Sections>) {
    func paths(_ paths: [IndexPath]) -> [[Int]] { paths.map { Array($0) } }
    switch change {
    case .initial: note("\(name) initial")
    case .update(_, let deletions, let insertions, let modifications, let came, let gone):
      note(
        "\(name) -\(paths(deletions)) +\(paths(insertions)) ~\(paths(modifications)) "
          + "S+\(Array(came)) S-\(Array(gone))")
    }
  }

  /// The next thing that was told.
  func next() async -> String {
    await withCheckedContinuation { continuation in
      // Not on a thread that tasks run on.
      DispatchQueue(label: "desk").async { [self] in
        told.wait()
        continuation.resume(returning: log.withLock { $0.removeFirst() })
      }
    }
  }

  /// What observers have been told until now, and of what the Realm sees.
  func told() async -> [String] { await told { _ in } }

  /// The same after `change`.
  func told(_ change: (Realm) throws -> Void) async rethrows -> [String] {
    try run { realm in
      try change(realm)
      realm.refresh()
      note("end")
    }
    var told: [String] = []
    while case let text = await next(), text != "end" { told.append(text) }
    return told
  }

  func run<Value>(_ body: (Realm) throws -> Value) rethrows -> Value {
    try queue.sync { try body(realm) }
  }
}
