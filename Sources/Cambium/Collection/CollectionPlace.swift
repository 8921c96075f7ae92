import CambiumCore

/// Which collection property of which object.
///
/// Pointers: the class refers to its Realm without a count; who has the place keeps the Realm. Keys are
/// lent while the content that they lie in is kept.
struct CollectionPlace {
  let access: ClassAccess
  let key: Int64
  let index: Int
  /// Which list or dictionary inside of the property's value it is; nil for the property itself.
  var inside: UInt64?
  /// Whether that is a dictionary.
  var isDictionary = false
  /// Where it was, or what it lies in, among the elements of a property that is a collection.
  var lastPosition: Int?

  /// The property, or what would be one of the list or dictionary inside.
  var property: Property {
    var property = access.description.properties[index].property
    guard inside != nil else { return property }
    (property.isArray, property.isSet, property.isMap) = (!isDictionary, false, isDictionary)
    return property
  }

  /// What the property is, or what one of the list or dictionary inside would be.
  var shape: PropertyShape {
    var shape = access.layout.shapes[index]
    if inside != nil { (shape.isSet, shape.isMap) = (false, isDictionary) }
    return shape
  }
  var column: UInt16 { access.stored.columns[index] }
  /// The class of the elements; nil when they are values.
  var target: ClassAccess? { inside == nil ? access.target(index) : nil }

  /// The link from the collection to an object.
  func backlink(to target: Int64) -> Backlink {
    Backlink(target: target, table: access.stored.tableID, column: column, source: key)
  }

  /// The elements as they are now: in the row, in a tree of their own, or in one that the running
  /// transaction has changed.
  func content() -> CollectionContent {
    if let inside { return CollectionContent(NestedElements(stored(inside))) }
    let realm = unsafe access.realm
    if let tree = unsafe realm.session?.tree(ifOpen: self) { return CollectionContent(tree) }
    return realm.withCell(access, key, index) {
      CollectionContent($0, shape.elementType, realm.source)
    }
  }
}

// Lists and dictionaries inside of values of any type.
extension CollectionPlace {
  /// The list or dictionary `value` inside of the property's value.
  func collection(_ value: StoredAny) -> CollectionPlace {
    var isDictionary = false
    if case .dictionary = value { isDictionary = true }
    return CollectionPlace(
      access: access, key: key, index: index, inside: value.identifier,
      isDictionary: isDictionary, lastPosition: lastPosition)
  }

  /// The property as a whole.
  var outermost: CollectionPlace { CollectionPlace(access: access, key: key, index: index) }

  /// The list or dictionary with that identifier; nil when it is not there any more.
  func stored(_ identifier: UInt64) -> StoredAny? {
    holder(of: identifier)?.value.collection(identifier)
  }

  /// The value of the property that is, or in which lies, the list or dictionary with that identifier, and its
  /// position; nil when it is not there any more.
  func holder(of identifier: UInt64) -> (value: StoredAny, position: Int)? {
    if let lastPosition, let value = outermostValue(at: lastPosition),
      value.collection(identifier) != nil
    {
      return (value, lastPosition)
    }
    var found: (value: StoredAny, position: Int)?
    forEachValue { value, position in
      if value.collection(identifier) != nil { found = (value, position) }
      return found == nil
    }
    return found
  }

  /// The element at a position of a property that is a collection.
  private func outermostValue(at position: Int) -> StoredAny? {
    guard outermost.property.isCollection else { return nil }
    let content = outermost.content()
    defer { withExtendedLifetime(content) {} }
    return unsafe access.realm.reading { () throws(StoreError) in
      if position >= content.elements.count { return nil }
      return try content.elements.withElement(at: position) { StoredAny($0) }
    }
  }

  /// What a change inside of a value means for the property.
  var outermostNote: ManagedCollection.ChangeNote {
    let property = outermost.property
    guard let inside, property.isCollection, !property.isSet else { return .whole }
    guard let found = holder(of: inside)?.position else { return .whole }
    if property.isArray { return .positions { $0.assign(found) } }
    let content = outermost.content()
    defer { withExtendedLifetime(content) {} }
    return unsafe access.realm.reading { () throws(StoreError) in
      try unsafe content.elements.withKey(at: found) {
        unsafe .entries([String(decoding: $0, as: UTF8.self)])
      }
    }
  }

  /// Calls `body` with each value of the property and its position, one for a property that is no
  /// collection, until it returns false.
  func forEachValue(_ body: (StoredAny, Int) -> Bool) {
    guard outermost.property.isCollection else {
      unsafe access.realm.withCell(access, key, index) { cell in
        if let value = StoredAny(cell) { _ = body(value, 0) }
      }
      return
    }
    let content = outermost.content()
    defer { withExtendedLifetime(content) {} }
    unsafe access.realm.reading { () throws(StoreError) in
      try content.elements.forEach { cell, position in
        StoredAny(cell).map { body($0, position) } ?? true
      }
    }
  }
}
