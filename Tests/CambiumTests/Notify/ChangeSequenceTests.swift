import Cambium
import Foundation
import Observation
import Synchronization
import TestSupport
import Testing

/// An actor that follows a Realm in loops.
private actor Follower {
  private var realm: Realm!
  private(set) var log: [String] = []
  private var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

  init(_ configuration: Realm.Configuration) async throws {
    realm = try await Realm(configuration: configuration, actor: self)
  }

  private func note(_ text: String) {
    log.append(text)
    for entry in waiting where entry.count <= log.count { entry.continuation.resume() }
    waiting.removeAll { $0.count <= log.count }
  }

  /// Returns when so much was noted.
  func wait(for count: Int) async {
    if log.count >= count { return }
    await withCheckedContinuation { waiting.append((count, $0)) }
  }

  func followDogs() async throws {
    realm.refresh()
    for try await change in realm.objects(SpecDog.self).sorted(by: \.name).changes {
      switch change {
      case .initial(let dogs): note("initial \(dogs.count)")
      case .update(let dogs, let deletions, let insertions, let modifications):
        note("\(Array(dogs.map(\.name))) -\(deletions) +\(insertions) ~\(modifications)")
      case .error: note("error")
      }
    }
    note("end")
  }

  func followFirst() async throws {
    for try await change in realm.objects(SpecDog.self)[0].changes {
      switch change {
      case .change(let dog, let properties): note("\(dog.name) \(properties.map(\.name))")
      case .deleted: note("deleted")
      case .error: note("error")
      }
    }
    note("end")
  }

  func followRealm() async throws {
    note("begun")
    for try await _ in realm.changes { note("changed") }
    note("end")
  }

  func invalidate() { realm.invalidate() }

  func write(_ body: @Sendable (Realm) -> Void) throws { try realm.write { body(realm) } }
}

@Suite struct ChangeSequenceTests {
  @Test func `a loop gets the elements first, and then each change with its version`() async throws
  {
    let configuration = specConfiguration()
    let (follower, other) = (try await Follower(configuration), try await Follower(configuration))
    try await other.write { $0.create(SpecDog.self, value: ["name": "Lita"]) }
    let loop = Task { try await follower.followDogs() }
    await follower.wait(for: 1)
    try await other.write { $0.create(SpecDog.self, value: ["name": "Ben"]) }
    await follower.wait(for: 2)
    try await follower.write { $0.objects(SpecDog.self)[0].name = "Abe" }
    await follower.wait(for: 3)
    loop.cancel()
    try await loop.value
    let log = await follower.log
    #expect(
      log == [
        "initial 1", #"["Ben", "Lita"] -[] +[0] ~[]"#, #"["Abe", "Ben"] -[1] +[0] ~[]"#, "end",
      ])
  }

  @Test func `sequences end when their Realm is invalidated`() async throws {
    let configuration = specConfiguration()
    for loop in [Follower.followDogs, Follower.followFirst, Follower.followRealm] {
      let follower = try await Follower(configuration)
      try await follower.write { $0.create(SpecDog.self, value: ["name": "Lita"]) }
      let task = Task { try await loop(follower)() }
      // Until it has looked once, and waits.
      while await follower.log.isEmpty {
        try await follower.write { $0.objects(SpecDog.self)[0].name += "!" }
        await Task.yield()
      }
      await follower.invalidate()
      try await task.value
      #expect(await follower.log.last == "end")
    }
  }

  @Test func `the sequence of an object ends when the object is deleted`() async throws {
    let configuration = specConfiguration()
    let (follower, other) = (try await Follower(configuration), try await Follower(configuration))
    try await follower.write { $0.create(SpecDog.self, value: ["name": "Lita"]) }
    let loop = Task { try await follower.followFirst() }
    // The loop has begun when it is told something.
    var age = 0
    while await follower.log.isEmpty {
      age += 1
      try await other.write { [age] in $0.objects(SpecDog.self)[0].age = age }
      await Task.yield()
    }
    try await other.write { $0.deleteAll() }
    try await loop.value
    #expect(await follower.log.first == #"Lita ["age"]"#)
    #expect(await follower.log.suffix(2) == ["deleted", "end"])
  }

  @Test @MainActor func `who has read a property is told when it was assigned`() async throws {
    let realm = try await Realm(configuration: specConfiguration())
    let dog = try realm.addDogs("Ben")[0].observed
    let read = Mutex<[String]>([])
    let (told, tell) = AsyncStream.makeStream(of: String.self)
    withObservationTracking {
      read.withLock { $0.append(dog.name) }
    } onChange: {
      tell.yield("name")
    }
    withObservationTracking {
      read.withLock { $0.append("\(dog.age)") }
    } onChange: {
      tell.yield("age")
    }
    withObservationTracking {
      _ = dog.isInvalidated
    } onChange: {
      tell.yield("deleted")
    }
    var iterator = told.makeAsyncIterator()
    try realm.write { dog.age = 7 }
    #expect(await iterator.next() == "age")
    try realm.write { dog.name = "Rex" }
    #expect(await iterator.next() == "name")
    try realm.write { realm.delete(dog.object) }
    #expect(await iterator.next() == "deleted")
    #expect(read.withLock { $0 } == ["Ben", "0"])
  }
}
