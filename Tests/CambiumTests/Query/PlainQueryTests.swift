import Foundation
import TestSupport
import Testing

@testable import Cambium

/// What a `Person` of a ``QueryWorld`` is in Swift.
final class PlainPerson: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var age: Int?
  @Persisted(indexed: true) var rank = 0
  @Persisted var flag = false
  @Persisted var maybe: Bool?
  @Persisted var score = 0.0
  @Persisted var ratio: Float?
  @Persisted var name: String?
  @Persisted(indexed: true) var title = ""
  @Persisted var blob: Data?
  @Persisted(indexed: true) var born: Date?
  @Persisted var oid: ObjectId
  @Persisted var uuid: UUID?
  @Persisted var amount: Decimal128
  @Persisted var other = 0
  @Persisted var nick = ""
  @Persisted var friend: PlainPerson?
  @Persisted var dog: PlainDog?
  @Persisted var dogs: List<PlainDog>
  @Persisted var tags: List<String?>
  @Persisted var numbers: List<Int>
  @Persisted(originProperty: "friend") var admirers: LinkingObjects<PlainPerson>
  override class func _realmObjectName() -> String? { "Person" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// What a `Dog` of a ``QueryWorld`` is in Swift.
final class PlainDog: Object {
  @Persisted var name = ""
  @Persisted var weight: Double?
  @Persisted var age = 0
  @Persisted(indexed: true) var code: String?
  @Persisted(originProperty: "dogs") var keepers: LinkingObjects<PlainPerson>
  @Persisted var home: PlainPerson?
  override class func _realmObjectName() -> String? { "Dog" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Has all objects of a world in lists.
final class PlainHolder: Object {
  @Persisted var people: List<PlainPerson>
  @Persisted var dogs: List<PlainDog>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

struct PlainQueryTests {
  /// The objects of a world, unmanaged, and what predicates mean by its keys.
  private final class Objects {
    let holder = PlainHolder()
    var people: [Int64: PlainPerson] = [:]
    var dogs: [Int64: PlainDog] = [:]
    /// What a key that is none stands for.
    let stranger = (PlainPerson(), PlainDog())

    init(_ world: QueryWorld) {
      for row in world.rows["Dog"] ?? [] { dogs[row.key] = PlainDog() }
      for row in world.rows["Person"] ?? [] { people[row.key] = PlainPerson() }
      for row in world.rows["Dog"] ?? [] { fill(dogs[row.key], row) }
      for row in world.rows["Person"] ?? [] { fill(people[row.key], row) }
      holder.people.append(objectsIn: (world.rows["Person"] ?? []).compactMap { people[$0.key] })
      holder.dogs.append(objectsIn: (world.rows["Dog"] ?? []).compactMap { dogs[$0.key] })
      stranger.1.code = "stranger"
      stranger.0.id = .max
    }

    private func fill(_ object: Object?, _ row: QueryWorld.Row) {
      guard let object else { return }
      for (name, value) in row.values {
        object[name] = swiftValue(value, object.objectSchema[name]?.objectClassName)
      }
    }

    private func swiftValue(_ value: ModelValue, _ target: String?) -> Any? {
      switch value {
      case .null: nil
      case .bool(let value): value
      case .int(let value): Int(value)
      case .float(let value): value
      case .double(let value): value
      case .string(let value): value
      case .data(let value): value
      case .date(let value): value
      case .objectId(let value): value
      case .uuid(let value): value
      case .decimal(let value): value
      case .link(let key): object(target, key)
      case .list(let elements): elements.map { swiftValue($0, target) }
      }
    }

    func object(_ className: String?, _ key: Int64?) -> Object? {
      guard let key else { return className == "Dog" ? stranger.1 : stranger.0 }
      return className == "Dog" ? dogs[key] : people[key]
    }

    /// The predicate about these objects instead of the world's.
    func naming(_ predicate: QueryPredicate) -> QueryPredicate {
      switch predicate {
      case .always: return predicate
      case .and(let parts): return .and(parts.map(naming))
      case .or(let parts): return .or(parts.map(naming))
      case .not(let part): return .not(naming(part))
      case .comparison(var comparison):
        comparison.left = naming(comparison.left)
        comparison.right = naming(comparison.right)
        return .comparison(comparison)
      }
    }

    private func naming(_ operand: QueryOperand) -> QueryOperand {
      switch operand {
      case .path: operand
      case .constant(let constant): .constant(naming(constant))
      case .subqueryCount(let collection, let variable, let predicate):
        .subqueryCount(collection: collection, variable: variable, naming(predicate))
      }
    }

    private func naming(_ constant: QueryConstant) -> QueryConstant {
      switch constant {
      case .object(let object):
        guard let row = (object as? ModelObject)?.row else { return constant }
        return self.object(row.className, row.key).map { .object($0) } ?? .null
      case .array(let elements): return .array(elements.map(naming))
      default: return constant
      }
    }
  }

  /// The places of the elements that satisfy a predicate, found without a Realm.
  private func places<Element: Object>(
    _ predicate: QueryPredicate, in elements: [Element]
  ) -> [Int] {
    let query = PlainQuery(predicate, on: Element.self)
    return elements.indices.filter { query.firstIndex(in: [elements[$0]]) == 0 }
  }

  /// The same, found by the engine.
  private func places<Element: Object>(
    _ predicate: QueryPredicate, in list: List<Element>
  ) -> [Int] {
    let found = Set(list.queryCore().filtered(predicate).currentKeys())
    return list.indices.filter { found.contains(list[$0].key) }
  }

  @Test(arguments: 0..<8)
  func `random predicates find the same with and without a Realm`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let world = QueryWorld()
    world.fill(count: [1, 30, 60][Int(seed) % 3], using: &generator)
    let (plain, added) = (Objects(world), Objects(world))
    let realm = try testRealm([PlainHolder.self, PlainPerson.self, PlainDog.self])
    try realm.write {
      realm.add(added.holder)
      realm.add([added.stranger.0])
      realm.add([added.stranger.1])
    }
    try realm.write {
      realm.delete(added.stranger.0)
      realm.delete(added.stranger.1)
    }
    var predicates = PredicateGenerator(world: world, random: generator)
    for round in 0..<80 {
      let isAboutDogs = round % 3 == 0
      let predicate = predicates.predicate(isAboutDogs ? "Dog" : "Person")
      let text = PredicatePrinter.text(of: predicate).0
      let (named, unnamed) = (added.naming(predicate), plain.naming(predicate))
      let expected: [Int]
      if isAboutDogs {
        expected = places(named, in: added.holder.dogs)
        #expect(places(named, in: Array(added.holder.dogs)) == expected, "seed \(seed): \(text)")
        #expect(
          added.holder.dogs.queryCore().firstIndex(matching: named) == expected.first,
          "seed \(seed): \(text)")
      } else {
        expected = places(named, in: added.holder.people)
        #expect(places(named, in: Array(added.holder.people)) == expected, "seed \(seed): \(text)")
      }
      // No objects link to an unmanaged one.
      if text.contains("keepers") || text.contains("admirers") { continue }
      let found =
        isAboutDogs
        ? places(unnamed, in: plain.holder.dogs.allElements())
        : places(unnamed, in: plain.holder.people.allElements())
      #expect(found == expected, "seed \(seed): \(text)")
    }
  }

  @Test func `nothing links to an unmanaged object`() {
    let (ann, bob) = (PlainPerson(), PlainPerson())
    ann.friend = bob
    let list = List<PlainPerson>()
    list.append(objectsIn: [ann, bob])
    #expect(list.index(matching: "admirers.@count > 0") == nil)
    #expect(list.index(matching: "ANY admirers.admirers.name == nil") == nil)
    #expect(list.index(matching: { $0.admirers.count == 0 }) == 0)
  }
}
