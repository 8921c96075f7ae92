import CPlatform
import Dispatch
import Foundation

/// To what a live Realm is bound; only code that runs there may use it.
enum Confinement {
  /// One thread, by its token: handles are used again after a thread has ended, tokens are not.
  case thread(UInt64)
  /// The main thread or whatever runs on the main queue.
  case main
  /// A serial dispatch queue, or one that targets it.
  case queue(QueueIdentity)
  /// None: a frozen Realm may be read anywhere.
  case none

  /// Where the caller is, when it names no queue.
  static var current: Confinement {
    MainQueue.isCurrent ? .main : .thread(cambium_thread_token())
  }

  /// Whether the caller is there now.
  var isCurrent: Bool {
    switch self {
    case .thread(let token): cambium_thread_token() == token
    case .main: MainQueue.isCurrent
    case .queue(let identity): identity.isCurrent
    case .none: true
    }
  }

  /// What tells apart instances of one database.
  var key: Key {
    switch self {
    case .thread(let token): .thread(token)
    case .main: .main
    case .queue(let identity): .queue(ObjectIdentifier(identity))
    case .none: .none
    }
  }

  /// Names a context.
  enum Key: Hashable, Sendable {
    case thread(UInt64), main, queue(ObjectIdentifier), none
  }
}

/// Recognises the main context.
///
/// The main queue need not be drained by the main thread, so the thread alone does not tell.
enum MainQueue {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true || Thread.isMainThread }
}

/// A serial queue, recognised by a value that only it and the queues targeting it hold.
///
/// Unchecked: the key is a constant, and dispatch synchronizes what queues hold under it.
final class QueueIdentity: @unchecked Sendable {
  private let key = DispatchSpecificKey<Bool>()
  private static let identityKey = DispatchSpecificKey<QueueIdentity>()

  private init() {}

  var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

  /// The identity of `queue`; always the same one.
  ///
  /// Stops at queues that are not serial.
  static func of(_ queue: DispatchQueue) -> QueueIdentity {
    // Global queues have no identity of their own: each call wraps them anew.
    guard !queue.label.hasPrefix("com.apple.root.") else {
      fatalError(
        "Invalid queue '\(queue.label)' (global): Realms can only be confined to serial queues "
          + "or the main queue.")
    }
    return lock.withLock {
      if let identity = queue.getSpecific(key: identityKey) { return identity }
      let identity = QueueIdentity()
      queue.setSpecific(key: identity.key, value: true)
      queue.setSpecific(key: identityKey, value: identity)
      return identity
    }
  }

  private static let lock = NSLock()
}

/// What a thread leaves behind when it ends: its Realms must not pass for those of a thread that
/// later gets the same control block.
final class ThreadContext {
  private var instances: [WeakInstance] = []
  private static let name = "cambium.thread"

  /// The calling thread's, made at first use and released when the thread ends.
  static var current: ThreadContext {
    let dictionary = Thread.current.threadDictionary
    if let context = dictionary[name] as? ThreadContext { return context }
    let context = ThreadContext()
    dictionary[name] = context
    return context
  }

  func insert(_ instance: RealmInstance) {
    instances.removeAll { $0.isGone }
    instances.append(WeakInstance(instance))
  }

  deinit { for instance in instances { instance.value?.threadHasEnded() } }
}
