import Cambium
import Foundation
import Testing

/// Section B16: results.
@Suite struct B16ResultsTests {
  @Test func `results are live`() throws {
    let realm = try specRealm()
    let all = realm.objects(SpecDog.self)
    let named = all.where { $0.name == "Ben" }.sorted(by: \.age)
    #expect(all.isEmpty && named.first == nil && named.last == nil)
    try realm.addDogs("Ben", "Lita")
    #expect(all.count == 2 && named.count == 1)
    realm.beginWrite()
    realm.create(SpecDog.self, value: ["Ben", -1] as [Any])
    #expect(named.map(\.age) == [-1, 0])
    all.where { $0.name == "Lita" }.first?.name = "Ben"
    #expect(named.count == 3)
    let within = realm.objects(SpecDog.self).filter("age < 0")
    #expect(within.count == 1)
    realm.cancelWrite()
    #expect(named.count == 1 && within.isEmpty)
  }

  @Test func `subclasses have their own storage`() throws {
    let realm = try specRealm()
    try realm.write {
      realm.create(SpecPuppy.self)
      realm.create(SpecDogLike.self)
    }
    #expect(realm.objects(SpecDogLike.self).count == 1)
    #expect(realm.objects(SpecPuppy.self).count == 1)
    #expect(realm.objects(SpecPuppy.self).first?.name == "like")
    #expect(realm.objects(SpecPuppy.self).first?.tricks == 2)
  }

  @Test func `elements are found by index, by object and by condition`() throws {
    let realm = try specRealm()
    let dogs = try realm.addDogs("c", "a", "b")
    let sorted = realm.objects(SpecDog.self).sorted(by: \.name)
    #expect(sorted[0].name == "a" && sorted[2].name == "c")
    #expect(sorted.index(of: dogs[0]) == 2)
    #expect(sorted.where { $0.name != "c" }.index(of: dogs[0]) == nil)
    #expect(sorted.index(matching: "name == 'b'") == 1)
    #expect(sorted.index(matching: { $0.name == "zz" }) == nil)
    #expect(sorted.objects(at: IndexSet([0, 2])).map(\.name) == ["a", "c"])
    #expect(sorted[1..<3].map(\.name) == ["b", "c"])
    #expect(sorted.first !== sorted.first)
    #expect(try #require(sorted.first).isSameObject(as: dogs[1]))
    #expect(sorted.realm == realm)
  }

  @Test func `iteration inside a transaction walks a snapshot`() throws {
    let realm = try specRealm()
    try realm.addDogs("a", "b", "c", "d")
    var visited = 0
    try realm.write {
      for dog in realm.objects(SpecDog.self).where({ $0.name != "x" }) {
        visited += 1
        dog.name = "x"
      }
    }
    #expect(visited == 4)
    var invalid = 0
    try realm.write {
      for dog in realm.objects(SpecDog.self) {
        if dog.isInvalidated {
          invalid += 1
        } else {
          realm.delete(realm.objects(SpecDog.self))
        }
      }
    }
    #expect(invalid == 3)
  }

  @Test func `iteration outside goes on when the Realm advances`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    try realm.addDogs("a", "b", "c")
    var visited = 0
    for _ in realm.objects(SpecDog.self) {
      visited += 1
      if visited == 1 {
        try onAnotherThread {
          let other = try Realm(configuration: configuration)
          try other.write { other.deleteAll() }
        }
        realm.refresh()
      }
    }
    #expect(visited <= 3 && visited >= 1)
    #expect(realm.isEmpty)
  }

  @Test func `index loops are always live`() throws {
    let realm = try specRealm()
    try realm.addDogs("a", "b", "c")
    let all = realm.objects(SpecDog.self)
    try realm.write { while all.count > 0 { realm.delete(all[0]) } }
    #expect(all.isEmpty)
  }

  @Test func `a filter acts before any distinct`() throws {
    let realm = try specRealm()
    try realm.write {
      for (name, age) in [("a", 1), ("a", 2), ("b", 2)] {
        realm.create(SpecDog.self, value: [name, age] as [Any])
      }
    }
    let all = realm.objects(SpecDog.self).sorted(by: \.age)
    #expect(all.distinct(by: ["name"]).filter("age == 2").map(\.name).sorted() == ["a", "b"])
    #expect(all.filter("age == 2").distinct(by: ["name"]).count == 2)
    #expect(all.distinct(by: [\.name]).count == 2)
  }

  @Test func `chained filters are conjunctions`() throws {
    let realm = try specRealm()
    try realm.write {
      for age in 0..<20 { realm.create(SpecDog.self, value: ["d\(age % 2)", age] as [Any]) }
    }
    let some = realm.objects(SpecDog.self).where { $0.age > 5 }.filter("age < %@", 12)
      .where { $0.name == "d1" }.sorted(by: \.age, ascending: false)
    #expect(some.map(\.age) == [11, 9, 7])
  }

  @Test func `values are collected by key`() throws {
    let realm = try specRealm()
    let person = SpecPerson(1, "Ann")
    person.favorite = SpecDog(value: ["name": "Ben"])
    try realm.write { realm.add([person, SpecPerson(2, "Bob")]) }
    let people = realm.objects(SpecPerson.self).sorted(by: \.id)
    #expect(people.value(forKey: "name") as? [String] == ["Ann", "Bob"])
    #expect(people.value(forKeyPath: "favorite.name") as? [String?] == ["Ben", nil])
  }

  @Test func `collections of results are lazy until made arrays`() throws {
    let realm = try specRealm()
    try realm.addDogs("b", "a")
    let names: [String] = realm.objects(SpecDog.self).map { $0.name }
    #expect(names.sorted() == ["a", "b"])
    let lazy = realm.objects(SpecDog.self).filter { $0.name == "a" }
    #expect(Array(lazy).count == 1)
    let firstLetters = Array(realm.objects(SpecDog.self).sorted(by: \.name).lazy.map(\.name))
    #expect(firstLetters == ["a", "b"])
  }

  @Test func `copies of results are equal and separate queries are not`() throws {
    let realm = try specRealm()
    let one = realm.objects(SpecDog.self)
    let copy = one
    #expect(one == copy)
    #expect(one != realm.objects(SpecDog.self))
  }

  @Test func `results over many rows agree with an array`() throws {
    let realm = try specRealm()
    try realm.write {
      for index in 0..<2500 {
        realm.create(SpecDog.self, value: ["n\(index % 7)", (index * 37) % 1000] as [Any])
      }
    }
    let all = Array(realm.objects(SpecDog.self))
    let expected = all.filter { $0.age >= 200 && $0.age < 650 && $0.name != "n3" }
    let query = realm.objects(SpecDog.self).where {
      $0.age >= 200 && $0.age < 650 && $0.name != "n3"
    }
    #expect(query.count == expected.count)
    #expect(query.sum(of: \.age) == expected.map(\.age).reduce(0, +))
    #expect(
      query.sorted(by: \.age).map(\.age) == expected.map(\.age).sorted())
    try realm.write { realm.delete(query) }
    #expect(realm.objects(SpecDog.self).count == 2500 - expected.count)
    #expect(query.isEmpty)
  }

  @Test func `the key self names the elements`() throws {
    let realm = try specRealm()
    try realm.addDogs("a", "b")
    let found = try #require(realm.objects(SpecDog.self).value(forKey: "self") as? [Any?])
    #expect(found.map { ($0 as? SpecDog)?.name } == ["a", "b"])
    let named = realm.objects(SpecDog.self).value(forKeyPath: "self.name") as? [Any?]
    #expect(named?.map { $0 as? String } == ["a", "b"])
    let values = SpecValues(value: ["ints": [1, 2], "intsO": [1, nil] as [Int?]])
    #expect(values.ints.value(forKey: "self") as? [Int?] == [1, 2])
    #expect(values.intsO.value(forKey: "self") as? [Int?] == [1, nil])
  }

  @Test func `generic code over collections may query and search`() throws {
    func matching<C: RealmCollection>(
      _ collection: C, _ isIncluded: (Query<C.Element>) -> Query<Bool>
    ) -> Results<C.Element> { collection.where(isIncluded) }
    func place<C: RealmCollection>(
      _ collection: C, _ isIncluded: (Query<C.Element>) -> Query<Bool>
    ) -> Int? where C.Element: _RealmSchemaDiscoverable { collection.index(matching: isIncluded) }
    let realm = try specRealm()
    try realm.addDogs("a", "b")
    let dogs = realm.objects(SpecDog.self)
    #expect(matching(dogs) { $0.name == "b" }.count == 1)
    #expect(place(dogs) { $0.name == "b" } == dogs.firstIndex { $0.name == "b" })
  }
}
