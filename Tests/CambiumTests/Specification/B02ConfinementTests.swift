import Cambium
import Dispatch
import Foundation
import TestSupport
import Testing

/// Section B2: instances, contexts, invalidation.
@Suite struct B02ConfinementTests {
  @Test func `opening again in a context gives the same instance`() throws {
    let configuration = specConfiguration()
    let first = try Realm(configuration: configuration)
    let second = try Realm(configuration: configuration)
    #expect(first == second)
    first.beginWrite()
    #expect(second.isInWriteTransaction)
    second.create(SpecDog.self)
    #expect(first.objects(SpecDog.self).count == 1)
    first.cancelWrite()
    second.autorefresh = false
    #expect(!first.autorefresh)
  }

  @Test func `another thread gets another instance at its own version`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    #expect(realm.isEmpty)
    let smuggled = Smuggled(value: realm)
    try onAnotherThread {
      let other = try Realm(configuration: configuration)
      #expect(other != smuggled.value)
      try other.addDogs("Ben")
    }
    #expect(realm.isEmpty)
    #expect(realm.refresh())
    #expect(realm.objects(SpecDog.self).count == 1)
  }

  @Test func `a serial queue is a context, wherever its blocks run`() throws {
    let configuration = specConfiguration()
    let queue = DispatchQueue(label: "spec.serial")
    let target = DispatchQueue(label: "spec.inner", target: queue)
    let kept = try queue.sync {
      Smuggled(value: try Realm(configuration: configuration, queue: queue))
    }
    let done = DispatchSemaphore(value: 0)
    queue.async {
      #expect(try! Realm(configuration: configuration, queue: queue) == kept.value)
      try! kept.value.addDogs("Ben")
      done.signal()
    }
    done.wait()
    target.sync { #expect(kept.value.objects(SpecDog.self).count == 1) }
  }

  @Test func `what is never checked can be asked from anywhere`() throws {
    let realm = try specRealm()
    let dog = try #require(realm.addDogs("Ben").first)
    let all = realm.objects(SpecDog.self)
    let smuggled = Smuggled(value: (realm, dog, all))
    try onAnotherThread {
      let (realm, dog, all) = smuggled.value
      #expect(!realm.isFrozen && !dog.isFrozen && !all.isFrozen)
      #expect(realm.autorefresh)
      #expect(realm.configuration.objectTypes?.count == specTypes.count)
      #expect(realm.schema["SpecDog"] != nil)
      #expect(dog.realm == realm)
      #expect(!dog.isInvalidated)
    }
  }

  @Test func `unmanaged objects go anywhere`() throws {
    let smuggled = Smuggled(value: SpecPerson(1, "Ann"))
    try onAnotherThread {
      smuggled.value.name = "Bea"
      smuggled.value.nicknames.append("B")
    }
    #expect(smuggled.value.name == "Bea")
    #expect(smuggled.value.realm == nil)
  }

  @Test func `invalidation drops objects and collections but not the Realm`() throws {
    let realm = try specRealm()
    try realm.write {
      let person = SpecPerson(1, "Ann")
      person.dogs.append(SpecDog())
      realm.add(person)
    }
    let person = try #require(realm.objects(SpecPerson.self).first)
    let dogs = person.dogs
    let all = realm.objects(SpecDog.self)
    realm.invalidate()
    #expect(person.isInvalidated)
    #expect(dogs.isInvalidated)
    #expect(all.isInvalidated)
    #expect(realm.objects(SpecPerson.self).first?.name == "Ann")
    #expect(person.isInvalidated)
    #expect(all.isInvalidated)
  }

  @Test func `invalidation rolls a transaction back`() throws {
    let realm = try specRealm()
    realm.beginWrite()
    let dog = realm.create(SpecDog.self)
    realm.invalidate()
    #expect(!realm.isInWriteTransaction)
    #expect(dog.isInvalidated)
    #expect(realm.isEmpty)
    try realm.write {}
  }

  @Test func `releasing a Realm within a transaction rolls it back`() throws {
    let configuration = specConfiguration()
    let keeper = try Realm(configuration: configuration)
    try onAnotherThread {
      let realm = try Realm(configuration: configuration)
      realm.beginWrite()
      realm.create(SpecDog.self)
    }
    #expect(!keeper.refresh())
    try keeper.write {}
    #expect(keeper.isEmpty)
  }

  @Test func `objects keep their Realm open`() throws {
    let configuration = Realm.Configuration(
      inMemoryIdentifier: "spec-\(UUID())", objectTypes: specTypes)
    var dog: SpecDog?
    do {
      let realm = try Realm(configuration: configuration)
      dog = try realm.addDogs("Ben").first
    }
    #expect(dog?.name == "Ben")
    #expect(try Realm(configuration: configuration).objects(SpecDog.self).count == 1)
    dog = nil
    #expect(try Realm(configuration: configuration).isEmpty)
  }

  @Test func `each instance sees the classes it lists`() throws {
    let configuration = specConfiguration([SpecDogLike.self])
    let one = try Realm(configuration: configuration)
    var other = configuration
    other.objectTypes = [SpecTextKey.self]
    let two = try Realm(configuration: other)
    try two.write { two.create(SpecTextKey.self, value: ["key": "a"]) }
    try one.write { one.create(SpecDogLike.self) }
    #expect(one.schema["SpecTextKey"] == nil)
    try one.write { one.deleteAll() }
    two.refresh()
    #expect(two.objects(SpecTextKey.self).count == 1)
  }

  @Test func `objects of a thread that has ended report its end`() throws {
    let configuration = specConfiguration()
    let keeper = try Realm(configuration: configuration)
    let dog = try onAnotherThread {
      Smuggled(value: try Realm(configuration: configuration).addDogs("Ben")[0])
    }
    #expect(!dog.value.isFrozen)
    #expect(!dog.value.isInvalidated)
    #expect(dog.value.realm != nil)
    keeper.refresh()
    try keeper.write { keeper.deleteAll() }
    #expect(dog.value.isInvalidated)
  }
}
