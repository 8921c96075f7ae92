import CambiumCore

/// A value that belongs to the context of its Realm.
public protocol ThreadConfined {
  /// The Realm it belongs to; nil for unmanaged values. Never checks the context.
  var realm: Realm? { get }
  /// Whether it may no longer be read.
  var isInvalidated: Bool { get }
  /// Whether it is fixed to one version. Never checks the context.
  var isFrozen: Bool { get }
  /// A copy fixed to the version that is seen, readable from any thread.
  func freeze() -> Self
  /// The live value in the calling context; nil when what it is about was deleted.
  func thaw() -> Self?
}

extension Object: ThreadConfined {
  /// Whether the object is fixed to one version; false for unmanaged objects.
  public var isFrozen: Bool { instance?.isFrozen ?? false }

  /// A copy fixed to the version that is seen, readable from any thread.
  public func freeze() -> Self { frozenCopy() }

  /// The live object in the calling context; nil when it was deleted.
  public func thaw() -> Self? { thawedCopy() }
}

extension ObjectBase {
  final func frozenCopy() -> Self {
    guard isManaged else { fatalError("Unmanaged objects cannot be frozen.") }
    let access = classAccess
    if access.realm.isFrozen { return self }
    access.realm.verify()
    requireRow(access)
    // The class does not keep its Realm; the accessor that is made here will.
    let realm = access.realm.freeze()
    defer { withExtendedLifetime(realm) {} }
    let frozen = realm.classes[access.index]
    guard let position = frozen.locate(key, created) else {
      fatalError("Cannot freeze an object in the same write transaction as it was created in.")
    }
    return frozen.typedObject(at: position, like: self)
  }

  final func thawedCopy() -> Self? {
    guard isManaged else { fatalError("Unmanaged objects cannot be thawed.") }
    let access = classAccess
    guard access.realm.isFrozen else { return self }
    let realm = access.realm.thaw()
    defer { withExtendedLifetime(realm) {} }
    let live = realm.classes[access.index]
    return live.liveObject(key, created, like: self)
  }
}

extension ClassAccess {
  /// A new accessor of the same class as `object`.
  func typedObject<T: ObjectBase>(at position: RowPosition, like object: T) -> T {
    guard let result = self.object(at: position) as? T else {
      preconditionFailure("An accessor has the class of its table.")
    }
    return result
  }

  /// A live accessor of an object, if it still exists.
  func liveObject<T: ObjectBase>(_ key: Int64, _ created: Int64, like object: T) -> T? {
    guard creation(of: key) == created else { return nil }
    return self.object(forKey: key) as? T
  }
}

extension RealmInstance {
  /// The live instance of the calling context; a live one gives itself.
  func thaw() -> RealmInstance {
    guard isFrozen else {
      verify()
      return self
    }
    do {
      return try RealmInstance.open(configuration, in: .current)
    } catch {
      fatalError(error.message)
    }
  }
}
