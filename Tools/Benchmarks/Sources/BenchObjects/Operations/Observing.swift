import Cambium
import Foundation
import Synchronization

extension Operation {
  /// How soon observers on another queue are told what a commit has changed.
  static let observing = [
    told("commit to observer") { _ in { $0.where { $0.id < 100 } } },
    told("10 changed, all objects") { _ in { $0 } },
    told("10 changed, filtered") { _ in { $0.where { $0.age < 60 } } },
    told("10 changed, filtered, key path", keyPaths: ["age"]) { _ in { $0.where { $0.age < 60 } } },
    told("10 changed, sorted") { _ in { $0.sorted(byKeyPath: "age") } },
    told("10 changed, filtered and sorted") { _ in
      { $0.where { $0.score > 10 }.sorted(byKeyPath: "name") }
    },
    linked("city of 1 changed") { _ in 1 },
    linked("city of 100 changed") { _ in 100 },
    linked("city of all changed") { $0.objects },
    linked("city of 100 changed, filter over the link", filtered: true) { _ in 100 },
    Operation(name: "one evaluation of that filter") { world, _ in
      let people = world.realm.objects(Person.self).where { $0.home.name == "observed" }
      return (1, ContinuousClock().measure { precondition(people.count <= world.objects) })
    },
    Operation(name: "commit without observers", stores: [.memory, .file]) { world, _ in
      try commits(world, observed: false)
    },
    Operation(name: "commit with 1,000 observers", stores: [.memory, .file]) { world, _ in
      try commits(world, observed: true)
    },
    Operation(name: "until 1,000 observers are told") { world, _ in
      let observers = try Observers(world, 1000) { $0 }
      return (1, try median(world, observers))
    },
    Operation(name: "until 1,000 of a query are told") { world, _ in
      let observers = try Observers(world, 1000) { $0.where { $0.age < 60 } }
      return (1, try median(world, observers))
    },
  ]

  /// Commits to two databases in turn, of which one has observers, and waits until they are told; the
  /// time of the commits to that one or to the other, whose memory is as cold.
  private static func commits(
    _ world: World, observed: Bool
  ) throws -> (count: Int, duration: Duration) {
    let other = try World(objects: world.objects, isFilled: true, in: world.store)
    let observers = try Observers(world, 1000) { $0 }
    defer { observers.end() }
    let (writer, otherWriter) = try (Writer(world), Writer(other))
    var (durations, otherDurations) = ([Duration](), [Duration]())
    for age in 0..<301 {
      otherDurations.append(try otherWriter.setAges(of: 0..<1, to: 100 + age))
      durations.append(try writer.setAges(of: 0..<1, to: 100 + age))
      observers.wait()
    }
    return (1, (observed ? durations : otherDurations).sorted()[150])
  }

  /// Measures from the end of a commit that changes a city to the block of an observer of people, of whom
  /// so many live there.
  private static func linked(
    _ name: String, filtered: Bool = false, _ count: @escaping @Sendable (World) -> Int
  ) -> Operation {
    Operation(name: name) { world, _ in
      let writer = try Writer(world)
      try writer.moveHome(first: count(world))
      let observers = try Observers(world, 1) { people in
        filtered ? people.where { $0.home.name.starts(with: "observed") } : people
      }
      defer { observers.end() }
      var durations: [Duration] = []
      for round in 0..<11 {
        try writer.renameCity("observed \(round)")
        let start = ContinuousClock().now
        durations.append(observers.wait() - start)
      }
      return (1, durations.sorted()[durations.count / 2])
    }
  }

  /// Measures from the end of a commit that changes ten people to the observer's block.
  private static func told(
    _ name: String, keyPaths: [String]? = nil,
    _ query: @escaping @Sendable (World) -> @Sendable (Results<Person>) -> Results<Person>
  ) -> Operation {
    Operation(name: name) { world, _ in
      let observers = try Observers(world, 1, keyPaths: keyPaths, query(world))
      return (1, try median(world, observers))
    }
  }

  /// Measures as ``told``, and ends the observers.
  private static func median(_ world: World, _ observers: Observers) throws -> Duration {
    defer { observers.end() }
    let writer = try Writer(world)
    var durations: [Duration] = []
    for round in 0..<41 {
      // One of them in the first hundred, so that each observer has something to be told.
      let ids = (0..<10).map { $0 == 0 ? round : ($0 * 7919 + round * 101) % world.objects }
      try writer.setAges(of: ids, to: round % 59)
      let start = ContinuousClock().now
      durations.append(observers.wait() - start)
    }
    return durations.sorted()[durations.count / 2]
  }
}

/// Observers of one query on a queue of their own.
///
/// Unchecked: the Realm and the tokens are used on the queue only.
final class Observers: @unchecked Sendable {
  private let queue = DispatchQueue(label: "observers")
  private let count: Int
  private var realm: Realm?
  private var tokens: [NotificationToken] = []
  private var told = 0
  private let last = Mutex(ContinuousClock().now)
  private let isDone = DispatchSemaphore(value: 0)

  /// Registers them; returns when all have been told the objects as they are.
  init(
    _ world: World, _ count: Int, keyPaths: [String]? = nil,
    _ query: @escaping @Sendable (Results<Person>) -> Results<Person>
  ) throws {
    self.count = count
    let configuration = world.realm.configuration
    try queue.sync {
      let realm = try Realm(configuration: configuration, queue: queue)
      self.realm = realm
      for _ in 0..<count {
        let people = query(realm.objects(Person.self))
        tokens.append(people.observe(keyPaths: keyPaths) { [unowned self] _ in noteCall() })
      }
    }
    wait()
  }

  /// Ends them all.
  func end() {
    queue.sync {
      tokens = []
      realm = nil
    }
  }

  private func noteCall() {
    told += 1
    if told % count > 0 { return }
    last.withLock { $0 = ContinuousClock().now }
    isDone.signal()
  }

  /// Waits until each was called once more; when the last one was.
  @discardableResult
  func wait() -> ContinuousClock.Instant {
    isDone.wait()
    return last.withLock { $0 }
  }
}
