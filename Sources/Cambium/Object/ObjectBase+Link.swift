import CambiumCore

extension Object: RealmFetchable {
  /// The class itself.
  public static var _rlmObjectType: ObjectBase.Type { self }
}
extension ObjectBase: KeypathSortable {}

extension ObjectBase: _RealmSchemaDiscoverable {
  /// A link to the class.
  public static func _rlmDescribeProperty(_ property: inout Property) {
    property.type = .object
    property.objectClassName = _realmObjectName() ?? className()
  }
}

extension ObjectBase: _HasPersistedType {
  /// A link stands for itself.
  public typealias PersistedType = ObjectBase
}

// Links are optional. What does not speak of optionals here serves types of the program's own that are
// stored as embedded objects: a class with another link that is not optional is refused.
extension ObjectBase: _PersistableInsideOptional {
  /// A new unmanaged object.
  public static func _rlmDefaultPersistedValue() -> Self { Self() }

  /// An accessor of the object that the property links to; a new unmanaged one when it links to none.
  public static func _rlmPersistedValue(of object: ObjectBase, _ head: _PersistedHead) -> Self {
    _rlmOptionalPersistedValue(of: object, head) ?? Self()
  }

  /// Links to `value`, adding it to the Realm if it is unmanaged.
  public static func _rlmSetPersistedValue(
    _ value: ObjectBase, of object: ObjectBase, _ head: _PersistedHead
  ) {
    _rlmSetOptionalPersistedValue(value, of: object, head)
  }

  /// An accessor of the object that the property links to.
  public static func _rlmOptionalPersistedValue(
    of object: ObjectBase, _ head: _PersistedHead
  ) -> Self? {
    guard let key = object.linkKey(head) else { return nil }
    let access = object.classAccess
    guard let target = access.layout.targets[Int(head.index)] else { return nil }
    return unsafe access.realm.classes[target].object(forKey: key, of: self) as? Self
  }

  /// Links to `value`, adding it to the Realm if it is unmanaged; nil takes the link away.
  public static func _rlmSetOptionalPersistedValue(
    _ value: ObjectBase?, of object: ObjectBase, _ head: _PersistedHead
  ) {
    guard let value else {
      object.writeCell(head, .null)
      return
    }
    let (access, session) = object.prepareToWrite()
    if let target = access.target(Int(head.index)) {
      session.check(value, isOf: target)
      if target.stored.isEmbedded, let key = object.linkKey(head) {
        if session.isMerging(value, into: target) {
          return session.adopt(value, inPlaceOf: key, target)
        }
        if value.isManaged, unsafe value.instance === session.realm, unsafe value.key == key {
          return
        }
      }
    }
    let key = unsafe session.isDraining ? session.adopt(value) : session.adoptPlainly(value)
    object.writeCell(head, .int(key))
    session.drain()
  }

  /// Links to `value` in a new row.
  public static func _rlmWritePersistedValue(_ value: ObjectBase, to row: _RowWriter) {
    guard let session = unsafe row.realm.session else { return }
    if let target = row.target { session.check(value, isOf: target) }
    row.append(.int(session.adopt(value)))
  }

  /// Moves the link, or null when there is none.
  public static func _rlmTakeOptionalPersistedValue(
    _ storage: UnsafeMutableRawPointer, to row: _RowWriter
  ) {
    // Links to all classes lie in memory alike.
    let wrapper = unsafe storage.assumingMemoryBound(to: Persisted<ObjectBase?>.self)
    if case .some(.some(let value)) = unsafe wrapper.pointee.value {
      _rlmWritePersistedValue(value, to: row)
      unsafe wrapper.pointee.value = nil
    } else {
      row.append(.null)
    }
  }

  /// The object itself.
  public static func _rlmDynamicValue(_ value: ObjectBase) -> Any? { value }

  /// Accepts objects, and values that make one.
  public static func _rlmConvertedValue(_ value: Any?, _ conversion: _ValueConversion) -> Self? {
    guard let value else { return nil }
    return conversion.linkedObject(value)
  }

  /// A trace goes on in an object of its own.
  public static func _rlmOptionalTracedValue(
    of object: ObjectBase, _ head: _PersistedHead
  ) -> Self? {
    let next = Self()
    KeyPathTrace.continue(from: object, to: next)
    return next
  }
}

extension ObjectBase: _RealmCollectionValueInsideOptional {
  /// A new unmanaged object.
  public static func _rlmDefaultValue() -> Self { Self() }

  /// A link to the class.
  public static func _rlmDescribeElement(_ property: inout Property) {
    _rlmDescribeProperty(&property)
  }

  /// An object's key.
  public static var _rlmElementColumnType: ColumnType { .int }

  /// An accessor of the object whose key the cell holds.
  public static func _rlmElement(in cell: ColumnValue, _ realm: Realm) -> Self {
    guard let key = cell.link,
      let object = realm.instance.requiredAccess(of: self).object(forKey: key) as? Self
    else {
      fatalError("Accessing object of type \(className()) which has been invalidated or deleted")
    }
    return object
  }

  /// Calls `body` with the object's key; adds an unmanaged object to `realm`.
  public func _rlmWithElementCell<Result>(
    in realm: Realm, _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    guard let session = unsafe realm.instance.session else { return try body(.null) }
    return try body(.int(session.adopt(self)))
  }

  /// Accepts objects, and values that make one.
  public static func _rlmConvertedElement(_ value: Any?, _ conversion: _ValueConversion) -> Self? {
    _rlmConvertedValue(value, conversion)
  }

  /// The object itself.
  public static func _rlmDynamicElement(_ element: ObjectBase) -> Any? { element }
}

extension ObjectBase {
  /// The key that a link's cell holds; nil for none.
  final func linkKey(_ head: _PersistedHead) -> Int64? {
    if isRowCurrent, head.flags & _PersistedHead.laterGroup == 0 {
      return withExtendedLifetime(self) {
        guard let cell = cell(head), !cell.isNull else { return nil }
        return cell.int
      }
    }
    var key: Int64?
    readCell(head) { key = $0.link }
    return key
  }
}
