import CambiumCore

/// A collection of a managed object, of whichever kind: the property that it is, and its elements as
/// last found.
///
/// Belongs to its Realm's context. Of a frozen object, the elements are found when it is made.
///
/// Pointers: the class's header lies in memory of the Realm, which this keeps. Keys that are compared
/// lie in the elements' content, which is kept for the length of the call, or are lent by the caller.
final class ManagedCollection {
  // Exclusivity is not checked: the Realm's fields and its transaction's have one context, and each
  // access ends before anything else is called.
  let place: CollectionPlace
  /// The object that has the collection.
  let owner: ManagedRow
  let realm: RealmInstance
  /// What the elements are stored as.
  let elementType: ColumnType
  /// Nil until they are asked for.
  private var content: CollectionContent?
  /// The list or dictionary inside of a value as it was found with that value; nil once its elements are asked for.
  private var value: StoredAny?
  private var generation: UInt64 = 0

  init(_ object: ObjectBase, _ index: Int) {
    let access = object.classAccess
    place = unsafe CollectionPlace(access: access, key: object.key, index: index)
    owner = object.managedRow(in: access)
    realm = unsafe access.realm
    elementType = place.shape.elementType
    guard realm.isFrozen else { return }
    content = place.content()
    generation = unsafe access.header.pointee.generation
  }

  /// The list or dictionary `value`, which an object's property is or holds now.
  convenience init(_ object: ObjectBase, _ index: Int, inside value: StoredAny) {
    let access = object.classAccess
    let place = unsafe CollectionPlace(access: access, key: object.key, index: index)
    self.init(value, in: place, of: object.managedRow(in: access))
  }

  /// The list or dictionary `value`, which `collection` holds now, at `position` if that is known.
  convenience init(_ collection: ManagedCollection, inside value: StoredAny, at position: Int?) {
    var outer = collection.place
    if outer.inside == nil { outer.lastPosition = position }
    self.init(value, in: outer, of: collection.owner)
  }

  /// Nothing is looked for in the whole value again, until rows come or go.
  private init(_ value: StoredAny, in outer: CollectionPlace, of owner: ManagedRow) {
    place = outer.collection(value)
    self.owner = owner
    realm = unsafe place.access.realm
    elementType = place.shape.elementType
    generation = unsafe place.access.header.pointee.generation
    if realm.isFrozen {
      content = CollectionContent(NestedElements(value))
    } else {
      self.value = value
    }
  }

  /// Whether the owner was deleted or its Realm invalidated, or something else has the place of a list or
  /// dictionary inside of a value.
  var isInvalidated: Bool {
    if owner.isGone { return true }
    guard let inside = place.inside else { return false }
    return !isKnown && place.stored(inside) == nil
  }

  /// Whether it was found and no row has come or gone since.
  private var isKnown: Bool {
    if content == nil, value == nil { return false }
    return unsafe realm.isFrozen || generation == place.access.header.pointee.generation
  }

  /// The elements as they are now; stops when the collection is gone.
  private func current() -> CollectionContent {
    realm.verify()
    let now = unsafe place.access.header.pointee.generation
    if let content, generation == now || realm.isFrozen { return content }
    requireOwner()
    let known = generation == now ? value : nil
    value = nil
    let found = known.map { CollectionContent(NestedElements($0)) } ?? place.content()
    if case .nested(let nested) = found.elements, !nested.isPresent { stopAsGone() }
    content = found
    generation = unsafe place.access.header.pointee.generation
    return found
  }

  /// Lends the elements as they are now to `body`; stops when the collection is gone.
  @inline(__always) func withElements<Result>(
    _ body: (StoredElements) throws(StoreError) -> Result
  ) -> Result {
    let content = current()
    defer { withExtendedLifetime(content) {} }
    return realm.reading { () throws(StoreError) in try body(content.elements) }
  }

  /// Stops when the collection is gone.
  func requireOwner() {
    if !isKnown, !owner.isPresent { stopAsGone() }
  }

  private func stopAsGone() -> Never {
    fatalError(
      "\(place.property.collectionName) is no longer valid. Either the parent object was deleted "
        + "or the containing Realm has been invalidated or closed.")
  }

  /// The running transaction; stops outside of one.
  func writing() -> WriteSession {
    realm.verify()
    guard !realm.isFrozen else {
      fatalError("Attempting to modify a frozen object - call thaw on the Object instance first.")
    }
    requireOwner()
    guard let session = unsafe realm.session else {
      fatalError(
        "Cannot modify \(place.property.collectionName) outside of a write transaction.")
    }
    return session
  }
}

extension ManagedCollection: Equatable {
  /// Whether both are the same property of the same object in the same Realm, or in one version.
  static func == (left: ManagedCollection, right: ManagedCollection) -> Bool {
    guard left.owner.key == right.owner.key, left.owner.created == right.owner.created,
      left.place.index == right.place.index, left.place.inside == right.place.inside,
      left.owner.access.stored.name == right.owner.access.stored.name
    else { return false }
    if left.realm === right.realm { return true }
    return left.realm.isFrozen && right.realm.isFrozen
      && left.realm.coordinator === right.realm.coordinator
      && left.realm.version == right.realm.version
  }
}

extension Property {
  /// What messages call collections of this kind.
  var collectionName: String { isSet ? "Set" : isMap ? "Dictionary" : "List" }
}

/// Stops at what only a managed collection has; `name` is the kind that the message names.
func stopAtUnmanaged(_ name: String) -> Never {
  fatalError("This method may only be called on \(name) instances retrieved from an RLMRealm")
}
