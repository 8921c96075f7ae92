import Cambium
import Dispatch
import Foundation
import TestSupport
import Testing

/// Section B4: synchronous write transactions.
@Suite struct B04WriteTests {
  struct Refusal: Swift.Error, Equatable {}

  @Test func `write gives the value of its block`() throws {
    let realm = try specRealm()
    let name = try realm.write {
      #expect(realm.isInWriteTransaction)
      return realm.create(SpecDog.self).name
    }
    #expect(name == "Rex")
    #expect(!realm.isInWriteTransaction)
  }

  @Test func `an error in the block cancels and is thrown on`() throws {
    let realm = try specRealm()
    let dog = SpecDog()
    #expect(throws: Refusal()) {
      try realm.write {
        realm.add(dog)
        throw Refusal()
      }
    }
    #expect(!realm.isInWriteTransaction)
    #expect(realm.isEmpty)
    #expect(dog.isInvalidated)
  }

  @Test func `a block may commit or cancel by itself`() throws {
    let realm = try specRealm()
    try realm.write {
      realm.create(SpecDog.self)
      try realm.commitWrite()
    }
    try realm.write {
      realm.create(SpecDog.self)
      realm.cancelWrite()
    }
    #expect(throws: Refusal.self) {
      try realm.write {
        realm.create(SpecDog.self)
        realm.cancelWrite()
        throw Refusal()
      }
    }
    #expect(realm.objects(SpecDog.self).count == 1)
  }

  @Test func `cancelling returns all data to what it was`() throws {
    let realm = try specRealm()
    let person = SpecPerson(1, "Ann", age: 30)
    person.nicknames.append(objectsIn: ["a", "b"])
    person.dogs.append(SpecDog(value: ["name": "Ben"]))
    person.favorite = person.dogs.first
    try realm.write { realm.add(person) }
    let ben = try #require(person.favorite)
    realm.beginWrite()
    person.name = "Bea"
    person.age = nil
    person.nicknames.removeAll()
    person.dogs.append(SpecDog())
    realm.delete(ben)
    let created = realm.create(SpecPerson.self, value: ["id": 2])
    #expect(person.favorite == nil)
    realm.cancelWrite()
    #expect(person.name == "Ann")
    #expect(person.age == 30)
    #expect(Array(person.nicknames) == ["a", "b"])
    #expect(person.dogs.count == 1)
    #expect(person.favorite?.name == "Ben")
    #expect(created.isInvalidated)
    #expect(ben.isInvalidated)
    #expect(realm.objects(SpecPerson.self).count == 1)
    #expect(realm.objects(SpecDog.self).count == 1)
    #expect(realm.object(ofType: SpecPerson.self, forPrimaryKey: 2) == nil)
    #expect(person.dogs.first?.owners.count == 1)
  }

  @Test func `an object added in a cancelled transaction does not become unmanaged`() throws {
    let realm = try specRealm()
    let dog = SpecDog()
    realm.beginWrite()
    realm.add(dog)
    realm.cancelWrite()
    #expect(dog.isInvalidated)
    try realm.addDogs("other")
    #expect(dog.isInvalidated)
  }

  @Test func `changes are seen at once here and after the commit elsewhere`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    let seen = { @Sendable in
      try onAnotherThread { try Realm(configuration: configuration).objects(SpecDog.self).count }
    }
    realm.beginWrite()
    realm.create(SpecDog.self)
    #expect(realm.objects(SpecDog.self).count == 1)
    #expect(try seen() == 0)
    try realm.commitWrite()
    #expect(try seen() == 1)
  }

  @Test func `writers wait for one another`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    try realm.write { realm.add(SpecPerson(1, "0")) }
    let group = DispatchGroup()
    for _ in 0..<4 {
      group.enter()
      Thread {
        let realm = try! Realm(configuration: configuration)
        for _ in 0..<25 {
          try! realm.write {
            let person = realm.object(ofType: SpecPerson.self, forPrimaryKey: 1)!
            person.name = "\(Int(person.name)! + 1)"
          }
        }
        group.leave()
      }.start()
    }
    group.wait()
    realm.refresh()
    #expect(realm.objects(SpecPerson.self).first?.name == "100")
  }

  @Test func `an empty commit makes a new version`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    #expect(realm.isEmpty)
    try onAnotherThread { try Realm(configuration: configuration).write {} }
    #expect(realm.refresh())
  }

  @Test func `many transactions and rollbacks in turn leave what was committed`() throws {
    let folder = try TemporaryFolder()
    let configuration = specFile(folder)
    do {
      let realm = try Realm(configuration: configuration)
      for round in 0..<20 {
        realm.beginWrite()
        realm.add(SpecPerson(round, "\(round)"))
        if round % 3 == 0 { realm.cancelWrite() } else { try realm.commitWrite() }
      }
    }
    let realm = try Realm(configuration: configuration)
    #expect(
      realm.objects(SpecPerson.self).sorted(by: \.id).map(\.id)
        == (0..<20).filter { $0 % 3 != 0 })
  }

  @Test func `cancelling returns to the version it began at, whatever others commit`() throws {
    let store = SpyStore(name: UUID().uuidString)
    let configuration = store.configuration([SpecTextKey.self])
    let realm = try Realm(configuration: configuration)
    let texts = realm.objects(SpecTextKey.self)
    store.afterNextAbort { Self.addText("other", configuration) }
    realm.beginWrite()
    realm.create(SpecTextKey.self, value: ["key": "own"])
    realm.cancelWrite()
    #expect(texts.isEmpty)
    #expect(realm.refresh())
    #expect(texts.map(\.key) == ["other"])
  }

  @Test func `a commit that fails returns to the version it began at with its own error`() throws {
    let store = SpyStore(name: UUID().uuidString)
    let configuration = store.configuration([SpecTextKey.self])
    let realm = try Realm(configuration: configuration)
    let texts = realm.objects(SpecTextKey.self)
    realm.beginWrite()
    let own = realm.create(SpecTextKey.self, value: ["key": "own"])
    store.failPublishing(.mediumFull(path: "spy"))
    store.afterNextAbort {
      store.failPublishing(nil)
      Self.addText("other", configuration)
      store.failPinning(.addressSpaceExhausted(path: "spy", byteCount: 1))
    }
    #expect(throws: Realm.Error(.outOfDiskSpace)) { try realm.commitWrite() }
    #expect(!realm.isInWriteTransaction)
    #expect(own.isInvalidated)
    #expect(texts.isEmpty)
    store.failPinning(nil)
    #expect(realm.refresh())
    #expect(texts.map(\.key) == ["other"])
  }

  private static func addText(_ key: String, _ configuration: Realm.Configuration) {
    do {
      try onAnotherThread {
        let realm = try Realm(configuration: configuration)
        try realm.write { _ = realm.create(SpecTextKey.self, value: ["key": key]) }
      }
    } catch {
      Issue.record(error)
    }
  }
}
