import Cambium
import Foundation
import TestSupport
import Testing

/// When live results are found again.
@Suite struct LiveResultsTests {
  /// Persons 0 to 49, each with a dog of its own as favourite and in its list.
  private func world() throws -> (Realm, SpyStore) {
    let store = SpyStore(name: UUID().uuidString)
    let realm = try Realm(configuration: store.configuration([SpecPerson.self, SpecDog.self]))
    try realm.write {
      for number in 0..<50 {
        let person = SpecPerson(number, "p\(number)", age: number)
        person.favorite = SpecDog(value: ["name": "d\(number)", "age": number % 7])
        person.dogs.append(objectsIn: [person.favorite].compactMap { $0 })
        realm.add(person)
      }
    }
    return (realm, store)
  }

  @Test func `a change of another class leaves results as they were found`() throws {
    let (realm, store) = try world()
    let young = realm.objects(SpecPerson.self).where { $0.age < 30 }.sorted(by: \.name)
    let dog = try #require(realm.objects(SpecDog.self).first)
    try realm.write {
      #expect(Array(young).count == 30)
      // What is counted is noticed.
      let untouched = store.leafReadCount
      #expect(Array(realm.objects(SpecPerson.self).where { $0.age < 30 }).count == 30)
      #expect(store.leafReadCount > untouched)
      for round in 0..<3 {
        dog.age = 100 + round
        realm.create(SpecDog.self)
        let before = store.leafReadCount
        #expect(young.count == 30)
        #expect(store.leafReadCount == before)
      }
      realm.object(ofType: SpecPerson.self, forPrimaryKey: 3)?.age = 70
      #expect(young.count == 29)
    }
    #expect(young.count == 29)
  }

  @Test func `a change of a property that nothing asks for leaves results as they were found`()
    throws
  {
    let (realm, store) = try world()
    let young = realm.objects(SpecPerson.self).where { $0.age < 30 }.sorted(by: \.name)
    let fans = realm.objects(SpecPerson.self).filter("favorite.age < 3")
    try realm.write {
      #expect(young.map(\.id).count == 30)
      let count = fans.map(\.id).count
      let nicknames = young[0].nicknames
      let dog = try #require(young[0].favorite)
      for round in 0..<3 {
        nicknames.append("n\(round)")
        dog.name = "d\(round)"
        let before = store.leafReadCount
        #expect(young.count == 30 && fans.count == count)
        #expect(store.leafReadCount == before)
      }
      dog.age = 3
      #expect(fans.count == count - 1)
    }
  }

  @Test func `results are counted once while nothing changes that decides what they are`() throws {
    let (realm, store) = try world()
    let young = realm.objects(SpecPerson.self).where { $0.age < 30 }
    let person = try #require(realm.object(ofType: SpecPerson.self, forPrimaryKey: 3))
    try realm.write {
      #expect(young.count == 30)
      person.name = "another"
      let before = store.leafReadCount
      #expect(young.count == 30)
      #expect(store.leafReadCount == before)
      person.age = 70
      #expect(young.count == 29)
    }
    try realm.write { person.age = 3 }
    #expect(young.count == 30)
    realm.beginWrite()
    person.age = 50
    #expect(young.count == 29)
    realm.cancelWrite()
    #expect(young.count == 30)
  }

  @Test func `results follow every class that they look at`() throws {
    let (realm, _) = try world()
    let people = realm.objects(SpecPerson.self)
    let person = try #require(realm.object(ofType: SpecPerson.self, forPrimaryKey: 8))
    let dog = try #require(person.favorite)
    let byLink = people.where { $0.favorite.name == "x" }
    let byList = people.filter("ANY dogs.name == 'x'")
    let byCount = people.filter("SUBQUERY(dogs, $d, $d.name == 'x').@count == 1")
    let byPair = people.filter("favorite.name == name")
    let byNamed = people.filter("SUBQUERY(dogs, $d, favorite.name == 'x').@count == 1")
    let byBacklink = realm.objects(SpecDog.self).filter("ANY owners.name == 'x'")
    let sorted = people.sorted(by: [SortDescriptor(keyPath: "favorite.name", ascending: false)])
    let ofList = person.dogs.where { $0.name == "x" }
    let fans = dog.fans.where { $0.name == "x" }
    // Walked each time, all of them, so that every one of them was found before the change that it is to
    // notice.
    func found<Element>(_ results: Results<Element>, _ name: KeyPath<Element, Int>) -> [Int] {
      var found: [Int] = []
      for element in results { found.append(element[keyPath: name]) }
      return found
    }
    let ofPeople = [byLink, byList, byCount, byPair, byNamed, fans]
    func state() -> [[Int]] {
      ofPeople.map { found($0, \SpecPerson.id) }
        + [byBacklink, ofList].map { found($0, \SpecDog.age) } + [[found(sorted, \.id)[0]]]
    }
    try realm.write {
      #expect(state() == [[], [], [], [], [], [], [], [], [9]])
      dog.name = "x"
      #expect(state() == [[8], [8], [8], [], [8], [], [], [1], [8]])
      person.name = "x"
      #expect(state() == [[8], [8], [8], [8], [8], [8], [1], [1], [8]])
      dog.name = "y"
      #expect(state() == [[], [], [], [], [], [8], [1], [], [8]])
      dog.name = "x"
      #expect(state() == [[8], [8], [8], [8], [8], [8], [1], [1], [8]])
      person.dogs.removeAll()
      #expect(state() == [[8], [], [], [8], [], [8], [], [], [8]])
      realm.delete(dog)
      // What has no favourite is behind all others, and first in descending order.
      #expect(state() == [[], [], [], [], [], [], [], [], [8]])
    }
  }
}
