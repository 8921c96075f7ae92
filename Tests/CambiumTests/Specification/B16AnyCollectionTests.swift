import Cambium
import Dispatch
import Foundation
import TestSupport
import Testing

/// Section A7: collections whose kind does not show.
@Suite struct B16AnyCollectionTests {
  private static let types: [ObjectBase.Type] = [
    SpecSets.self, SpecSetMember.self, SpecPerson.self, SpecDog.self,
  ]

  /// A Realm, and all kinds of collections of three dogs aged 0 to 2 in it.
  private func dogs() throws -> (Realm, [String: AnyRealmCollection<SpecDog>]) {
    let realm = try specRealm(Self.types)
    let person = SpecPerson(1, "Ann")
    person.dogs.append(objectsIn: (0..<3).map { SpecDog(value: ["name": "\($0)", "age": $0]) })
    try realm.write { realm.add(person) }
    let unmanaged = List<SpecDog>()
    unmanaged.append(objectsIn: person.dogs)
    return (
      realm,
      [
        "results": AnyRealmCollection(realm.objects(SpecDog.self)),
        "list": AnyRealmCollection(person.dogs),
        "again": AnyRealmCollection(AnyRealmCollection(person.dogs)),
        "unmanaged": AnyRealmCollection(unmanaged),
      ]
    )
  }

  @Test func `every kind is read alike`() throws {
    let (realm, collections) = try dogs()
    let third = try #require(realm.objects(SpecDog.self).where { $0.age == 2 }.first)
    for (kind, dogs) in collections {
      #expect(dogs.count == 3 && Set(dogs.map(\.age)) == [0, 1, 2], "\(kind)")
      #expect(dogs.first?.age == dogs[0].age && dogs.last?.age == dogs[2].age, "\(kind)")
      #expect(dogs.max(of: \.age) == 2 && dogs.sum(ofProperty: "age") == 3, "\(kind)")
      #expect(dogs[1..<3].count == 2 && Array(dogs.reversed()).count == 3, "\(kind)")
      #expect((dogs.realm == realm) == (kind != "unmanaged") && !dogs.isFrozen, "\(kind)")
      #expect(dogs == dogs, "\(kind)")
      if kind == "unmanaged" { continue }
      #expect(dogs.index(of: third).map { dogs[$0].age } == 2, "\(kind)")
      #expect(dogs.where { $0.age > 0 }.count == 2, "\(kind)")
      #expect(dogs.filter("age == 1").first?.name == "1", "\(kind)")
      #expect(dogs.sorted(by: \.age, ascending: false).map(\.age) == [2, 1, 0], "\(kind)")
      #expect(dogs.description.hasPrefix(kind == "results" ? "Results" : "List"), "\(kind)")
    }
    #expect(collections["list"] == collections["again"])
    #expect(collections["list"] != collections["results"])
    let values = AnyRealmCollection(SpecPerson(2, "Ben").nicknames)
    #expect(values.isEmpty)
    let set = MutableSet<Int>()
    set.insert(objectsIn: [3, 4])
    let text = try JSONEncoder().encode(AnyRealmCollection(set))
    #expect(String(decoding: text, as: UTF8.self) == "[3,4]")
  }

  @Test func `it is frozen, thawed and handed over`() throws {
    let (realm, collections) = try dogs()
    for (kind, dogs) in collections where kind != "unmanaged" {
      let frozen = dogs.freeze()
      let reference = ThreadSafeReference(to: dogs)
      try realm.write { realm.create(SpecDog.self, value: ["name": kind]) }
      #expect(frozen.isFrozen && frozen.realm?.isFrozen == true)
      #expect(frozen.thaw()?.isFrozen == false)
      let configuration = realm.configuration
      let count = DispatchQueue(label: "any").sync { () -> Int? in
        (try? Realm(configuration: configuration, queue: nil))?.resolve(reference)?.count
      }
      #expect(count == dogs.count, "\(kind)")
    }
  }

  @Test func `its changes are told`() async throws {
    let desk = try Desk(specConfiguration(Self.types))
    try desk.run { realm in
      try realm.write {
        realm.create(SpecSets.self, value: ["ints": [1]])
        realm.create(SpecPerson.self, value: ["id": 1, "nicknames": ["a"]])
      }
      let ints = AnyRealmCollection(realm.objects(SpecSets.self)[0].ints)
      let names = AnyRealmCollection(realm.objects(SpecPerson.self)[0].nicknames)
      desk.tokens = [ints.observe { [unowned desk] in desk.note($0) }]
      desk.tokens.append(names.observe { [unowned desk] in desk.note($0) })
    }
    #expect(await desk.next() == "initial 1")
    #expect(await desk.next() == "initial 1")
    try desk.run { realm in
      try realm.write { realm.objects(SpecSets.self)[0].ints.insert(0) }
    }
    #expect(await desk.next() == "-[] +[0] ~[]")
    try desk.run { realm in
      try realm.write { realm.objects(SpecPerson.self)[0].nicknames.append("b") }
    }
    #expect(await desk.next() == "-[] +[1] ~[]")
  }
}
