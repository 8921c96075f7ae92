import Cambium
import Foundation
import TestSupport
import Testing

/// What an accessor is about stays the same, whatever becomes of the row under its key.
@Suite struct RowIdentityTests {
  @Test func `an object of a cancelled transaction does not become another one's`() throws {
    let realm = try specRealm()
    realm.beginWrite()
    realm.delete(realm.create(SpecPerson.self, value: ["id": 7]))
    let cancelled = realm.create(SpecPerson.self, value: ["id": 7])
    let nicknames = cancelled.nicknames
    let friends = cancelled.befriendedBy
    realm.cancelWrite()
    realm.beginWrite()
    let other = realm.create(SpecPerson.self, value: ["id": 7])
    #expect(cancelled.isInvalidated && nicknames.isInvalidated && friends.isInvalidated)
    #expect(!cancelled.isSameObject(as: other) && !other.isSameObject(as: cancelled))
    #expect(cancelled != other)
    try realm.commitWrite()
    #expect(cancelled.isInvalidated && nicknames.isInvalidated && friends.isInvalidated)
    #expect(cancelled.description == "[invalid object]")
    #expect(!other.isInvalidated && !other.nicknames.isInvalidated)
  }

  @Test func `clearing all objects before does not change that`() throws {
    let realm = try specRealm()
    realm.beginWrite()
    realm.create(SpecDog.self)
    realm.deleteAll()
    let cancelled = realm.create(SpecDog.self)
    realm.cancelWrite()
    try realm.write { _ = realm.create(SpecDog.self) }
    #expect(cancelled.isInvalidated)
  }

  @Test func `objects found in a cancelled transaction that made them end with it`() throws {
    let realm = try specRealm()
    realm.beginWrite()
    realm.create(SpecPerson.self, value: ["id": 7, "dogs": [["name": "Ben"]]])
    let found = try #require(realm.object(ofType: SpecPerson.self, forPrimaryKey: 7))
    let dog = try #require(realm.objects(SpecDog.self).first)
    let dogOfList = try #require(found.dogs.first)
    realm.cancelWrite()
    // As many cancelled transactions as an identity could count.
    for _ in 0..<3 {
      realm.beginWrite()
      realm.cancelWrite()
    }
    try realm.write { _ = realm.create(SpecPerson.self, value: ["id": 7, "dogs": [SpecDog()]]) }
    #expect(found.isInvalidated && dog.isInvalidated && dogOfList.isInvalidated)
  }

  @Test func `objects of earlier transactions outlive a cancelled one`() throws {
    let realm = try specRealm()
    let ann = SpecPerson(1, "Ann")
    try realm.write { realm.add(ann) }
    realm.beginWrite()
    let bob = realm.create(SpecPerson.self, value: ["id": 2])
    try realm.commitWrite()
    realm.beginWrite()
    ann.name = "Bea"
    realm.delete(bob)
    realm.cancelWrite()
    #expect(!ann.isInvalidated && ann.name == "Ann")
    #expect(try #require(realm.object(ofType: SpecPerson.self, forPrimaryKey: 2)).id == 2)
  }

  @Test func `a reference into a cancelled transaction finds nothing`() throws {
    let realm = try specRealm()
    realm.beginWrite()
    realm.delete(realm.create(SpecPerson.self, value: ["id": 7]))
    let cancelled = realm.create(SpecPerson.self, value: ["id": 7])
    let object = ThreadSafeReference(to: cancelled)
    let list = ThreadSafeReference(to: cancelled.dogs)
    realm.cancelWrite()
    try realm.write { _ = realm.create(SpecPerson.self, value: ["id": 7]) }
    #expect(realm.resolve(object) == nil)
    #expect(realm.resolve(list) == nil)
  }

  @Test func `the next version's objects are nobody's who was cancelled here`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("two.realm")
    // On a queue, because this function goes on in whatever thread is free.
    let queue = DispatchQueue(label: "ours")
    let ours = try queue.sync {
      let realm = try Realm(configuration: Self.configuration(path), queue: queue)
      realm.autorefresh = false
      realm.beginWrite()
      let cancelled = realm.create(SpecDog.self, value: ["name": "ours"])
      realm.cancelWrite()
      return Smuggled(value: (realm: realm, cancelled: cancelled))
    }
    await #expect(processExitsWith: .success) { [path = path as String] in
      let other = try Realm(configuration: Self.configuration(path))
      try other.addDogs("theirs")
    }
    queue.sync {
      let (realm, cancelled) = ours.value
      #expect(realm.refresh())
      #expect(realm.objects(SpecDog.self).map(\.name) == ["theirs"])
      #expect(cancelled.isInvalidated)
    }
  }

  private static func configuration(_ path: String) -> Realm.Configuration {
    Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: specTypes)
  }
}
