import Cambium
import Foundation
import TestSupport
import Testing

/// Walks over collections of objects that change under them.
@Suite struct WalkingTests {
  @Test func `lists and sets give what they held when the walk began`() throws {
    let realm = try specRealm([SpecPerson.self, SpecDog.self])
    let person = SpecPerson(1, "Ann")
    person.dogs.append(objectsIn: (0..<300).map { SpecDog(value: ["age": $0]) })
    try realm.write { realm.add(person) }
    #expect(person.dogs.map(\.age) == Array(0..<300))
    #expect(person.dogs.first { $0.age > 3 }?.age == 4)
    try realm.write {
      var ages: [Int] = []
      for dog in person.dogs {
        ages.append(dog.age)
        if dog.age == 10 { person.dogs.append(SpecDog(value: ["age": 1000])) }
        if dog.age == 20 { person.dogs.remove(at: 30) }
      }
      #expect(ages == Array(0..<300))
      var count = 0
      for dog in person.dogs {
        count += 1
        if dog.isInvalidated { continue }
        if dog.age == 5 { realm.delete(person.dogs.filter { $0.age > 100 }) }
      }
      #expect(count == 300 && person.dogs.count == 100)
    }
    let frozen = person.dogs.freeze()
    try realm.write { realm.deleteAll() }
    #expect(frozen.map(\.age).count == 100 && frozen.last?.age == 100)
  }

  @Test func `frozen accessors of one version lead to the same object, whoever froze them`() throws
  {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    let dogs = try realm.addDogs("Ben", "Lita")
    let (ben, lita) = (dogs[0].freeze(), dogs[1].freeze())
    let other = try onAnotherThread {
      let realm = try Realm(configuration: configuration)
      return Smuggled(value: realm.objects(SpecDog.self)[0].freeze())
    }.value
    #expect(ben == other && ben.isSameObject(as: other) && other.isSameObject(as: ben))
    #expect(!lita.isSameObject(as: other) && !dogs[0].isSameObject(as: other))
    try realm.write { dogs[0].age = 9 }
    #expect(!dogs[0].freeze().isSameObject(as: other))
  }
}
