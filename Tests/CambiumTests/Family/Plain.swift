import Foundation

@testable import Cambium

/// A property's value in plain Swift, as the model keeps it.
indirect enum Plain: Hashable {
  case null
  case bool(Bool)
  case int(Int)
  case float(Float)
  case double(Double)
  case string(String)
  case data(Data)
  case date(Date)
  case objectId(ObjectId)
  case uuid(UUID)
  case decimal(Decimal128)
  case link(Name)
  case embedded([String: Plain])
  case list([Plain])
  case set(Set<Plain>)
  case map([String: Plain])

  /// What an object with a life of its own is known by.
  struct Name: Hashable, Comparable {
    var className: String
    var uid: Int

    static func < (left: Name, right: Name) -> Bool {
      (left.className, left.uid) < (right.className, right.uid)
    }
  }

  // MARK: To and from a Realm

  /// What `value(forKey:)` gave for `property`.
  init(_ value: Any?, _ property: Property) {
    switch flattened(value) {
    case nil: self = .null
    case let collection as any FamilyCollection: self = collection.plain(property)
    case let value as AnyRealmValue: self.init(any: value)
    case let value as any PersistableEnum:
      func raw(_ value: some PersistableEnum) -> Any { value.rawValue }
      self.init(raw(value), property)
    case let object as ObjectBase:
      let isEmbedded = object.classAccess.description.objectSchema.isEmbedded
      self = isEmbedded ? .embedded(Self.fields(of: object)) : .link(Name(object))
    case let value? where property.type == .any:
      let conversion = _ValueConversion(realm: nil, isCopying: false)
      self.init(any: AnyRealmValue._rlmConvertedValue(value, conversion) ?? .none)
    case let value?:
      switch property.type {
      case .int:
        func int(_ value: some BinaryInteger) -> Int { Int(value) }
        if let value = value as? any BinaryInteger {
          self = .int(int(value))
        } else {
          self = (value as? Int).map { .int($0) } ?? .null
        }
      case .bool: self = (value as? Bool).map { .bool($0) } ?? .null
      case .float: self = (value as? Float).map { .float($0) } ?? .null
      case .double: self = (value as? Double).map { .double($0) } ?? .null
      case .string: self = (value as? String).map { .string($0) } ?? .null
      case .data: self = (value as? Data).map { .data($0) } ?? .null
      case .date: self = (value as? Date).map { .date($0) } ?? .null
      case .objectId: self = (value as? ObjectId).map { .objectId($0) } ?? .null
      case .UUID: self = (value as? UUID).map { .uuid($0) } ?? .null
      case .decimal128: self = (value as? Decimal128).map { .decimal($0) } ?? .null
      default: fatalError("'\(value)' is no value of '\(property.name)'.")
      }
    }
  }

  /// A value of any type.
  init(any value: AnyRealmValue) {
    switch value {
    case .none: self = .null
    case .int(let value): self = .int(value)
    case .bool(let value): self = .bool(value)
    case .float(let value): self = .float(value)
    case .double(let value): self = .double(value)
    case .string(let value): self = .string(value)
    case .data(let value): self = .data(value)
    case .date(let value): self = .date(value)
    case .objectId(let value): self = .objectId(value)
    case .uuid(let value): self = .uuid(value)
    case .decimal128(let value): self = .decimal(value)
    case .object(let object): self = .link(Name(object))
    case .list(let list): self = .list(list.map { Plain(any: $0) })
    case .dictionary(let map):
      self = .map(
        Dictionary(uniqueKeysWithValues: map.entries().map { ($0.key, Plain(any: $0.value)) }))
    }
  }

  /// The properties of an object, what links there left out.
  static func fields(of object: ObjectBase) -> [String: Plain] {
    var fields: [String: Plain] = [:]
    for property in object.classAccess.description.objectSchema.allProperties
    where !property.isComputed {
      fields[property.name] = Plain(object.dynamicValue(property.name), property)
    }
    return fields
  }

  /// What stands for it in dictionaries, arrays and dynamic access.
  func given(_ realm: Realm) -> Any {
    switch self {
    case .null: NSNull()
    case .bool(let value): value
    case .int(let value): value
    case .float(let value): value
    case .double(let value): value
    case .string(let value): value
    case .data(let value): value
    case .date(let value): value
    case .objectId(let value): value
    case .uuid(let value): value
    case .decimal(let value): value
    case .link(let name): name.object(realm)
    case .embedded(let fields), .map(let fields): fields.mapValues { $0.given(realm) }
    case .list(let elements): elements.map { $0.given(realm) }
    case .set(let elements): elements.map { $0.given(realm) }
    }
  }

  // MARK: Deleting

  /// The value once these objects are gone: null instead of a link, also in maps; lists and sets are
  /// without it.
  func without(_ gone: Set<Name>) -> Plain {
    func stays(_ value: Plain) -> Bool {
      if case .link(let name) = value { !gone.contains(name) } else { true }
    }
    switch self {
    case .link(let name): return gone.contains(name) ? .null : self
    case .embedded(let fields): return .embedded(fields.mapValues { $0.without(gone) })
    case .map(let entries): return .map(entries.mapValues { $0.without(gone) })
    case .list(let elements): return .list(elements.filter(stays).map { $0.without(gone) })
    case .set(let elements): return .set(elements.filter(stays))
    default: return self
    }
  }

  /// Every object that it links to, once for each link.
  var links: [Name] {
    switch self {
    case .link(let name): [name]
    case .embedded(let fields), .map(let fields): fields.values.flatMap(\.links)
    case .list(let elements): elements.flatMap(\.links)
    case .set(let elements): elements.flatMap(\.links)
    default: []
    }
  }
}

extension Plain.Name {
  init(_ object: ObjectBase) {
    self.init(
      className: object.classAccess.stored.name,
      uid: Plain(object.dynamicValue("uid"), Property(name: "uid", type: .int)).number ?? -1)
  }

  /// The object of that name, which is there.
  func object(_ realm: Realm) -> ObjectBase {
    guard let object = realm.dynamicObjects(className).filter("uid == %@", uid).first else {
      fatalError("\(self) is not there.")
    }
    return object
  }
}

extension Plain {
  var number: Int? { if case .int(let number) = self { number } else { nil } }
}

// MARK: Collections

/// A collection whose elements the test does not know by type.
protocol FamilyCollection {
  func plain(_ property: Property) -> Plain
}

/// A list whose elements the test does not know by type.
protocol FamilyList: FamilyCollection {
  func put(_ element: Any, at index: Int, replacing: Bool)
  func putIn(_ elements: [Any])
  func remove(at index: Int)
  func move(from: Int, to: Int)
}

/// A set whose elements the test does not know by type.
protocol FamilySet: FamilyCollection {
  func put(_ element: Any)
  func take(_ element: Any)
}

/// A map whose values the test does not know by type.
protocol FamilyMap: FamilyCollection {
  func put(_ value: Any, for key: String)
  func take(_ key: String)
}

extension RealmCollectionValue {
  fileprivate static func made(_ value: Any, _ realm: Realm?) -> Self {
    let conversion = _ValueConversion(realm: realm?.instance, isCopying: true)
    guard let element = _rlmConvertedElement(flattened(value), conversion) else {
      fatalError("'\(value)' is no '\(Self.self)'.")
    }
    return element
  }
}

extension List: FamilyList {
  func plain(_ property: Property) -> Plain {
    .list(map { Plain(Element._rlmDynamicElement($0), property) })
  }

  func put(_ element: Any, at index: Int, replacing: Bool) {
    if replacing {
      self[index] = Element.made(element, realm)
    } else {
      insert(Element.made(element, realm), at: index)
    }
  }

  func putIn(_ elements: [Any]) {
    append(objectsIn: elements.map { Element.made($0, realm) })
  }
}

extension MutableSet: FamilySet {
  func plain(_ property: Property) -> Plain {
    .set(Set(map { Plain(Element._rlmDynamicElement($0), property) }))
  }

  func put(_ element: Any) { insert(Element.made(element, realm)) }
  func take(_ element: Any) { remove(Element.made(element, realm)) }
}

extension Map: FamilyMap {
  func plain(_ property: Property) -> Plain {
    .map(
      Dictionary(
        uniqueKeysWithValues: entries().map {
          ("\($0.key)", Plain(Value._rlmDynamicElement($0.value), property))
        }))
  }

  func put(_ value: Any, for key: String) {
    guard let key = key as? Key else { return }
    self[key] = Value.made(value, realm)
  }

  func take(_ key: String) {
    guard let key = key as? Key else { return }
    removeObject(for: key)
  }
}
