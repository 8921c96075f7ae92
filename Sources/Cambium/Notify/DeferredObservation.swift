import Dispatch

extension RealmInstance {
  /// Observes a value on a queue, with `observe`, which gets the queue's own value.
  ///
  /// Nothing is observed when the value is gone by then, or when the Realm cannot be opened there.
  func `defer`<Value: ThreadConfined>(
    _ value: Value, to queue: DispatchQueue,
    _ observe: @escaping (Value) -> NotificationToken
  ) -> NotificationToken {
    let token = DeferredToken()
    let registration = Registration(
      reference: reference(observing: value), configuration: configuration, observe: observe)
    queue.async { [weak token] in
      guard let token, token.isWanted,
        let realm = try? Realm(configuration: registration.configuration, queue: queue),
        let value = realm.resolve(registration.reference)
      else { return }
      token.complete(registration.observe(value))
    }
    return token
  }

  /// The Realm of an observed collection; stops when it has none, or is frozen.
  static func observed(_ realm: Realm?) -> RealmInstance {
    guard let realm else {
      fatalError("Change notifications are only supported on managed collections.")
    }
    realm.instance.checkChanging()
    return realm.instance
  }

  /// Stops at frozen Realms, which do not change.
  func checkChanging() {
    if isFrozen {
      fatalError("Frozen Realms do not change and do not have change notifications.")
    }
  }

  /// What takes a value to where it is observed.
  ///
  /// Stops at Realms that have no notifications, and in transactions that have changed something: elsewhere that is
  /// seen after the commit alone.
  func reference<Value: ThreadConfined>(observing value: Value) -> ThreadSafeReference<Value> {
    verify()
    guard !configuration.readOnly else {
      fatalError("Read-only Realms do not change and do not have change notifications.")
    }
    checkUnchanged()
    return ThreadSafeReference(to: value)
  }
}

/// An observer on its way to its queue.
///
/// Unchecked: the block is called on the queue alone.
private final class Registration<Value: ThreadConfined>: @unchecked Sendable {
  let reference: ThreadSafeReference<Value>
  let configuration: Realm.Configuration
  let observe: (Value) -> NotificationToken

  init(
    reference: ThreadSafeReference<Value>, configuration: Realm.Configuration,
    observe: @escaping (Value) -> NotificationToken
  ) {
    self.reference = reference
    self.configuration = configuration
    self.observe = observe
  }
}

/// Registers observers on actors.
enum ActorObservation {
  /// Resolves a reference on `actor` and lets `observe` register `block` there; an invalid token when the
  /// value is gone, the Realm cannot be opened, or the task was cancelled.
  static func register<A: Actor, Value: ThreadConfined, Change>(
    _ reference: ThreadSafeReference<Value>, _ configuration: Realm.Configuration,
    on actor: isolated A,
    _ block: @Sendable @escaping (isolated A, Change) -> Void,
    _ observe: @Sendable (Value, @escaping (Change) -> Void) -> NotificationToken
  ) async -> NotificationToken {
    guard !Task.isCancelled,
      let realm = try? await Realm(configuration: configuration, actor: actor),
      let value = realm.resolve(reference)
    else { return NotificationToken() }
    return observe(value) { [weak actor] change in
      // Unchecked: observers run on the actor whose value they were given.
      nonisolated(unsafe) let change = change
      actor?.assumeIsolated { unsafe block($0, change) }
    }
  }
}
