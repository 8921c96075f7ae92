import CPlatform
import CambiumCore
import Dispatch

/// The main thread, or whatever runs on the main queue.
///
/// The main queue need not be drained by the main thread: not in a program with an `async` main, nor
/// after `dispatchMain()`.
struct MainContext: RealmContext {
  static let shared = MainContext()
  private let queue = QueueContext(.main)

  /// The context of `queue`; stops at queues that are not serial.
  ///
  /// Each call may wrap the main queue in another object.
  static func context(of queue: DispatchQueue) -> any RealmContext {
    let context = QueueContext(queue)
    return context.identity == shared.queue.identity ? shared : context
  }

  var identity: ContextIdentity { ContextIdentity(kind: "main", number: 0) }

  var isCurrent: Bool { cambium_is_main_thread() || queue.isCurrent }

  // A thread of the pool that drains the main queue does other things next.
  var ownThread: UInt? { cambium_is_main_thread() ? cambium_thread_pointer() : nil }

  var canBeWoken: Bool { true }

  func run(_ job: @escaping @Sendable () -> Void) { queue.run(job) }
}
