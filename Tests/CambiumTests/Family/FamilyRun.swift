import CambiumCore
import Foundation
import TestSupport
import Testing

@testable import Cambium

/// One random sequence of transactions on the twenty classes, and on one whose properties were chosen at
/// random and change in migrations.
struct FamilyRun {
  private let seed: UInt64
  private var values: FamilyValues
  private var model = FamilyModel()
  private var configuration: Realm.Configuration
  private var mix: FamilyClass
  private var classes: [FamilyClass]
  private var nextID = 0

  /// The configuration's classes are replaced.
  init(seed: UInt64, configuration: Realm.Configuration) {
    self.seed = seed
    self.configuration = configuration
    values = FamilyValues(random: SeededGenerator(seed: seed))
    mix = FamilyClass(Family.mix(&values.random))
    classes = []
    setClasses()
  }

  private mutating func setClasses() {
    classes = (Family.types + [mix.type]).map { FamilyClass($0) }
      .filter { $0.type != DynamicObject.self }
    configuration.objectTypes = Family.types + [mix.type]
  }

  /// Runs the sequence; returns the configuration that the files have at the end.
  mutating func run(steps: Int) throws -> Realm.Configuration {
    var kept: Realm?
    for step in 0..<steps {
      if configuration.inMemoryIdentifier == nil, step % 5 == 4 {
        kept = nil
        change()
      }
      try autoreleasepool {
        let realm = try Realm(configuration: configuration)
        try transaction(realm)
        check(realm, "seed \(seed), step \(step)")
        var queries = FamilyQueries(model: model, values: values)
        for _ in 0..<40 {
          queries.ask(realm, values.pick(classes), "seed \(seed), step \(step)")
        }
        values = queries.values
        if step % 4 == 3 { check(realm.freeze(), "seed \(seed), step \(step), frozen") }
        kept = configuration.inMemoryIdentifier == nil && step % 3 == 0 ? nil : realm
      }
    }
    withExtendedLifetime(kept) {}
    return configuration
  }

  // MARK: Migrations

  /// Opens with other properties of the class that was made up.
  private mutating func change() {
    let old = mix
    mix = FamilyClass(Family.mix(&values.random))
    configuration.schemaVersion += 1
    setClasses()
    for (new, before) in zip(mix.free, old.free) where !Self.keeps(before.property, new.property) {
      for name in model.names(mix.name) {
        model[name]?[new.name] = FamilyClass.added(new.property)
      }
    }
  }

  /// Whether values stay: they do when a property becomes optional, not when it ceases to be.
  private static func keeps(_ old: Property, _ new: Property) -> Bool {
    old.type == new.type && old.isArray == new.isArray && old.isSet == new.isSet
      && old.isMap == new.isMap && old.objectClassName == new.objectClassName
      && (old.isOptional == new.isOptional || new.isOptional)
  }

  // MARK: Writing

  private mutating func transaction(_ realm: Realm) throws {
    let before = model
    realm.beginWrite()
    for _ in 0..<values.number(30) { operation(realm) }
    if values.number(5) == 0 {
      realm.cancelWrite()
      model = before
    } else {
      try realm.commitWrite()
    }
  }

  private mutating func operation(_ realm: Realm) {
    let type = values.number(3) == 0 ? values.pick(classes) : values.pick(classes.suffix(3))
    let names = model.names(type.name)
    guard !names.isEmpty, values.number(5) > 0 else { return create(type, realm) }
    let name = values.pick(names)
    switch values.number(20) {
    case 0: delete([name], realm)
    case 1 where values.number(4) == 0: deleteMany(type, realm)
    case 2, 3: upsert(type, name, realm)
    case 4..<10: assign(type, name, realm)
    default: edit(type, name, realm)
    }
  }

  private mutating func create(_ type: FamilyClass, _ realm: Realm) {
    nextID += 1
    var given: [String: Plain] = ["uid": .int(nextID)]
    if let key = type.schema.primaryKeyProperty, key.name != "uid" {
      given[key.name] =
        key.type == .string
        ? .string("key \(nextID)") : .uuid(UUID(uuid: UUID.numbered(UInt64(nextID))))
    }
    for field in type.free { given[field.name] = values.value(field, model) }
    var stored = given
    // What may be missing stays out of it at times.
    for field in type.free where field.property.isCollection && values.number(3) == 0 {
      given[field.name] = nil
      stored[field.name] = FamilyClass.added(field.property)
    }
    let value = given.mapValues { $0.given(realm) }
    if values.number(2) == 0 {
      realm.create(type.type, value: value)
    } else {
      realm.dynamicCreate(type.name, value: value)
    }
    model[Plain.Name(className: type.name, uid: nextID)] = stored
  }

  private mutating func upsert(_ type: FamilyClass, _ name: Plain.Name, _ realm: Realm) {
    guard let key = type.schema.primaryKeyProperty, let old = model[name] else { return }
    let policy: Realm.UpdatePolicy = values.number(2) == 0 ? .modified : .all
    var given = [key.name: old[key.name] ?? .null]
    for field in type.free where values.number(4) == 0 {
      // What is embedded is merged by rules of its own.
      if field.property.objectClassName == "FamilyPart" { continue }
      let value = values.value(field, model)
      given[field.name] = value
      model[name]?[field.name] = FamilyModel.merged(
        old[field.name], value, field.property, policy)
    }
    realm.dynamicCreate(type.name, value: given.mapValues { $0.given(realm) }, update: policy)
  }

  private mutating func delete(_ names: Set<Plain.Name>, _ realm: Realm) {
    let objects = names.sorted().map { $0.object(realm) }
    realm.delete(objects)
    for object in objects { #expect(object.isInvalidated) }
    model.delete(names)
  }

  private mutating func deleteMany(_ type: FamilyClass, _ realm: Realm) {
    let limit = nextID - values.number(20)
    realm.delete(realm.dynamicObjects(type.name).filter("uid > %@", limit))
    model.delete(Set(model.names(type.name).filter { $0.uid > limit }))
  }

  private mutating func accessor(
    _ type: FamilyClass, _ name: Plain.Name, _ realm: Realm, isTyped: Bool = false
  ) -> ObjectBase {
    guard isTyped || values.number(2) == 0 else { return name.object(realm) }
    guard let object = realm.objects(type.type).filter("uid == %@", name.uid).first else {
      fatalError("\(name) is not there.")
    }
    return object
  }

  private mutating func assign(_ type: FamilyClass, _ name: Plain.Name, _ realm: Realm) {
    let field = values.pick(type.free)
    let value = values.value(field, model)
    let object = accessor(type, name, realm)
    object.setDynamicValue(value.given(realm), field.name)
    model[name]?[field.name] = value
    #expect(
      Plain(object.dynamicValue(field.name), field.property) == value,
      "seed \(seed), \(name).\(field.name)")
  }

  /// Changes an element of a collection, or assigns another property.
  private mutating func edit(_ type: FamilyClass, _ name: Plain.Name, _ realm: Realm) {
    let field = values.pick(type.free)
    let inSet = field.property.isSet
    guard field.property.isCollection, let element = values.element(field, model, inSet: inSet)
    else { return assign(type, name, realm) }
    // A dynamic collection takes no dictionaries for what is to be embedded.
    let isPart = field.property.objectClassName == "FamilyPart"
    let collection = accessor(type, name, realm, isTyped: isPart).dynamicValue(field.name)
    let given = element.given(realm)
    switch (collection, model[name]?[field.name]) {
    case (let list as any FamilyList, .list(var elements)):
      let count = elements.count
      switch values.number(6) {
      case 0 where count > 0:
        let index = values.number(count)
        list.remove(at: index)
        elements.remove(at: index)
      case 1 where count > 0:
        let index = values.number(count)
        list.put(given, at: index, replacing: true)
        elements[index] = element
      case 2 where count > 1:
        let (from, to) = (values.number(count), values.number(count))
        list.move(from: from, to: to)
        elements.insert(elements.remove(at: from), at: to)
      case 3:
        let more = values.value(field, model)
        guard case .list(let more) = more else { return }
        list.putIn(more.map { $0.given(realm) })
        elements += more
      default:
        let index = values.number(count + 1)
        list.put(given, at: index, replacing: false)
        elements.insert(element, at: index)
      }
      model[name]?[field.name] = .list(elements)
    case (let set as any FamilySet, .set(var elements)):
      if values.number(3) == 0, let some = elements.sorted(by: { "\($0)" < "\($1)" }).first {
        set.take(some.given(realm))
        elements.remove(some)
      } else {
        set.put(given)
        elements.insert(element)
      }
      model[name]?[field.name] = .set(elements)
    case (let map as any FamilyMap, .map(var entries)):
      let key = values.key()
      if values.number(3) == 0 {
        map.take(key)
        entries[key] = nil
      } else {
        map.put(given, for: key)
        entries[key] = element
      }
      model[name]?[field.name] = .map(entries)
    case (let found, let expected):
      Issue.record("\(name).\(field.name) is \(found ?? "nil"), not \(expected ?? .null)")
    }
  }

  // MARK: Checking

  /// Compares everything that the Realm says with the model, both ways of access and links backwards.
  private mutating func check(_ realm: Realm, _ place: String) {
    for type in classes {
      var expected = Set(model.names(type.name))
      let objects: [ObjectBase] =
        values.number(2) == 0
        ? Array(realm.objects(type.type)) : Array(realm.dynamicObjects(type.name))
      for object in objects {
        let name = Plain.Name(object)
        #expect(expected.remove(name) != nil, "\(place): \(name)")
        let found = Plain.fields(of: object)
        if found != model[name] {
          for field in type.fields where found[field.name] != model[name]?[field.name] {
            Issue.record(
              """
              \(place): \(name).\(field.name) is \(found[field.name] ?? .null), \
              not \(model[name]?[field.name] ?? .null)
              """)
          }
        }
      }
      #expect(expected.isEmpty, "\(place)")
      for field in type.fields where field.property.isComputed {
        let origin = field.property.originPropertyName ?? ""
        let sources: [Plain.Name: [Plain.Name]]
        let isPart = field.property.objectClassName == "FamilyPart"
        sources = isPart ? [:] : model.sources(field.property.objectClassName ?? "", origin)
        for object in objects where !isPart {
          let linking = object.dynamicValue(field.name) as? any Sequence
          func names(_ objects: some Sequence) -> [Plain.Name] {
            objects.compactMap { ($0 as? ObjectBase).map(Plain.Name.init) }
          }
          let found = linking.map { names($0) } ?? []
          #expect(
            found.sorted() == sources[Plain.Name(object), default: []].sorted(),
            "\(place): \(field.name)")
        }
      }
    }
  }
}

extension UUID {
  /// An identifier that counts.
  fileprivate static func numbered(_ number: UInt64) -> uuid_t {
    let bytes = (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    return (
      7, 7, 7, 7, 7, 7, 7, 7, bytes[7], bytes[6], bytes[5], bytes[4], bytes[3], bytes[2], bytes[1],
      bytes[0]
    )
  }
}
