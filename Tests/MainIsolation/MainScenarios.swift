import Foundation
import RealmSwift
import Testing

// Everything here belongs to the main actor unless it says otherwise, as in new projects.

class Dog: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var age: Int
  @Persisted var puppies: List<Dog>

  convenience init(name: String, age: Int) {
    self.init()
    self.name = name
    self.age = age
  }

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite struct MainScenarios {
  private func configuration() -> Realm.Configuration {
    Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Dog.self])
  }

  @Test func `models are written, read and observed`() async throws {
    let realm = try await Realm(configuration: configuration())
    let dogs = realm.objects(Dog.self).where { $0.age > 3 }
    let (told, tell) = AsyncStream.makeStream(of: Int.self)
    let token = dogs.observe { change in
      switch change {
      case .initial(let dogs), .update(let dogs, _, _, _): tell.yield(dogs.count)
      case .error: break
      }
    }
    var changes = told.makeAsyncIterator()
    #expect(await changes.next() == 0)
    try await realm.asyncWrite { realm.add(Dog(name: "Ada", age: 4)) }
    #expect(await changes.next() == 1)
    try realm.write { dogs.first?.puppies.append(Dog(name: "Ben", age: 0)) }
    #expect(await changes.next() == 1)
    #expect(dogs.first?.puppies.first?.name == "Ben")
    token.invalidate()
  }
}
