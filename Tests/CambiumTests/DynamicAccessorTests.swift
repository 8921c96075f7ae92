import Cambium
import Foundation
import TestSupport
import Testing

/// Typed and dynamic accessors of one table are about the same rows, at every moment.
@Suite struct DynamicAccessorTests {
  /// A Realm with Ann, who has a dog and is her own friend, and both kinds of accessors of her.
  private struct World {
    let realm: Realm
    let typed: SpecPerson
    let named: DynamicObject

    init() throws {
      realm = try specRealm()
      typed = SpecPerson(1, "Ann")
      try realm.write { [realm, typed] in
        realm.add(typed)
        typed.dogs.append(SpecDog())
        typed.friend = typed
      }
      named = try #require(realm.dynamicObject(ofType: "SpecPerson", forPrimaryKey: 1))
    }
  }

  @Test func `what the one creates is there for the other`() throws {
    let realm = try specRealm()
    let typed = realm.objects(SpecPerson.self)
    let named = realm.dynamicObjects("SpecPerson")
    let adults = realm.objects(SpecPerson.self).where { $0.age >= 18 }
    let namedAdults = realm.dynamicObjects("SpecPerson").filter("age >= 18")
    try realm.write {
      #expect(typed.isEmpty && named.isEmpty && adults.isEmpty && namedAdults.isEmpty)
      let bob = realm.dynamicCreate("SpecPerson", value: ["id": 2, "name": "Bob", "age": 40])
      #expect(typed.map(\.name) == ["Bob"] && adults.map(\.id) == [2])
      #expect(named.map { $0["name"] as? String } == ["Bob"])
      realm.create(SpecPerson.self, value: ["id": 3, "name": "Cid", "age": 50])
      #expect(named.count == 2 && namedAdults.count == 2)
      #expect(named[1]["name"] as? String == "Cid" && named[1].name as? String == "Cid")
      #expect(realm.dynamicObject(ofType: "SpecPerson", forPrimaryKey: 3)?["age"] as? Int == 50)
      #expect(bob.realm == realm && !bob.isInvalidated)
      #expect(bob.objectSchema.className == "SpecPerson")
      let again = realm.dynamicCreate(
        "SpecPerson", value: ["id": 2, "name": "Ben"], update: .modified)
      #expect(again.isSameObject(as: bob) && bob.name as? String == "Ben")
    }
    #expect(typed.map(\.name) == ["Ben", "Cid"] && named.count == 2)
    #expect(realm.dynamicObject(ofType: "SpecPerson", forPrimaryKey: 4) == nil)
    realm.beginWrite()
    let gone = realm.dynamicCreate("SpecDog")
    let alsoGone = try #require(realm.objects(SpecDog.self).first)
    #expect(gone.name as? String == "Rex" && alsoGone.isSameObject(as: gone))
    realm.cancelWrite()
    #expect(gone.isInvalidated && alsoGone.isInvalidated)
    #expect(realm.dynamicObjects("SpecDog").isEmpty)
  }

  @Test func `what the one changes the other reads`() throws {
    let world = try World()
    let (realm, typed, named) = (world.realm, world.typed, world.named)
    #expect(named.name as? String == "Ann" && named["age"] == nil)
    try realm.write {
      typed.name = "Bea"
      #expect(named.name as? String == "Bea")
      named.name = "Cat"
      #expect(typed.name == "Cat")
      named["age"] = 7
      typed.age? += 1
      #expect(typed.age == 8 && named["age"] as? Int == 8)
      named["age"] = nil
      #expect(typed.age == nil)
    }
    #expect(typed.name == "Cat" && named.name as? String == "Cat")
    realm.beginWrite()
    named.name = "Dot"
    #expect(typed.name == "Dot")
    realm.cancelWrite()
    #expect(typed.name == "Cat" && named.name as? String == "Cat")
    #expect(named.description.hasPrefix("SpecPerson {\n\tid = 1;\n\tname = Cat;"))
  }

  @Test func `what the one deletes is gone for the other`() throws {
    let world = try World()
    let (realm, typed, named) = (world.realm, world.typed, world.named)
    let dogs = named.dynamicList("dogs")
    let dog = try #require(dogs.first)
    let typedDog = try #require(typed.dogs.first)
    let owners = try #require(dog["owners"] as? LinkingObjects<DynamicObject>)
    try realm.write {
      realm.delete(dog)
      #expect(typedDog.isInvalidated && dog.isInvalidated && owners.isInvalidated)
      #expect(typed.dogs.isEmpty && dogs.isEmpty)
      typed.dogs.append(SpecDog())
      #expect(dogs.count == 1)
      realm.delete(typed)
      #expect(named.isInvalidated && dogs.isInvalidated && named.realm != nil)
      let other = realm.create(SpecPerson.self, value: ["id": 1])
      #expect(named.isInvalidated && !named.isSameObject(as: other))
      realm.delete(realm.dynamicObjects("SpecDog"))
      #expect(realm.objects(SpecDog.self).isEmpty && !other.isInvalidated)
      realm.delete(realm.dynamicObjects("SpecPerson"))
      #expect(other.isInvalidated)
    }
    #expect(named.isInvalidated && typed.isInvalidated)
  }

  @Test func `lists are the same`() throws {
    let world = try World()
    let (realm, typed, named) = (world.realm, world.typed, world.named)
    let dogs = typed.dogs
    let namedDogs = named.dynamicList("dogs")
    try realm.write {
      let ben = realm.create(SpecDog.self, value: ["name": "Ben"])
      dogs.append(ben)
      #expect(namedDogs.map { $0["name"] as? String } == ["Rex", "Ben"])
      namedDogs.append(realm.dynamicCreate("SpecDog", value: ["name": "Cal"]))
      #expect(dogs.map(\.name) == ["Rex", "Ben", "Cal"])
      namedDogs.remove(at: 0)
      #expect(dogs.first?.isSameObject(as: ben) == true)
      #expect(namedDogs.index(of: namedDogs[1]) == 1)
      let nicknames = try #require(named["nicknames"] as? List<String>)
      nicknames.append("A")
      typed.nicknames.append("B")
      #expect(Array(nicknames) == ["A", "B"] && Array(typed.nicknames) == ["A", "B"])
      // Long enough for a tree of its own.
      nicknames.append(objectsIn: (0..<500).map { "nickname \($0)" })
      #expect(typed.nicknames.count == 502 && typed.nicknames.last == "nickname 499")
      typed.nicknames.removeLast(500)
      #expect(nicknames.count == 2)
    }
    #expect(namedDogs.map { $0["name"] as? String } == ["Ben", "Cal"])
    #expect(namedDogs.sorted(byKeyPath: "name", ascending: false).first?.name as? String == "Cal")
    try realm.write {
      named["dogs"] = [typed.dogs[1], namedDogs[0], ["name": "Dan"], SpecDog(value: ["Eve"])]
      #expect(dogs.map(\.name) == ["Cal", "Ben", "Dan", "Eve"])
      typed["dogs"] = [namedDogs[2]]
      #expect(dogs.map(\.name) == ["Dan"] && realm.objects(SpecDog.self).count == 5)
    }
  }

  @Test func `links are the same and take accessors of both kinds`() throws {
    let world = try World()
    let (realm, typed, named) = (world.realm, world.typed, world.named)
    let itself = try #require(named["friend"] as? DynamicObject)
    #expect(itself.isSameObject(as: typed))
    let friends = try #require(named["befriendedBy"] as? LinkingObjects<DynamicObject>)
    #expect(friends.count == 1 && friends[0].isSameObject(as: typed))
    #expect(friends.map { $0["id"] as? Int } == [1])
    try realm.write {
      let dog = try #require(typed.dogs.first)
      named["favorite"] = dog
      #expect(typed.favorite?.isSameObject(as: dog) == true && dog.fans.count == 1)
      named["favorite"] = nil
      #expect(typed.favorite == nil && dog.fans.isEmpty)
      typed["favorite"] = named.dynamicList("dogs")[0]
      #expect((named["favorite"] as? DynamicObject)?.isSameObject(as: dog) == true)
      named["favorite"] = ["name": "new"]
      #expect(typed.favorite?.name == "new")
      let unmanaged = SpecDog(value: ["name": "added"])
      named["favorite"] = unmanaged
      #expect(unmanaged.realm == realm && typed.favorite?.isSameObject(as: unmanaged) == true)
      let bob = realm.dynamicCreate("SpecPerson", value: ["id": 2, "friend": named])
      #expect(typed.befriendedBy.count == 2 && friends.last?.isSameObject(as: bob) == true)
      let cid = realm.create(SpecPerson.self, value: ["id": 3, "friend": bob, "dogs": [dog]])
      #expect(cid.friend?.isSameObject(as: bob) == true && dog.owners.count == 2)
      #expect(realm.objects(SpecPerson.self).where { $0.friend.id == 1 }.count == 2)
      #expect(realm.dynamicObjects("SpecPerson").filter("friend = %@", named).count == 2)
    }
    #expect(realm.objects(SpecDog.self).count == 3)
  }

  @Test func `identity and equality go by the row`() throws {
    let world = try World()
    let (realm, typed, named) = (world.realm, world.typed, world.named)
    #expect(typed.isSameObject(as: named) && named.isSameObject(as: typed))
    #expect(typed as ObjectBase == named && Set<ObjectBase>([typed, named]).count == 1)
    let dog = typed.dogs[0]
    let namedDog = named.dynamicList("dogs")[0]
    #expect(dog.isSameObject(as: namedDog) && dog as ObjectBase != namedDog)
    #expect(!dog.isSameObject(as: named))
    #expect(realm.dynamicObjects("SpecDog").index(of: namedDog) == 0)
    let (frozen, namedFrozen) = (dog.freeze(), namedDog.freeze())
    #expect(frozen as ObjectBase == namedFrozen)
    #expect(frozen.hashValue == namedFrozen.hashValue)
    realm.invalidate()
    #expect(typed.isInvalidated && named.isInvalidated && !namedFrozen.isInvalidated)
  }

  @Test func `they stay dynamic in other Realms`() throws {
    let world = try World()
    let (realm, named) = (world.realm, world.named)
    let frozen = named.freeze()
    let results = realm.dynamicObjects("SpecPerson").sorted(byKeyPath: "id")
    let frozenResults = results.freeze()
    let friends = try #require(named["befriendedBy"] as? LinkingObjects<DynamicObject>)
    let frozenFriends = friends.freeze()
    try realm.write { named.name = "Bea" }
    #expect(frozen.name as? String == "Ann" && frozen.thaw()?.name as? String == "Bea")
    #expect(frozenResults.first?.name as? String == "Ann")
    #expect(frozenResults.thaw()?.first?.name as? String == "Bea")
    #expect(frozenFriends.map { $0["name"] as? String } == ["Ann"])
    #expect(frozen.dynamicList("dogs").freeze().first?.name as? String == "Rex")
    let object = ThreadSafeReference(to: named)
    let untyped = ThreadSafeReference<Object>(to: named)
    let all = ThreadSafeReference(to: results)
    let dogs = ThreadSafeReference(to: named.dynamicList("dogs"))
    let links = ThreadSafeReference(to: friends)
    let configuration = realm.configuration
    try onAnotherThread {
      let realm = try Realm(configuration: configuration)
      #expect(realm.resolve(object)?.name as? String == "Bea")
      #expect((realm.resolve(untyped) as? DynamicObject)?.name as? String == "Bea")
      #expect(realm.resolve(all)?.first?.name as? String == "Bea")
      #expect(realm.resolve(dogs)?.first?.name as? String == "Rex")
      #expect(realm.resolve(links)?.first?.name as? String == "Bea")
    }
  }

  @Test func `walks see what the other kind does meanwhile`() throws {
    let realm = try specRealm()
    try realm.addDogs("a", "b", "c", "d")
    try realm.write {
      var seen: [String] = []
      for (typed, named) in zip(realm.objects(SpecDog.self), realm.dynamicObjects("SpecDog")) {
        #expect(typed.isSameObject(as: named))
        seen.append(named.name as? String ?? "")
        if typed.name == "b" { realm.delete(realm.dynamicObjects("SpecDog")[3]) }
        if typed.name == "c" { break }
        typed.name += "!"
        #expect(named.name as? String == typed.name)
      }
      #expect(seen == ["a", "b", "c"])
    }
    #expect(realm.dynamicObjects("SpecDog").map { $0["name"] as? String } == ["a!", "b!", "c"])
    #expect(realm.dynamicObjects("SpecDog").sum(ofProperty: "age") == 0)
  }
}
