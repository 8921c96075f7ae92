import Cambium
import Foundation
import TestSupport
import Testing

/// Section B13: links, backlinks, deletion.
@Suite struct B13LinkTests {
  @Test func `assigning an unmanaged object to a link adds it`() throws {
    let realm = try specRealm()
    let person = SpecPerson(1, "Ann")
    try realm.write { realm.add(person) }
    let dog = SpecDog()
    let other = SpecDog()
    try realm.write {
      person.favorite = dog
      person.dogs.append(other)
      person.dogs.insert(SpecDog(value: ["name": "first"]), at: 0)
      person.dogs[1] = SpecDog(value: ["name": "second"])
    }
    #expect(dog.realm == realm && other.realm == realm)
    #expect(person.dogs.map(\.name) == ["first", "second"])
    #expect(realm.objects(SpecDog.self).count == 4)
  }

  @Test func `deleting clears links and list entries and does not cascade`() throws {
    let realm = try specRealm()
    let ann = SpecPerson(1, "Ann")
    let bob = SpecPerson(2, "Bob")
    let dog = SpecDog()
    ann.favorite = dog
    ann.dogs.append(objectsIn: [dog, SpecDog(value: ["name": "Lita"]), dog])
    bob.dogs.append(dog)
    bob.friend = ann
    try realm.write { realm.add([ann, bob]) }
    try realm.write { realm.delete(dog) }
    #expect(ann.favorite == nil)
    #expect(ann.dogs.map(\.name) == ["Lita"])
    #expect(bob.dogs.isEmpty)
    try realm.write { realm.delete(ann) }
    #expect(bob.friend == nil)
    #expect(realm.objects(SpecDog.self).count == 1)
  }

  @Test func `linking objects hold one entry per link and stay live`() throws {
    let realm = try specRealm()
    let dog = SpecDog()
    let ann = SpecPerson(1, "Ann")
    let bob = SpecPerson(2, "Bob")
    #expect(dog.owners.count == 0)
    ann.dogs.append(objectsIn: [dog, dog])
    bob.favorite = dog
    try realm.write { realm.add([ann, bob]) }
    let owners = dog.owners
    #expect(owners.count == 2)
    #expect(dog.fans.map(\.name) == ["Bob"])
    try realm.write { bob.dogs.append(dog) }
    #expect(owners.count == 3)
    #expect(owners.where { $0.name == "Bob" }.count == 1)
    #expect(owners.filter("name == 'Ann'").count == 2)
    try realm.write { ann.dogs.removeLast() }
    #expect(owners.count == 2)
    try realm.write { realm.delete(ann) }
    #expect(owners.map(\.name) == ["Bob"])
    #expect(owners.index(of: bob) == 0)
    #expect(owners.realm == realm)
    try realm.write { bob.favorite = nil }
    #expect(dog.fans.isEmpty)
  }

  @Test func `nothing links to an object without a Realm`() {
    let owners = SpecDog().owners
    #expect(owners.isEmpty && owners.first == nil && owners.realm == nil)
    #expect(owners.max(ofProperty: "age") as Int? == nil && owners.sum(ofProperty: "age") == 0)
    #expect(owners.index(matching: "age == 1") == nil)
  }

  @Test func `linking objects follow replaced and cleared lists`() throws {
    let realm = try specRealm()
    let people = (0..<4).map { SpecPerson($0, "\($0)") }
    let dogs = (0..<4).map { SpecDog(value: ["name": "d\($0)"]) }
    try realm.write {
      realm.add(people)
      realm.add(dogs)
      for person in people { person.dogs.append(objectsIn: dogs) }
    }
    try realm.write {
      people[0].dogs.removeAll()
      people[1].dogs.replaceSubrange(0..<3, with: [dogs[3]])
      people[2].dogs[0] = dogs[1]
      people[3].dogs.swapAt(0, 3)
    }
    #expect(dogs.map { $0.owners.map(\.id).sorted() } == [[3], [2, 2, 3], [2, 3], [1, 1, 2, 3]])
  }

  @Test func `deleting what a list without a Realm holds deletes the Realm's objects`() throws {
    let realm = try specRealm()
    let list = List<SpecDog>()
    try realm.write {
      for name in ["a", "b", "c"] { realm.create(SpecDog.self, value: ["name": name]) }
      list.append(objectsIn: realm.objects(SpecDog.self).where { $0.name != "c" })
      realm.delete(list)
      realm.delete(List<SpecDog>())
    }
    #expect(realm.objects(SpecDog.self).map(\.name) == ["c"])
  }

  @Test func `deleting results, lists, sequences and everything`() throws {
    let realm = try specRealm()
    let ann = SpecPerson(1, "Ann")
    ann.dogs.append(objectsIn: ["a", "b"].map { SpecDog(value: ["name": $0]) })
    try realm.write {
      realm.add(ann)
      for name in ["c", "c", "d", "e"] { realm.create(SpecDog.self, value: ["name": name]) }
    }
    try realm.write { realm.delete(realm.objects(SpecDog.self).where { $0.name == "c" }) }
    #expect(realm.objects(SpecDog.self).count == 4)
    try realm.write { realm.delete(ann.dogs) }
    #expect(ann.dogs.isEmpty)
    #expect(realm.objects(SpecDog.self).map(\.name).sorted() == ["d", "e"])
    try realm.write { realm.delete(Array(realm.objects(SpecDog.self).filter("name == 'd'"))) }
    #expect(realm.objects(SpecDog.self).map(\.name) == ["e"])
    try realm.write { realm.deleteAll() }
    #expect(realm.isEmpty)
    #expect(ann.isInvalidated)
    try realm.write { realm.add(SpecPerson(1, "again")) }
  }

  @Test func `deleting distinct results deletes just those`() throws {
    let realm = try specRealm()
    try realm.addDogs("a", "a", "b")
    try realm.write { realm.delete(realm.objects(SpecDog.self).distinct(by: ["name"])) }
    #expect(realm.objects(SpecDog.self).map(\.name) == ["a"])
  }

  @Test func `deleted accessors say so and lose their Realm`() throws {
    let realm = try specRealm()
    let dog = try realm.addDogs("Ben")[0]
    let twin = try #require(realm.objects(SpecDog.self).first)
    try realm.write { realm.delete(dog) }
    #expect(dog.isInvalidated && twin.isInvalidated)
    #expect(dog.realm == nil)
    #expect(dog.description == "[invalid object]")
    #expect(dog == dog)
    #expect(dog != twin)
    #expect(!dog.isSameObject(as: twin))
  }

  @Test func `deleting a list's owner invalidates the list`() throws {
    let realm = try specRealm()
    let ann = SpecPerson(1, "Ann")
    ann.dogs.append(SpecDog())
    try realm.write { realm.add(ann) }
    let dogs = ann.dogs
    let names = ann.nicknames
    let derived = dogs.sorted(by: \.name)
    #expect(derived.count == 1)
    try realm.write { realm.delete(ann) }
    #expect(dogs.isInvalidated && names.isInvalidated)
    #expect(!derived.isInvalidated)
    #expect(derived.isEmpty)
  }

  @Test func `classes that are not listed keep their objects`() throws {
    let folder = try TemporaryFolder()
    do {
      let realm = try Realm(configuration: specFile(folder))
      try realm.write {
        realm.create(SpecDogLike.self)
        realm.create(SpecTextKey.self, value: ["key": "a"])
      }
    }
    do {
      let realm = try Realm(configuration: specFile(folder, [SpecDogLike.self]))
      try realm.write { realm.deleteAll() }
      #expect(realm.isEmpty)
    }
    let realm = try Realm(configuration: specFile(folder))
    #expect(realm.objects(SpecTextKey.self).count == 1)
    #expect(realm.objects(SpecDogLike.self).isEmpty)
  }

  @Test func `a link may point to its own object`() throws {
    let realm = try specRealm()
    let person = SpecPerson(1, "Ann")
    person.friend = person
    try realm.write { realm.add(person) }
    #expect(person.befriendedBy.first == person)
    try realm.write { realm.delete(person) }
    #expect(realm.isEmpty)
  }

  @Test func `many backlinks survive deletions in turn`() throws {
    let realm = try specRealm()
    let dog = SpecDog()
    try realm.write {
      realm.add(dog)
      for id in 0..<500 {
        let person = SpecPerson(id, "\(id)")
        person.favorite = dog
        person.dogs.append(dog)
        realm.add(person)
      }
    }
    #expect(dog.fans.count == 500 && dog.owners.count == 500)
    try realm.write { realm.delete(realm.objects(SpecPerson.self).where { $0.id < 250 }) }
    #expect(dog.fans.count == 250 && dog.owners.count == 250)
    try realm.write { realm.delete(dog) }
    #expect(realm.objects(SpecPerson.self).where { $0.favorite != nil }.isEmpty)
    #expect(realm.objects(SpecPerson.self).where { $0.dogs.count > 0 }.isEmpty)
  }
}
