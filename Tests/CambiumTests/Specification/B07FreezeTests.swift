import Cambium
import Dispatch
import Foundation
import TestSupport
import Testing

/// A class that is not there until a test says so; its name comes first.
final class AnotherLateClass: Object {
  // Unchecked: set by one exit test, in a process of its own.
  nonisolated(unsafe) static var isLoaded = false
  @Persisted var number = 0
  override class func shouldIncludeInDefaultSchema() -> Bool { isLoaded }
}

/// Section B7: freeze and thaw.
@Suite struct B07FreezeTests {
  private func filled() throws -> Realm {
    let realm = try specRealm()
    try realm.write {
      let ann = SpecPerson(1, "Ann", age: 30)
      ann.dogs.append(objectsIn: [
        SpecDog(value: ["name": "Ben"]), SpecDog(value: ["name": "Lita"]),
      ])
      ann.favorite = ann.dogs.first
      ann.nicknames.append(objectsIn: ["a", "b"])
      realm.add(ann)
      realm.add(SpecPerson(2, "Bob"))
    }
    return realm
  }

  @Test func `one version has one frozen Realm`() throws {
    let realm = try filled()
    let frozen = realm.freeze()
    #expect(frozen.isFrozen)
    #expect(frozen == realm.freeze())
    #expect(frozen == frozen.freeze())
    #expect(frozen != realm)
    try realm.addDogs("new")
    #expect(frozen != realm.freeze())
  }

  @Test func `everything reached from something frozen is frozen`() throws {
    let realm = try filled()
    let frozen = realm.freeze()
    let people = frozen.objects(SpecPerson.self)
    #expect(people.isFrozen)
    #expect(people.realm == frozen)
    let ann = try #require(people.where { $0.name == "Ann" }.first)
    #expect(ann.isFrozen)
    #expect(ann.realm?.isFrozen == true)
    #expect(ann.dogs.isFrozen)
    #expect(ann.dogs[0].isFrozen)
    #expect(ann.favorite?.isFrozen == true)
    #expect(ann.favorite?.fans.isFrozen == true)
    #expect(ann.favorite?.fans.first?.isFrozen == true)
    #expect(ann.dogs.filter("name == 'Ben'").isFrozen)
    #expect(people.sorted(by: \.name).isFrozen)
    #expect(frozen.object(ofType: SpecPerson.self, forPrimaryKey: 1)?.isFrozen == true)
  }

  @Test func `frozen values keep what they were`() throws {
    let realm = try filled()
    let ann = try #require(realm.object(ofType: SpecPerson.self, forPrimaryKey: 1))
    let frozen = ann.freeze()
    let dogs = ann.dogs.freeze()
    let names = ann.nicknames.freeze()
    let all = realm.objects(SpecPerson.self).sorted(by: \.name).freeze()
    let fans = try #require(ann.favorite?.fans.freeze())
    #expect(ann.freeze() == frozen)
    try realm.write {
      ann.name = "Zoe"
      ann.nicknames.append("c")
      realm.delete(ann.dogs)
      realm.add(SpecPerson(3, "Aaa"))
    }
    #expect(frozen.name == "Ann")
    #expect(frozen.favorite?.name == "Ben")
    #expect(dogs.map(\.name) == ["Ben", "Lita"])
    #expect(Array(names) == ["a", "b"])
    #expect(all.map(\.name) == ["Ann", "Bob"])
    #expect(fans.count == 1)
    #expect(ann.favorite == nil)
    #expect(!frozen.isInvalidated && !dogs.isInvalidated && !all.isInvalidated)
  }

  @Test func `frozen values are read by several threads at once`() throws {
    let realm = try filled()
    let frozen = Smuggled(value: realm.objects(SpecPerson.self).freeze())
    let group = DispatchGroup()
    for _ in 0..<4 {
      group.enter()
      Thread {
        for _ in 0..<50 {
          let ann = frozen.value.where { $0.id == 1 }.first
          #expect(ann?.dogs.map(\.name) == ["Ben", "Lita"])
          #expect(ann?.favorite?.fans.first?.nicknames.count == 2)
        }
        group.leave()
      }.start()
    }
    group.wait()
  }

  @Test func `within a transaction the state at its beginning is frozen`() throws {
    let realm = try filled()
    realm.beginWrite()
    realm.add(SpecPerson(3, "Cid"))
    let ann = try #require(realm.object(ofType: SpecPerson.self, forPrimaryKey: 1))
    ann.name = "Zoe"
    #expect(realm.freeze().objects(SpecPerson.self).count == 2)
    #expect(ann.freeze().name == "Ann")
    #expect(realm.objects(SpecPerson.self).freeze().count == 2)
    realm.cancelWrite()
  }

  @Test func `results of a list whose owner was deleted freeze empty`() throws {
    let realm = try filled()
    let ann = try #require(realm.object(ofType: SpecPerson.self, forPrimaryKey: 1))
    let dogs = ann.dogs.filter("name != 'x'")
    let names = ann.nicknames.sorted()
    let fans = try #require(ann.favorite).fans.filter("id > 0")
    try realm.write {
      realm.delete(ann.dogs)
      realm.delete(ann)
    }
    #expect(dogs.isEmpty && names.isEmpty && fans.isEmpty)
    let frozen = (dogs: dogs.freeze(), names: names.freeze(), fans: fans.freeze())
    #expect(frozen.dogs.isFrozen && frozen.dogs.isEmpty && frozen.dogs.first == nil)
    #expect(frozen.names.isFrozen && frozen.names.isEmpty)
    #expect(frozen.fans.isFrozen && frozen.fans.isEmpty)
    #expect(frozen.dogs.filter("age == 0").isEmpty)
    #expect(frozen.dogs.thaw() == nil && frozen.names.thaw() == nil && frozen.fans.thaw() == nil)
  }

  @Test func `thawing goes by names when classes have come since`() async {
    await #expect(processExitsWith: .success) {
      var configuration = Realm.Configuration(inMemoryIdentifier: "late")
      configuration.objectTypes = nil
      let realm = try Realm(configuration: configuration)
      let ann = SpecPerson(1, "Ann")
      ann.nicknames.append("A")
      ann.favorite = SpecDog()
      try realm.write { realm.add(ann) }
      let frozen = ann.freeze()
      // What a library does that is loaded late.
      AnotherLateClass.isLoaded = true
      #expect(frozen.thaw()?.name == "Ann")
      #expect(frozen.nicknames.thaw().map(Array.init) == ["A"])
      #expect(frozen.favorite?.fans.thaw()?.first?.name == "Ann")
      #expect(frozen.realm?.objects(SpecPerson.self).thaw()?.first?.name == "Ann")
      #expect(frozen.thaw()?.realm == realm)
    }
  }

  @Test func `thawing something live gives itself`() throws {
    let realm = try filled()
    let ann = try #require(realm.objects(SpecPerson.self).first)
    #expect(realm.thaw() == realm)
    #expect(ann.thaw() === ann)
    #expect(ann.dogs.thaw() === ann.dogs)
    #expect(realm.objects(SpecPerson.self).thaw()?.isFrozen == false)
  }

  @Test func `thawing finds the live value in the calling context`() throws {
    let realm = try filled()
    let ann = try #require(realm.object(ofType: SpecPerson.self, forPrimaryKey: 1))
    let frozen = ann.freeze()
    try realm.write { ann.name = "Zoe" }
    let thawed = try #require(frozen.thaw())
    #expect(thawed.name == "Zoe")
    #expect(thawed.realm == realm)
    #expect(thawed.isSameObject(as: ann))
    #expect(frozen.realm?.thaw() == realm)
    #expect(frozen.dogs.thaw()?.count == 2)
    #expect(frozen.dogs.thaw()?.isFrozen == false)
    #expect(frozen.nicknames.thaw()?.count == 2)
    #expect(frozen.favorite?.fans.thaw()?.count == 1)
    let query = realm.objects(SpecPerson.self).where { $0.name == "Zoe" }
    let frozenQuery = query.freeze()
    try realm.write { ann.name = "Yan" }
    #expect(frozenQuery.count == 1)
    #expect(frozenQuery.thaw()?.isEmpty == true)
  }

  @Test func `thawing in another thread gives a value of that thread`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    let dog = try realm.addDogs("Ben")[0]
    let frozen = Smuggled(value: dog.freeze())
    try onAnotherThread {
      let dog = try #require(frozen.value.thaw())
      try #require(dog.realm).write { dog.name = "Benno" }
      #expect(frozen.value.name == "Ben")
    }
    realm.refresh()
    #expect(dog.name == "Benno")
  }

  @Test func `thawing what was deleted gives nil`() throws {
    let realm = try filled()
    let ann = try #require(realm.object(ofType: SpecPerson.self, forPrimaryKey: 1))
    let frozen = ann.freeze()
    let dogs = ann.dogs.freeze()
    try realm.write {
      realm.delete(ann)
      realm.add(SpecPerson(1, "Again"))
    }
    #expect(frozen.thaw() == nil)
    #expect(dogs.thaw() == nil)
    #expect(frozen.name == "Ann")
  }

  @Test func `unmanaged objects are not frozen`() {
    #expect(!SpecDog().isFrozen)
    #expect(!SpecPerson().dogs.isFrozen)
  }

  @Test func `frozen values stay valid after the live Realm closes`() throws {
    var frozen: SpecPerson?
    do {
      let realm = try filled()
      frozen = realm.object(ofType: SpecPerson.self, forPrimaryKey: 1)?.freeze()
    }
    #expect(frozen?.dogs.count == 2)
  }

  @Test func `a frozen list and its thawed owner are used as documented`() throws {
    let realm = try filled()
    let frozen = realm.freeze()
    let bob = frozen.objects(SpecPerson.self).where { $0.name == "Bob" }.first!
    let ben = frozen.objects(SpecDog.self).where { $0.name == "Ben" }.first!
    let thawedBob = bob.thaw()
    let thawedBen = ben.thaw()
    try realm.write { thawedBob?.dogs.append(thawedBen!) }
    #expect(thawedBob?.dogs.first?.name == "Ben")
    #expect(bob.dogs.isEmpty)
  }

  @Test func `the Realm's own forms of freeze and thaw do the same`() throws {
    let realm = try filled()
    let ann = try #require(realm.objects(SpecPerson.self).first)
    #expect(realm.freeze(ann).isFrozen)
    #expect(realm.thaw(realm.freeze(ann))?.isFrozen == false)
    #expect(realm.freeze(realm.objects(SpecPerson.self)).isFrozen)
    #expect(realm.freeze(ann.dogs).isFrozen)
  }
}
