extension Realm {
  /// What happens to an object whose primary key is taken.
  @frozen public enum UpdatePolicy: Int, Sendable {
    /// The program stops.
    case error = 1
    /// Properties that differ are assigned.
    case modified = 3
    /// All properties are assigned.
    case all = 2
  }

  // MARK: Adding

  /// Adds an unmanaged object and all unmanaged objects it links to.
  ///
  /// The instance becomes managed.
  public func add(_ object: Object, update: UpdatePolicy = .error) {
    let session = writing()
    if object.isManaged {
      _ = session.adopt(object)
      return
    }
    checkPolicy(update, type(of: object))
    session.add(object, update)
  }

  /// Adds several objects.
  public func add<S: Sequence>(_ objects: S, update: UpdatePolicy = .error)
  where S.Iterator.Element: Object {
    for object in objects { add(object, update: update) }
  }

  /// Makes an object from a dictionary by property names, an array in order of declaration, or
  /// another object, and adds it.
  @discardableResult
  public func create<T: Object>(
    _ type: T.Type, value: Any = [String: Any](), update: UpdatePolicy = .error
  ) -> T {
    let session = writing()
    guard instance.access(of: type) != nil else { session.stopAtForeignClass(type.className()) }
    return create(type, value, update, session)
  }

  /// Makes an object of the class with that name as ``create(_:value:update:)`` does; its properties
  /// are named by strings.
  @discardableResult
  public func dynamicCreate(
    _ typeName: String, value: Any = [String: Any](), update: UpdatePolicy = .error
  ) -> DynamicObject {
    let session = writing()
    guard let access = instance.access(named: typeName) else {
      session.stopAtForeignClass(typeName)
    }
    if access.stored.isEmbedded { fatalError("Embedded objects cannot be created directly") }
    guard unsafe !session.isMigrating else {
      fatalError("In a migration, objects are made by 'Migration.create(_:value:)'.")
    }
    if access.description.isDynamic {
      checkPolicy(update, access)
      let creation = DynamicCreation(realm: instance, session: session, policy: update)
      let object = creation.substituting { creation.object(of: access, value) }
      session.spillIfNeeded()
      return object
    }
    let object = create(access.layout.type, value, update, session)
    return unsafe access.dynamicObject(forKey: object.key)
  }

  private func create<T: ObjectBase>(
    _ type: T.Type, _ value: Any, _ update: UpdatePolicy, _ session: WriteSession
  ) -> T {
    checkPolicy(update, type)
    let conversion = _ValueConversion(
      realm: instance, isCopying: true, notesPartials: update != .error)
    let object = conversion.newObject(value, as: type)
    unsafe session.partials = conversion.partials ?? [:]
    session.add(object, update)
    if update != .error { unsafe session.partials = [:] }
    return object
  }

  private func checkPolicy(_ update: UpdatePolicy, _ type: ObjectBase.Type) {
    if let access = instance.access(of: type) { checkPolicy(update, access) }
  }

  private func checkPolicy(_ update: UpdatePolicy, _ access: ClassAccess) {
    guard update != .error, access.stored.primaryKeyIndex == nil else { return }
    fatalError("'\(access.stored.name)' does not have a primary key and can not be updated")
  }

  /// The running transaction; stops outside of one.
  private func writing() -> WriteSession {
    instance.verify()
    guard let session = unsafe instance.session else {
      fatalError(
        "Can only add, remove, or create objects in a Realm in a write transaction - call "
          + "beginWriteTransaction on an RLMRealm instance first.")
    }
    return session
  }

  // MARK: Deleting

  /// Deletes an object; links to it become nil, lists lose it.
  public func delete(_ object: ObjectBase) {
    let session = writing()
    requireOwn(object)
    unsafe session.delete(object.key, object.classAccess)
    object.detach()
  }

  /// Stops unless `object` is in this Realm.
  private func requireOwn(_ object: ObjectBase) {
    guard object.isManaged else {
      fatalError("Can only delete an object from the Realm it belongs to.")
    }
    guard let owner = unsafe object.instance else { object.stopAsGone() }
    guard owner === instance else {
      fatalError("Can only delete an object from the Realm it belongs to.")
    }
    object.requireRow(object.classAccess)
  }

  /// Deletes several objects; one that occurs twice is deleted once.
  public func delete<S: Sequence>(_ objects: S) where S.Iterator.Element: ObjectBase {
    let objects = Array(objects)
    if objects.isEmpty { return }
    let session = writing()
    // All are looked at first: a collection may have several accessors of one object.
    for object in objects { requireOwn(object) }
    var keys: [ObjectIdentifier: (access: ClassAccess, keys: [Int64])] = [:]
    for object in objects {
      if object.created == ObjectBase.deletedCreation { object.stopAsGone() }
      let (access, key) = unsafe (object.classAccess, object.key)
      keys[ObjectIdentifier(access), default: (access, [])].keys.append(key)
      object.detach()
    }
    // Together, so that what holds many of them is walked once.
    for (access, keys) in keys.values { session.delete(keys, access) }
  }

  /// Deletes all objects of a list, and so empties it.
  public func delete<Element: ObjectBase>(_ objects: List<Element>) {
    if objects.realm == nil { return delete(objects.allElements()) }
    delete(keys: objects.objectKeys())
  }

  /// Deletes just the objects that the results hold now.
  public func delete<Element: ObjectBase>(_ objects: Results<Element>) {
    delete(keys: objects.objectKeys())
  }

  /// Deletes all objects of a map, and so empties it.
  public func delete<Key: _MapKey, Value: RealmCollectionValue>(_ map: Map<Key, Value>)
  where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
    if map.realm == nil { return delete(map.entries().compactMap { storedObject(of: $0.value) }) }
    delete(keys: map.objectKeys())
    // Its owner may have been among them.
    if !map.isInvalidated { map.removeAll() }
  }

  private func delete(keys: (owner: RealmInstance?, access: ClassAccess?, keys: [Int64])) {
    let session = writing()
    guard let access = keys.access else { return }
    guard keys.owner === instance else {
      fatalError("Can only delete objects from the Realm they belong to.")
    }
    session.delete(keys.keys, access)
  }

  /// Deletes all objects of all classes of this Realm's schema.
  public func deleteAll() { writing().deleteAll() }
}
