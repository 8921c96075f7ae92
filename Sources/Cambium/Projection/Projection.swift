import CambiumCore

/// What is observed through the object behind it.
public protocol ProjectionObservable: AnyObject, ThreadConfined {
  /// The object's class.
  associatedtype Root: ObjectBase
  /// The object behind it.
  var rootObject: Root { get }
  /// The projection of an object.
  init(projecting object: Root)
}

/// Some properties of an object under names of their own, and of objects to which it links.
///
/// ```swift
/// class PersonProjection: Projection<Person> {
///   @Projected(\Person.name) var name
///   @Projected(\Person.address?.city) var city
/// }
/// let people = realm.objects(PersonProjection.self).filter("age > 3").sorted(byKeyPath: "name")
/// ```
///
/// A projection is as live, frozen or unmanaged as the object behind it, which it keeps, and writing to a
/// property writes to the object. Queries, sorts and aggregates use the names of the object's class.
nonisolated open class Projection<Root: ObjectBase>: ProjectionObservable {
  // Exclusivity is not checked: the object's key is loaded, and loading it calls nothing.

  /// The object behind the projection.
  public let rootObject: Root

  /// The projection of an object.
  public required init(projecting object: Root) { rootObject = object }

  /// The projected properties, one per line.
  open var description: String {
    let schema = ProjectionSchema(self, root: Root.self)
    var lines = ["\(type(of: self))<\(Root.className())> {"]
    for property in schema.properties {
      let text = ObjectDescription.text(
        ofValue: flattened(rootObject[keyPath: property.keyPath]), depth: 1)
      lines.append("\t\(property.name)(\(property.path)) = \(ObjectDescription.indented(text));")
    }
    lines.append("}")
    return lines.joined(separator: "\n")
  }
}

extension Projection: CustomStringConvertible {}

extension Projection: Hashable {
  /// Whether both stand for the same object.
  public static func == (lhs: Projection, rhs: Projection) -> Bool {
    lhs === rhs || lhs.rootObject.isSameObject(as: rhs.rootObject)
      || lhs.rootObject == rhs.rootObject
  }

  /// Feeds what the object is.
  public func hash(into hasher: inout Hasher) {
    if rootObject.isManaged {
      unsafe hasher.combine(rootObject.key)
    } else {
      hasher.combine(ObjectIdentifier(rootObject))
    }
  }
}

extension Projection: ThreadConfined {
  /// The object's Realm.
  public var realm: Realm? { rootObject.realm }

  /// Whether the object was deleted, or its Realm invalidated.
  public var isInvalidated: Bool { rootObject.isInvalidated }

  /// Whether the object is fixed to one version.
  public var isFrozen: Bool { rootObject.isFrozen }

  /// The projection of the object as it is now, readable from any thread.
  public func freeze() -> Self { Self(projecting: rootObject.freeze()) }

  /// The projection of the live object in the calling context; nil when it was deleted.
  public func thaw() -> Self? { rootObject.thaw().map { Self(projecting: $0) } }
}

extension Projection: Portable {
  var identity: AccessorIdentity { rootObject.identity }

  static func value(of identity: AccessorIdentity, in realm: RealmInstance) -> Self? {
    Root.value(of: identity, in: realm).map { Self(projecting: $0) }
  }
}

extension Projection: KeypathSortable {}

extension Projection: _HasPersistedType {
  /// What is stored is the object.
  public typealias PersistedType = Root
}

extension Projection: RealmFetchable {
  /// The class of the objects.
  public static func className() -> String { Root.className() }

  /// The class of the objects.
  public static var _rlmObjectType: ObjectBase.Type { Root.self }

  /// A projection stands for an object.
  public static var _rlmIsProjection: Bool { true }

  /// The projection of an object.
  public static func _rlmElement(of object: ObjectBase) -> Self {
    guard let root = object as? Root else {
      fatalError("'\(Self.self)' is no projection of '\(type(of: object).className())'.")
    }
    return Self(projecting: root)
  }

  /// The projection of a new unmanaged object.
  public static func _rlmDefaultValue() -> Self { Self(projecting: Root()) }

  /// What the object's class describes.
  public static func _rlmDescribeElement(_ property: inout Property) {
    Root._rlmDescribeElement(&property)
  }

  /// An object's key.
  public static var _rlmElementColumnType: ColumnType { .int }

  /// The projection of the object whose key the cell holds.
  public static func _rlmElement(in cell: ColumnValue, _ realm: Realm) -> Self {
    Self(projecting: Root._rlmElement(in: cell, realm))
  }

  /// Calls `body` with the object's key.
  public func _rlmWithElementCell<Result>(
    in realm: Realm, _ body: (ColumnValue) throws -> Result
  ) rethrows -> Result {
    try rootObject._rlmWithElementCell(in: realm, body)
  }

  /// Projections are made of nothing else.
  public static func _rlmConvertedElement(_ value: Any?, _ conversion: _ValueConversion) -> Self? {
    value as? Self
  }

  /// The projection itself.
  public static func _rlmDynamicElement(_ element: Projection) -> Any? { element }
}

extension ObjectKeyIdentifiable where Self: ProjectionObservable {
  /// The row of a managed object; a number of its own for an unmanaged one.
  public var id: UInt64 {
    unsafe rootObject.isManaged
      ? UInt64(bitPattern: rootObject.key)
      : UInt64(UInt(bitPattern: ObjectIdentifier(rootObject).hashValue))
  }
}

/// The dotted name of the property that a Swift key path of a projection leads to, from the object behind it.
///
/// Stops when the path reads no stored property.
public func _name<P: ProjectionObservable>(for keyPath: PartialKeyPath<P>) -> String {
  guard let name = KeyPathTrace.name(of: { P(projecting: $0)[keyPath: keyPath] }, from: P.Root.self)
  else {
    fatalError("The key path '\(keyPath)' of '\(P.self)' reads no @Persisted property.")
  }
  return name
}
