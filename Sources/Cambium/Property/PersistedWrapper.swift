import Foundation

/// A `@Persisted` property whose type is not known where it is used.
///
/// `storage` is where the property lies inside of its object.
protocol PersistedWrapper {
  /// The class of the objects that the property links to, or that link here; nil for values.
  static var linkedClass: ObjectBase.Type? { get }
  /// Fills in what the declaration says of the property.
  static func describe(_ storage: UnsafeMutableRawPointer, _ property: inout Property)
  /// Moves the value that an unmanaged object holds into a new row.
  static func take(_ storage: UnsafeMutableRawPointer, to row: _RowWriter)
  /// Copies the value that an unmanaged object holds into a row.
  static func peek(_ storage: UnsafeMutableRawPointer, to row: _RowWriter)
  /// Drops the value that an unmanaged object held.
  static func discard(_ storage: UnsafeMutableRawPointer)
  /// Moves the value that an unmanaged object holds into an existing row.
  static func takeAssigning(
    _ storage: UnsafeMutableRawPointer, to object: ObjectBase, _ head: _PersistedHead)
  /// Writes the form of a value of another type to a row; false when it has none.
  static func writeConverted(_ value: Any?, to row: _RowWriter) -> Bool
  /// The value, nil for null.
  static func dynamicValue(_ storage: UnsafeMutableRawPointer, of object: ObjectBase) -> Any?
  /// The value of a managed object that has no place for the property, nil for null.
  static func dynamicValue(_ head: _PersistedHead, of object: ObjectBase) -> Any?
  /// Assigns a value of such an object; false when it is of a wrong type.
  static func setDynamicValue(
    _ value: Any?, _ head: _PersistedHead, of object: ObjectBase, _ conversion: _ValueConversion
  ) -> Bool
  /// Assigns a value; false when it is of a wrong type.
  static func setDynamicValue(
    _ value: Any?, _ storage: UnsafeMutableRawPointer, of object: ObjectBase,
    _ conversion: _ValueConversion
  ) -> Bool
}

extension Persisted: PersistedWrapper {
  private static func bound(_ storage: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Self> {
    unsafe storage.assumingMemoryBound(to: Self.self)
  }

  static var linkedClass: ObjectBase.Type? {
    func element<C: RealmCollection>(_ type: C.Type) -> ObjectBase.Type? {
      Cambium.linkedClass(of: C.Element.self)
    }
    func value<C: RealmKeyedCollection>(_ type: C.Type) -> ObjectBase.Type? {
      Cambium.linkedClass(of: C.Value.self)
    }
    if let collection = Value.self as? any RealmCollection.Type { return element(collection) }
    if let map = Value.self as? any RealmKeyedCollection.Type { return value(map) }
    return Cambium.linkedClass(of: Value.self)
  }

  static func describe(_ storage: UnsafeMutableRawPointer, _ property: inout Property) {
    Value._rlmDescribeProperty(&property)
    let wrapper = unsafe bound(storage)
    property.isPrimaryKey = unsafe wrapper.pointee.head.flags & _PersistedHead.primaryKey != 0
    property.isIndexed =
      unsafe property.isPrimaryKey || wrapper.pointee.head.flags & _PersistedHead.indexed != 0
    if let linking = unsafe wrapper.pointee.value as? any LinkingObjectsProtocol {
      property.originPropertyName = linking._rlmOriginPropertyName
    }
  }

  static func take(_ storage: UnsafeMutableRawPointer, to row: _RowWriter) {
    unsafe Value._rlmTakePersistedValue(storage, to: row)
  }

  static func peek(_ storage: UnsafeMutableRawPointer, to row: _RowWriter) {
    let wrapper = unsafe bound(storage)
    let value = unsafe wrapper.pointee.value ?? Value._rlmDefaultPersistedValue()
    // A default such as a new identifier must not change between here and the row.
    unsafe wrapper.pointee.value = value
    Value._rlmWritePersistedValue(value, to: row)
  }

  static func discard(_ storage: UnsafeMutableRawPointer) {
    unsafe bound(storage).pointee.value = nil
  }

  static func takeAssigning(
    _ storage: UnsafeMutableRawPointer, to object: ObjectBase, _ head: _PersistedHead
  ) {
    let wrapper = unsafe bound(storage)
    let value = unsafe wrapper.pointee.value ?? Value._rlmDefaultPersistedValue()
    Value._rlmSetPersistedValue(value, of: object, head)
    unsafe wrapper.pointee.value = nil
  }

  static func dynamicValue(
    _ storage: UnsafeMutableRawPointer, of object: ObjectBase
  ) -> Any? {
    if let stored = unsafe storedValue(bound(storage), of: object) {
      let conversion = _ValueConversion(realm: nil, isCopying: false)
      return Value._rlmConvertedValue(stored, conversion).map { Value._rlmDynamicValue($0) }
        ?? stored
    }
    let head = unsafe bound(storage).pointee.head
    if head.state == _PersistedHead.managed, let stored = Value._rlmStoredClass {
      return stored._rlmOptionalPersistedValue(of: object, head)
    }
    return unsafe Value._rlmDynamicValue(value(storage, of: object))
  }

  static func dynamicValue(_ head: _PersistedHead, of object: ObjectBase) -> Any? {
    Value._rlmDynamicValue(Value._rlmPersistedValue(of: object, head))
  }

  static func setDynamicValue(
    _ value: Any?, _ head: _PersistedHead, of object: ObjectBase, _ conversion: _ValueConversion
  ) -> Bool {
    guard let converted = Value._rlmConvertedValue(value, conversion) else { return false }
    Value._rlmSetPersistedValue(converted, of: object, head)
    return true
  }

  static func writeConverted(_ value: Any?, to row: _RowWriter) -> Bool {
    let conversion = unsafe _ValueConversion(realm: row.realm, isCopying: false)
    guard let converted = Value._rlmConvertedValue(value, conversion) else {
      guard let stored = storedForm(of: value) else { return false }
      stored._rlmWithScalarCell { row.append($0) }
      return true
    }
    Value._rlmWritePersistedValue(converted, to: row)
    return true
  }

  static func setDynamicValue(
    _ value: Any?, _ storage: UnsafeMutableRawPointer, of object: ObjectBase,
    _ conversion: _ValueConversion
  ) -> Bool {
    unsafe Value._rlmAssignConvertedValue(value, storage, of: object, conversion)
  }

  /// What ``setDynamicValue(_:_:of:_:)`` does, with the code for a value's type at hand.
  @inline(__always) static func assign(
    _ value: Any?, _ storage: UnsafeMutableRawPointer, of object: ObjectBase,
    _ conversion: _ValueConversion, _ convert: (Any?, _ValueConversion) -> Value?
  ) -> Bool {
    let wrapper = unsafe bound(storage)
    guard let converted = convert(value, conversion) else {
      return unsafe setUnfitValue(value, wrapper, of: object)
    }
    switch unsafe wrapper.pointee.head.state {
    case _PersistedHead.unmanaged: unsafe wrapper.pointee.setUnmanaged(converted)
    case _PersistedHead.unfit: unsafe wrapper.pointee.replaceUnfit(converted, of: object)
    default: unsafe Value._rlmSetPersistedValue(converted, of: object, wrapper.pointee.head)
    }
    return true
  }

  private static func value(_ storage: UnsafeMutableRawPointer, of object: ObjectBase) -> Value {
    let wrapper = unsafe bound(storage)
    let head = unsafe wrapper.pointee.head
    guard head.state == _PersistedHead.managed else {
      if let value = unsafe wrapper.pointee.value { return value }
      return unsafe wrapper.pointee.firstValue(of: object)
    }
    let value = Value._rlmPersistedValue(of: object, head)
    if Value._rlmIsKept, object.keepsPersistedValues { unsafe wrapper.pointee.keep(value) }
    return value
  }
}

/// The class that values of a type are objects of, or are stored as, optional or not; nil for other types.
func linkedClass(of type: Any.Type) -> ObjectBase.Type? {
  func wrapped<O: OptionalProtocol>(_ type: O.Type) -> ObjectBase.Type? {
    linkedClass(of: O.Wrapped.self)
  }
  if let type = type as? ObjectBase.Type { return type }
  if let type = type as? any _CustomPersistable.Type { return type._rlmStoredClass }
  return (type as? any OptionalProtocol.Type).flatMap { wrapped($0) }
}
