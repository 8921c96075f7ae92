import Foundation
import TestSupport

@testable import Cambium

/// What the database should hold, in plain Swift.
struct FamilyModel {
  /// The objects of each class by their `uid`, each with its values by property.
  var objects: [String: [Int: [String: Plain]]] = [:]

  subscript(name: Plain.Name) -> [String: Plain]? {
    get { objects[name.className]?[name.uid] }
    set { objects[name.className, default: [:]][name.uid] = newValue }
  }

  /// The objects of a class, sorted.
  func names(_ className: String) -> [Plain.Name] {
    (objects[className] ?? [:]).keys.sorted().map { Plain.Name(className: className, uid: $0) }
  }

  /// Takes objects away, and every link to them.
  mutating func delete(_ gone: Set<Plain.Name>) {
    for name in gone { self[name] = nil }
    objects = objects.mapValues { $0.mapValues { $0.mapValues { $0.without(gone) } } }
  }

  /// Who links to each object with a property of that name, sorted, as often as it does.
  func sources(_ className: String, _ property: String) -> [Plain.Name: [Plain.Name]] {
    var sources: [Plain.Name: [Plain.Name]] = [:]
    for name in names(className) {
      for target in self[name]?[property]?.links ?? [] { sources[target, default: []].append(name) }
    }
    return sources
  }

  /// Upserts with `.modified` add to maps and sets; everything else is replaced.
  static func merged(
    _ old: Plain?, _ new: Plain, _ property: Property, _ policy: Realm.UpdatePolicy
  ) -> Plain {
    // A dictionary in a property of any type is a value like others.
    guard property.isCollection else { return new }
    return switch (old, new) {
    case (.set(let old), .set(let new)) where policy == .modified: .set(old.union(new))
    case (.map(let old), .map(let new)) where policy == .modified: .map(old.merging(new) { $1 })
    default: new
    }
  }
}

/// A class as the test meets it.
struct FamilyClass {
  let type: Object.Type
  let name: String
  let schema: ObjectSchema
  let fields: [Field]

  struct Field {
    let property: Property
    /// What an enumeration has; nil when the property is of none.
    let choices: [Plain]?

    var name: String { property.name }

    init(_ description: ClassDescription.PropertyDescription) {
      property = description.property
      let wrapper = "\(description.wrapper)"
      if wrapper.contains("SpecColor") {
        choices = ["red", "green", "blue"].map { .string($0) }
      } else if wrapper.contains("SpecLevel") {
        choices = [1, 5, 9].map { .int($0) }
      } else {
        choices = nil
      }
    }
  }

  init(_ type: ObjectBase.Type) {
    let description = ClassRegistry.description(of: type)
    self.type = type as? Object.Type ?? DynamicObject.self
    name = description.name
    schema = description.objectSchema
    fields = description.properties.map(Field.init)
  }

  /// What may be assigned at any time.
  var free: [Field] {
    fields.filter { !$0.property.isComputed && !$0.property.isPrimaryKey && $0.name != "uid" }
  }

  /// The value of a property that a migration adds.
  static func added(_ property: Property) -> Plain {
    if property.isSet { return .set([]) }
    if property.isMap { return .map([:]) }
    if property.isArray { return .list([]) }
    if property.isOptional { return .null }
    switch property.type {
    case .int: return .int(0)
    case .bool: return .bool(false)
    case .float: return .float(0)
    case .double: return .double(0)
    case .string: return .string("")
    case .data: return .data(Data())
    case .date: return .date(Date(timeIntervalSince1970: 0))
    case .objectId: return .objectId(ObjectId(head: 0, tail: 0))
    case .UUID: return .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
    case .decimal128: return .decimal(0)
    case .any, .object, .linkingObjects: return .null
    }
  }
}

/// Makes random values that fit properties.
struct FamilyValues {
  var random: SeededGenerator

  mutating func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

  mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: 0..<elements.count, using: &random)]
  }

  /// How many elements: few mostly, sometimes enough for a tree.
  private mutating func count() -> Int { number(40) == 0 ? 200 + number(300) : number(6) }

  /// A value of `field`, with links to what `model` has.
  mutating func value(_ field: FamilyClass.Field, _ model: FamilyModel) -> Plain {
    let property = field.property
    if property.isSet {
      return .set(Set((0..<count()).compactMap { _ in element(field, model, inSet: true) }))
    }
    if property.isMap {
      let keys = (0..<count()).map { _ in key() }
      return .map(
        Dictionary(
          keys.map { ($0, element(field, model) ?? .null) }, uniquingKeysWith: { first, _ in first }
        ))
    }
    if property.isArray { return .list((0..<count()).compactMap { _ in element(field, model) }) }
    return element(field, model) ?? .null
  }

  mutating func key() -> String { "k\(number(number(20) == 0 ? 500 : 8))" }

  /// An element of a collection, or the value of another property; nil when no object is there.
  mutating func element(
    _ field: FamilyClass.Field, _ model: FamilyModel, inSet: Bool = false
  ) -> Plain? {
    let property = field.property
    let mayBeNull =
      property.isOptional || property.type == .object && property.isMap || property.type == .any
    if mayBeNull, number(6) == 0 { return .null }
    if let choices = field.choices { return pick(choices) }
    switch property.type {
    case .any: return any(model, depth: inSet ? 0 : 3)
    case .object:
      let target = property.objectClassName ?? ""
      if let type = Family.linked.first(where: { $0.className() == target }),
        type is EmbeddedObject.Type
      {
        return embedded(FamilyClass(type), model)
      }
      let names = model.names(target)
      return names.isEmpty ? (mayBeNull ? .null : nil) : .link(pick(names))
    default: return scalar(property.type)
    }
  }

  private mutating func embedded(_ type: FamilyClass, _ model: FamilyModel) -> Plain {
    var values: [String: Plain] = [:]
    for field in type.free { values[field.name] = value(field, model) }
    return .embedded(values)
  }

  private mutating func any(_ model: FamilyModel, depth: Int) -> Plain {
    switch number(depth > 0 ? 14 : 12) {
    case 12: return .list((0..<number(4)).map { _ in any(model, depth: depth - 1) })
    case 13:
      return .map(
        Dictionary(
          (0..<number(4)).map { _ in (key(), any(model, depth: depth - 1)) },
          uniquingKeysWith: { $1 }))
    case 11:
      let names = ["FamilyKnot", "FamilyBadge"].flatMap { model.names($0) }
      return names.isEmpty ? .int(3) : .link(pick(names))
    case let kind:
      let types: [PropertyType] = [
        .int, .int, .bool, .float, .double, .string, .data, .date, .objectId, .UUID, .decimal128,
      ]
      return scalar(types[kind])
    }
  }

  static let words = [
    "", "a", "b", "ab", "abc", "Abc", "élan", "zz", "x y",
    "a text that is longer than fifteen bytes",
    String(repeating: "long ", count: 60),
  ]

  /// A scalar of a small choice, so that equal ones are common.
  ///
  /// Numbers of different types are never equal, and none is special: other tests see to that.
  mutating func scalar(_ type: PropertyType) -> Plain {
    let small = number(9) - 4
    switch type {
    case .int: return .int(number(12) == 0 ? small * 30 : small)
    case .bool: return .bool(small > 0)
    case .float: return .float(Float(small) + 0.125)
    case .double: return .double(Double(small) + 0.5)
    case .string: return .string(pick(Self.words))
    // The bytes of no text: as values of any type they would be equal.
    case .data: return .data(Data([0xFF] + Array(pick(Self.words).utf8)))
    case .date: return .date(Date(timeIntervalSince1970: Double(small) * 1e8 + 0.25))
    case .objectId: return .objectId(ObjectId(head: 1 << 40, tail: UInt32(small + 10)))
    case .UUID:
      return .uuid(
        UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(small + 4))))
    case .decimal128: return .decimal(Decimal128(value: small) + Decimal128(value: 0.25))
    case .any, .object, .linkingObjects: return .null
    }
  }
}
