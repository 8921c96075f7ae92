import Dispatch

extension RealmCollection {
  /// Calls `block` with the collection once, and then whenever it has changed.
  ///
  /// The first call comes later, with the collection as it is then. Each change is told together with the
  /// version that it leads to: while the block runs the Realm sees that version, so that the positions
  /// fit. Commits that come faster than the context runs are told as one change.
  ///
  /// An element of objects counts as modified when a property of it was assigned, or one of an object to
  /// which it links, over up to four links; with `keyPaths`, such as `"name"` or `"dogs.age"`, only what
  /// they lead to counts. An empty array filters nothing. Assigning an equal value counts, unless
  /// another process did.
  ///
  /// With `queue`, a serial one, the block is called there with the queue's own collection. Keep the
  /// token as long as the block shall be called. Stops where the Realm's context cannot be woken, for
  /// unmanaged and frozen collections, for names that are no properties, and in a write transaction
  /// that has changed something.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (RealmCollectionChange<Self>) -> Void
  ) -> NotificationToken {
    let realm = observedRealm()
    if let queue {
      return realm.defer(self, to: queue) { $0.observe(keyPaths: keyPaths, block) }
    }
    return realm.observe(queryCore(), keyPaths: keyPaths) { news in
      if let change = RealmCollectionChange(news, of: self) { block(change) }
    }
  }

  /// Calls `block` with the collection once, and then whenever it has changed on `actor`.
  ///
  /// Returns when the observer is registered: no later change is missed. The block gets the actor's own
  /// collection. Of a cancelled task, or when the collection is gone by then, the token is invalid, and
  /// the block is never called.
  public func observe<A: Actor>(
    keyPaths: [String]? = nil, on actor: A,
    _isolation: isolated (any Actor)? = #isolation,
    _ block: @Sendable @escaping (isolated A, RealmCollectionChange<Self>) -> Void
  ) async -> NotificationToken {
    let realm = observedRealm()
    return await ActorObservation.register(
      realm.reference(observing: self), realm.configuration, on: actor, block
    ) { $0.observe(keyPaths: keyPaths, $1) }
  }

  /// Stops unless the collection belongs to a Realm that changes.
  func observedRealm() -> RealmInstance { .observed(realm) }
}

extension RealmCollection where Element: ObjectBase {
  /// The same as ``observe(keyPaths:on:_:)`` with Swift's key paths.
  public func observe(
    keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
    _ block: @escaping (RealmCollectionChange<Self>) -> Void
  ) -> NotificationToken {
    observe(keyPaths: keyPaths.map { _name(for: $0) }, on: queue, block)
  }

  /// The same as ``observe(keyPaths:on:_isolation:_:)`` with Swift's key paths.
  public func observe<A: Actor>(
    keyPaths: [PartialKeyPath<Element>], on actor: A,
    _isolation: isolated (any Actor)? = #isolation,
    _ block: @Sendable @escaping (isolated A, RealmCollectionChange<Self>) -> Void
  ) async -> NotificationToken {
    await observe(keyPaths: keyPaths.map { _name(for: $0) }, on: actor, block)
  }
}

extension RealmCollectionChange {
  /// What an observer of `collection` is told; nil for news of an object.
  init?(_ news: ChangeTracker.News, of collection: CollectionType) {
    switch news {
    case .initial: self = .initial(collection)
    case .changes(let changes):
      self = .update(
        collection, deletions: changes.deletions, insertions: changes.insertions,
        modifications: changes.modifications)
    case .entries, .properties, .deleted, .skipped: return nil
    }
  }
}
