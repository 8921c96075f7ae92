// A column can hold more than the type of its property: all widths of integers are 64 bits in the
// file, and an enumeration's raw values may match no case. Such a value that arrives through a
// dictionary, an array or dynamic access is stored; it is the typed reading that stops, or gives nil
// for an optional enumeration. While the object is unmanaged, the value waits in ``ObjectExtra``.

extension Persisted {
  /// Stores a value that `Value` cannot hold in its stored form; false when that form cannot either.
  static func setUnfitValue(
    _ value: Any?, _ wrapper: UnsafeMutablePointer<Self>, of object: ObjectBase
  ) -> Bool {
    guard let stored = storedForm(of: value) else { return false }
    guard unsafe wrapper.pointee.head.isUnmanaged else {
      stored._rlmWithScalarCell { unsafe object.writeCell(wrapper.pointee.head, $0) }
      return true
    }
    let offset = unsafe UnsafeRawPointer(wrapper) - UnsafeRawPointer(object.storage)
    let properties = ClassRegistry.description(of: type(of: object)).properties
    guard let index = properties.firstIndex(where: { $0.offset == offset }) else { return false }
    let extra = unsafe object.extra ?? ObjectExtra()
    extra.unfitValues[index] = stored
    unsafe object.extra = extra
    unsafe wrapper.pointee.head.state = _PersistedHead.unfit
    unsafe wrapper.pointee.head.index = UInt16(index)
    unsafe wrapper.pointee.value = nil
    return true
  }

  /// The stored form of a value that `Value` cannot hold; nil when that form cannot hold it either.
  static func storedForm(of value: Any?) -> (any _StoredScalar)? {
    // A case of another enumeration is of a wrong type, whatever its raw value.
    guard let value, !(value is any RealmEnum) else { return nil }
    return Value._rlmStoredForm?.storedValue(value)
  }

  /// The property's stored value, when its type is one that cannot hold all of them.
  static func storedValue(
    _ wrapper: UnsafeMutablePointer<Self>, of object: ObjectBase
  ) -> (any _StoredScalar)? {
    let head = unsafe wrapper.pointee.head
    switch head.state {
    case _PersistedHead.unfit: return object.unfitValue(head)
    case _PersistedHead.managed: return Value._rlmStoredForm?.storedValue(of: object, head)
    default: return nil
    }
  }
}

extension _StoredScalar {
  /// `value` as this type, if it can hold it.
  static func storedValue(_ value: Any) -> (any _StoredScalar)? {
    value as? Self ?? Self(_rlmConverting: value)
  }

  /// What is stored for a managed object; nil for null.
  static func storedValue(of object: ObjectBase, _ head: _PersistedHead) -> (any _StoredScalar)? {
    _rlmOptionalPersistedValue(of: object, head)
  }
}

extension _PersistedHead {
  /// Whether the property's object is unmanaged, whatever the property holds.
  var isUnmanaged: Bool { state == Self.unmanaged || state == Self.unfit }
}

extension ObjectBase {
  /// The value that waits for its row because the property's type cannot hold it.
  final func unfitValue(_ head: _PersistedHead) -> (any _StoredScalar)? {
    unsafe extra?.unfitValues[Int(head.index)]
  }

  /// Takes such a value out, to store it.
  final func takeUnfitValue(_ index: Int) -> (any _StoredScalar)? {
    guard let extra = unsafe extra else { return nil }
    return extra.unfitValues.removeValue(forKey: index)
  }
}
