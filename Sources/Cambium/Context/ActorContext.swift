import CPlatform
import CambiumCore

/// An actor, whatever thread runs it.
///
/// Unchecked: the reference is never assigned again; that it becomes nil is the runtime's doing.
final class ActorContext: RealmContext, @unchecked Sendable {
  // Not kept: actors keep Realms.
  private weak var actor: (any Actor)?
  private let executor: (identity: UInt, implementation: UInt)
  let identity: ContextIdentity

  init(_ actor: any Actor) {
    self.actor = actor
    executor = unsafe unsafeBitCast(
      actor.unownedExecutor, to: (identity: UInt, implementation: UInt).self)
    identity = ContextIdentity(kind: "actor", of: actor)
  }

  var isCurrent: Bool {
    // The executor of an actor that brings none is the actor itself. Were it gone, and another in its
    // place, that one alone would pass.
    if executor.implementation != 0, !isAlive { return false }
    return cambium_is_current_executor(executor.identity, executor.implementation)
  }

  var ownThread: UInt? { nil }

  var isAlive: Bool { actor != nil }

  var canBeWoken: Bool { isAlive }

  func run(_ job: @escaping @Sendable () -> Void) {
    Task { [weak actor] in await actor?.perform(job) }
  }
}

extension Actor {
  fileprivate func perform(_ job: @Sendable () -> Void) { job() }
}
