import Dispatch

extension RealmKeyedCollection {
  /// Calls `block` with the map once, and then whenever its entries have changed, which it names by their
  /// keys.
  ///
  /// The value of a key counts as modified when it was assigned, an object also when a property of it was,
  /// or one of an object to which it links, over up to four links; with `keyPaths`, such as `"name"`, only
  /// what they lead to counts. Everything else is as with the observers of a list.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (RealmMapChange<Self>) -> Void
  ) -> NotificationToken {
    let realm = observedRealm()
    if let queue {
      return realm.defer(self, to: queue) { $0.observe(keyPaths: keyPaths, block) }
    }
    return realm.observe(_rlmValues().core, keyPaths: keyPaths, byKeys: true) { news in
      if let change = RealmMapChange(news, of: self) { block(change) }
    }
  }

  /// Calls `block` with the map once, and then whenever its entries have changed on `actor`.
  ///
  /// Returns when the observer is registered: no later change is missed. The block gets the actor's own
  /// map. Of a cancelled task, or when the map is gone by then, the token is invalid, and the block is never
  /// called.
  public func observe<A: Actor>(
    keyPaths: [String]? = nil, on actor: A,
    _isolation: isolated (any Actor)? = #isolation,
    _ block: @Sendable @escaping (isolated A, RealmMapChange<Self>) -> Void
  ) async -> NotificationToken {
    let realm = observedRealm()
    return await ActorObservation.register(
      realm.reference(observing: self), realm.configuration, on: actor, block
    ) { $0.observe(keyPaths: keyPaths, $1) }
  }

  /// The changes of the map from now on, the map itself first.
  public var changes: ChangeSequence<RealmMapChange<Self>> { changes(keyPaths: nil) }

  /// The changes of the map from now on, as far as `keyPaths` lead to them, the map itself first.
  public func changes(keyPaths: [String]?) -> ChangeSequence<RealmMapChange<Self>> {
    let realm = observedRealm()
    let core = _rlmValues().core
    return ChangeSequence(instance: realm) {
      ChangeSource(realm.tracker(of: core, keyPaths: keyPaths, byKeys: true), of: realm) {
        RealmMapChange($0, of: self)
      }
    }
  }

  /// Stops unless the map belongs to a Realm that changes.
  private func observedRealm() -> RealmInstance { .observed(realm) }
}

extension RealmKeyedCollection where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
  /// The same as ``observe(keyPaths:on:_:)`` with Swift's key paths.
  public func observe(
    keyPaths: [PartialKeyPath<Value.Wrapped>], on queue: DispatchQueue? = nil,
    _ block: @escaping (RealmMapChange<Self>) -> Void
  ) -> NotificationToken {
    observe(keyPaths: keyPaths.map { _name(for: $0) }, on: queue, block)
  }

  /// The same as ``observe(keyPaths:on:_isolation:_:)`` with Swift's key paths.
  public func observe<A: Actor>(
    keyPaths: [PartialKeyPath<Value.Wrapped>], on actor: A,
    _isolation: isolated (any Actor)? = #isolation,
    _ block: @Sendable @escaping (isolated A, RealmMapChange<Self>) -> Void
  ) async -> NotificationToken {
    await observe(keyPaths: keyPaths.map { _name(for: $0) }, on: actor, block)
  }
}

extension RealmMapChange {
  /// What an observer of `map` is told; nil for other news.
  init?(_ news: ChangeTracker.News, of map: Collection) {
    switch news {
    case .initial: self = .initial(map)
    case .entries(let changes):
      func keys(_ texts: [String]) -> [Collection.Key] {
        texts.map { Collection.Key(_rlmText: $0) }
      }
      self = .update(
        map, deletions: keys(changes.deletions), insertions: keys(changes.insertions),
        modifications: keys(changes.modifications))
    case .changes, .properties, .deleted, .skipped: return nil
    }
  }
}
