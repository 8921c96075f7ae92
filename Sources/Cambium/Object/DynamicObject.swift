import Foundation

/// An object whose properties are named by strings, as a migration meets it, and
/// ``Realm/dynamicObjects(_:)`` gives it.
///
/// ```swift
/// let name = object["name"] as? String
/// object.fullName = "\(first) \(last)"
/// ```
///
/// Numbers are `NSNumber`, which casts to every type that holds them, enumerations their raw values,
/// links ``DynamicObject``, lists of links `List<DynamicObject>`. A link takes whatever the typed one
/// takes. There are no unmanaged ones.
@dynamicMemberLookup public final class DynamicObject: Object {
  /// The property with that name, nil for null; stops when there is none.
  public subscript(dynamicMember member: String) -> Any? {
    get { value(forKey: member) }
    set { setValue(newValue, forKey: member) }
  }

  /// False: it stands for other classes.
  public override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// The name of ``DynamicObject`` in migrations.
public typealias MigrationObject = DynamicObject

/// The types in which properties of dynamic objects are read and written.
enum DynamicWrapper {
  static func wrapper(for property: Property) -> any PersistedWrapper.Type {
    switch property.type {
    case .int: scalar(Int.self, property)
    case .bool: scalar(Bool.self, property)
    case .float: scalar(Float.self, property)
    case .double: scalar(Double.self, property)
    case .string: scalar(String.self, property)
    case .data: scalar(Data.self, property)
    case .any: anyValue(property)
    case .date: scalar(Date.self, property)
    case .objectId: scalar(ObjectId.self, property)
    case .decimal128: scalar(Decimal128.self, property)
    case .UUID: scalar(UUID.self, property)
    case .object: link(property)
    case .linkingObjects: Persisted<LinkingObjects<DynamicObject>>.self
    }
  }

  private static func link(_ property: Property) -> any PersistedWrapper.Type {
    if property.isSet { return Persisted<MutableSet<DynamicObject>>.self }
    if property.isMap { return Persisted<Map<String, DynamicObject?>>.self }
    if property.isCollection { return Persisted<List<DynamicObject>>.self }
    return Persisted<DynamicObject?>.self
  }

  private static func anyValue(_ property: Property) -> any PersistedWrapper.Type {
    if property.isSet { return Persisted<MutableSet<AnyRealmValue>>.self }
    if property.isMap { return Persisted<Map<String, AnyRealmValue>>.self }
    if property.isCollection { return Persisted<List<AnyRealmValue>>.self }
    return Persisted<AnyRealmValue>.self
  }

  private static func scalar<T: _StoredScalar>(
    _ type: T.Type, _ property: Property
  ) -> any PersistedWrapper.Type {
    if property.isSet {
      return property.isOptional
        ? Persisted<MutableSet<T?>>.self : Persisted<MutableSet<T>>.self
    }
    if property.isMap {
      return property.isOptional
        ? Persisted<Map<String, T?>>.self : Persisted<Map<String, T>>.self
    }
    if property.isCollection {
      return property.isOptional ? Persisted<List<T?>>.self : Persisted<List<T>>.self
    }
    return property.isOptional ? Persisted<T?>.self : Persisted<T>.self
  }
}
