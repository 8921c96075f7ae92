import Cambium
import Foundation

extension Operation {
  /// What it costs to have the data in many contexts, and to move from version to version.
  static let contexts = [
    Operation(name: "open in another context", isReading: true, stores: [.memory, .file]) {
      world, _ in
      let configuration = world.realm.configuration
      var duration = Duration.zero
      for index in 0..<1000 {
        let queue = DispatchQueue(label: "context \(index)")
        duration += try queue.sync {
          var realm: Realm?
          let duration = try ContinuousClock().measure {
            realm = try Realm(configuration: configuration, queue: queue)
          }
          use(realm)
          return duration
        }
      }
      return (1000, duration)
    },
    Operation(name: "freeze a version again", isReading: true, stores: [.memory, .file]) {
      world, repetitions in
      let count = repetitions / 10 + 1
      let kept = world.realm.freeze()
      let duration = ContinuousClock().measure { for _ in 0..<count { use(world.realm.freeze()) } }
      use(kept)
      return (count, duration)
    },
    Operation(name: "freeze a new version", stores: [.memory, .file]) { world, _ in
      let person = world.realm.objects(Person.self)[0]
      var duration = Duration.zero
      for age in 0..<500 {
        try world.realm.write { person.age = age }
        var frozen: Realm?
        duration += ContinuousClock().measure { frozen = world.realm.freeze() }
        use(frozen)
      }
      return (500, duration)
    },
    Operation(name: "refresh over one commit", stores: [.memory, .file]) { world, _ in
      let writer = try Writer(world)
      use(world.realm.objects(Person.self).count)
      var duration = Duration.zero
      for age in 0..<500 {
        try writer.setAges(of: 0..<1, to: age)
        duration += ContinuousClock().measure { use(world.realm.refresh()) }
      }
      return (500, duration)
    },
    Operation(name: "begin and cancel a write", stores: [.memory, .file]) { world, _ in
      let duration = ContinuousClock().measure {
        for _ in 0..<10_000 {
          world.realm.beginWrite()
          world.realm.cancelWrite()
        }
      }
      return (10_000, duration)
    },
  ]

  /// What it costs to write one object at a time.
  static let smallWrites = [
    Operation(name: "write an object", stores: [.memory, .file]) { world, _ in
      let person = world.realm.objects(Person.self)[0]
      let duration = try ContinuousClock().measure {
        for age in 0..<1000 { try world.realm.write { person.age = age } }
      }
      return (1000, duration)
    },
    Operation(name: "write an object, grouped", stores: [.memory, .file]) { world, _ in
      let queue = DispatchQueue(label: "grouped writes")
      let configuration = world.realm.configuration
      let isDone = DispatchSemaphore(value: 0)
      let clock = ContinuousClock()
      let start = clock.now
      queue.async {
        guard let opened = try? Realm(configuration: configuration, queue: queue) else {
          fatalError("the open database cannot be opened")
        }
        // Unchecked: the queue's own Realm is used on the queue only.
        nonisolated(unsafe) let realm = opened
        let person = realm.objects(Person.self)[0]
        for age in 0..<1000 {
          realm.beginAsyncWrite {
            person.age = age
            realm.commitAsyncWrite(allowGrouping: true) { error in
              precondition(error == nil)
              if age == 999 { isDone.signal() }
            }
          }
        }
      }
      isDone.wait()
      return (1000, clock.now - start)
    },
    Operation(name: "write an object, asyncWrite", stores: [.memory, .file]) { world, _ in
      let configuration = world.realm.configuration
      let isDone = DispatchSemaphore(value: 0)
      let clock = ContinuousClock()
      let start = clock.now
      Task {
        await AsyncWriter().write(1000, configuration)
        isDone.signal()
      }
      isDone.wait()
      return (1000, clock.now - start)
    },
    Operation(name: "write an object, one task", stores: [.memory, .file]) { world, _ in
      try SharedWriter(world).writeByTasks(1, 1000)
    },
    Operation(name: "write an object, 64 tasks", stores: [.memory, .file]) { world, _ in
      try SharedWriter(world).writeByTasks(64, 100)
    },
    Operation(name: "write an object, 64 tasks, grouped", stores: [.memory, .file]) { world, _ in
      try SharedWriter(world).writeByTasks(64, 200, allowGrouping: true)
    },
    Operation(name: "write an object, 64 threads", stores: [.memory, .file]) { world, _ in
      try SharedWriter(world).writeByThreads(64, 100)
    },
    Operation(name: "write an object, beside 4 threads of relaxed writes", stores: [.file]) {
      world, _ in try SharedWriter(world).writeBesideRelaxed(4, 500)
    },
    Operation(name: "write an object, Realms of 8 threads", stores: [.memory, .file]) { world, _ in
      try SharedWriter(world).writeByThreads(8, 500, openRealms: true)
    },
    Operation(name: "write an object, Realms of 64 threads", stores: [.memory, .file]) { world, _ in
      try SharedWriter(world).writeByThreads(64, 100, openRealms: true)
    },
  ]
}

/// Writes from an actor.
private actor AsyncWriter {
  func write(_ count: Int, _ configuration: Realm.Configuration) async {
    do {
      let realm = try await Realm(configuration: configuration, actor: self)
      let person = realm.objects(Person.self)[0]
      for age in 0..<count { try await realm.asyncWrite { person.age = age } }
    } catch { fatalError("\(error)") }
  }
}

/// A Realm on a queue of its own, from which people are changed.
///
/// Unchecked: the Realm is used on the queue only.
final class Writer: @unchecked Sendable {
  private let queue = DispatchQueue(label: "writer")
  private let realm: Realm

  init(_ world: World) throws {
    let configuration = world.realm.configuration
    let queue = queue
    realm = try queue.sync { try Realm(configuration: configuration, queue: queue) }
  }

  /// Sets the ages of the people with these keys in one transaction; how long the commit took.
  @discardableResult
  func setAges(of ids: some Sequence<Int>, to age: Int) throws -> Duration {
    try queue.sync {
      let people = ids.compactMap { realm.object(ofType: Person.self, forPrimaryKey: $0) }
      realm.beginWrite()
      for person in people { person.age = age }
      return try ContinuousClock().measure { try realm.commitWrite() }
    }
  }

  /// Lets the first so many people, and nobody else, live in a city of their own.
  func moveHome(first count: Int) throws {
    try queue.sync {
      try realm.write {
        let city = realm.create(
          City.self, value: ["id": -1, "name": "observed"], update: .modified)
        let people = realm.objects(Person.self)
        for person in people.where({ $0.home == city && $0.id >= count }) { person.home = nil }
        for person in people.where({ $0.id < count }) { person.home = city }
      }
    }
  }

  /// Gives that city another name.
  func renameCity(_ name: String) throws {
    try queue.sync {
      try realm.write { realm.object(ofType: City.self, forPrimaryKey: -1)?.name = name }
    }
  }
}
