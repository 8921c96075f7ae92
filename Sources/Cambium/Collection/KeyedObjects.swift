import CambiumCore

/// A collection that can tell the keys of its objects without making accessors.
protocol KeyedObjects {
  /// The keys, in the collection's order; nil of a collection of no Realm, or of values.
  func objectKeys() -> (owner: RealmInstance?, access: ClassAccess?, keys: [Int64])
}

extension Results: KeyedObjects {
  func objectKeys() -> (owner: RealmInstance?, access: ClassAccess?, keys: [Int64]) {
    core.objectKeys()
  }
}

extension LinkingObjects: KeyedObjects {
  func objectKeys() -> (owner: RealmInstance?, access: ClassAccess?, keys: [Int64]) {
    core?.objectKeys() ?? (nil, nil, [])
  }
}

extension List: KeyedObjects {
  func objectKeys() -> (owner: RealmInstance?, access: ClassAccess?, keys: [Int64]) {
    state?.objectKeys() ?? (nil, nil, [])
  }
}

extension MutableSet: KeyedObjects {
  func objectKeys() -> (owner: RealmInstance?, access: ClassAccess?, keys: [Int64]) {
    state?.objectKeys() ?? (nil, nil, [])
  }
}

extension Map {
  /// The keys of the objects that the values are.
  func objectKeys() -> (owner: RealmInstance?, access: ClassAccess?, keys: [Int64]) {
    state?.objectKeys() ?? (nil, nil, [])
  }
}

extension ManagedCollection {
  fileprivate func objectKeys() -> (owner: RealmInstance?, access: ClassAccess?, keys: [Int64]) {
    (realm, place.target, place.target == nil ? [] : links())
  }
}

extension ResultsCore {
  fileprivate func objectKeys() -> (owner: RealmInstance?, access: ClassAccess?, keys: [Int64]) {
    (realm, access, access == nil ? [] : currentKeys())
  }
}

// Exclusivity is not checked: the Realm's transaction is loaded, and that access ends before it is
// used.
extension KeyedObjects {
  /// Assigns a property of every object in the running transaction as one change; false, and nothing is done,
  /// where it has to be assigned object by object.
  ///
  /// Stops as the assignment to one object does.
  func assign(_ value: Any?, toPropertyNamed name: String) -> Bool {
    let (owner, access, all) = objectKeys()
    guard let owner, let access, all.count > 1, let session = unsafe owner.session,
      let index = access.description.propertyIndex(name)
    else { return false }
    owner.verify()
    let shape = access.layout.shapes[index]
    let property = access.description.properties[index].property
    guard !property.isCollection, !property.isComputed, !shape.holdsLinks else { return false }
    // Keys in a list may occur twice, and in any order.
    let isAscending = zip(all, all.dropFirst()).allSatisfy { $0 < $1 }
    let keys = isAscending ? all : Set(all).sorted()
    // One object converts and checks the value.
    guard let first = keys.first, let object = access.object(forKey: first) else { return false }
    object.setValue(value, at: index)
    let cell = CellStore(owner)
    owner.withCell(access, first, index) { cell.append($0) }
    withExtendedLifetime(cell) {
      session.update(keys.dropFirst(), access, index, cell.cells[0])
    }
    return true
  }
}
