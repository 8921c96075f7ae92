import CambiumCore

/// A managed list: which property of which object it is, and its elements as last found.
///
/// Belongs to its Realm's context. Of a frozen object, the elements are found when it is made.
final class ListState {
  let list: StoredListAccess
  /// The object that has the list.
  let owner: ManagedRow
  let realm: RealmInstance
  private var content: StoredListAccess.Content
  private var generation: UInt64 = 0

  init(_ object: ObjectBase, _ index: Int) {
    let access = object.classAccess
    list = StoredListAccess(access: access, key: object.key, index: index)
    owner = object.managedRow(in: access)
    realm = access.realm
    content = .small([])
    if realm.isFrozen { content = list.content(in: realm) }
  }

  var elementType: ColumnType { list.elementType }

  /// Whether the owner was deleted or its Realm invalidated.
  var isInvalidated: Bool { owner.isGone }

  /// The elements as they are now; stops when the list is gone.
  func current() -> StoredListAccess.Content {
    realm.verify()
    if realm.isFrozen { return content }
    let now = list.access.header.pointee.generation
    if generation == now { return content }
    requireOwner()
    content = list.content(in: realm)
    generation = list.access.header.pointee.generation
    return content
  }

  /// Stops when the list is gone.
  func requireOwner() {
    if !owner.isPresent {
      fatalError(
        "List is no longer valid. Either the parent object was deleted or the containing Realm has "
          + "been invalidated or closed.")
    }
  }

  /// The running transaction; stops outside of one.
  func writing() -> WriteSession {
    realm.verify()
    guard !realm.isFrozen else {
      fatalError("Attempting to modify a frozen object - call thaw on the Object instance first.")
    }
    requireOwner()
    guard let session = realm.session else {
      fatalError("Cannot modify List outside of a write transaction.")
    }
    return session
  }

  var count: Int { current().count(elementType) }

  func element<Element: RealmCollectionValue>(_ index: Int) -> Element {
    let content = current()
    checkIndex(index, below: content.count(elementType))
    return content.withElement(index, elementType, realm) { element(in: $0) }
  }

  private func element<Element: RealmCollectionValue>(in cell: ColumnValue) -> Element {
    // Dynamic objects are of one type for all classes: the list says which it is.
    guard Element.self == DynamicObject.self else {
      return Element._rlmElement(in: cell, Realm(realm))
    }
    guard let key = cell.link, let target = list.access.target(list.index),
      let object = target.object(forKey: key, as: target.layout.dynamicLayout) as? Element
    else { fatalError("Accessing an object which has been invalidated or deleted") }
    return object
  }

  func elements<Element: RealmCollectionValue>() -> [Element] {
    let content = current()
    var elements: [Element] = []
    // The count is a claim of the root until the leaves were read.
    elements.reserveCapacity(min(content.count(elementType), 1 << 16))
    content.forEach(elementType, realm) { elements.append(element(in: $0)) }
    return elements
  }

  /// The place of the first element with the value of `cell`.
  func firstIndex(of cell: ColumnValue) -> Int? {
    let order = CellOrder(list.property.type)
    var found: Int?
    current().forEach(elementType, realm) { element, position in
      if order.areEqual(element, cell) { found = position }
      return found == nil
    }
    return found
  }
}

/// Stops unless `index` is from 0 to below `count`.
func checkIndex(_ index: Int, below count: Int, _ name: String = "index") {
  if index < 0 { fatalError("Cannot pass a negative value for '\(name)'.") }
  if index >= count { fatalError("Index \(index) is out of bounds (must be less than \(count)).") }
}
