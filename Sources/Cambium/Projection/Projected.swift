/// A property of a ``Projection`` that stands for one of the object behind it, or for one that a path from
/// there leads to.
///
/// ```swift
/// @Projected(\Person.name) var name
/// @Projected(\Person.address?.city) var city
/// @Projected(\Person.dogs.projectTo.name) var dogNames: ProjectedCollection<String>
/// ```
@propertyWrapper public struct Projected<T: ObjectBase, Value> {
  let projectedKeyPath: KeyPath<T, Value>

  /// The property at the end of a path from the object.
  public init(_ projectedKeyPath: KeyPath<T, Value>) { self.projectedKeyPath = projectedKeyPath }

  /// Not available: the value lives with the object.
  @available(*, unavailable, message: "@Projected can only be used as a property of a Projection")
  public var wrappedValue: Value {
    get { fatalError("@Projected can only be used as a property of a Projection") }
    // swift-format-ignore: an unavailable setter has no use for its value
    set { fatalError("@Projected can only be used as a property of a Projection") }
  }

  /// The value, read from the object and written to it.
  ///
  /// Stops when the path cannot be written to.
  public static subscript<EnclosingSelf: Projection<T>>(
    _enclosingInstance projection: EnclosingSelf,
    wrapped wrappedKeyPath: ReferenceWritableKeyPath<EnclosingSelf, Value>,
    storage storageKeyPath: ReferenceWritableKeyPath<EnclosingSelf, Self>
  ) -> Value {
    get { projection.rootObject[keyPath: projection[keyPath: storageKeyPath].projectedKeyPath] }
    set {
      let path = projection[keyPath: storageKeyPath].projectedKeyPath
      guard let path = path as? ReferenceWritableKeyPath<T, Value> else {
        fatalError("KeyPath is not writable")
      }
      projection.rootObject[keyPath: path] = newValue
    }
  }
}

/// A projected property whose types are not known where it is used.
protocol AnyProjected {
  /// The path from the object.
  var keyPath: AnyKeyPath { get }
}

extension Projected: AnyProjected {
  var keyPath: AnyKeyPath { projectedKeyPath }
}

/// The properties of a projection class.
struct ProjectionSchema {
  /// One `@Projected` property.
  struct Property {
    /// Its name in the projection.
    let name: String
    /// The path from the object, and its name.
    let keyPath: AnyKeyPath
    let path: String

    /// The object's property with which the path begins.
    var root: String { String(path.prefix { $0 != "." }) }
  }

  let properties: [Property]

  /// Reads the properties of `projection`; stops at paths that no stored property lies on.
  init(_ projection: Any, root: ObjectBase.Type) {
    var properties: [Property] = []
    var mirror: Mirror? = Mirror(reflecting: projection)
    while let current = mirror {
      let own = current.children.compactMap { child -> Property? in
        guard let label = child.label, let projected = child.value as? any AnyProjected else {
          return nil
        }
        let name = label.hasPrefix("_") ? String(label.dropFirst()) : label
        guard let path = KeyPathTrace.name(projected.keyPath, from: root) else {
          fatalError("@Projected property '\(name)' must be a part of Realm object")
        }
        return Property(name: name, keyPath: projected.keyPath, path: path)
      }
      properties = own + properties
      mirror = current.superclassMirror
    }
    self.properties = properties
  }
}
