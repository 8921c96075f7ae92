import Cambium
import Foundation
import Testing

/// The README's example, as it stands there.
@Suite struct ReadmeTests {
  class Dog: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted var age: Int
    @Persisted var puppies: List<Dog>

    // Another test's class has the same name.
    override class func _realmObjectName() -> String? { "ReadmeDog" }
  }

  @Test func `the example of the README does what it says`() throws {
    let realm = try Realm(
      configuration: Realm.Configuration(inMemoryIdentifier: "readme", objectTypes: [Dog.self]))
    try realm.write { realm.add(Dog(value: ["name": "Ada", "age": 4])) }
    let old = realm.objects(Dog.self).where { $0.age > 3 }
    #expect(old.count == 1)
    #expect(old.first?.name == "Ada")
    let frozen = old.freeze()
    try realm.write { old.first?.age = 2 }
    #expect(old.isEmpty)
    #expect(frozen.count == 1)
    #expect(frozen.first?.age == 4)
  }
}
