import Cambium
import Foundation
import TestSupport
import Testing

/// What observers are told of writes in blocks, of large changes, and beside Realms that are invalidated.
@Suite struct ObserverEdgeTests {
  @Test func `a Realm's observer that a write in a block passes over is not told later`()
    async throws
  {
    let desk = try Desk(specConfiguration())
    desk.run { realm in
      desk.tokens = [
        realm.observe { [unowned desk] _, realm in
          let dogs = realm.objects(SpecDog.self)
          desk.note("first \(dogs.count)")
          guard dogs.count < 5 else { return }
          #expect(throws: Never.self) {
            try realm.write(withoutNotifying: [desk.tokens[0]]) { realm.add(SpecDog()) }
          }
        },
        realm.observe { _, realm in desk.note("second \(realm.objects(SpecDog.self).count)") },
      ]
    }
    var told = try await desk.told { try $0.addDogs("Ben") }
    for _ in 0..<3 { told += await desk.told() }
    // The second one is told of the commit, and of that in the block.
    #expect(told == ["first 1", "second 2", "second 2"])
  }

  @Test func `invalidating a frozen Realm leaves observers of its version alone`() async throws {
    let desk = try Desk(specConfiguration())
    try desk.run { realm in
      let dog = try realm.addDogs("Ben")[0]
      desk.tokens = [
        dog.observe { (change: ObjectChange<SpecDog>) in
          if case .change(let dog, _) = change { desk.note("object \(dog.age)") }
        },
        realm.objects(SpecDog.self).observe { desk.note($0) },
      ]
    }
    #expect(await desk.next() == "initial 1")
    for age in 3...4 {
      let told = try await desk.told { realm in
        realm.freeze().invalidate()
        try realm.write { realm.objects(SpecDog.self)[0].age = age }
        realm.freeze().invalidate()
      }
      #expect(Set(told) == ["object \(age)", "-[] +[] ~[0]"])
    }
  }

  @MainActor @Test func `a refresh ends when the Realm is invalidated meanwhile`() async throws {
    let configuration = specConfiguration()
    let realm = try Self.opened(configuration)
    #expect(realm.objects(SpecDog.self).isEmpty)
    _ = try onAnotherThread { try Realm(configuration: configuration).addDogs("Ben").count }
    let invalidation = Task { @MainActor in realm.invalidate() }
    // Nothing that waits for ever.
    _ = await realm.asyncRefresh()
    await invalidation.value
    #expect(realm.objects(SpecDog.self).count == 1)
  }

  /// Outside of asynchronous code, where opening would be another method.
  private static func opened(_ configuration: Realm.Configuration) throws -> Realm {
    try Realm(configuration: configuration)
  }

  // MARK: Large changes

  /// What is told of `change` to a person with 6,000 nicknames and as many dogs.
  private func told(
    of change: @escaping (SpecPerson) -> Void
  ) async throws -> (nicknames: ChangedPlaces, dogs: ChangedPlaces) {
    let desk = try Desk(specConfiguration())
    let names = ChangedPlaces()
    let dogs = ChangedPlaces()
    try desk.run { realm in
      let person = SpecPerson(1, "Ann")
      person.nicknames.append(objectsIn: (0..<6000).map { "\($0)" })
      person.dogs.append(objectsIn: (0..<6000).map { SpecDog(value: ["age": $0]) })
      try realm.write { realm.add(person) }
      desk.tokens = [
        person.nicknames.observe {
          names.note($0)
          desk.note("nicknames")
        },
        person.dogs.observe {
          dogs.note($0)
          desk.note("dogs")
        },
      ]
    }
    for _ in 0..<2 { _ = await desk.next() }
    try desk.run { realm in
      let person = try #require(realm.object(ofType: SpecPerson.self, forPrimaryKey: 1))
      try realm.write { change(person) }
    }
    for _ in 0..<2 { _ = await desk.next() }
    return (names, dogs)
  }

  /// Places of one change; used on one queue.
  final class ChangedPlaces: @unchecked Sendable {
    var deletions: [Int] = []
    var insertions: [Int] = []
    var modifications: [Int] = []

    func note<Collection: RealmCollection>(_ change: RealmCollectionChange<Collection>) {
      guard case .update(_, let gone, let come, let changed) = change else { return }
      deletions += gone
      insertions += come
      modifications += changed
    }
  }

  @Test func `elements that are assigned are modified, however many they are`() async throws {
    let (names, dogs) = try await told { person in
      for place in 0..<5000 { person.nicknames[place] = "new \(place)" }
      for place in 0..<5000 { person.dogs[place].age = -1 }
    }
    for places in [names, dogs] {
      #expect(places.deletions.isEmpty && places.insertions.isEmpty)
      #expect(places.modifications == Array(0..<5000))
    }
  }

  @Test func `elements that go are deleted, however many places they had`() async throws {
    let odd = (0..<6000).filter { !$0.isMultiple(of: 2) }
    let (names, dogs) = try await told { person in
      for place in odd.reversed() { person.nicknames.remove(at: place) }
      person.realm?.delete(person.dogs.filter { !$0.age.isMultiple(of: 2) })
    }
    for places in [names, dogs] {
      #expect(places.deletions == odd)
      #expect(places.insertions.isEmpty && places.modifications.isEmpty)
    }
  }
}
