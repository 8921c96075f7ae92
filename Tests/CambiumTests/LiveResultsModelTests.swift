import Cambium
import Foundation
import TestSupport
import Testing

/// Results that are kept beside such that are made anew, after every change.
@Suite struct LiveResultsModelTests {
  private typealias Query = @Sendable (Realm) -> Results<SpecPerson>

  private static let queries: [Query] =
    [
      "age > 3", "name BEGINSWITH 'a'", "favorite.age == 2", "ANY dogs.age > 4", "dogs.@count > 1",
      "dogs.@sum.age > 5", "ANY nicknames == 'a'", "nicknames.@count == 1", "age == favorite.age",
      "SUBQUERY(dogs, $d, $d.name == 'a' AND $d.weight > 1).@count == 1", "friend.friend.age < 4",
      "ANY befriendedBy.age > 3", "SUBQUERY(dogs, $d, $d.age > age).@count > 0",
    ].map { text -> Query in { $0.objects(SpecPerson.self).filter(text) } }
    + [
      { $0.objects(SpecPerson.self) },
      { $0.objects(SpecPerson.self).sorted(by: [SortDescriptor(keyPath: "favorite.name")]) },
      { $0.objects(SpecPerson.self).sorted(by: \.age, ascending: false) },
      { $0.objects(SpecPerson.self).distinct(by: ["age", "friend.name"]) },
    ]

  private static func names(_ random: inout SeededGenerator) -> String {
    ["a", "ab", "b", ""].randomElement(using: &random) ?? ""
  }

  private static func person(_ realm: Realm, _ random: inout SeededGenerator) -> SpecPerson? {
    realm.objects(SpecPerson.self).randomElement(using: &random)
  }

  private static func dog(_ realm: Realm, _ random: inout SeededGenerator) -> SpecDog? {
    realm.objects(SpecDog.self).randomElement(using: &random)
  }

  /// Changes one thing.
  private static func change(_ realm: Realm, _ id: inout Int, _ random: inout SeededGenerator) {
    let number = Int.random(in: 0..<7, using: &random)
    let name = names(&random)
    let (person, dog) = (person(realm, &random), dog(realm, &random))
    switch Int.random(in: 0..<22, using: &random) {
    case 0, 1:
      id += 1
      realm.add(SpecPerson(id, name, age: number == 0 ? nil : number))
    case 2, 3: realm.create(SpecDog.self, value: ["name": name, "age": number])
    case 4: person?.age = number == 0 ? nil : number
    case 5: person?.name = name
    case 6: person?.favorite = number == 0 ? nil : dog
    case 7: person?.friend = number == 0 ? nil : Self.person(realm, &random)
    case 8: dog?.age = number
    case 9: dog?.name = name
    case 10: dog?.weight = number == 0 ? nil : Double(number)
    case 11, 12: if let dog { person?.dogs.append(dog) }
    case 13: if person?.dogs.isEmpty == false { person?.dogs.removeFirst() }
    case 14: person?.nicknames.append(name)
    case 15: person?.nicknames.removeAll()
    case 16: if let dog { realm.delete(dog) }
    case 17: if let person, number < 2 { realm.delete(person) }
    case 18:
      guard let person else { break }
      realm.create(
        SpecPerson.self, value: ["id": person.id, "name": name, "dogs": [dog].compactMap { $0 }],
        update: .modified)
    case 19: if number == 0 { realm.delete(realm.objects(SpecDog.self).filter("age > 4")) }
    case 20: person?.setValue(number, forKey: "age")
    default:
      if number == 0, Bool.random(using: &random) {
        realm.delete(realm.objects(SpecPerson.self))
      } else {
        person?.dogs.append(objectsIn: [SpecDog(value: ["name": name, "age": number])])
      }
    }
  }

  @Test(arguments: 0..<12 as Range<UInt64>)
  func `results that are kept hold what results made anew hold, after every change`(
    seed: UInt64
  ) throws {
    let realm = try Realm(
      configuration: SampledStore.configuration(
        named: UUID().uuidString, [SpecPerson.self, SpecDog.self]))
    var random = SeededGenerator(seed: seed)
    let kept = Self.queries.map { $0(realm) }
    // Nobody asks these for their objects.
    let counted = Self.queries.map { $0(realm) }
    var id = 0
    for _ in 0..<12 {
      realm.beginWrite()
      for _ in 0..<Int.random(in: 1...20, using: &random) {
        Self.change(realm, &id, &random)
        for (results, query) in zip(kept, Self.queries) {
          #expect(results.map(\.id) == query(realm).map(\.id), "seed \(seed)")
        }
        #expect(counted.map(\.count) == kept.map { Array($0).count }, "seed \(seed)")
      }
      if Int.random(in: 0..<4, using: &random) == 0 {
        realm.cancelWrite()
      } else {
        try realm.commitWrite()
      }
      for (results, query) in zip(kept, Self.queries) {
        #expect(results.map(\.id) == query(realm).map(\.id), "seed \(seed)")
      }
      #expect(counted.map(\.count) == kept.map { Array($0).count }, "seed \(seed)")
    }
  }
}
