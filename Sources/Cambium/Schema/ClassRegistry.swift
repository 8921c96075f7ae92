import CPlatform
import Synchronization

/// The model classes that this program has, each read once.
enum ClassRegistry {
  private static let descriptions = Mutex<[ObjectIdentifier: ClassDescription]>([:])
  private static let sets = Mutex<[Set<ObjectIdentifier>: ClassSet]>([:])
  /// The list that was asked for last: most programs have one.
  private static let last = Mutex<(types: [ObjectBase.Type], set: ClassSet)?>(nil)
  /// All classes of the program, as they were found last, and how many types it had then.
  private static let all = Mutex<(set: ClassSet, typeCount: Int)?>(nil)

  /// The description of `type`; stops at declarations that break a rule.
  static func description(of type: ObjectBase.Type) -> ClassDescription {
    let identifier = ObjectIdentifier(type)
    if let known = descriptions.withLock({ $0[identifier] }) { return known }
    // Read outside of the lock: the class's initialiser runs.
    let description = ClassDescription(type)
    return descriptions.withLock { descriptions in
      if let known = descriptions[identifier] { return known }
      descriptions[identifier] = description
      return description
    }
  }

  /// The classes of a configuration that names them, or all of the program's.
  static func classes(_ types: [ObjectBase.Type]?) -> ClassSet {
    if let types {
      let known = last.withLock { last in
        last.flatMap { $0.types.elementsEqual(types, by: ==) ? $0.set : nil }
      }
      if let known { return known }
      let set = set(of: types)
      last.withLock { $0 = (types, set) }
      return set
    }
    // A library that was loaded since may have brought classes.
    let typeCount = cambium_type_descriptor_count()
    if let all = all.withLock({ $0 }), all.typeCount == typeCount { return all.set }
    let set = set(of: discovered())
    all.withLock { $0 = (set, typeCount) }
    return set
  }

  private static func set(of types: [ObjectBase.Type]) -> ClassSet {
    // Listed in another order, or twice, they are the same set.
    let key = Set(types.map { ObjectIdentifier($0) })
    if let known = sets.withLock({ $0[key] }) { return known }
    var rest = key
    let set = ClassSet(
      types.filter { rest.remove(ObjectIdentifier($0)) != nil }.map { description(of: $0) })
    return sets.withLock { sets in
      // Somebody may have been faster; instances are told apart by their set.
      if let known = sets[key] { return known }
      sets[key] = set
      return set
    }
  }

  private static func discovered() -> [ObjectBase.Type] {
    ClassDiscovery.subclasses(of: ObjectBase.self)
      .compactMap { $0 as? ObjectBase.Type }
      .filter {
        $0 != Object.self && $0 != EmbeddedObject.self && $0.shouldIncludeInDefaultSchema()
      }
      .sorted {
        ($0.className(), "\(ObjectIdentifier($0))") < ($1.className(), "\(ObjectIdentifier($1))")
      }
  }
}

/// A set of classes that fit together.
final class ClassSet: Sendable {
  /// The classes, sorted by name.
  let descriptions: [ClassDescription]
  /// The same as users see them.
  let schema: Schema
  /// Whether any property is of any type.
  let hasAnyValues: Bool
  private let indexByType: [ObjectIdentifier: Int]
  private let indexByName: [String: Int]

  /// Stops when the classes do not fit together.
  init(_ descriptions: [ClassDescription]) {
    self.descriptions = descriptions.sorted { $0.name < $1.name }
    var types: [ObjectIdentifier: Int] = [:]
    var names: [String: Int] = [:]
    for (index, description) in self.descriptions.enumerated() {
      types[ObjectIdentifier(description.type)] = index
      if let other = names.updateValue(index, forKey: description.name),
        self.descriptions[other].type != description.type
      {
        fatalError(
          "Two classes are named '\(description.name)' (\(String(reflecting: self.descriptions[other].type)) "
            + "and \(String(reflecting: description.type))). Rename one, override "
            + "_realmObjectName(), or list the classes in objectTypes.")
      }
    }
    indexByType = types
    indexByName = names
    schema = Schema(self.descriptions.map(\.objectSchema))
    hasAnyValues = Self.haveAnyValues(self.descriptions)
    SchemaValidation.check(schema)
  }

  /// Classes that are known by name only.
  init(dynamic descriptions: [ClassDescription]) {
    self.descriptions = descriptions.sorted { $0.name < $1.name }
    indexByType = [:]
    indexByName = Dictionary(
      self.descriptions.enumerated().map { ($1.name, $0) },
      uniquingKeysWith: { first, _ in first })
    schema = Schema(self.descriptions.map(\.objectSchema))
    hasAnyValues = Self.haveAnyValues(self.descriptions)
  }

  private static func haveAnyValues(_ descriptions: [ClassDescription]) -> Bool {
    descriptions.contains { $0.properties.contains { $0.property.type == .any } }
  }

  /// The place of a class; nil when it does not belong to the set.
  func index(of type: ObjectBase.Type) -> Int? { indexByType[ObjectIdentifier(type)] }

  /// The place of the class with that name.
  func index(named name: String) -> Int? { indexByName[name] }
}
