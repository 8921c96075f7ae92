import Cambium
import Dispatch
import Foundation
import TestSupport

// Several Realms of one file in one context, and Realms that were invalidated.
extension SpecTrap {
  static let instances: [SpecTrap] = [
    SpecTrap("a write within that of another instance", nestedWrite) {
      let configuration = specConfiguration()
      var subset = configuration
      subset.objectTypes = [SpecTextKey.self]
      let (all, some) = (
        try Realm(configuration: configuration), try Realm(configuration: subset)
      )
      try all.write { try some.write {} }
    },
    SpecTrap("a write on a queue within that of its context", nestedWrite) {
      let configuration = specConfiguration()
      let queue = DispatchQueue(label: "nested")
      try queue.sync {
        let outer = try Realm(configuration: configuration, queue: queue)
        try outer.write { try Realm(configuration: configuration).write {} }
      }
    },
    SpecTrap("the same context with another schema mode", "opened with different schema mode") {
      var configuration = specConfiguration()
      let realm = try Realm(configuration: configuration)
      configuration.deleteRealmIfMigrationNeeded = true
      _ = try Realm(configuration: configuration)
      _ = realm.isEmpty
    },
    SpecTrap("changing an object after invalidation", "Object has been deleted or invalidated.") {
      let (realm, person) = try ann()
      realm.invalidate()
      person.name = "x"
    },
    SpecTrap(
      "changing a deleted object outside of a transaction",
      "Object has been deleted or invalidated."
    ) {
      let (realm, person) = try ann()
      let twin = realm.objects(SpecPerson.self)[0]
      try realm.write { realm.delete(person) }
      twin.name = "x"
    },
    SpecTrap("changing a list after invalidation", "List is no longer valid.") {
      let (realm, person) = try ann()
      let nicknames = person.nicknames
      realm.invalidate()
      nicknames.append("x")
    },
    SpecTrap("changing an object whose key another one has", "has been deleted or invalidated.") {
      let (realm, person) = try ann()
      realm.beginWrite()
      (person.age, person.age) = (4, 5)
      realm.delete(person)
      let successor = SpecPerson(1, "Eve")
      realm.add(successor)
      (successor.age, successor.age) = (6, 7)
      person.age = 8
    },
    SpecTrap("reading an object whose key another one has", "has been deleted or invalidated.") {
      let (realm, person) = try ann()
      realm.beginWrite()
      realm.delete(person)
      let successor = SpecPerson(1, "Eve")
      realm.add(successor)
      (successor.age, successor.age) = (6, 7)
      _ = person.age
    },
    SpecTrap(
      "changing an object of a cancelled transaction beside one with its key",
      "has been deleted or invalidated."
    ) {
      let (realm, _) = try ann()
      realm.beginWrite()
      let person = SpecPerson(2, "Bob")
      realm.add(person)
      (person.age, person.age) = (4, 5)
      realm.cancelWrite()
      realm.beginWrite()
      let successor = SpecPerson(2, "Eve")
      realm.add(successor)
      (successor.age, successor.age) = (6, 7)
      person.age = 8
    },
    SpecTrap(
      "changing an object of before an invalidation beside its twin",
      "has been deleted or invalidated."
    ) {
      let (realm, person) = try ann()
      realm.invalidate()
      realm.beginWrite()
      let twin = realm.objects(SpecPerson.self)[0]
      (twin.age, twin.age) = (4, 5)
      person.age = 6
    },
    SpecTrap(
      "changing an object after its transaction, near its last change",
      "outside of a write transaction"
    ) {
      let (realm, person) = try ann()
      try realm.write { (person.age, person.age) = (4, 5) }
      person.age = 6
    },
    SpecTrap(
      "changing an object near its last change, on another thread", "from incorrect thread."
    ) {
      let (realm, person) = try ann()
      realm.beginWrite()
      (person.age, person.age) = (4, 5)
      nonisolated(unsafe) let elsewhere = person
      let thread = Thread { elsewhere.age = 6 }
      thread.start()
      while !thread.isFinished { Thread.sleep(forTimeInterval: 0.001) }
    },
    SpecTrap("deleting an object twice at once", "Object has been deleted or invalidated.") {
      let (realm, person) = try ann()
      realm.beginWrite()
      realm.delete([person, person])
    },
  ]

  private static let nestedWrite =
    "The Realm is already in a write transaction, of another instance in the same context"
}
