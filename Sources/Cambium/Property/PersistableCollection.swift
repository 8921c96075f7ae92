/// A collection that a property can have: an accessor keeps one instance of it.
///
/// Supplies what a property type needs from three things that each kind of collection does in its own
/// way.
public protocol _PersistableCollection: AnyObject, _Persistable, Equatable {
  // Pointers: a class refers to its Realm without a count; the object keeps it.

  /// Makes an empty, unmanaged collection.
  init()
  /// Makes this instance, whatever it held, the view of a managed object's property number `index`.
  func _rlmAttach(to object: ObjectBase, _ index: Int)
  /// Replaces the contents by those of another collection.
  func _rlmReplaceContents(with other: Self)
  /// Stores the contents in the current cell of `row`.
  func _rlmWrite(to row: _RowWriter)
}

extension _PersistableCollection {
  /// An accessor keeps its collection.
  @inlinable public static var _rlmIsKept: Bool { true }

  /// An empty collection.
  public static func _rlmDefaultPersistedValue() -> Self { Self() }

  /// A view of the property.
  public static func _rlmPersistedValue(of object: ObjectBase, _ head: _PersistedHead) -> Self {
    let access = object.classAccess
    unsafe access.realm.verify()
    object.requireRow(access)
    return view(of: object, head)
  }

  /// Replaces the contents; assigning a collection to itself changes nothing.
  public static func _rlmSetPersistedValue(
    _ value: Self, of object: ObjectBase, _ head: _PersistedHead
  ) {
    _ = object.prepareToWrite()
    let target = view(of: object, head)
    if target != value { target._rlmReplaceContents(with: value) }
  }

  private static func view(of object: ObjectBase, _ head: _PersistedHead) -> Self {
    let collection = Self()
    collection._rlmAttach(to: object, Int(head.index))
    return collection
  }

  /// Stores the contents in a new row.
  public static func _rlmWritePersistedValue(_ value: Self, to row: _RowWriter) {
    value._rlmWrite(to: row)
  }

  /// The collection itself.
  public static func _rlmDynamicValue(_ value: Self) -> Any? { value }
}

/// A `@Persisted` property of a collection, whose type is not known where it is used.
protocol PersistedCollection: PersistedWrapper {
  /// Makes the collection of an object that was just added the view of its property, in place.
  static func attach(_ storage: UnsafeMutableRawPointer, to object: ObjectBase, _ index: Int)
}

extension Persisted: PersistedCollection where Value: _PersistableCollection {
  static func attach(_ storage: UnsafeMutableRawPointer, to object: ObjectBase, _ index: Int) {
    let wrapper = unsafe storage.assumingMemoryBound(to: Self.self)
    guard let value = unsafe wrapper.pointee.value else { return }
    value._rlmAttach(to: object, index)
    unsafe wrapper.pointee.head.state = _PersistedHead.managedAndKept
  }
}

extension Persisted {
  /// Assigns a collection to a property of an unmanaged object, which keeps its instance.
  @usableFromInline mutating func replaceContents(_ newValue: Value) {
    func replace<C: _PersistableCollection>(_ current: C) {
      if let newValue = newValue as? C, newValue !== current {
        current._rlmReplaceContents(with: newValue)
      }
    }
    let current = value ?? Value._rlmDefaultPersistedValue()
    value = current
    if let collection = current as? any _PersistableCollection { replace(collection) }
  }
}
