import Cambium
import Foundation
import Testing

/// Section B22: equality, hashing, printing, coding.
@Suite struct B22EqualityTests {
  @Test func `objects with a key compare by row, others by instance`() throws {
    let realm = try specRealm()
    let person = SpecPerson(1, "Ann")
    #expect(person != SpecPerson(1, "Ann"))
    let dog = SpecDog()
    try realm.write {
      realm.add(person)
      realm.add(dog)
    }
    let samePerson = try #require(realm.objects(SpecPerson.self).first)
    let sameDog = try #require(realm.objects(SpecDog.self).first)
    #expect(person == samePerson && person !== samePerson)
    #expect(person.hashValue == samePerson.hashValue)
    #expect(Set([person, samePerson]).count == 1)
    #expect(dog != sameDog)
    #expect(dog.isSameObject(as: sameDog) && person.isSameObject(as: samePerson))
    #expect(!dog.isSameObject(as: nil))
    #expect(!SpecDog().isSameObject(as: SpecDog()))
  }

  @Test func `a key's hash survives becoming managed`() throws {
    let realm = try specRealm()
    let person = SpecPerson(1, "Ann")
    let before = person.hashValue
    try realm.write { realm.add(person) }
    #expect(person.hashValue == before)
  }

  @Test func `frozen objects compare by row and version`() throws {
    let realm = try specRealm()
    let dog = try realm.addDogs("Ben")[0]
    let one = dog.freeze()
    let two = try #require(realm.objects(SpecDog.self).first).freeze()
    #expect(one == two && one.hashValue == two.hashValue)
    #expect(one.isSameObject(as: two))
    try realm.write { dog.age = 1 }
    #expect(one != dog.freeze())
    #expect(one != dog)
  }

  @Test func `descriptions list properties`() throws {
    let realm = try specRealm()
    let person = SpecPerson(1, "Ann")
    person.favorite = SpecDog()
    person.dogs.append(SpecDog())
    for object in [person] {
      let text = object.description
      #expect(text.hasPrefix("SpecPerson {\n"))
      #expect(text.contains("\tname = Ann;"))
      #expect(text.contains("\tid = 1;"))
      #expect(text.contains("favorite = SpecDog {"))
      #expect(text.hasSuffix("}"))
    }
    try realm.write { realm.add(person) }
    #expect(person.description.contains("\tname = Ann;"))
    let list = person.dogs.description
    #expect(list.hasPrefix("List<SpecDog> <"))
    #expect(list.contains("\t[0] SpecDog {"))
    person.friendCycle(in: realm)
    #expect(person.description.contains("<Maximum depth exceeded>"))
    let values = SpecValues()
    values.data = Data(repeating: 0xAB, count: 30)
    #expect(values.description.contains("30 total bytes>"))
  }

  @Test func `long collections are cut in their description`() throws {
    let list = List<Int>()
    list.append(objectsIn: 0..<250)
    #expect(list.description.contains("... 150 objects skipped."))
  }

  @Test func `results, lists and linking objects encode as arrays`() throws {
    let realm = try specRealm()
    let object = SpecValues()
    object.ints.append(objectsIn: [1, 2, 3])
    object.intsO.append(objectsIn: [1, nil])
    try realm.write { realm.add(object) }
    let encoder = JSONEncoder()
    #expect(String(decoding: try encoder.encode(object.ints), as: UTF8.self) == "[1,2,3]")
    #expect(String(decoding: try encoder.encode(object.intsO), as: UTF8.self) == "[1,null]")
    #expect(String(decoding: try encoder.encode(object.ints.sorted()), as: UTF8.self) == "[1,2,3]")
    let list = try JSONDecoder().decode(List<Int?>.self, from: Data("[4,null]".utf8))
    #expect(Array(list) == [4, nil])
  }

  @Test func `codable models decode with absent optionals`() throws {
    let decoded = try JSONDecoder().decode(
      SpecCodable.self, from: Data(#"{"name":"Ann","scores":[1,2]}"#.utf8))
    #expect(decoded.name == "Ann" && decoded.age == nil && Array(decoded.scores) == [1, 2])
    let text = String(decoding: try JSONEncoder().encode(decoded), as: UTF8.self)
    #expect(text.contains(#""name":"Ann""#) && text.contains(#""scores":[1,2]"#))
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(SpecCodable.self, from: Data(#"{"age":1,"scores":[]}"#.utf8))
    }
    let realm = try specRealm([SpecCodable.self])
    try realm.write { realm.add(decoded) }
    #expect(realm.objects(SpecCodable.self).first?.scores.count == 2)
    #expect(throws: EncodingError.self) { try JSONEncoder().encode(decoded) }
  }

  @Test func `identifiable objects have a stable number`() throws {
    let realm = try specRealm([SpecCodable.self])
    let object = SpecCodable()
    try realm.write { realm.add(object) }
    #expect(object.id == realm.objects(SpecCodable.self).first?.id)
  }
}

final class SpecCodable: Object, Codable, ObjectKeyIdentifiable {
  @Persisted var name: String
  @Persisted var age: Int?
  @Persisted var scores: List<Int>
}

extension SpecPerson {
  fileprivate func friendCycle(in realm: Realm) {
    try? realm.write { friend = self }
  }
}
