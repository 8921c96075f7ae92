import CPlatform
import CambiumCore
import Dispatch
import Synchronization

/// A serial dispatch queue, or one that targets it.
///
/// Its blocks run on threads that run others next, and `sync` runs them on the caller's: only the queue
/// itself tells.
struct QueueContext: RealmContext {
  // Kept, as long as its name may be asked for.
  private let queue: DispatchQueue
  private let name: QueueName

  /// The context of `queue`; stops at queues that are not serial.
  init(_ queue: DispatchQueue) {
    // Global queues have no identity of their own: each call wraps them anew.
    guard !queue.label.hasPrefix("com.apple.root.") else {
      fatalError(
        "Invalid queue '\(queue.label)' (global): Realms can only be confined to serial queues "
          + "or the main queue.")
    }
    self.queue = queue
    name = QueueName.of(queue)
  }

  var identity: ContextIdentity { ContextIdentity(kind: "queue", of: name) }

  var isCurrent: Bool { name.isCurrent }

  var ownThread: UInt? { nil }

  var canBeWoken: Bool { true }

  func run(_ job: @escaping @Sendable () -> Void) { queue.async(execute: job) }
}

/// What a queue is recognised by: a value that only it and the queues targeting it hold.
///
/// Unchecked: the key is a constant, and dispatch synchronizes what queues hold under it.
private final class QueueName: @unchecked Sendable {
  private let key = DispatchSpecificKey<Bool>()
  /// Where the queue's label lies, once a block of the queue has said so; 0 before.
  ///
  /// Reading the current queue's label takes a fifth of the time that its values take. On Linux each
  /// queue has a copy of its label, so that the address is the queue's own while the queue lives;
  /// elsewhere queues with equal labels may share one, and this stays 0.
  private let label = Atomic<UInt>(0)
  private static let nameKey = DispatchSpecificKey<QueueName>()
  private static let lock = Mutex(())

  private init() {}

  var isCurrent: Bool {
    let current = cambium_queue_label()
    if current != 0, current == label.load(ordering: .relaxed) { return true }
    return DispatchQueue.getSpecific(key: key) == true
  }

  /// The name of `queue`; always the same one.
  static func of(_ queue: DispatchQueue) -> QueueName {
    lock.withLock { _ in
      if let name = queue.getSpecific(key: nameKey) { return name }
      let name = QueueName()
      queue.setSpecific(key: name.key, value: true)
      queue.setSpecific(key: nameKey, value: name)
      // The caller may be on a queue that targets this one, whose label is another.
      queue.async { name.label.store(cambium_queue_label(), ordering: .relaxed) }
      return name
    }
  }
}
