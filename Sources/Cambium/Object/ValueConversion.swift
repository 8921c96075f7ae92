import Foundation

/// Turns dictionaries, arrays and objects into unmanaged objects, for `create`, `init(value:)` and
/// dynamic assignment.
public final class _ValueConversion {
  // Exclusivity is not checked: fields of objects, the Realm and its transaction are loaded in one
  // context.

  /// The Realm for which values are converted; its own objects are linked as they are.
  private let realm: RealmInstance?
  /// Whether unmanaged objects are copied, as `create` does, or used as they are.
  private let isCopying: Bool
  /// The class that the property of a dynamic object links to, if it does.
  private let target: ClassAccess?
  /// Copies made so far: the same object becomes the same copy, also around a cycle.
  private var copies: [SameObject: ObjectBase] = [:]
  /// How many objects are being made of values further up the stack: what is embedded is copied into
  /// them.
  private var depth = 0
  /// How many lists and dictionaries of values of any type are being converted further up the stack.
  private var nesting = 0
  /// Which properties were given for objects made from dictionaries and arrays; nil when nobody asks.
  private(set) var partials: [ObjectIdentifier: Set<Int>]?

  init(
    realm: RealmInstance?, isCopying: Bool, target: ClassAccess? = nil, notesPartials: Bool = false
  ) {
    self.realm = realm
    self.isCopying = isCopying
    self.target = target
    if notesPartials { partials = [:] }
  }

  /// The object that a link is to hold; nil when `value` makes none.
  func linkedObject<T: ObjectBase>(_ value: Any) -> T? {
    let object = modelObject(value)
    if let object = object as? T, type(of: object) == T.self { return keptOrCopied(object) }
    if let object, let same: T = sameObject(as: object) { return same }
    if T.self == DynamicObject.self { return addedObject(value) as? T }
    return object != nil || value is [String: Any] || value is [Any] ? newObject(value) : nil
  }

  /// Whether a collection of `owner` may stand for its elements as it is: not inside of a value of any type, where it
  /// may be gone before it is read.
  func accepts(_ owner: Realm?) -> Bool {
    guard nesting == 0, let owner, let realm else { return false }
    return !isCopying && owner.instance === realm
  }

  /// Runs `body`, which converts what a value of any type holds; stops where it is nested too deeply.
  func nested<Result>(_ body: () -> Result) -> Result {
    StoredAny.checkDepth(nesting)
    nesting += 1
    defer { nesting -= 1 }
    return body()
  }

  /// The object of any class that a value is to hold; nil for embedded and dynamic ones that make none.
  func linkedObject(any object: Object) -> Object? { keptOrCopied(object) }

  /// A dynamic accessor of the Realm's object that `object` is a typed one of, or the other way round;
  /// nil when it is none of these.
  private func sameObject<T: ObjectBase>(as object: ObjectBase) -> T? {
    guard object.isManaged, let realm, unsafe object.instance === realm else { return nil }
    let access = object.classAccess
    let layout = access.layout(for: T.self)
    guard layout.type == T.self, type(of: object) != T.self,
      object is DynamicObject || T.self == DynamicObject.self
    else { return nil }
    if object.isGone {
      fatalError("Adding a deleted or invalidated object to a Realm is not permitted")
    }
    return unsafe access.object(forKey: object.key, as: layout) as? T
  }

  /// The object that a link of a dynamic object is to hold, which has to be in the Realm: there are no
  /// others; nil when `value` makes none.
  ///
  /// What a migration is given instead of an object was made one before.
  private func addedObject(_ value: Any) -> DynamicObject? {
    guard let target, let session = unsafe realm?.session, unsafe !session.isMigrating else {
      return nil
    }
    var object = modelObject(value)
    if let object, !object.isManaged {
      session.check(object, isOf: target)
    } else if object != nil || value is [String: Any] || value is [Any] {
      object = newObject(value, as: target.layout.type)
    }
    guard let object else { return nil }
    let key = session.adoptPlainly(object)
    session.drain()
    return target.dynamicObject(forKey: key)
  }

  private func keptOrCopied<T: ObjectBase>(_ object: T) -> T {
    if object.isGone {
      fatalError("Adding a deleted or invalidated object to a Realm is not permitted")
    }
    if object.isManaged {
      if object is EmbeddedObject, depth > 0 { return newObject(object, as: type(of: object)) }
      if let realm, unsafe object.instance === realm { return object }
      if object is DynamicObject {
        fatalError("Object is already managed by another Realm.")
      }
      return realm == nil ? object : newObject(object, as: type(of: object))
    }
    return isCopying ? newObject(object, as: type(of: object)) : object
  }

  /// A new unmanaged object of the class `type`, which may be one below `T`, with the properties that
  /// `value` gives.
  func newObject<T: ObjectBase>(_ value: Any, as type: T.Type = T.self) -> T {
    if let source = modelObject(value) {
      if let copy = copies[SameObject(object: source)] as? T { return copy }
      let object = type.init()
      copies[SameObject(object: source)] = object
      assign(source, to: object)
      return object
    }
    let object = type.init()
    assign(value, to: object)
    return object
  }

  /// Assigns the properties that `value` gives to an unmanaged object.
  func assign(_ value: Any, to object: ObjectBase) {
    depth += 1
    defer { depth -= 1 }
    let description = ClassRegistry.description(of: type(of: object))
    let initial = InitialValue(value, for: description)
    var given: Set<Int> = []
    let isNoted = if case .object = initial { false } else { partials != nil }
    initial.forEachProperty(of: description) { index, value in
      if isNoted { given.insert(index) }
      if !description.properties[index].setDynamicValue(value, of: object, self) {
        description.stopAtInvalidValue(value, index)
      }
    }
    if isNoted { partials?[ObjectIdentifier(object)] = given }
  }
}

extension ObjectBase {
  /// Assigns the properties that `value` gives to a new object.
  final func assignInitialValue(_ value: Any) {
    _ValueConversion(realm: nil, isCopying: false).assign(value, to: self)
  }

  /// The object's class, as its Realm or the program knows it.
  final var classDescription: ClassDescription {
    unsafe access.map {
      unsafe $0._withUnsafeGuaranteedRef { $0.layout(for: type(of: self)).description }
    }
      ?? ClassRegistry.description(of: type(of: self))
  }

  /// The property at a place in the class's declaration, nil for null.
  final func value(at index: Int) -> Any? {
    let description = classDescription
    let property = description.properties[index]
    if description.isDynamic {
      return property.wrapper.dynamicValue(classAccess.layout.head(index), of: self)
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
    if property.property.isPrimaryKey, isManaged, unsafe instance?.session?.isMigrating != true {
      fatalError(
        "Primary key can't be changed to '\(value.map { "\($0)" } ?? "<null>")' after an object is "
          + "inserted.")
    }
    let isAssigned: Bool
    if property.property.isComputed {
      isAssigned = false
    } else if description.isDynamic {
      let (access, _) = prepareToWrite()
      let conversion = unsafe _ValueConversion(
        realm: instance, isCopying: false, target: access.target(index))
      var value = value
      if let substitute = unsafe instance?.session?.substitute {
        value = substitute(value, access, index)
      }
      isAssigned = property.wrapper.setDynamicValue(
        value, access.layout.head(index), of: self, conversion)
    } else {
      let conversion = unsafe _ValueConversion(realm: instance, isCopying: false)
      isAssigned = property.setDynamicValue(value, of: self, conversion)
    }
    if !isAssigned { description.stopAtInvalidValue(value, index) }
  }

  final func propertyIndex(_ key: String) -> Int {
    let description = classDescription
    guard let index = description.propertyIndex(key) else {
      fatalError("Invalid property name '\(key)' for class '\(description.name)'.")
    }
    return index
  }

  /// Ends the accessor, after the object was deleted through it.
  ///
  /// Its Realm stays: other threads may ask for it now.
  final func detach() {
    unsafe header = unsafe AccessHeader.unmanaged
    unsafe generation = 0
    unsafe rowOwner = nil
    created = ObjectBase.deletedCreation
  }
}
