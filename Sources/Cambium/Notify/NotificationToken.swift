import Synchronization

/// Keeps an observer: as long as somebody holds the token, its block is called.
///
/// A token keeps its Realm open. May be held and released anywhere.
open class NotificationToken: @unchecked Sendable, Hashable {
  // Unchecked: this class has no state, and those of its subclasses that have are safe themselves.

  /// Makes a token that stands for no observer.
  public init() {}

  /// Ends the observation; whether there was one.
  ///
  /// Called in the observer's context, the block is not called any more; called elsewhere, it may be
  /// running. May be called from anywhere, except for the tokens of ``Realm/observe(_:)``, which
  /// belong to their Realm's context.
  @discardableResult open func invalidate() -> Bool { false }

  /// Whether both are the same token.
  public static func == (lhs: NotificationToken, rhs: NotificationToken) -> Bool { lhs === rhs }

  /// Feeds the token's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The token of an observer of one Realm instance.
///
/// Unchecked: it hands the instance and the observation over to nobody, and both are safe to let go
/// anywhere.
final class ObservationToken: NotificationToken, @unchecked Sendable {
  let instance: RealmInstance
  let observation: Observation

  init(_ observation: Observation, of instance: RealmInstance) {
    self.instance = instance
    self.observation = observation
    super.init()
  }

  override func invalidate() -> Bool {
    if observation.checksContext { instance.verify() }
    return end()
  }

  private func end() -> Bool {
    guard observation.end() else { return false }
    instance.didEnd(observation)
    return true
  }

  deinit { _ = end() }
}

/// The token of an observer in a context that has to be reached first.
final class DeferredToken: NotificationToken, @unchecked Sendable {
  private enum State {
    case waiting
    case registered(NotificationToken)
    case ended
  }

  // Unchecked: what tokens are is `Sendable` itself.
  private let state = Mutex(State.waiting)

  /// Whether somebody still waits for the observer.
  var isWanted: Bool { state.withLock { if case .ended = $0 { false } else { true } } }

  /// The observer's own token, once there is one.
  var registered: NotificationToken? {
    state.withLock { if case .registered(let token) = $0 { token } else { nil } }
  }

  /// Gives it the observer's token; one that nobody waits for any more ends at once.
  func complete(_ token: NotificationToken) {
    let isEnded = state.withLock { state in
      if case .ended = state { return true }
      state = .registered(token)
      return false
    }
    if isEnded { _ = token.invalidate() }
  }

  override func invalidate() -> Bool {
    let last = state.withLock { state in
      defer { state = .ended }
      return state
    }
    switch last {
    case .waiting: return true
    case .registered(let token): return token.invalidate()
    case .ended: return false
    }
  }

  deinit { _ = invalidate() }
}
