import Cambium
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

/// A serial queue with a Realm, and what its observers were told.
private final class Desk: @unchecked Sendable {
  // Unchecked: everything but the log is used on the queue alone.
  let queue = DispatchQueue(label: "desk")
  let configuration: Realm.Configuration
  var realm: Realm!
  var tokens: [NotificationToken] = []
  private let log = Mutex<[String]>([])
  private let told = DispatchSemaphore(value: 0)

  init(_ configuration: Realm.Configuration) throws {
    self.configuration = configuration
    try queue.sync { realm = try Realm(configuration: configuration, queue: queue) }
  }

  func note(_ text: String) {
    log.withLock { $0.append(text) }
    told.signal()
  }

  func note<Collection: RealmCollection>(_ change: RealmCollectionChange<Collection>) {
    switch change {
    case .initial(let collection): note("initial \(collection.count)")
    case .update(_, let deletions, let insertions, let modifications):
      note("-\(deletions) +\(insertions) ~\(modifications)")
    case .error: note("error")
    }
  }

  /// The next thing that was told.
  func next() async -> String {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [self] in
        told.wait()
        continuation.resume(returning: log.withLock { $0.removeFirst() })
      }
    }
  }

  func run<Value>(_ body: (Realm) throws -> Value) rethrows -> Value {
    try queue.sync { try body(realm) }
  }
}

@Suite struct ObservingTests {
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
