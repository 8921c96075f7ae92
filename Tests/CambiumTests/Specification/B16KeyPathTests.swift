import Cambium
import Foundation
import TestSupport
import Testing

private final class OlderDog: Object {
  @Persisted var name = ""
  @Persisted var isGood = true

  override class func primaryKey() -> String? { "name" }
  override class func indexedProperties() -> [String] { ["isGood"] }
  override class func ignoredProperties() -> [String] { ["name"] }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Section B16.9, and the members of older models: reading and assigning by names.
@Suite struct B16KeyPathTests {
  private func people() throws -> (Realm, SpecPerson) {
    let realm = try specRealm()
    let ann = SpecPerson(1, "Ann", age: 30)
    for (name, age) in [("Rex", 3), ("Ben", 5), ("Rex", 7)] {
      ann.dogs.append(SpecDog(value: ["name": name, "age": age]))
    }
    ann.friend = SpecPerson(2, "Bob")
    try realm.write { realm.add(ann) }
    return (realm, ann)
  }

  @Test func `operators put together what the elements have`() throws {
    let (realm, ann) = try people()
    let plain = List<SpecDog>()
    plain.append(objectsIn: ann.dogs)
    func check<C: RealmCollection>(_ dogs: C) where C.Element == SpecDog {
      #expect(dogs.value(forKeyPath: "@count") as? Int == 3)
      #expect(dogs.value(forKeyPath: "@sum.age") as? Int == 15)
      #expect(dogs.value(forKeyPath: "@avg.age") as? Double == 5)
      #expect(dogs.value(forKeyPath: "@min.age") as? Int == 3)
      #expect(dogs.value(forKeyPath: "@max.age") as? Int == 7)
      #expect(dogs.value(forKeyPath: "@unionOfObjects.name") as? [String] == ["Rex", "Ben", "Rex"])
      #expect(
        dogs.value(forKeyPath: "@distinctUnionOfObjects.name") as? [String] == ["Rex", "Ben"])
      #expect(dogs.value(forKeyPath: "@unionOfObjects.weight") as? [Double] == [])
    }
    check(ann.dogs)
    check(plain)
    check(realm.objects(SpecDog.self))
    #expect(ann.value(forKeyPath: "dogs.@sum.age") as? Int == 15)
    #expect(realm.objects(SpecDog.self).where { $0.age > 9 }.value(forKeyPath: "@max.age") == nil)
    #expect(
      realm.objects(SpecDog.self).where { $0.age > 9 }.value(forKeyPath: "@sum.age") as? Int == 0)
    let numbers = List<Int>()
    numbers.append(objectsIn: [1, 2, 2])
    #expect(numbers.value(forKeyPath: "@sum.self") as? Int == 5)
    #expect(numbers.value(forKeyPath: "@distinctUnionOfObjects.self") as? [Int] == [1, 2])
  }

  @Test func `paths are assigned over links`() throws {
    let (realm, ann) = try people()
    try realm.write {
      ann.setValue("Bert", forKeyPath: "friend.name")
      ann.setValue(31, forKeyPath: "age")
      ann.setValue("nobody", forKeyPath: "friend.friend.name")
    }
    #expect(ann.friend?.name == "Bert" && ann.age == 31)
    #expect(ann.value(forKeyPath: "friend.name") as? String == "Bert")
  }

  @Test func `links are named by strings, of typed objects, too`() throws {
    let (realm, ann) = try people()
    #expect(ann.dynamicList("dogs").map { $0["age"] as? Int } == [3, 5, 7])
    try realm.write { ann.dynamicList("dogs")[0]["age"] = 4 }
    #expect(ann.dogs[0].age == 4)
    let sets = try specRealm([SpecSets.self, SpecSetMember.self])
    try sets.write {
      let owner = sets.create(SpecSets.self, value: ["members": [["name": "x"]]])
      #expect(owner.dynamicMutableSet("members").first?["name"] as? String == "x")
      owner.dynamicMutableSet("members").removeAll()
      #expect(owner.members.isEmpty)
    }
  }

  @Test func `what older models say is accepted, and modern properties count`() throws {
    let realm = try specRealm([OlderDog.self])
    try realm.write {
      realm.create(OlderDog.self, value: ["name": "Rex"])
      realm.create(OlderDog.self, value: ["name": "Rex"])
    }
    #expect(realm.objects(OlderDog.self).map(\.name) == ["Rex", "Rex"])
    #expect(OlderDog.sharedSchema()?.primaryKeyProperty == nil)
    #expect(OlderDog.sharedSchema()?.properties.map(\.name) == ["name", "isGood"])
    #expect(SpecPerson.sharedSchema()?.primaryKeyProperty?.name == "id")
    #expect(SpecPerson.primaryKey() == nil && SpecPerson.indexedProperties() == [])
    let (_, ann) = try people()
    #expect(
      ann.isEqual(ann) && !ann.isEqual(ann.friend) && !ann.isEqual("Ann") && !ann.isEqual(nil))
    var configuration = Realm.Configuration()
    #expect(!configuration.disableFormatUpgrade)
    configuration.disableFormatUpgrade = true
    #expect(configuration == Realm.Configuration())
  }
}
