import CPlatform
import CambiumCore

/// A context to which a live Realm is confined: only code that runs there may use it.
protocol RealmContext: ExecutionContext {
  /// The control block of a thread on which nothing else runs: whoever is on it is in the context. Nil
  /// where the context has to be asked each time, because its thread may go on to something else.
  var ownThread: UInt? { get }

  /// Whether the context is still there: the identity of one that is not may be another's.
  var isAlive: Bool { get }
}

extension RealmContext {
  var isAlive: Bool { true }
}

/// Where a Realm is opened that names no queue and no actor.
enum CallingContext {
  static var current: any RealmContext {
    MainContext.shared.isCurrent ? MainContext.shared : ThreadContext.current
  }
}
