import CambiumCore

extension Realm {
  /// All objects of a class, live and in no particular order.
  public func objects<Element: RealmFetchable>(_ type: Element.Type) -> Results<Element> {
    instance.verify()
    let access = instance.requiredAccess(of: type._rlmObjectType)
    return Results(ResultsCore(all: access, as: access.layout))
  }

  /// All objects of the class with that name, with properties that are named by strings.
  ///
  /// They are the objects that ``objects(_:)`` gives: whatever is changed through the one is seen
  /// through the other. Stops when the Realm has no such class.
  public func dynamicObjects(_ typeName: String) -> Results<DynamicObject> {
    instance.verify()
    let access = instance.requiredAccess(named: typeName)
    return Results(ResultsCore(all: access, as: access.layout.dynamicLayout))
  }

  /// The object with that primary key; nil when there is none.
  public func object<Element: Object, KeyType>(
    ofType type: Element.Type, forPrimaryKey key: KeyType
  ) -> Element? {
    instance.verify()
    let access = instance.requiredAccess(of: type)
    let index = access.requiredPrimaryKey
    let found: Int64?
    if access.stored.isKeyPrimaryKey, KeyType.self == Int.self, let key = key as? Int {
      found = Int64(key)
    } else {
      found = access.key(forPrimaryKey: key, index)
    }
    guard let found, let object = access.object(forKey: found) else { return nil }
    return unsafe unsafeDowncast(object, to: type)
  }

  /// The object with that primary key, of the class with that name, with properties that are named by
  /// strings; nil when there is none.
  public func dynamicObject(
    ofType typeName: String, forPrimaryKey key: Any
  ) -> DynamicObject? {
    instance.verify()
    let access = instance.requiredAccess(named: typeName)
    return access.key(forPrimaryKey: key, access.requiredPrimaryKey).map {
      access.dynamicObject(forKey: $0)
    }
  }
}

extension ClassAccess {
  /// Which property is the primary key; stops when none is.
  fileprivate var requiredPrimaryKey: Int {
    guard let index = stored.primaryKeyIndex else {
      fatalError("'\(stored.name)' does not have a primary key defined")
    }
    return index
  }

  /// The key of the object with that primary key; nil when there is none.
  func key(forPrimaryKey value: Any?, _ index: Int) -> Int64? {
    let property = description.properties[index]
    let writer = unsafe _RowWriter(realm: realm)
    writer.begin([.null])
    let unwrapped = flattened(value)
    guard property.wrapper.writeConverted(unwrapped, to: writer) else {
      description.stopAtInvalidValue(unwrapped, index)
    }
    let cell = unsafe writer.cells[0]
    if stored.isKeyPrimaryKey {
      guard case .int(let key) = cell, creation(of: key) != nil else { return nil }
      return key
    }
    guard let form = IndexKey.form(of: cell),
      let tree = unsafe realm.readKeyTree(stored.indexName(index))
    else { return nil }
    return unsafe realm.reading { () throws(StoreError) in
      try PrimaryKeyIndex.find(form, in: tree) { unsafe realm.cellEquals(self, $0, index, cell) }
    }
  }
}
