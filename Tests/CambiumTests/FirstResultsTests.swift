import Cambium
import Foundation
import TestSupport
import Testing

/// The first elements of results, which are found without the others.
@Suite struct FirstResultsTests {
  class Runner: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var age: Int
    @Persisted var name: String?
    @Persisted(indexed: true) var team: Int
  }

  private typealias Query = @Sendable (Realm) -> Results<Runner>

  private static let queries: [Query] = [
    { $0.objects(Runner.self) },
    { $0.objects(Runner.self).where { $0.age == 3 } },
    { $0.objects(Runner.self).where { $0.age > 1000 } },
    { $0.objects(Runner.self).where { $0.age >= 0 } },
    { $0.objects(Runner.self).where { $0.team == 1 } },
    { $0.objects(Runner.self).where { $0.team == 77 } },
    { $0.objects(Runner.self).where { $0.team == 1 && $0.age < 5 } },
    { $0.objects(Runner.self).sorted(byKeyPath: "age") },
    { $0.objects(Runner.self).sorted(byKeyPath: "name", ascending: false) },
    {
      $0.objects(Runner.self).sorted(byKeyPath: "name").sorted(byKeyPath: "age", ascending: false)
    },
    { $0.objects(Runner.self).where { $0.age < 5 }.sorted(byKeyPath: "name") },
    { $0.objects(Runner.self).distinct(by: ["age"]) },
    { $0.objects(Runner.self).sorted(byKeyPath: "name").distinct(by: ["age"]) },
    { $0.objects(Runner.self).distinct(by: ["age"]).sorted(byKeyPath: "name") },
  ]

  private static func configuration() -> Realm.Configuration {
    Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Runner.self])
  }

  private static func fill(_ realm: Realm, _ count: Int, _ random: inout SeededGenerator) {
    for id in 0..<count {
      let runner = Runner()
      runner.id = id
      change(runner, &random)
      realm.add(runner)
    }
  }

  private static func change(_ runner: Runner, _ random: inout SeededGenerator) {
    runner.age = Int.random(in: 0...40, using: &random)
    runner.name = ["a", "ab", "abc", "b", nil].randomElement(using: &random) ?? nil
    runner.team = Int.random(in: 0...3, using: &random)
  }

  /// Asks `results` for a few of their elements in a random manner; `all` are what there is.
  private static func check(
    _ results: Results<Runner>, _ all: [Int], _ random: inout SeededGenerator,
    _ context: @autoclosure () -> String
  ) {
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      switch Int.random(in: 0...6, using: &random) {
      case 0: #expect(results.isEmpty == all.isEmpty, "\(context())")
      case 1: #expect(results.first?.id == all.first, "\(context())")
      case 2: #expect(results.last?.id == all.last, "\(context())")
      case 3: #expect(results.count == all.count, "\(context())")
      case 4:
        let limit = [0, 1, 2, 30, 127, 128, 129, 300, 5000].randomElement(using: &random) ?? 0
        let prefix = results.prefix(limit)
        #expect(prefix.count == min(limit, all.count), "\(context())")
        #expect(prefix.map(\.id) == Array(all.prefix(limit)), "\(context()): \(limit)")
      case 5:
        guard let place = all.indices.randomElement(using: &random) else { continue }
        #expect(results[place].id == all[place], "\(context()): \(place)")
      default:
        for place in 0..<min(140, all.count) {
          #expect(results[place].id == all[place], "\(context()): \(place)")
        }
      }
    }
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `the first elements are those of all, whatever was asked before`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let realm = try Realm(configuration: Self.configuration())
    let count = [0, 7, 900, 2500].randomElement(using: &random) ?? 0
    try realm.write { Self.fill(realm, count, &random) }
    let live = Self.queries.map { $0(realm) }
    for round in 0..<12 {
      let isWriting = round % 3 == 1
      if isWriting { realm.beginWrite() }
      for (index, results) in live.enumerated() {
        if isWriting, let runner = realm.objects(Runner.self).randomElement(using: &random) {
          if Bool.random(using: &random) {
            Self.change(runner, &random)
          } else {
            realm.delete(runner)
          }
        }
        // Asked anew, all at once.
        let all = Array(Self.queries[index](realm).map(\.id))
        Self.check(results, all, &random, "seed \(seed), round \(round), query \(index)")
      }
      if isWriting { try realm.commitWrite() }
    }
  }

  @Test func `frozen results give their first elements to many threads at once`() throws {
    var random = SeededGenerator(seed: 5)
    let realm = try Realm(configuration: Self.configuration())
    try realm.write { Self.fill(realm, 3000, &random) }
    for (index, query) in Self.queries.enumerated() {
      let all = Array(query(realm).map(\.id))
      // What is frozen may be read anywhere.
      nonisolated(unsafe) let frozen = query(realm).freeze()
      DispatchQueue.concurrentPerform(iterations: 8) { thread in
        var random = SeededGenerator(seed: UInt64(thread))
        Self.check(frozen, all, &random, "query \(index), thread \(thread)")
      }
    }
  }

  @Test func `a prefix follows its results, as far as there are elements`() throws {
    let realm = try Realm(configuration: Self.configuration())
    try realm.write {
      for id in 0..<2000 { realm.create(Runner.self, value: ["id": id, "age": id % 10]) }
    }
    let prefix = realm.objects(Runner.self).where { $0.age == 4 }.prefix(3)
    #expect(prefix.map(\.id) == [4, 14, 24])
    try realm.write { realm.object(ofType: Runner.self, forPrimaryKey: 1)?.age = 4 }
    #expect(prefix.map(\.id) == [1, 4, 14])
  }

  @Test func `all objects are counted off inside of a transaction that changes them`() throws {
    let realm = try Realm(configuration: Self.configuration())
    let all = realm.objects(Runner.self)
    try realm.write {
      for id in 0..<600 {
        #expect((all.last?.id ?? -1) == id - 1)
        realm.add(Runner(value: ["id": id, "team": id % 3]))
      }
      for place in [0, 1, 127, 128, 300, 599] {
        all[place].age = place
        #expect(all[place].id == place && all[place].age == place)
      }
      realm.delete(all.where { $0.team == 1 })
      #expect((0..<400).map { all[$0].id } == (0..<600).filter { $0 % 3 != 1 })
      while let runner = all.last, runner.id > 500 { realm.delete(runner) }
      #expect(all.last?.id == 500 && all.first?.id == 0)
    }
    #expect(all.count == all.map(\.id).count && all[all.count - 1].id == 500)
  }

  @Test func `the first of many links are those that a walk comes to first`() throws {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString, objectTypes: [SpecPerson.self, SpecDog.self]))
    let dog = SpecDog()
    try realm.write {
      realm.add(dog)
      for id in 0..<700 {
        let person = SpecPerson(id, "")
        // Some have it twice.
        person.dogs.append(objectsIn: id.isMultiple(of: 5) ? [dog, dog] : [dog])
        realm.add(person)
      }
    }
    let walked = dog.owners.map(\.id)
    #expect(walked.count == 840)
    for place in [0, 1, 5, 127, 128, 129, 500, 839] {
      #expect(dog.owners[place].id == walked[place])
      let owners = dog.owners
      #expect(owners.first?.id == walked[0] && owners[place].id == walked[place])
      #expect(owners.last?.id == walked[839] && owners.count == 840)
    }
    try realm.write { realm.delete(realm.objects(SpecPerson.self)) }
    #expect(dog.owners.first == nil && dog.owners.isEmpty)
  }
}
