import Cambium
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite struct ObservingTests {
  @Test func `elements that change places have moved, and are not changed`() async throws {
    let desk = try Desk(specConfiguration())
    let person = try desk.run { realm in
      let dogs = (0..<5).map { SpecDog(value: ["name": "\($0)"]) }
      let person = SpecPerson(value: ["dogs": dogs])
      try realm.write { realm.add(person) }
      desk.tokens = [person.dogs.observe(keyPaths: ["name"]) { desk.note($0) }]
      return Smuggled(value: person)
    }
    #expect(await desk.next() == "initial 5")
    for (first, second, news) in [
      (0, 3, "-[0, 3] +[0, 3] ~[]"), (2, 1, "-[2] +[1] ~[]"), (4, 2, "-[2, 4] +[2, 4] ~[]"),
    ] {
      try desk.run { realm in try realm.write { person.value.dogs.swapAt(first, second) } }
      #expect(await desk.next() == news)
    }
    let names = desk.run { _ in Array(person.value.dogs.map(\.name)) }
    #expect(names == ["3", "2", "4", "0", "1"])
    desk.run { _ in desk.tokens.removeAll() }
  }

  @Test func `observers of a Realm that was invalidated hear of commits`() async throws {
    let desk = try Desk(specConfiguration())
    let other = try Desk(desk.configuration)
    desk.run { realm in
      desk.tokens = [realm.observe { notification, _ in desk.note("\(notification)") }]
      realm.invalidate()
    }
    _ = try other.run { try $0.addDogs("Rex") }
    #expect(await desk.next().contains("didChange"))
    #expect(desk.run { $0.objects(SpecDog.self).count } == 1)
    desk.run { _ in desk.tokens.removeAll() }
  }

  @Test func `results are told first as they are, and then how they changed`() async throws {
    let desk = try Desk(specConfiguration())
    let other = try Desk(desk.configuration)
    try desk.run { realm in
      try realm.addDogs("Ben", "Lita")
      desk.tokens = [realm.objects(SpecDog.self).where { $0.name != "" }.observe { desk.note($0) }]
    }
    #expect(await desk.next() == "initial 2")
    _ = try other.run { try $0.addDogs("Rex") }
    #expect(await desk.next() == "-[] +[2] ~[]")
    try other.run { realm in
      try realm.write { realm.objects(SpecDog.self)[1].age = 7 }
    }
    #expect(await desk.next() == "-[] +[] ~[1]")
    try desk.run { realm in
      #expect(realm.objects(SpecDog.self)[1].age == 7)
      try realm.write { realm.delete(realm.objects(SpecDog.self)[0]) }
    }
    #expect(await desk.next() == "-[0] +[] ~[]")
    desk.run { _ in desk.tokens.removeAll() }
  }

  @Test func `what an observer is told first comes after a transaction that is cancelled`()
    async throws
  {
    let desk = try Desk(specConfiguration())
    var configuration = desk.configuration
    configuration.objectTypes = [SpecDog.self, SpecPerson.self]
    // Both are told in one turn of their queue, or the writing one before.
    try desk.run { realm in
      try realm.addDogs("Ben")
      let second = try Realm(configuration: configuration, queue: desk.queue)
      realm.beginWrite()
      desk.tokens = [
        realm.objects(SpecDog.self).observe { desk.note($0) },
        second.objects(SpecDog.self).observe { _ in desk.note("the turn is over") },
      ]
    }
    #expect(await desk.next() == "the turn is over")
    desk.run { (realm: Realm) -> Void in realm.cancelWrite() }
    #expect(await desk.next() == "initial 1")
    desk.run { _ in desk.tokens.removeAll() }
  }

  @Test func `what a class without a declaration has already is not written again`() async throws {
    let declared = specConfiguration()
    let filled = try Desk(declared)
    let value: [String: Any] = ["id": 1, "name": "Ann", "age": 3, "nicknames": ["a", "b"]]
    try filled.run { realm in
      try realm.write { _ = realm.create(SpecPerson.self, value: value) }
    }
    var configuration = declared
    configuration.objectTypes = nil
    configuration.usesStoredClasses = true
    let desk = try Desk(configuration)
    desk.run { realm in
      desk.tokens = [realm.dynamicObjects("SpecPerson").observe { desk.note($0) }]
    }
    #expect(await desk.next() == "initial 1")
    for (policy, expected) in [(.modified, []), (.all, ["-[] +[] ~[0]"])]
      as [(Realm.UpdatePolicy, [String])]
    {
      let told = try await desk.told { realm in
        try realm.write { _ = realm.dynamicCreate("SpecPerson", value: value, update: policy) }
      }
      #expect(told == expected)
    }
    desk.run { _ in desk.tokens.removeAll() }
    withExtendedLifetime(filled) {}
  }

  @Test func `a Realm of the same queue sees what another one there has committed`() async throws {
    let desk = try Desk(specConfiguration())
    var configuration = desk.configuration
    configuration.objectTypes = [SpecDog.self, SpecPerson.self]
    let second = try desk.run { _ in
      let second = try Realm(configuration: configuration, queue: desk.queue)
      #expect(second.objects(SpecDog.self).isEmpty)
      desk.tokens = [
        second.observe { _, realm in desk.note("changed \(realm.objects(SpecDog.self).count)") }
      ]
      return Smuggled(value: second)
    }
    _ = try desk.run { try $0.addDogs("Ben") }
    #expect(await desk.next() == "changed 1")
    desk.run { _ in
      desk.tokens.removeAll()
      withExtendedLifetime(second.value) {}
    }
  }

  @Test func `an object tells what was assigned, and that it is gone`() async throws {
    let desk = try Desk(specConfiguration())
    let other = try Desk(desk.configuration)
    try desk.run { realm in
      try realm.addDogs("Ben")
      desk.tokens = [
        realm.objects(SpecDog.self)[0].observe { (change: ObjectChange<SpecDog>) in
          switch change {
          case .change(let dog, let properties):
            desk.note(
              "\(dog.name) "
                + properties.map { "\($0.name): \($0.oldValue ?? "-") \($0.newValue ?? "-")" }
                .joined(separator: ", "))
          case .deleted: desk.note("deleted")
          case .error: desk.note("error")
          }
        }
      ]
    }
    try other.run { realm in try realm.write { realm.objects(SpecDog.self)[0].name = "Rex" } }
    #expect(await desk.next() == "Rex name: Ben Rex")
    try other.run { realm in
      try realm.write {
        realm.objects(SpecDog.self)[0].name = "Rex"
        realm.objects(SpecDog.self)[0].age = 3
      }
    }
    #expect(await desk.next().hasPrefix("Rex name: Rex Rex, age:"))
    try other.run { realm in try realm.write { realm.deleteAll() } }
    #expect(await desk.next() == "deleted")
    desk.run { _ in desk.tokens.removeAll() }
  }

  @Test func `a list tells its edits`() async throws {
    let desk = try Desk(specConfiguration())
    try desk.run { realm in
      let person = SpecPerson(1, "Dachary", age: 1)
      try realm.write { realm.add(person) }
      desk.tokens = [person.nicknames.observe { desk.note($0) }]
    }
    #expect(await desk.next() == "initial 0")
    func edit(_ body: (List<String>) -> Void) throws {
      try desk.run { realm in
        try realm.write { body(realm.objects(SpecPerson.self)[0].nicknames) }
      }
    }
    try edit { $0.append(objectsIn: ["a", "b", "c"]) }
    #expect(await desk.next() == "-[] +[0, 1, 2] ~[]")
    try edit { $0[1] = "b" }
    #expect(await desk.next() == "-[] +[] ~[1]")
    try edit { $0.move(from: 0, to: 2) }
    #expect(await desk.next() == "-[0] +[2] ~[]")
    try desk.run { realm in try realm.write { realm.delete(realm.objects(SpecPerson.self)) } }
    #expect(await desk.next() == "-[0, 1, 2] +[] ~[]")
    desk.run { _ in desk.tokens.removeAll() }
  }
}
