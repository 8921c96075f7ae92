/// Which object an accessor is about, in any Realm of the database, and of which kind it is.
struct AccessorIdentity: Sendable {
  let row: RowIdentity
  let isDynamic: Bool
}

extension ObjectBase: Portable {
  var identity: AccessorIdentity {
    AccessorIdentity(row: managedRow(in: classAccess).identity, isDynamic: self is DynamicObject)
  }

  static func value(of identity: AccessorIdentity, in realm: RealmInstance) -> Self? {
    identity.row.object(in: realm, isDynamic: identity.isDynamic) as? Self
  }

  /// A copy fixed to the version that is seen.
  final func frozenCopy() -> Self {
    guard isManaged else { fatalError("Unmanaged objects cannot be frozen.") }
    let access = classAccess
    if unsafe access.realm.isFrozen { return self }
    unsafe access.realm.verify()
    requireRow(access)
    guard let copy = unsafe ported(to: access.realm.freeze()) else { stopAtNewOwner() }
    return copy
  }

  /// The live object in the calling context; nil when it was deleted.
  final func thawedCopy() -> Self? {
    guard isManaged else {
      if self is EmbeddedObject { return nil }
      fatalError("Unmanaged objects cannot be thawed.")
    }
    let realm = unsafe classAccess.realm
    return realm.isFrozen ? ported(to: realm.thaw()) : self
  }
}

extension ManagedCollection: Portable {
  var identity: PropertyIdentity {
    PropertyIdentity(owner: owner.identity, name: place.property.name, inside: place.inside)
  }

  static func value(
    of identity: PropertyIdentity, in realm: RealmInstance
  ) -> ManagedCollection? {
    guard let object = identity.owner.object(in: realm),
      let index = object.classAccess.stored.propertyIndex(identity.name)
    else { return nil }
    guard let inside = identity.inside else { return ManagedCollection(object, index) }
    let place = unsafe CollectionPlace(access: object.classAccess, key: object.key, index: index)
    return place.stored(inside).map { ManagedCollection(object, index, inside: $0) }
  }

  /// The collection fixed to the version that is seen.
  func frozenCopy() -> ManagedCollection {
    if realm.isFrozen { return self }
    realm.verify()
    requireOwner()
    guard let copy = ported(to: realm.freeze()) else { stopAtNewOwner() }
    return copy
  }

  /// The live collection in the calling context; nil when its owner was deleted.
  func thawedCopy() -> ManagedCollection? { realm.isFrozen ? ported(to: realm.thaw()) : self }
}

extension List: Portable {
  var identity: PropertyIdentity { managed().identity }

  static func value(of identity: PropertyIdentity, in realm: RealmInstance) -> Self? {
    ManagedCollection.value(of: identity, in: realm).map { Self($0) }
  }
}

extension LinkingObjects: Portable {
  var identity: ResultsCore.Identity { queryCore().identity }

  static func value(of identity: ResultsCore.Identity, in realm: RealmInstance) -> Self? {
    guard case .linking(_, _, let property) = identity.source else { return nil }
    return ResultsCore.results(of: identity, in: realm).map { Self($0, property: property) }
  }
}

extension Results: Portable {
  var identity: ResultsCore.Identity { core.identity }

  static func value(of identity: ResultsCore.Identity, in realm: RealmInstance) -> Self? {
    ResultsCore.results(of: identity, in: realm).map { Self($0) }
  }

  static var keepsVersion: Bool { true }
}

extension Portable {
  /// What is not there at the beginning of the running transaction cannot be seen there.
  func stopAtNewOwner() -> Never {
    fatalError("Cannot freeze an object in the same write transaction as it was created in.")
  }
}

/// What sections are, whatever the Realm.
///
/// Unchecked: the block that computes keys must give the same anywhere.
struct SectionIdentity<Element, Key>: @unchecked Sendable {
  let results: ResultsCore.Identity
  let key: (Element) -> Key
  /// The section; nil for all.
  var section: Key?
}

extension ResultsSection: Portable {
  var identity: SectionIdentity<T, Key> {
    SectionIdentity(results: core.results.core.identity, key: core.key, section: key)
  }

  static func value(of identity: SectionIdentity<T, Key>, in realm: RealmInstance) -> Self? {
    guard let results = ResultsCore.results(of: identity.results, in: realm),
      let section = identity.section
    else { return nil }
    return Self(SectionCore(Results(results), identity.key), key: section)
  }

  static var keepsVersion: Bool { true }
}

extension SectionedResults: Portable {
  var identity: SectionIdentity<SectionElement, Key> {
    SectionIdentity(results: core.results.core.identity, key: core.key)
  }

  static func value(
    of identity: SectionIdentity<SectionElement, Key>, in realm: RealmInstance
  ) -> Self? {
    ResultsCore.results(of: identity.results, in: realm).map { Self(Results($0), identity.key) }
  }

  static var keepsVersion: Bool { true }
}
