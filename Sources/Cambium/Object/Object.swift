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
/// Realm was opened, see ``freeze()`` and ``ThreadSafeReference``.
nonisolated open class Object: ObjectBase {
  /// Makes an unmanaged object with the default values of its class.
  public required init() { super.init() }

  /// Makes an unmanaged object from a dictionary, an array or another object.
  public convenience init(value: Any) {
    self.init()
    assignInitialValue(value)
  }

  /// Whether the object was deleted, or its Realm invalidated; false for unmanaged objects.
  ///
  /// May be asked from any thread.
  open var isInvalidated: Bool { isGone }
}

/// The old name of ``Object``.
public typealias RealmSwiftObject = Object

extension ObjectBase {
  /// The Realm the object belongs to; nil for unmanaged and deleted objects.
  ///
  /// Never checks the context.
  public final var realm: Realm? {
    created == ObjectBase.deletedCreation ? nil : instance.map { Realm($0) }
  }

  /// The class's name and properties.
  public final var objectSchema: ObjectSchema {
    access.map { $0._withUnsafeGuaranteedRef { $0.stored.objectSchema } }
      ?? ClassRegistry.description(of: type(of: self)).objectSchema
  }

  /// The property with that name, nil for null, as `object[key]` has it.
  public final func value(forKey key: String) -> Any? { NSNumber.boxing(dynamicValue(key)) }

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

  /// Assigns the property with that name.
  ///
  /// Stops when there is none or the value is of a wrong type.
  public final func setValue(_ value: Any?, forKey key: String) { setDynamicValue(value, key) }

  /// Whether both are the same instance, or accessors of the same row in the same Realm.
  public final func isSameObject(as object: ObjectBase?) -> Bool {
    guard let object else { return false }
    if self === object { return true }
    guard let instance, instance === object.instance,
      access?.toOpaque() == object.access?.toOpaque()
    else { return false }
    return key == object.key && created == object.created && !isGone && !object.isGone
  }
}

extension ObjectBase: CustomStringConvertible {}

extension ObjectBase: Hashable {
  /// Objects with a primary key, and frozen ones, are equal when they are the same row (of the same
  /// version); all others when they are the same instance.
  public static func == (lhs: ObjectBase, rhs: ObjectBase) -> Bool { lhs.isEqual(rhs) }

  /// Feeds the primary key, a frozen object's row, or the instance.
  public func hash(into hasher: inout Hasher) { hashIdentity(into: &hasher) }
}

extension ObjectBase {
  private final func isEqual(_ other: ObjectBase) -> Bool {
    if self === other { return true }
    guard let instance, let otherInstance = other.instance, let access,
      let otherAccess = other.access
    else { return false }
    guard key == other.key, created == other.created else { return false }
    let ours = access._withUnsafeGuaranteedRef { $0 }
    let theirs = otherAccess._withUnsafeGuaranteedRef { $0 }
    guard ours.stored.name == theirs.stored.name, instance.coordinator === otherInstance.coordinator
    else { return false }
    if instance.isFrozen || otherInstance.isFrozen {
      return instance.isFrozen && otherInstance.isFrozen
        && instance.version == otherInstance.version
    }
    return ours.stored.primaryKeyIndex != nil && !isGone && !other.isGone
  }

  private final func hashIdentity(into hasher: inout Hasher) {
    if let index = classDescription.primaryKeyIndex, !isGone {
      hasher.combine(0x5EED)
      if let key = value(at: index) as? AnyHashable {
        hasher.combine(key)
      }
    } else if let instance, instance.isFrozen {
      hasher.combine(key)
    } else {
      hasher.combine(ObjectIdentifier(self))
    }
  }
}
