import Foundation

/// The base class of models.
///
/// ```swift
/// class Person: Object {
///   @Persisted(primaryKey: true) var id: ObjectId
///   @Persisted var name = ""
///   @Persisted var dogs: List<Dog>
/// }
/// ```
///
/// An accessor of a managed object has no default values to make: of a class that has no stored
/// properties besides its `@Persisted` ones, accessors are made without running its initialiser.
///
/// Every subclass of the program is found by itself. A managed object may only be used where its
/// Realm was opened, see ``ObjectBase/freeze()`` and ``ThreadSafeReference``.
nonisolated open class Object: ObjectBase {
  /// Makes an unmanaged object with the default values of its class.
  public required init() { super.init() }

  /// Makes an unmanaged object from a dictionary, an array or another object.
  public convenience init(value: Any) {
    self.init()
    assignInitialValue(value)
  }

  /// What older models override to name their primary key; `@Persisted(primaryKey: true)` says it.
  ///
  /// Nil, and asked of no class with `@Persisted` properties.
  open class func primaryKey() -> String? { nil }

  /// What older models override to name their indexes; `@Persisted(indexed: true)` says it.
  ///
  /// None, and asked of no class with `@Persisted` properties.
  open class func indexedProperties() -> [String] { [] }
}

/// The old name of ``Object``.
public typealias RealmSwiftObject = Object

extension ObjectBase {
  /// The Realm the object belongs to; nil for unmanaged and deleted objects.
  ///
  /// Never checks the context.
  public final var realm: Realm? {
    unsafe created == ObjectBase.deletedCreation ? nil : instance.map { Realm($0) }
  }

  /// The class's name and properties.
  public final var objectSchema: ObjectSchema {
    unsafe access.map { unsafe $0._withUnsafeGuaranteedRef { $0.stored.objectSchema } }
      ?? ClassRegistry.description(of: type(of: self)).objectSchema
  }

  /// The property at the end of a dotted path; nil when a link on it is.
  public final func value(forKeyPath keyPath: String) -> Any? {
    guard let dot = keyPath.firstIndex(of: ".") else { return value(forKey: keyPath) }
    let rest = String(keyPath[keyPath.index(after: dot)...])
    switch dynamicValue(String(keyPath[..<dot])) {
    case let object as ObjectBase: return object.value(forKeyPath: rest)
    case let collection as any DynamicCollection: return collection.dynamicValues(forKeyPath: rest)
    default: return nil
    }
  }

  /// The properties with those names, `NSNull` for null.
  public final func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
    Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { $1 })
  }

  /// Assigns the properties that are named, of which `NSNull` makes null.
  ///
  /// Stops when there is none of a name or a value is of a wrong type.
  public final func setValuesForKeys(_ values: [String: Any]) {
    for (key, value) in values { setValue(value is NSNull ? nil : value, forKey: key) }
  }

  /// Assigns the property at the end of a dotted path; does nothing when a link on it is null.
  ///
  /// Stops when there is none or the value is of a wrong type.
  public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
    guard let dot = keyPath.firstIndex(of: ".") else { return setValue(value, forKey: keyPath) }
    let rest = String(keyPath[keyPath.index(after: dot)...])
    let first = dynamicValue(String(keyPath[..<dot]))
    if let object = first as? ObjectBase { return object.setValue(value, forKeyPath: rest) }
    guard first == nil else {
      fatalError("The property at '\(keyPath[..<dot])' leads to no object.")
    }
  }

  /// The list of links with that name, by names of properties, whatever the classes are.
  ///
  /// Stops when the property is none, and for unmanaged objects.
  public final func dynamicList(_ propertyName: String) -> List<DynamicObject> {
    List(linkCollection(propertyName, "list") { $0.isArray })
  }

  private func linkCollection(
    _ name: String, _ kind: String, _ isKind: (Property) -> Bool
  ) -> ManagedCollection {
    let index = propertyIndex(name)
    let property = classDescription.properties[index].property
    guard property.type == .object, property.isCollection, isKind(property) else {
      fatalError("Property '\(name)' is not a \(kind) of objects.")
    }
    guard isManaged else { fatalError("Property '\(name)' belongs to an unmanaged object.") }
    requireRow(classAccess)
    return ManagedCollection(self, index)
  }

  fileprivate func dynamicKeyed<Key: _MapKey>(_ propertyName: String) -> Map<Key, DynamicObject?> {
    Map(linkCollection(propertyName, "map") { $0.isMap })
  }

  fileprivate func dynamicSet(_ propertyName: String) -> MutableSet<DynamicObject> {
    MutableSet(linkCollection(propertyName, "set") { $0.isSet })
  }

  /// Whether both are the same instance, or accessors of the same row in the same Realm.
  public final func isSameObject(as object: ObjectBase?) -> Bool {
    guard let object else { return false }
    if self === object { return true }
    guard let instance = unsafe instance, let other = unsafe object.instance else { return false }
    guard instance === other else {
      return instance.isFrozen && other.isFrozen && isSameRow(object)
    }
    guard unsafe access?.toOpaque() == object.access?.toOpaque() else { return false }
    return unsafe key == object.key && created == object.created && !isGone && !object.isGone
  }
}

extension Object {
  /// The set of links with that name, by names of properties, whatever the classes are.
  ///
  /// Stops when the property is none, and for unmanaged objects.
  public final func dynamicMutableSet(_ propertyName: String) -> MutableSet<DynamicObject> {
    dynamicSet(propertyName)
  }

  /// The map of links with that name, by names of properties, whatever the classes are.
  ///
  /// Stops when the property is none, and for unmanaged objects.
  public final func dynamicMap<Key: _MapKey>(
    _ propertyName: String
  ) -> Map<Key, DynamicObject?> {
    dynamicKeyed(propertyName)
  }

  /// The class's name and properties, as the program declares them.
  public final class func sharedSchema() -> ObjectSchema? {
    ClassRegistry.description(of: self).objectSchema
  }
}

extension ObjectBase: CustomStringConvertible {}

extension ObjectBase: Hashable {
  /// Whether both are the same instance, or equal as ``isEqual(_:)`` has it.
  public static func == (lhs: ObjectBase, rhs: ObjectBase) -> Bool {
    lhs === rhs || lhs.isEqual(rhs)
  }

  /// Feeds ``hash``.
  public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

extension ObjectBase {
  /// Whether both have a primary key, or are frozen, and are the same row, of the same version where it is frozen.
  final func isSameRow(_ other: ObjectBase) -> Bool {
    if self === other { return true }
    guard let instance = unsafe instance, let otherInstance = unsafe other.instance,
      let access = unsafe access,
      let otherAccess = unsafe other.access
    else { return false }
    guard unsafe key == other.key, created == other.created else { return false }
    let ours = unsafe access._withUnsafeGuaranteedRef { $0 }
    let theirs = unsafe otherAccess._withUnsafeGuaranteedRef { $0 }
    guard ours.stored.name == theirs.stored.name, instance.coordinator === otherInstance.coordinator
    else { return false }
    if instance.isFrozen || otherInstance.isFrozen {
      return instance.isFrozen && otherInstance.isFrozen
        && instance.version == otherInstance.version
    }
    return ours.stored.primaryKeyIndex != nil && !isGone && !other.isGone
  }

  /// Feeds the primary key, a frozen object's row, or the instance.
  final func hashIdentity(into hasher: inout Hasher) {
    if let index = classDescription.primaryKeyIndex, !isGone {
      hasher.combine(0x5EED)
      if let key = value(at: index) as? AnyHashable {
        hasher.combine(key)
      }
    } else if let instance = unsafe instance, instance.isFrozen {
      unsafe hasher.combine(key)
    } else {
      hasher.combine(ObjectIdentifier(self))
    }
  }
}
