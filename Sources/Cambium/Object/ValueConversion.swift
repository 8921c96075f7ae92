import Foundation

/// Turns dictionaries, arrays and objects into unmanaged objects, for `create`, `init(value:)` and
/// dynamic assignment.
public final class ValueConversion {
  /// The Realm for which values are converted; its own objects are linked as they are.
  private let realm: RealmInstance?
  /// Whether unmanaged objects are copied, as `create` does, or used as they are.
  private let isCopying: Bool
  /// Copies made so far: the same object becomes the same copy, also around a cycle.
  private var copies: [Source: ObjectBase] = [:]
  /// Which properties were given for objects made from dictionaries.
  private(set) var partials: [ObjectIdentifier: Set<Int>] = [:]

  /// An object that was copied, whichever accessor led to it.
  ///
  /// Keeps the accessor: another one in its place in memory would be taken for it.
  private struct Source: Hashable {
    let object: ObjectBase

    static func == (left: Source, right: Source) -> Bool {
      left.object.isSameObject(as: right.object)
    }

    func hash(into hasher: inout Hasher) {
      if object.isManaged {
        hasher.combine(object.key)
      } else {
        hasher.combine(ObjectIdentifier(object))
      }
    }
  }

  init(realm: RealmInstance?, isCopying: Bool) {
    self.realm = realm
    self.isCopying = isCopying
  }

  /// The object that a link is to hold; nil when `value` makes none.
  func linkedObject<T: ObjectBase>(_ value: Any) -> T? {
    if let object = value as? T, type(of: object) == T.self || !isConvertible(object) {
      return keptOrCopied(object)
    }
    // What a migration is given instead of an object was made one before.
    if T.self == DynamicObject.self { return nil }
    switch value {
    case is [String: Any], is [Any], is ObjectBase: return newObject(value)
    default: return nil
    }
  }

  private func isConvertible(_ object: ObjectBase) -> Bool { type(of: object) != ObjectBase.self }

  private func keptOrCopied<T: ObjectBase>(_ object: T) -> T {
    if object.isGone {
      fatalError("Adding a deleted or invalidated object to a Realm is not permitted")
    }
    if object.isManaged {
      if let realm, object.instance === realm { return object }
      if object is DynamicObject {
        fatalError("Object is already managed by another Realm.")
      }
      return realm == nil ? object : newObject(object)
    }
    return isCopying ? newObject(object) : object
  }

  /// A new unmanaged object of the class `type`, which may be one below `T`, with the properties that
  /// `value` gives.
  func newObject<T: ObjectBase>(_ value: Any, as type: T.Type = T.self) -> T {
    if let source = value as? ObjectBase {
      if let copy = copies[Source(object: source)] as? T { return copy }
      let object = type.init()
      copies[Source(object: source)] = object
      assign(source, to: object)
      return object
    }
    let object = type.init()
    assign(value, to: object)
    return object
  }

  /// Assigns the properties that `value` gives to an unmanaged object.
  func assign(_ value: Any, to object: ObjectBase) {
    let description = ClassRegistry.description(of: type(of: object))
    switch flattened(value) {
    case nil: fatalError("Must provide a non-nil value.")
    case let values as [String: Any]: assign(values, to: object, description)
    case let source as ObjectBase: assign(source, to: object, description)
    case let values as [Any]: assign(values, to: object, description)
    case let other?:
      fatalError(
        "Invalid value '\(other)' to initialize object of type '\(description.name)': it is neither "
          + "a dictionary, an array nor an object")
    }
  }

  private func assign(
    _ values: [String: Any], to object: ObjectBase, _ description: ClassDescription
  ) {
    var given: Set<Int> = []
    for (index, property) in description.properties.enumerated() {
      guard !property.property.isComputed, let value = values[property.property.name] else {
        continue
      }
      given.insert(index)
      set(value, of: object, property, description)
    }
    partials[ObjectIdentifier(object)] = given
  }

  private func assign(
    _ values: [Any], to object: ObjectBase, _ description: ClassDescription
  ) {
    let properties = description.properties.filter { !$0.property.isComputed }
    guard values.count <= properties.count else {
      fatalError(
        "Invalid array input: more values (\(values.count)) than properties (\(properties.count)).")
    }
    for (value, property) in zip(values, properties) {
      set(value, of: object, property, description)
    }
  }

  private func assign(
    _ source: ObjectBase, to object: ObjectBase, _ description: ClassDescription
  ) {
    let sourceDescription = source.classDescription
    for property in description.properties where !property.property.isComputed {
      guard let index = sourceDescription.propertyIndex(property.property.name) else {
        fatalError(
          "Invalid value '\(source)' to initialize object of type '\(description.name)': missing "
            + "key '\(property.property.name)'")
      }
      let value = source.value(at: index)
      set(value as Any, of: object, property, description)
    }
  }

  private func set(
    _ value: Any, of object: ObjectBase, _ property: ClassDescription.PropertyDescription,
    _ description: ClassDescription
  ) {
    let value = flattened(value)
    if !property.setDynamicValue(value, of: object, self) {
      let text = value.map { "\($0)" } ?? "<null>"
      let type = value.map { "\(Swift.type(of: $0))" } ?? "(null)"
      fatalError(
        "Invalid value '\(text)' of type '\(type)' for '\(property.property.typeText)' property "
          + "'\(description.name).\(property.property.name)'.")
    }
  }
}

extension ObjectBase {
  /// Assigns the properties that `value` gives to a new object.
  final func assignInitialValue(_ value: Any) {
    ValueConversion(realm: nil, isCopying: false).assign(value, to: self)
  }

  /// The object's class, as its Realm or the program knows it.
  final var classDescription: ClassDescription {
    access.map { $0._withUnsafeGuaranteedRef { $0.description } }
      ?? ClassRegistry.description(of: type(of: self))
  }

  /// The property at a place in the class's declaration, nil for null.
  final func value(at index: Int) -> Any? {
    let description = classDescription
    let property = description.properties[index]
    if description.isDynamic {
      return property.wrapper.dynamicValue(classAccess.head(index), of: self)
    }
    return property.dynamicValue(of: self)
  }

  /// The property with that name, nil for null; stops when there is none.
  final func dynamicValue(_ key: String) -> Any? { value(at: propertyIndex(key)) }

  /// Assigns the property with that name; stops when there is none or the value is of a wrong type.
  final func setDynamicValue(_ value: Any?, _ key: String) {
    setValue(flattened(value), at: propertyIndex(key))
  }

  /// Assigns the property at a place; stops when the value is of a wrong type.
  final func setValue(_ value: Any?, at index: Int) {
    let description = classDescription
    let property = description.properties[index]
    if property.property.isPrimaryKey, isManaged, instance?.session?.isMigrating != true {
      fatalError(
        "Primary key can't be changed to '\(value.map { "\($0)" } ?? "<null>")' after an object is "
          + "inserted.")
    }
    let conversion = ValueConversion(realm: instance, isCopying: false)
    let isAssigned: Bool
    if property.property.isComputed {
      isAssigned = false
    } else if description.isDynamic {
      var value = value
      if let substitute = instance?.session?.substitute {
        value = substitute(value, classAccess, index)
      }
      isAssigned = property.wrapper.setDynamicValue(
        value, classAccess.head(index), of: self, conversion)
    } else {
      isAssigned = property.setDynamicValue(value, of: self, conversion)
    }
    if !isAssigned {
      let type = value.map { "\(Swift.type(of: $0))" } ?? "(null)"
      fatalError(
        "Invalid value '\(value.map { "\($0)" } ?? "<null>")' of type '\(type)' for "
          + "'\(property.property.typeText)' property '\(description.name)."
          + "\(property.property.name)'.")
    }
  }

  private final func propertyIndex(_ key: String) -> Int {
    let description = classDescription
    guard let index = description.propertyIndex(key) else {
      fatalError("Invalid property name '\(key)' for class '\(description.name)'.")
    }
    return index
  }

  /// Forgets the Realm, after the object was deleted through this accessor.
  final func detach() {
    instance = nil
    access = nil
    header = AccessHeader.unmanaged
    generation = 0
    rowOwner = nil
    created = ObjectBase.deletedCreation
  }
}
