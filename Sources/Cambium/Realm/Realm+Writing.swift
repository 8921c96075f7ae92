import CambiumCore
import Foundation

extension Realm {
  /// Runs `block` in a write transaction and commits.
  ///
  /// Waits for writers elsewhere and moves to the newest version first. When `block` throws, the
  /// transaction is cancelled and the error thrown on. When it has committed or cancelled by itself,
  /// nothing more is done.
  ///
  /// - Throws: `.schemaMismatch`, without running `block`, when somebody else has changed the schema of
  ///   the file in a way that this Realm's classes do not fit; the Realm goes on seeing the version
  ///   that it saw. `Realm.Error` when the store fails.
  @discardableResult
  public func write<Result>(_ block: (() throws -> Result)) throws -> Result {
    try begin()
    let result: Result
    do {
      result = try block()
    } catch {
      if isInWriteTransaction { cancelWrite() }
      throw error
    }
    if isInWriteTransaction { try commitWrite() }
    return result
  }

  /// Begins a write transaction at the newest version; waits for writers elsewhere.
  ///
  /// Stops when the store fails, or when the classes no longer fit the schema of the file; use
  /// ``write(_:)`` to have that thrown.
  public func beginWrite() {
    do { try begin() } catch { fatalError("\(error.message)") }
  }

  private func begin() throws(RLMError) {
    instance.verify()
    guard !instance.isFrozen else { fatalError("Can't perform transactions on a frozen Realm") }
    guard !instance.configuration.readOnly else {
      fatalError("Can't perform transactions on read-only Realms.")
    }
    guard instance.session == nil else {
      fatalError("The Realm is already in a write transaction")
    }
    guard !instance.coordinator.isWriterHere else {
      fatalError(
        "The Realm is already in a write transaction, of another instance in the same context, which "
          + "was opened with other classes or for another queue. Commit or cancel that one first, or "
          + "make all changes through it.")
    }
    try instance.beginWrite()
  }

  /// Makes the transaction's changes the newest version, durable as far as the configuration says.
  ///
  /// - Throws: `Realm.Error` when the store fails; the changes are undone then.
  public func commitWrite() throws {
    instance.verify()
    guard instance.session != nil else {
      fatalError("Can't commit a non-existing write transaction")
    }
    do throws(StoreError) {
      try instance.commitWrite()
    } catch {
      throw RLMError(error, path: configuration.path)
    }
  }

  /// Undoes the transaction's changes.
  ///
  /// Objects added in it become invalid.
  public func cancelWrite() {
    instance.verify()
    guard instance.session != nil else {
      fatalError("Can't cancel a non-existing write transaction")
    }
    instance.cancelWrite()
  }

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
    checkPolicy(update, type)
    let conversion = _ValueConversion(realm: instance, isCopying: true)
    let object = conversion.newObject(value, as: type)
    session.partials = conversion.partials
    session.add(object, update)
    session.partials = [:]
    return object
  }

  private func checkPolicy(_ update: UpdatePolicy, _ type: ObjectBase.Type) {
    guard update != .error, let access = instance.access(of: type),
      access.stored.primaryKeyIndex == nil
    else { return }
    fatalError("'\(access.stored.name)' does not have a primary key and can not be updated")
  }

  /// The running transaction; stops outside of one.
  private func writing() -> WriteSession {
    instance.verify()
    guard let session = instance.session else {
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
    session.delete(object.key, object.classAccess)
    object.detach()
  }

  /// Stops unless `object` is in this Realm.
  private func requireOwn(_ object: ObjectBase) {
    guard object.isManaged else {
      fatalError("Can only delete an object from the Realm it belongs to.")
    }
    guard let owner = object.instance else { object.stopAsGone() }
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
    for object in objects {
      if object.created == ObjectBase.deletedCreation { object.stopAsGone() }
      session.delete(object.key, object.classAccess)
      object.detach()
    }
  }

  /// Deletes all objects of a list, and so empties it.
  public func delete<Element: ObjectBase>(_ objects: List<Element>) {
    delete(keys: objects.objectKeys())
  }

  /// Deletes just the objects that the results hold now.
  public func delete<Element: ObjectBase>(_ objects: Results<Element>) {
    delete(keys: objects.core.objectKeys())
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

  // MARK: Reading

  /// All objects of a class, live and in no particular order.
  public func objects<Element: RealmFetchable>(_ type: Element.Type) -> Results<Element> {
    instance.verify()
    guard let objectType = type as? ObjectBase.Type else {
      fatalError("'\(type)' is not a class of objects.")
    }
    return Results(ResultsCore(all: instance.requiredAccess(of: objectType)))
  }

  /// The object with that primary key; nil when there is none.
  public func object<Element: Object, KeyType>(
    ofType type: Element.Type, forPrimaryKey key: KeyType
  ) -> Element? {
    instance.verify()
    let access = instance.requiredAccess(of: type)
    guard let index = access.stored.primaryKeyIndex else {
      fatalError("'\(access.stored.name)' does not have a primary key defined")
    }
    let found: Int64?
    if access.stored.isKeyPrimaryKey, KeyType.self == Int.self, let key = key as? Int {
      found = Int64(key)
    } else {
      found = access.key(forPrimaryKey: key, index)
    }
    guard let found, let object = access.object(forKey: found) else { return nil }
    return unsafeDowncast(object, to: type)
  }
}

extension WriteSession {
  /// Adds an object and all it links to, handling primary keys that are taken as `policy` says.
  func add(_ object: ObjectBase, _ policy: Realm.UpdatePolicy) {
    self.policy = policy
    skipsEqualValues = policy == .modified
    _ = adopt(object)
    drain()
    self.policy = .error
    skipsEqualValues = false
  }
}

extension ClassAccess {
  /// The key of the object with that primary key; nil when there is none.
  func key(forPrimaryKey value: Any?, _ index: Int) -> Int64? {
    let property = description.properties[index]
    let writer = _RowWriter(realm: realm)
    writer.begin([.null])
    let unwrapped = flattened(value)
    guard property.wrapper.writeConverted(unwrapped, to: writer) else {
      description.stopAtInvalidValue(unwrapped, index)
    }
    let cell = writer.cells[0]
    if stored.isKeyPrimaryKey {
      guard case .int(let key) = cell, creation(of: key) != nil else { return nil }
      return key
    }
    guard let form = IndexKey.form(of: cell), let tree = realm.readKeyTree(stored.indexName(index))
    else { return nil }
    return realm.reading { () throws(StoreError) in
      try PrimaryKeyIndex.find(form, in: tree) { realm.cellEquals(self, $0, index, cell) }
    }
  }
}
