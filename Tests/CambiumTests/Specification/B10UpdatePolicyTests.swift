import Cambium
import Foundation
import Testing

/// Section B10: update policies.
@Suite struct B10UpdatePolicyTests {
  private func realmWithAnn() throws -> (Realm, SpecPerson) {
    let realm = try specRealm()
    let ann = SpecPerson(1, "Ann", age: 30)
    ann.dogs.append(SpecDog(value: ["name": "Ben"]))
    ann.nicknames.append(objectsIn: ["a", "b", "c"])
    try realm.write { realm.add(ann) }
    return (realm, ann)
  }

  @Test(arguments: [Realm.UpdatePolicy.modified, .all])
  func `a new key inserts`(policy: Realm.UpdatePolicy) throws {
    let (realm, _) = try realmWithAnn()
    try realm.write {
      realm.create(SpecPerson.self, value: ["id": 2, "name": "Bob"], update: policy)
      realm.add(SpecPerson(3, "Cid"), update: policy)
    }
    #expect(realm.objects(SpecPerson.self).count == 3)
  }

  @Test(arguments: [Realm.UpdatePolicy.modified, .all])
  func `an array leaves what is behind its end alone`(policy: Realm.UpdatePolicy) throws {
    let (realm, ann) = try realmWithAnn()
    try realm.write { realm.create(SpecPerson.self, value: [1, "Anna"], update: policy) }
    #expect(ann.name == "Anna" && ann.age == 30)
    #expect(ann.dogs.count == 1 && ann.nicknames.count == 3)
    try realm.write { realm.create(SpecPerson.self, value: [2, "Bob"], update: policy) }
    #expect(realm.object(ofType: SpecPerson.self, forPrimaryKey: 2)?.nicknames.isEmpty == true)
  }

  @Test(arguments: [Realm.UpdatePolicy.modified, .all])
  func `a dictionary leaves what it does not name alone`(policy: Realm.UpdatePolicy) throws {
    let (realm, ann) = try realmWithAnn()
    let updated = try realm.write {
      realm.create(SpecPerson.self, value: ["id": 1, "name": "Anna"], update: policy)
    }
    #expect(updated.isSameObject(as: ann))
    #expect(ann.name == "Anna" && ann.age == 30)
    #expect(ann.dogs.count == 1)
    #expect(ann.nicknames.count == 3)
    #expect(realm.objects(SpecPerson.self).count == 1)
  }

  @Test(arguments: [Realm.UpdatePolicy.modified, .all])
  func `nil in a dictionary is assigned`(policy: Realm.UpdatePolicy) throws {
    let (realm, ann) = try realmWithAnn()
    try realm.write {
      ann.favorite = ann.dogs[0]
      realm.create(
        SpecPerson.self, value: ["id": 1, "age": Int?.none as Any, "favorite": NSNull()],
        update: policy)
    }
    #expect(ann.age == nil && ann.favorite == nil && ann.name == "Ann")
  }

  @Test(arguments: [Realm.UpdatePolicy.modified, .all])
  func `an added object brings all its properties`(policy: Realm.UpdatePolicy) throws {
    let (realm, ann) = try realmWithAnn()
    let other = SpecPerson(1, "Other")
    other.nicknames.append("z")
    try realm.write { realm.add(other, update: policy) }
    #expect(other.isSameObject(as: ann))
    #expect(ann.name == "Other" && ann.age == nil)
    #expect(ann.dogs.isEmpty)
    #expect(Array(ann.nicknames) == ["z"])
    #expect(other.realm == realm)
    #expect(other == ann)
  }

  @Test(arguments: [Realm.UpdatePolicy.modified, .all])
  func `a list ends equal to the new value`(policy: Realm.UpdatePolicy) throws {
    let (realm, ann) = try realmWithAnn()
    for value in [["a", "x"], ["a", "x", "y", "z"], [], ["q"]] {
      try realm.write {
        realm.create(SpecPerson.self, value: ["id": 1, "nicknames": value], update: policy)
      }
      #expect(Array(ann.nicknames) == value)
    }
  }

  @Test(arguments: [Realm.UpdatePolicy.modified, .all])
  func `nested objects with keys are updated by the same policy`(
    policy: Realm.UpdatePolicy
  ) throws {
    let (realm, ann) = try realmWithAnn()
    try realm.write {
      realm.create(
        SpecPerson.self,
        value: ["id": 2, "name": "Bob", "friend": ["id": 1, "name": "Anna"]] as [String: Any],
        update: policy)
    }
    #expect(ann.name == "Anna" && ann.age == 30)
    #expect(realm.objects(SpecPerson.self).count == 2)
    #expect(ann.befriendedBy.map(\.name) == ["Bob"])
  }

  @Test func `linked classes without a key are inserted`() throws {
    let (realm, ann) = try realmWithAnn()
    try realm.write {
      realm.create(
        SpecPerson.self, value: ["id": 1, "dogs": [["name": "X"]]], update: .modified)
    }
    #expect(ann.dogs.map(\.name) == ["X"])
    #expect(realm.objects(SpecDog.self).count == 2)
  }

  @Test func `an update within the transaction that created the object works`() throws {
    let realm = try specRealm()
    try realm.write {
      realm.add(SpecPerson(1, "one"))
      realm.add(SpecPerson(1, "two"), update: .modified)
      realm.add([SpecPerson(1, "three"), SpecPerson(2, "four")], update: .all)
    }
    #expect(realm.objects(SpecPerson.self).sorted(by: \.id).map(\.name) == ["three", "four"])
  }

  @Test(arguments: [Realm.UpdatePolicy.modified, .all])
  func `objects of one key become one, wherever they come from`(
    policy: Realm.UpdatePolicy
  ) throws {
    let realm = try specRealm([KeyedNode.self])
    try realm.write {
      let itself = realm.create(
        KeyedNode.self, value: ["id": 1, "next": ["id": 1, "name": "x"]] as [String: Any],
        update: policy)
      #expect(itself.name == "x")
      #expect(itself.next?.isSameObject(as: itself) == true)
      let twins = [KeyedNode(value: ["id": 2]), KeyedNode(value: ["id": 2, "name": "y"])]
      realm.create(
        KeyedNode.self, value: ["id": 3, "nodes": twins] as [String: Any], update: policy)
    }
    #expect(realm.objects(KeyedNode.self).sorted(by: \.id).map(\.id) == [1, 2, 3])
    let owner = try #require(realm.object(ofType: KeyedNode.self, forPrimaryKey: 3))
    #expect(owner.nodes.map(\.name) == ["y", "y"])
    #expect(owner.nodes[0].isSameObject(as: owner.nodes[1]))
  }

  @Test func `an added object of a key that it links to is that one`() throws {
    let realm = try specRealm([KeyedNode.self])
    let node = KeyedNode(value: ["id": 1, "next": ["id": 1, "name": "x"]] as [String: Any])
    let inner = try #require(node.next)
    try realm.write { realm.add(node, update: .modified) }
    #expect(realm.objects(KeyedNode.self).count == 1)
    #expect(inner.isSameObject(as: node))
    // All properties of what came last are assigned: its own link, which was none, too.
    #expect(node.name == "x" && node.next == nil)
  }

  @Test func `policies have the documented raw values`() {
    #expect(Realm.UpdatePolicy.error.rawValue == 1)
    #expect(Realm.UpdatePolicy.all.rawValue == 2)
    #expect(Realm.UpdatePolicy.modified.rawValue == 3)
  }
}
