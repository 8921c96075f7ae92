import Cambium
import Foundation
import Testing

@Suite struct CreatingTests {
  @Test func `dictionaries, arrays and objects make objects`() throws {
    let realm = try testRealm()
    try realm.write {
      let person = realm.create(
        Person.self,
        value: [
          "id": 1, "name": "Ann", "age": 30,
          "dogs": [["name": "A"], ["B", 2.0]], "best": ["name": "C"], "nicknames": ["x", "y"],
          "scores": [1, NSNull()], "unknown": 1,
        ] as [String: Any])
      #expect(person.age == 30)
      #expect(person.dogs.map(\.name) == ["A", "B"])
      #expect(person.dogs.map(\.weight) == [1.5, 2])
      #expect(person.best?.name == "C")
      #expect(Array(person.nicknames) == ["x", "y"])
      #expect(Array(person.scores) == [1, nil])
      let copy = realm.create(Dog.self, value: person.dogs[0])
      #expect(copy.name == "A" && !copy.isSameObject(as: person.dogs[0]))
      let array = realm.create(Dog.self, value: ["D"])
      #expect(array.name == "D" && array.weight == 1.5)
    }
    #expect(realm.objects(Dog.self).count == 5)
  }

  @Test func `objects are copied deeply from another Realm`() throws {
    let first = try testRealm()
    let second = try testRealm()
    let person = Person(value: ["id": 1, "dogs": [["name": "A"]]] as [String: Any])
    person.best = person.dogs[0]
    try first.write { first.add(person) }
    try second.write { second.create(Person.self, value: person) }
    let copy = try #require(second.objects(Person.self).first)
    #expect(copy.realm == second && copy.dogs[0].name == "A")
    #expect(copy.best?.isSameObject(as: copy.dogs[0]) == true)
    #expect(second.objects(Dog.self).count == 1)
  }

  @Test func `each object of another Realm is copied once, whichever links lead to it`() throws {
    let first = try testRealm()
    let second = try testRealm()
    let names = (0..<200).map { "Dog \($0 % 150)" }
    try first.write {
      let dogs = (0..<150).map { Dog(value: ["name": "Dog \($0)"]) }
      let person = Person(value: ["id": 1])
      person.dogs.append(objectsIn: (0..<200).map { dogs[$0 % 150] })
      person.best = dogs[149]
      first.add(person)
      let ring = ["a", "b", "c"].map { Everything(value: ["key": $0]) }
      for (index, object) in ring.enumerated() {
        object.link = ring[(index + 1) % 3]
        object.links.append(objectsIn: [ring[2], object, ring[0]])
      }
      first.add(ring[0])
    }
    try second.write {
      second.create(Person.self, value: first.objects(Person.self)[0])
      let start = try #require(first.object(ofType: Everything.self, forPrimaryKey: "a"))
      second.create(Everything.self, value: start)
    }
    let copy = try #require(second.objects(Person.self).first)
    #expect(copy.dogs.map(\.name) == names)
    #expect(copy.best?.name == "Dog 149")
    #expect(second.objects(Dog.self).count == 150)
    #expect(second.objects(Everything.self).count == 3)
    for (key, next) in [("a", "b"), ("b", "c"), ("c", "a")] {
      let object = try #require(second.object(ofType: Everything.self, forPrimaryKey: key))
      #expect(object.link?.key == next)
      #expect(object.links.map(\.key) == ["c", key, "a"])
    }
  }

  @Test func `adding takes linked objects along, around cycles too`() throws {
    let realm = try testRealm()
    let first = Everything(value: ["key": "a"])
    let second = Everything(value: ["key": "b"])
    first.link = second
    second.link = first
    second.links.append(objectsIn: [first, second, first])
    try realm.write { realm.add(first) }
    #expect(second.realm == realm)
    #expect(second.link === second.link || second.link == first)
    #expect(second.links.map(\.key) == ["a", "b", "a"])
    #expect(realm.objects(Everything.self).count == 2)
  }

  @Test func `updates leave alone what a dictionary does not name`() throws {
    let realm = try testRealm()
    try realm.write {
      let person = realm.create(
        Person.self, value: ["id": 1, "name": "Ann", "age": 3, "nicknames": ["a"]] as [String: Any])
      realm.create(Person.self, value: ["id": 1, "age": NSNull()] as [String: Any], update: .all)
      #expect(person.name == "Ann" && person.age == nil && Array(person.nicknames) == ["a"])
      realm.create(
        Person.self, value: ["id": 1, "name": "Bea", "nicknames": ["b", "c"]] as [String: Any],
        update: .modified)
      #expect(person.name == "Bea" && Array(person.nicknames) == ["b", "c"])
      realm.add(Person(value: ["id": 1, "name": "Cid"] as [String: Any]), update: .modified)
      #expect(person.name == "Cid" && person.nicknames.isEmpty)
      realm.create(Person.self, value: ["id": 2], update: .modified)
    }
    #expect(realm.objects(Person.self).count == 2)
  }

  @Test func `an object made again under its key is another object`() throws {
    let realm = try testRealm()
    let old = Person(value: ["id": 1])
    try realm.write { realm.add(old) }
    let accessor = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
    try realm.write {
      realm.delete(old)
      let again = realm.create(Person.self, value: ["id": 1])
      #expect(!again.isInvalidated && accessor.isInvalidated)
      realm.delete(again)
      let third = realm.create(Person.self, value: ["id": 1])
      #expect(again.isInvalidated && !third.isInvalidated)
    }
    #expect(accessor.isInvalidated && old.realm == nil)
  }

  @Test func `what was added in a cancelled transaction is invalid`() throws {
    let realm = try testRealm()
    let person = Person(value: ["id": 1])
    realm.beginWrite()
    realm.add(person)
    person.nicknames.append("x")
    realm.cancelWrite()
    #expect(person.isInvalidated && realm.isEmpty)
    struct Failure: Error {}
    #expect(throws: Failure.self) {
      try realm.write {
        realm.create(Person.self, value: ["id": 2])
        throw Failure()
      }
    }
    #expect(realm.isEmpty && !realm.isInWriteTransaction)
  }

  @Test func `primary keys of every kind are found, nil too`() throws {
    let realm = try testRealm([TextKey.self, UUIDKey.self, OptionalKey.self])
    let long = String(repeating: "long", count: 300)
    let id = UUID()
    try realm.write {
      for text in ["a", "ab", "", "a\0", long, long + "!"] {
        realm.create(TextKey.self, value: ["key": text])
      }
      realm.create(UUIDKey.self, value: ["key": id])
      realm.create(OptionalKey.self, value: ["key": NSNull(), "value": 1] as [String: Any])
      realm.create(OptionalKey.self, value: ["key": 5, "value": 2] as [String: Any])
    }
    for text in ["a", "ab", "", "a\0", long, long + "!"] {
      #expect(realm.object(ofType: TextKey.self, forPrimaryKey: text)?.key == text)
    }
    #expect(realm.object(ofType: TextKey.self, forPrimaryKey: "b") == nil)
    #expect(realm.object(ofType: UUIDKey.self, forPrimaryKey: id)?.key == id)
    #expect(realm.object(ofType: OptionalKey.self, forPrimaryKey: nil as Int?)?.value == 1)
    #expect(realm.object(ofType: OptionalKey.self, forPrimaryKey: 5)?.value == 2)
  }

  @Test func `objects and lists describe themselves`() throws {
    let person = Person(value: ["id": 1, "name": "Ann", "dogs": [["A", 1.0]]] as [String: Any])
    let realm = try testRealm()
    try realm.write { realm.add(person) }
    #expect(person.description.hasPrefix("Person {\n\tid = 1;\n\tname = Ann;\n\tage = (null);"))
    #expect(person.dogs.description.contains("[0] Dog {"))
    #expect(realm.objects(Dog.self).description.hasPrefix("Results<Dog> ("))
    // What is computed is no property that a copy of an object could be given.
    #expect(realm.schema["Dog"]?.properties.map(\.name) == ["name", "weight"])
    #expect(realm.schema["Dog"]?["owners"]?.type == .linkingObjects)
    #expect(realm.schema["Dog"]?.description.contains("admirers") == true)
  }

  @Test func `equality follows primary keys`() throws {
    let realm = try testRealm()
    let person = Person(value: ["id": 1])
    let before = person.hashValue
    try realm.write {
      realm.add(person)
      realm.create(Dog.self)
    }
    let other = try #require(realm.objects(Person.self).first)
    #expect(person == other && person !== other && person.hashValue == other.hashValue)
    #expect(person.hashValue == before)
    let dogs = realm.objects(Dog.self)
    #expect(dogs[0] != dogs[0])
    #expect(dogs[0].isSameObject(as: dogs[0]))
    #expect(dogs[0].freeze() == dogs[0].freeze())
    #expect(person.dogs == other.dogs && person.dogs == person.dogs)
    #expect(List<Int>() == List<Int>())
  }

  @Test func `a class with many properties keeps them all`() throws {
    let realm = try testRealm()
    let object = Everything(value: ["key": "k"])
    try realm.write { realm.add(object) }
    let before = object.decimals.count
    try realm.write {
      object.optionalUUID = UUID()
      object.optionalDecimal = 3.5
      object.decimals.append(nil)
      object.optionalColor = .red
    }
    let found = try #require(realm.objects(Everything.self).first)
    #expect(found.optionalDecimal == 3.5 && found.optionalColor == .red)
    #expect(found.decimals.count == before + 1 && found.optionalUUID != nil)
  }

  @Test func `lists sort, fold and drop repetitions`() throws {
    let realm = try testRealm()
    let person = Person(value: ["id": 1, "nicknames": ["b", "a", "b"]] as [String: Any])
    person.scores.append(objectsIn: [3, nil, 1, 3])
    try realm.write { realm.add(person) }
    #expect(Array(person.nicknames.sorted()) == ["a", "b", "b"])
    #expect(Array(person.nicknames.distinct()) == ["b", "a"])
    #expect(Array(person.scores.sorted(ascending: false)) == [3, 3, 1, nil])
    #expect(person.scores.sum() == 7)
    #expect(person.scores.min() == 1 && person.scores.max() == 3)
    let average: Double? = person.scores.average()
    #expect(average == 7.0 / 3)
    #expect(person.scores.index(of: nil) == 1)
  }
}

final class TextKey: Hidden { @Persisted(primaryKey: true) var key: String }
final class UUIDKey: Hidden { @Persisted(primaryKey: true) var key: UUID }
final class OptionalKey: Hidden {
  @Persisted(primaryKey: true) var key: Int?
  @Persisted var value = 0
}
