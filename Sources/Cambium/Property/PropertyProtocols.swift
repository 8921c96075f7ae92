import CambiumCore

/// A type that knows what kind of property it makes.
public protocol _RealmSchemaDiscoverable {
  /// Fills in the type, the collection kind, the optionality and the class that a property of this
  /// type has. Plumbing: called while a schema is built.
  static func _rlmDescribeProperty(_ property: inout Property)
}

/// A type that is stored in the form of another, or of itself.
public protocol _HasPersistedType {
  /// The type whose form is stored.
  associatedtype PersistedType
}

/// A type that an `@Persisted` property can have.
///
/// Client code meets it in constraints only; the members are plumbing between ``Persisted`` and the
/// objects, and every conforming type comes with this library or through ``PersistableEnum``.
public protocol _Persistable: _RealmSchemaDiscoverable, _HasPersistedType {
  // Pointers: `storage` is where a `Persisted<Self>` lies in an object that the caller has.

  /// The value of a property that was declared without one.
  static func _rlmDefaultPersistedValue() -> Self
  /// Whether a managed object keeps the value it once returned, as it does for collections.
  static var _rlmIsKept: Bool { get }
  /// The value stored for a managed object.
  static func _rlmPersistedValue(of object: ObjectBase, _ head: _PersistedHead) -> Self
  /// Stores the value of a managed object.
  static func _rlmSetPersistedValue(_ value: Self, of object: ObjectBase, _ head: _PersistedHead)
  /// Stores `value` in the current cell of `row`, adding linked objects to its Realm.
  static func _rlmWritePersistedValue(_ value: Self, to row: _RowWriter)
  /// Moves the value of the `Persisted<Self>` at `storage` to the current cell of `row`. A
  /// requirement, so that it is compiled for each type: every property of every new object comes here.
  static func _rlmTakePersistedValue(_ storage: UnsafeMutableRawPointer, to row: _RowWriter)
  /// The value as dynamic access returns it, nil for null.
  static func _rlmDynamicValue(_ value: Self) -> Any?
  /// The value that stands for `value` when it comes from a dictionary, an array or dynamic access;
  /// nil when there is none.
  static func _rlmConvertedValue(_ value: Any?, _ conversion: _ValueConversion) -> Self?
  /// Assigns what stands for `value` to the `Persisted<Self>` at `storage`; false when there is nothing. A
  /// requirement, so that it is compiled for each type.
  static func _rlmAssignConvertedValue(
    _ value: Any?, _ storage: UnsafeMutableRawPointer, of object: ObjectBase,
    _ conversion: _ValueConversion
  ) -> Bool
  /// The value that a key path's trace continues with.
  static func _rlmTracedValue(of object: ObjectBase, _ head: _PersistedHead) -> Self
  /// The type in which values are stored, when this one cannot hold all that its column can; nil for
  /// all other types.
  static var _rlmStoredForm: (any _StoredScalar.Type)? { get }
  /// The class of the objects as which values are stored, when they are none themselves.
  static var _rlmStoredClass: ObjectBase.Type? { get }
  /// The value of a property that was given `stored`, which this type cannot hold: nil if it is an
  /// optional enumeration; stops otherwise.
  static func _rlmValue(ofUnfit stored: any _StoredScalar) -> Self
}

extension _Persistable {
  /// Moves the value, or the default of a property that has none.
  public static func _rlmTakePersistedValue(
    _ storage: UnsafeMutableRawPointer, to row: _RowWriter
  ) {
    unsafe _rlmTakePersistedValue(storage.assumingMemoryBound(to: Persisted<Self>.self), to: row)
  }

  @inline(__always) static func _rlmTakePersistedValue(
    _ wrapper: UnsafeMutablePointer<Persisted<Self>>, to row: _RowWriter
  ) {
    guard let value = unsafe wrapper.pointee.value else {
      let value = _rlmDefaultPersistedValue()
      _rlmWritePersistedValue(value, to: row)
      if _rlmIsKept { unsafe wrapper.pointee.value = value }
      return
    }
    _rlmWritePersistedValue(value, to: row)
    if !_rlmIsKept { unsafe wrapper.pointee.value = nil }
  }

  /// Converts and assigns.
  public static func _rlmAssignConvertedValue(
    _ value: Any?, _ storage: UnsafeMutableRawPointer, of object: ObjectBase,
    _ conversion: _ValueConversion
  ) -> Bool {
    unsafe Persisted<Self>.assign(value, storage, of: object, conversion) {
      _rlmConvertedValue($0, $1)
    }
  }

  /// Only collections are kept.
  @inlinable public static var _rlmIsKept: Bool { false }

  /// Only links lead on.
  public static func _rlmTracedValue(of object: ObjectBase, _ head: _PersistedHead) -> Self {
    _rlmDefaultPersistedValue()
  }

  /// Most types hold whatever their column can.
  @inlinable public static var _rlmStoredForm: (any _StoredScalar.Type)? { nil }

  /// Most types are no objects, or are stored as themselves.
  @inlinable public static var _rlmStoredClass: ObjectBase.Type? { nil }

  /// Stops.
  public static func _rlmValue(ofUnfit stored: any _StoredScalar) -> Self {
    fatalError("Could not convert value '\(stored)' to type '\(Self.self)'.")
  }
}

/// A property type that may also be optional.
public protocol _PersistableInsideOptional: _Persistable {
  // Pointers: `storage` is where a `Persisted<Self?>` lies in an object that the caller has.

  /// The value stored for a managed object, nil for null.
  static func _rlmOptionalPersistedValue(of object: ObjectBase, _ head: _PersistedHead) -> Self?
  /// Stores the value of a managed object, nil for null.
  static func _rlmSetOptionalPersistedValue(
    _ value: Self?, of object: ObjectBase, _ head: _PersistedHead)
  /// Moves the value of the `Persisted<Self?>` at `storage` to the current cell of `row`.
  static func _rlmTakeOptionalPersistedValue(_ storage: UnsafeMutableRawPointer, to row: _RowWriter)
  /// The optional value that a key path's trace continues with.
  static func _rlmOptionalTracedValue(of object: ObjectBase, _ head: _PersistedHead) -> Self?
}

extension _PersistableInsideOptional {
  /// Moves the value, or null when the property has none.
  public static func _rlmTakeOptionalPersistedValue(
    _ storage: UnsafeMutableRawPointer, to row: _RowWriter
  ) {
    let wrapper = unsafe storage.assumingMemoryBound(to: Persisted<Self?>.self)
    if case .some(.some(let value)) = unsafe wrapper.pointee.value {
      _rlmWritePersistedValue(value, to: row)
      unsafe wrapper.pointee.value = nil
    } else {
      row.append(.null)
    }
  }

  /// Only links lead on.
  public static func _rlmOptionalTracedValue(
    of object: ObjectBase, _ head: _PersistedHead
  ) -> Self? { nil }
}

/// A type with a value of its own for a property that was declared without one.
public protocol _DefaultConstructible {
  /// Makes that value.
  init()
}

/// A type that a primary key can have.
public protocol _PrimaryKey {}

/// A type that can be indexed.
public protocol _Indexable {}

/// A type whose values have a smallest and a greatest.
public protocol MinMaxType {}

/// A type whose values can be added up.
public protocol AddableType {}

/// A type by whose values objects can be sorted.
public protocol SortableType {}

/// A type whose properties can be named in a sort descriptor.
public protocol KeypathSortable {}

/// A type that the keys of a map can have: `String`.
public protocol _MapKey: Hashable {
  /// The key that is stored as `text`.
  init(_rlmText text: String)
  /// What is stored.
  var _rlmText: String { get }
}

/// An enumeration stored as its raw value.
public protocol RealmEnum: RealmCollectionValue, _RealmSchemaDiscoverable {}

/// An optional type, for constraints.
public protocol OptionalProtocol {
  /// The type inside of the optional.
  associatedtype Wrapped
}

extension Optional: OptionalProtocol {}

/// An element type of collections.
///
/// Client code meets it in constraints only; the members are plumbing.
public protocol RealmCollectionValue: Hashable, _HasPersistedType {
  /// The value that stands for a missing element.
  static func _rlmDefaultValue() -> Self
  /// Fills in what a collection of this type is a collection of.
  static func _rlmDescribeElement(_ property: inout Property)
  /// The column type in which elements are stored outside of their row.
  static var _rlmElementColumnType: ColumnType { get }
  /// The element that a cell stands for.
  static func _rlmElement(in cell: ColumnValue, _ realm: Realm) -> Self
  /// Calls `body` with the element's cell. An unmanaged object is added to `realm`.
  func _rlmWithElementCell<Result>(
    in realm: Realm, _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result
  /// The element that stands for `value` when it comes from a dictionary, an array or dynamic
  /// access; nil when there is none.
  static func _rlmConvertedElement(_ value: Any?, _ conversion: _ValueConversion) -> Self?
  /// The element as dynamic access returns it, nil for null.
  static func _rlmDynamicElement(_ element: Self) -> Any?
  /// Whether an element stands for an object without being it.
  static var _rlmIsProjection: Bool { get }
  /// The element that stands for an object.
  static func _rlmElement(of object: ObjectBase) -> Self
}

extension RealmCollectionValue {
  /// Only projections do.
  @inlinable public static var _rlmIsProjection: Bool { false }

  /// The object itself, which must be of this type.
  public static func _rlmElement(of object: ObjectBase) -> Self {
    guard let element = object as? Self else {
      fatalError("An object of class '\(type(of: object).className())' is no '\(Self.self)'.")
    }
    return element
  }
}

/// An element type of collections that may also be optional.
public protocol _RealmCollectionValueInsideOptional: RealmCollectionValue {
  /// The element of a cell that is not null; nil when this type has no value for it.
  static func _rlmOptionalElement(in cell: ColumnValue, _ realm: Realm) -> Self?
}

extension _RealmCollectionValueInsideOptional {
  /// Most types have a value for every cell.
  public static func _rlmOptionalElement(in cell: ColumnValue, _ realm: Realm) -> Self? {
    _rlmElement(in: cell, realm)
  }
}

/// A type that a Realm can be asked for all objects of.
public protocol RealmFetchable: RealmCollectionValue {
  /// The class's name without its module.
  static func className() -> String
  /// The class of the objects.
  static var _rlmObjectType: ObjectBase.Type { get }
}
