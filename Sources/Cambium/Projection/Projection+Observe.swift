import Dispatch

extension ProjectionObservable {
  /// Calls `block` whenever a projected property was assigned, and once when the object was deleted.
  ///
  /// Properties are told by the projection's names, each that comes from a property of the object that has
  /// changed; what is not projected is not told. `keyPaths` are paths from the object; an empty array
  /// filters nothing. Everything else is as with the observers of an object.
  public func observe(
    keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
    _ block: @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    let realm = rootObject.observedRealm()
    if let queue {
      return realm.defer(self, to: queue) { $0.observe(keyPaths: keyPaths, block) }
    }
    // Stops at names that are no properties.
    _ = WatchedPaths(keyPaths, from: rootObject.classAccess.stored, realm.stored, depth: 0)
    let schema = ProjectionSchema(self, root: Root.self)
    let properties = schema.properties.filter { property in
      guard let keyPaths, !keyPaths.isEmpty else { return true }
      return keyPaths.contains { Self.leads($0, to: property.path) }
    }
    let paths = Set(properties.map(\.path)).sorted()
    return realm.observe(rootObject, keyPaths: paths) { [self] news in
      if let change = ObjectChange(news, of: self, properties) { block(change) }
    }
  }

  /// Whether a path is another one, or leads to where it begins, or on from its end.
  private static func leads(_ path: String, to other: String) -> Bool {
    path == other || other.hasPrefix(path + ".") || path.hasPrefix(other + ".")
  }

  /// Calls `block` on `actor` whenever a projected property was assigned, and once when the object was
  /// deleted.
  ///
  /// Returns when the observer is registered: no later change is missed.
  public func observe<A: Actor>(
    keyPaths: [String]? = nil, on actor: A,
    _isolation: isolated (any Actor)? = #isolation,
    _ block: @Sendable @escaping (isolated A, ObjectChange<Self>) -> Void
  ) async -> NotificationToken {
    let realm = rootObject.observedRealm(
      text: "Change notifications are only supported for managed objects")
    return await ActorObservation.register(
      realm.reference(observing: self), realm.configuration, on: actor, block
    ) { $0.observe(keyPaths: keyPaths, $1) }
  }
}

extension ProjectionObservable {
  /// The same with the projection's key paths.
  public func observe(
    keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue? = nil,
    _ block: @escaping (ObjectChange<Self>) -> Void
  ) -> NotificationToken {
    observe(keyPaths: keyPaths.map { _name(for: $0) }, on: queue, block)
  }

  /// The same on an actor with the projection's key paths.
  public func observe<A: Actor>(
    keyPaths: [PartialKeyPath<Self>], on actor: A,
    _isolation: isolated (any Actor)? = #isolation,
    _ block: @Sendable @escaping (isolated A, ObjectChange<Self>) -> Void
  ) async -> NotificationToken {
    await observe(keyPaths: keyPaths.map { _name(for: $0) }, on: actor, block)
  }
}

extension ObjectChange where T: ProjectionObservable {
  /// What an observer of some properties of a projection is told; nil when nothing is.
  fileprivate init?(
    _ news: ChangeTracker.News, of projection: T, _ projected: [ProjectionSchema.Property]
  ) {
    switch news {
    case .initial, .changes, .entries, .skipped: return nil
    case .deleted: self = .deleted
    case .properties(let indices, let before):
      let object = projection.rootObject
      let names = Set(indices.map { object.classDescription.properties[$0].property.name })
      let old = object.managedRow(in: object.classAccess).identity.object(in: before.realm)
      func value(_ property: ProjectionSchema.Property, of object: ObjectBase?) -> Any? {
        guard let value = object?[keyPath: property.keyPath] else { return nil }
        return value is any ProjectedPath || value is any RealmCollectionBase
          || value is any RealmKeyedCollection
          ? nil : flattened(value)
      }
      let changes = projected.filter { names.contains($0.root) }.map { property in
        PropertyChange(
          name: property.name, oldValue: value(property, of: old),
          newValue: value(property, of: object))
      }
      if changes.isEmpty { return nil }
      self = .change(projection, changes)
    }
  }
}
