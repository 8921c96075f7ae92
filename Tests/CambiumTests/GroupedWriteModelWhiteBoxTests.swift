import Foundation
import TestSupport
import Testing

@testable import Cambium

/// Random groups of writes against a plain model, compared inside of each write.
@Suite struct GroupedWriteModelWhiteBoxTests {
  /// What the database should hold: people with their dogs and nicknames, by key, and whom they like.
  private struct Model: Equatable {
    var dogs: [Int: [String]] = [:]
    var nicknames: [Int: [String]] = [:]
    var friends: [Int: Int] = [:]
    var values: [Int: [[Int]]] = [:]
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `what some undo is not to be seen in the others`(seed: UInt64) async throws {
    let folder = try TemporaryFolder()
    var configuration = Realm.Configuration(
      fileURL: folder.url("people.realm"), objectTypes: GroupedWrites.types)
    if seed.isMultiple(of: 3) {
      configuration = Realm.Configuration(inMemoryIdentifier: "grouped writes \(seed)")
      configuration.objectTypes = GroupedWrites.types
    }
    let writes = try await GroupedWrites(configuration)
    let database = writes.database
    let model = Shared(Model())
    for round in 0..<8 as Range<UInt64> {
      try await writes.together(
        (0..<12 as Range<UInt64>).map { number in
          { realm in
            var random = SeededGenerator(seed: seed * 1_000 + round * 20 + number)
            try Self.change(realm, model, &random)
          }
        })
      let found = try await database.read { Self.content($0) }
      #expect(found == model.value)
    }
    await database.close()
    if seed.isMultiple(of: 3) { return }
    let realm = try Realm(configuration: configuration, queue: nil)
    #expect(Self.content(realm) == model.value)
    #expect(try realm.instance.coordinator.database.verify().findings == [])
  }

  /// Changes some people, and throws now and then; the model follows what lasts.
  private static func change(
    _ realm: Realm, _ model: Shared<Model>, _ random: inout SeededGenerator
  ) throws {
    #expect(content(realm) == model.value)
    var next = model.value
    for _ in 0..<Int.random(in: 1...4, using: &random) { step(realm, &next, &random) }
    if Int.random(in: 0..<4, using: &random) == 0 { throw Refusal() }
    model.value = next
  }

  private static func step(_ realm: Realm, _ model: inout Model, _ random: inout SeededGenerator) {
    let id = Int.random(in: 0..<12, using: &random)
    guard let person = realm.object(ofType: SpecPerson.self, forPrimaryKey: id) else {
      realm.add(SpecPerson(id, "n", age: id))
      realm.create(GroupedNote.self, value: ["id": id], update: .all).value = .fromArray([])
      (model.dogs[id], model.nicknames[id], model.values[id]) = ([], [], [])
      return
    }
    switch Int.random(in: 0..<9, using: &random) {
    case 0:
      realm.delete(person.dogs)
      realm.delete(person)
      realm.delete(realm.objects(GroupedNote.self).where { $0.id == id })
      (model.dogs[id], model.nicknames[id], model.friends[id]) = (nil, nil, nil)
      model.values[id] = nil
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
    case 6, 7:
      let list = realm.object(ofType: GroupedNote.self, forPrimaryKey: id)?.value.listValue
      guard let list else { return }
      if let last = list.last?.listValue, Bool.random(using: &random) {
        last.append(.int(id))
        model.values[id]?[list.count - 1].append(id)
      } else {
        list.append(.fromArray([]))
        model.values[id]?.append([])
      }
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
    for note in realm.objects(GroupedNote.self) {
      model.values[note.id] = note.value.listValue?.map { inner in
        inner.listValue?.compactMap(\.intValue) ?? []
      }
    }
    let befriended = realm.objects(SpecPerson.self).reduce(0) { $0 + $1.befriendedBy.count }
    if befriended != model.friends.count { Issue.record("\(befriended) links lead back") }
    let owned = realm.objects(SpecPerson.self).reduce(0) { $0 + $1.dogs.count }
    if realm.objects(SpecDog.self).count != owned { Issue.record("a dog is left over") }
    return model
  }
}
