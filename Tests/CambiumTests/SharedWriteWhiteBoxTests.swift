import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Cambium

/// Writes of tasks that share a transaction: each is whole or not there, whatever becomes of the others.
@Suite struct SharedWriteWhiteBoxTests {
  private struct Refusal: Error {}
  private final class Flag: Sendable { let value = Atomic(false) }

  /// What the database should hold: people with their dogs, by name, and whom they like.
  private struct Model: Equatable {
    var dogs: [Int: [String]] = [:]
    var nicknames: [Int: [String]] = [:]
    var friends: [Int: Int] = [:]
  }

  private final class Locked: Sendable { let value = Mutex(Model()) }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `what some blocks undo, end or refuse is not to be seen in the others`(seed: UInt64)
    async throws
  {
    let folder = try TemporaryFolder()
    var configuration = Realm.Configuration(
      fileURL: folder.url("people.realm"), objectTypes: specTypes)
    if seed.isMultiple(of: 3) {
      configuration = Realm.Configuration(inMemoryIdentifier: "shared writes \(seed)")
      configuration.objectTypes = specTypes
    }
    let database = try await RealmDatabase(configuration)
    let model = Locked()
    for round in 0..<8 as Range<UInt64> {
      await withTaskGroup { group in
        for number in 0..<12 as Range<UInt64> {
          group.addTask {
            // Most wait behind the first one.
            let isFirst = number == 0
            _ = try? await database.write { realm in
              if isFirst {
                let end = Date() + 0.005
                while Date() < end, database.writer.waitingWriteCount < 8 { usleep(100) }
              }
              var random = SeededGenerator(seed: seed * 1_000 + round * 20 + number)
              try Self.change(realm, model, &random)
            }
          }
        }
      }
      let found = try await database.read { Self.content($0) }
      #expect(found == model.value.withLock { $0 })
    }
    if seed.isMultiple(of: 3) { return }
    await database.close()
    try Self.check(configuration, model.value.withLock { $0 })
  }

  private static func check(_ configuration: Realm.Configuration, _ model: Model) throws {
    let realm = try Realm(configuration: configuration, queue: nil)
    #expect(content(realm) == model)
    #expect(try realm.instance.coordinator.database.verify().findings == [])
  }

  /// Changes some people, and ends as chance has it; the model follows what lasts.
  private static func change(
    _ realm: Realm, _ model: Locked, _ random: inout SeededGenerator
  ) throws {
    var next = model.value.withLock { $0 }
    for _ in 0..<Int.random(in: 1...4, using: &random) { step(realm, &next, &random) }
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1: throw Refusal()
    case 2: realm.cancelWrite()
    case 3:
      realm.cancelWrite()
      realm.beginWrite()
      next = model.value.withLock { $0 }
      step(realm, &next, &random)
      model.value.withLock { $0 = next }
    case 4:
      try realm.commitWrite()
      model.value.withLock { $0 = next }
      realm.beginWrite()
      step(realm, &next, &random)
      model.value.withLock { $0 = next }
    case 5:
      try realm.commitWrite()
      model.value.withLock { $0 = next }
    default: model.value.withLock { $0 = next }
    }
  }

  private static func step(_ realm: Realm, _ model: inout Model, _ random: inout SeededGenerator) {
    let id = Int.random(in: 0..<12, using: &random)
    guard let person = realm.object(ofType: SpecPerson.self, forPrimaryKey: id) else {
      realm.add(SpecPerson(id, "n", age: id))
      (model.dogs[id], model.nicknames[id]) = ([], [])
      return
    }
    switch Int.random(in: 0..<8, using: &random) {
    case 0:
      realm.delete(person.dogs)
      realm.delete(person)
      (model.dogs[id], model.nicknames[id], model.friends[id]) = (nil, nil, nil)
      for (other, friend) in model.friends where friend == id { model.friends[other] = nil }
    case 1, 2, 3:
      let name = "dog \(Int.random(in: 0..<1_000, using: &random))"
      person.dogs.append(realm.create(SpecDog.self, value: ["name": name]))
      model.dogs[id]?.append(name)
    case 4 where !person.dogs.isEmpty:
      realm.delete(person.dogs[0])
      model.dogs[id]?.removeFirst()
    case 5:
      let other = Int.random(in: 0..<12, using: &random)
      person.friend = realm.object(ofType: SpecPerson.self, forPrimaryKey: other)
      model.friends[id] = model.dogs[other] == nil ? nil : other
    default:
      let name = String(repeating: "x", count: Int.random(in: 0..<3_000, using: &random))
      person.nicknames.append(name)
      model.nicknames[id]?.append(name)
    }
  }

  private static func content(_ realm: Realm) -> Model {
    var model = Model()
    for person in realm.objects(SpecPerson.self) {
      model.dogs[person.id] = person.dogs.map(\.name)
      model.nicknames[person.id] = Array(person.nicknames)
      model.friends[person.id] = person.friend?.id
      // What leads back is what leads there.
      for other in person.befriendedBy where other.friend?.id != person.id {
        Issue.record("\(other.id) is no friend of \(person.id)")
      }
      for dog in person.dogs where !dog.owners.contains(where: { $0.id == person.id }) {
        Issue.record("\(dog.name) has lost its owner")
      }
    }
    let befriended = realm.objects(SpecPerson.self).reduce(0) { $0 + $1.befriendedBy.count }
    if befriended != model.friends.count { Issue.record("\(befriended) links lead back") }
    let owned = realm.objects(SpecPerson.self).reduce(0) { $0 + $1.dogs.count }
    if realm.objects(SpecDog.self).count != owned { Issue.record("a dog is left over") }
    return model
  }

  @Test func `blocks that wait share one version`() async throws {
    let database = try await RealmDatabase(specConfiguration())
    database.writer.runNanoseconds = .max
    try await database.write { $0.add(SpecPerson(0, "n", age: 0)) }
    let hasBegun = Flag()
    let before = try database.statistics().newestVersion
    try await withThrowingTaskGroup { group in
      for number in 1...8 {
        group.addTask {
          try await database.write { realm in
            if number == 1 {
              hasBegun.value.store(true, ordering: .releasing)
              while database.writer.waitingWriteCount < 7 { usleep(100) }
            }
            realm.add(SpecPerson(number, "n", age: number))
          }
        }
        // It is inside before others wait.
        while number == 1, !hasBegun.value.load(ordering: .acquiring) {
          try await Task.sleep(for: .milliseconds(1))
        }
      }
      try await group.waitForAll()
    }
    #expect(try database.statistics().newestVersion == before + 1)
    let count = try await database.read { $0.objects(SpecPerson.self).count }
    #expect(count == 9)
  }
}
