import Dispatch

extension ObjectBase {
  /// Calls `block` whenever properties of the object were assigned, and once when it was deleted.
  ///
  /// Changes of objects that it links to are not told, unless `keyPaths`, such as `"name"` or
  /// `"owner.name"`, lead there; then only what they lead to counts. Assigning an equal value counts,
  /// unless another process did. There is no first call. Commits that come faster than the context runs
  /// are told as one change.
  ///
  /// With `queue`, a serial one, the block is called there with the queue's own object. Keep the token as
  /// long as the block shall be called. Stops where the Realm's context cannot be woken, for unmanaged,
  /// frozen and deleted objects, for names that are no properties, and in a write transaction that has
  /// changed something.
  public func observe<T: ObjectBase>(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (ObjectChange<T>) -> Void
  ) -> NotificationToken {
    let realm = observedRealm()
    if let queue {
      return realm.defer(self, to: queue) { $0.observe(keyPaths: keyPaths, block) }
    }
    return realm.observe(self, keyPaths: keyPaths) { [self] news in
      if let change = ObjectChange<T>(news, of: self) { block(change) }
    }
  }

  /// The same with Swift's key paths.
  public func observe<T: ObjectBase>(
    keyPaths: [PartialKeyPath<T>], on queue: DispatchQueue? = nil,
    _ block: @escaping (ObjectChange<T>) -> Void
  ) -> NotificationToken {
    observe(keyPaths: keyPaths.map { _name(for: $0) }, on: queue, block)
  }

  /// Calls `block` on `actor` whenever properties of the object were assigned, and once when it was
  /// deleted.
  ///
  /// Returns when the observer is registered: no later change is missed. The block gets the actor's own
  /// object. Of a cancelled task, or when the object is gone by then, the token is invalid, and the
  /// block is never called.
  public func observe<A: Actor, T: ObjectBase>(
    keyPaths: [String]? = nil, on actor: A,
    _isolation: isolated (any Actor)? = #isolation,
    _ block: @Sendable @escaping (isolated A, ObjectChange<T>) -> Void
  ) async -> NotificationToken {
    let realm = observedRealm(text: "Change notifications are only supported for managed objects")
    return await ActorObservation.register(
      realm.reference(observing: self), realm.configuration, on: actor, block
    ) { $0.observe(keyPaths: keyPaths, $1) }
  }

  /// The same with Swift's key paths.
  public func observe<A: Actor, T: ObjectBase>(
    keyPaths: [PartialKeyPath<T>], on actor: A,
    _isolation: isolated (any Actor)? = #isolation,
    _ block: @Sendable @escaping (isolated A, ObjectChange<T>) -> Void
  ) async -> NotificationToken {
    await observe(keyPaths: keyPaths.map { _name(for: $0) }, on: actor, block)
  }

  /// Stops unless the object belongs to a Realm that changes.
  func observedRealm(
    text: String = "Only objects which are managed by a Realm support change notifications"
  ) -> RealmInstance {
    guard let instance = unsafe instance else { fatalError(text) }
    instance.checkChanging()
    return instance
  }
}

extension ObjectChange {
  /// What an observer of `object` is told; nil when nothing of it is to be told.
  init?(_ news: ChangeTracker.News, of object: ObjectBase) {
    switch news {
    case .initial, .changes, .entries, .skipped: return nil
    case .deleted: self = .deleted
    case .properties(let indices, let before):
      guard let observed = object as? T else {
        self = .deleted
        return
      }
      let old = object.managedRow(in: object.classAccess).identity.object(in: before.realm)
      self = .change(
        observed,
        indices.map { index in
          let property = object.classDescription.properties[index].property
          let hasValue = !property.isCollection && !property.isComputed
          return PropertyChange(
            name: property.name, oldValue: hasValue ? old?.value(forKey: property.name) : nil,
            newValue: hasValue ? object.value(forKey: property.name) : nil)
        })
    }
  }
}
