import Cambium
import Foundation
import Testing

/// Section B9: creating objects.
@Suite struct B09CreatingTests {
  @Test func `unmanaged objects are plain`() {
    let person = SpecPerson(1, "Ann")
    let dog = SpecDog()
    person.dogs.append(dog)
    person.favorite = dog
    person.nicknames.append(objectsIn: ["x", "y"])
    #expect(person.realm == nil)
    #expect(!person.isInvalidated)
    #expect(person.dogs[0] === dog)
    #expect(person.favorite === dog)
    #expect(person.nicknames.index(of: "y") == 1)
    #expect(dog.owners.count == 0)
    person.id = 5
    #expect(person.id == 5)
  }

  @Test func `add manages the instance itself with all it links to, cycles included`() throws {
    let realm = try specRealm()
    let ann = SpecPerson(1, "Ann")
    let bob = SpecPerson(2, "Bob")
    ann.friend = bob
    bob.friend = ann
    let dog = SpecDog()
    ann.dogs.append(objectsIn: [dog, dog])
    ann.favorite = dog
    let list = ann.dogs
    try realm.write { realm.add(ann) }
    #expect(ann.realm == realm && bob.realm == realm && dog.realm == realm)
    #expect(ann.dogs === list)
    #expect(list.realm == realm)
    #expect(ann.friend?.friend == ann)
    #expect(realm.objects(SpecPerson.self).count == 2)
    #expect(realm.objects(SpecDog.self).count == 1)
    #expect(ann.dogs.count == 2)
    try realm.write { bob.name = "Bobby" }
    #expect(ann.friend?.name == "Bobby")
  }

  @Test func `adding what is managed here already does nothing`() throws {
    let realm = try specRealm()
    let dog = SpecDog()
    try realm.write {
      realm.add(dog)
      realm.add(dog)
    }
    try realm.write { realm.add(dog) }
    #expect(realm.objects(SpecDog.self).count == 1)
  }

  @Test func `add takes sequences`() throws {
    let realm = try specRealm()
    try realm.write { realm.add((1...5).map { SpecPerson($0, "\($0)") }) }
    #expect(realm.objects(SpecPerson.self).count == 5)
  }

  @Test func `create reads dictionaries by name and takes class defaults for the rest`() throws {
    let realm = try specRealm()
    let dog = try realm.write {
      realm.create(SpecDog.self, value: ["age": 3, "unknown": "ignored"])
    }
    #expect(dog.name == "Rex")
    #expect(dog.age == 3)
    #expect(dog.weight == nil)
    let ids = try realm.write {
      (realm.create(SpecIdKey.self).key, realm.create(SpecIdKey.self).key)
    }
    #expect(ids.0 != ids.1)
  }

  @Test func `create reads arrays in order of declaration, shorter ones too`() throws {
    let realm = try specRealm()
    let (full, short) = try realm.write {
      (
        realm.create(SpecDog.self, value: ["Ben", 4, 2.5] as [Any]),
        realm.create(SpecDog.self, value: ["Lita"])
      )
    }
    #expect(full.name == "Ben" && full.age == 4 && full.weight == 2.5)
    #expect(short.name == "Lita" && short.age == 0 && short.weight == nil)
  }

  @Test func `inherited properties come first in an array`() throws {
    let realm = try specRealm()
    let puppy = try realm.write {
      realm.create(SpecPuppy.self, value: ["Pup", 1, NSNull(), 9] as [Any])
    }
    #expect(puppy.name == "Pup" && puppy.weight == nil && puppy.tricks == 9)
  }

  @Test func `create reads an object of its class and copies deeply`() throws {
    let realm = try specRealm()
    let source = SpecPerson(1, "Ann", age: 5)
    source.dogs.append(SpecDog(value: ["name": "Ben"]))
    source.favorite = source.dogs[0]
    source.nicknames.append("x")
    let copy = try realm.write { realm.create(SpecPerson.self, value: source) }
    #expect(source.realm == nil)
    #expect(source.dogs[0].realm == nil)
    #expect(copy !== source)
    #expect(copy.name == "Ann" && copy.age == 5)
    #expect(copy.dogs.map(\.name) == ["Ben"])
    #expect(copy.favorite?.name == "Ben")
    #expect(Array(copy.nicknames) == ["x"])
  }

  @Test func `create copies from another Realm`() throws {
    let source = try specRealm()
    let target = try specRealm()
    let person = SpecPerson(1, "Ann")
    person.dogs.append(SpecDog(value: ["name": "Ben"]))
    try source.write { source.add(person) }
    let copy = try target.write { target.create(SpecPerson.self, value: person) }
    #expect(copy.realm == target)
    #expect(copy.dogs.first?.name == "Ben")
    #expect(copy.dogs.first?.realm == target)
    let frozenCopy = try target.write {
      target.create(SpecDog.self, value: person.dogs[0].freeze())
    }
    #expect(frozenCopy.name == "Ben")
    #expect(source.objects(SpecDog.self).count == 1)
  }

  @Test func `create reads another class with the same property names`() throws {
    let realm = try specRealm()
    let other = SpecDogLike()
    let dog = try realm.write { realm.create(SpecDog.self, value: other) }
    #expect(dog.name == "like" && dog.age == 4)
  }

  @Test func `nested values become linked objects`() throws {
    let realm = try specRealm()
    let person = try realm.write {
      realm.create(
        SpecPerson.self,
        value: [
          "id": 1, "favorite": ["name": "Fav", "age": 2],
          "dogs": [["name": "A"], ["B", 3], SpecDog(value: ["name": "C"])] as [Any],
          "friend": ["id": 2, "nicknames": ["n1", "n2"]] as [String: Any],
        ] as [String: Any])
    }
    #expect(person.favorite?.age == 2)
    #expect(person.dogs.map(\.name) == ["A", "B", "C"])
    #expect(person.dogs[1].age == 3)
    #expect(person.friend.map { Array($0.nicknames) } == ["n1", "n2"])
  }

  @Test func `nested objects of this Realm are linked, not copied`() throws {
    let realm = try specRealm()
    let dog = try realm.addDogs("Ben")[0]
    let person = try realm.write {
      realm.create(SpecPerson.self, value: ["id": 1, "favorite": dog, "dogs": [dog, dog]])
    }
    #expect(person.favorite?.isSameObject(as: dog) == true)
    #expect(person.dogs.count == 2)
    #expect(realm.objects(SpecDog.self).count == 1)
  }

  @Test func `Results and Lists are values for a list`() throws {
    let realm = try specRealm()
    try realm.addDogs("A", "B")
    let person = try realm.write {
      realm.create(SpecPerson.self, value: ["id": 1, "dogs": realm.objects(SpecDog.self)])
    }
    let other = try realm.write {
      realm.create(SpecPerson.self, value: ["id": 2, "dogs": person.dogs])
    }
    #expect(person.dogs.count == 2 && other.dogs.count == 2)
    #expect(realm.objects(SpecDog.self).count == 2)
  }

  @Test func `an initializer with a value makes unmanaged objects`() {
    let person = SpecPerson(value: [
      "id": 3, "favorite": ["name": "F"], "dogs": [["name": "A"]],
    ])
    #expect(person.realm == nil && person.id == 3 && person.name == "")
    #expect(person.favorite?.name == "F")
    #expect(person.dogs.first?.realm == nil)
    #expect(SpecDog(value: ["Ben", 4] as [Any]).age == 4)
    #expect(SpecDog(value: SpecDog(value: ["age": 8])).age == 8)
  }

  @Test func `documented conversions are accepted`() throws {
    let id = UUID()
    let object = SpecValues(value: [
      "int": Int8(3), "int8": 5, "float": 2, "double": Float(1.5), "decimal": "12.25",
      "bool": true, "uuid": id.uuidString, "color": "blue", "level": SpecLevel.high,
      "levelO": 5, "doubleO": 7, "decimalO": 3, "stringO": NSNull(), "ints": [1, 2],
      "intsO": [1, nil] as [Int?], "colors": ["red", SpecColor.green] as [Any],
    ])
    #expect(object.int == 3 && object.int8 == 5 && object.float == 2 && object.double == 1.5)
    #expect(object.decimal == 12.25)
    #expect(object.bool && object.uuid == id && object.color == .blue)
    #expect(object.level == .high && object.levelO == .mid)
    #expect(object.doubleO == 7 && object.decimalO == 3 && object.stringO == nil)
    #expect(Array(object.intsO) == [1, nil])
    #expect(Array(object.colors) == [.red, .green])
    #expect(SpecValues(value: ["float": 0.5]).float == 0.5)
  }

  @Test func `integers that a property's type cannot hold are stored`() throws {
    let realm = try specRealm()
    let unmanaged = SpecValues(value: ["int8": 300, "int16": Int64.min, "int8O": -129])
    #expect(unmanaged["int8"] as? Int64 == 300)
    #expect(unmanaged["int16"] as? Int64 == .min)
    #expect(unmanaged["int8O"] as? Int64 == -129)
    #expect(unmanaged.int32 == 0)
    let managed = try realm.write {
      realm.add(unmanaged)
      return [
        unmanaged, realm.create(SpecValues.self, value: ["int8": 300]),
        realm.create(SpecValues.self, value: unmanaged),
        realm.create(SpecValues.self, value: ["", true, 1, 300] as [Any]),
      ]
    }
    #expect(managed.allSatisfy { $0["int8"] as? Int64 == 300 })
    #expect(realm.objects(SpecValues.self).where { $0.int8 > 100 }.count == 4)
    try realm.write {
      managed[0]["int8"] = 7
      managed[1].int8 = 8
      managed[2]["int8"] = -1000
    }
    #expect(managed[0].int8 == 7 && managed[1].int8 == 8)
    #expect(managed[2]["int8"] as? Int64 == -1000)
    let key = try realm.write { realm.create(SpecSmallKey.self, value: ["key": 300]) }
    #expect(realm.object(ofType: SpecSmallKey.self, forPrimaryKey: 300) != nil)
    #expect(key["key"] as? Int64 == 300)
  }

  @Test func `raw values without a case are stored, and nil where nil may be`() throws {
    let realm = try specRealm()
    let unmanaged = SpecValues(value: ["color": "mauve", "colorO": "mauve", "levelO": 6])
    #expect(unmanaged["color"] as? String == "mauve")
    #expect(unmanaged.colorO == nil && unmanaged.levelO == nil)
    #expect(unmanaged["levelO"] as? Int == 6)
    try realm.write { realm.add(unmanaged) }
    #expect(unmanaged["color"] as? String == "mauve")
    #expect(unmanaged.colorO == nil && unmanaged.levelO == nil)
    #expect(unmanaged["colorO"] as? String == "mauve")
    try realm.write {
      unmanaged["levelO"] = 7
      unmanaged.color = .green
    }
    #expect(unmanaged["levelO"] as? Int == 7 && unmanaged.levelO == nil)
    #expect(unmanaged.color == .green)
  }

  @Test func `a value that fits replaces one that does not in an unmanaged object`() {
    let object = SpecValues(value: ["int8": 300, "color": "mauve", "levelO": 6])
    object.int8 = 3
    object["color"] = "blue"
    object.levelO = nil
    #expect(object.int8 == 3 && object["int8"] as? Int8 == 3)
    #expect(object.color == .blue && object.levelO == nil && object["levelO"] == nil)
    object["int8"] = 301
    #expect(object["int8"] as? Int64 == 301)
  }

  @Test func `properties are read and written by name`() throws {
    let realm = try specRealm()
    let person = SpecPerson(1, "Ann")
    person["name"] = "Bea"
    #expect(person["name"] as? String == "Bea")
    #expect(person["age"] == nil)
    try realm.write { realm.add(person) }
    try realm.write {
      person["age"] = 4
      person["favorite"] = SpecDog(value: ["name": "Ben"])
      person.setValue("Cat", forKey: "name")
    }
    #expect(person.age == 4 && person.name == "Cat")
    #expect(person.value(forKeyPath: "favorite.name") as? String == "Ben")
    #expect((person["dogs"] as? List<SpecDog>)?.count == 0)
    try realm.write { person["age"] = nil }
    #expect(person.age == nil)
  }

  @Test func `an unmanaged default, once read, stays`() {
    let object = SpecValues()
    #expect(object.objectId == object.objectId)
    #expect(object.uuid == object.uuid)
    #expect(object.date == object.date)
    #expect(SpecValues().objectId != object.objectId)
  }

  @Test func `a class that is known at run time alone makes its own objects`() throws {
    let realm = try specRealm()
    let type: Object.Type = SpecTextKey.self
    let object = try realm.write {
      realm.create(type, value: ["key": "a", "value": 4] as [String: Any])
    }
    #expect((object as? SpecTextKey)?.value == 4)
    let copy = try realm.write {
      realm.create(Swift.type(of: object as Object), value: object, update: .modified)
    }
    #expect(copy.isSameObject(as: object))
    #expect(realm.objects(SpecTextKey.self).count == 1)
    let puppy: SpecDogLike = SpecPuppy()
    try realm.write { _ = realm.create(Swift.type(of: puppy), value: puppy) }
    #expect(realm.objects(SpecPuppy.self).count == 1)
    #expect(realm.objects(SpecDogLike.self).isEmpty)
  }

  @Test func `an object of another class is not in a list`() throws {
    let realm = try specRealm(specTypes + [SpecTrap.Kennel.self])
    try realm.write {
      let kennel = realm.create(SpecTrap.Kennel.self)
      let puppy = realm.create(SpecPuppy.self)
      kennel.guests.append(realm.create(SpecDogLike.self))
      #expect(kennel.guests.index(of: puppy) == nil)
      #expect(kennel.guests.index(of: kennel.guests[0]) == 0)
    }
  }
}
