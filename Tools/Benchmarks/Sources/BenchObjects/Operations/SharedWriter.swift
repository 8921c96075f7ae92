import Cambium
import Foundation

/// A database that tasks and threads write to.
struct SharedWriter {
  private let database: RealmDatabase

  init(_ world: World) throws {
    let configuration = world.realm.configuration
    database = try waiting { try await RealmDatabase(configuration) }
  }

  /// Each of so many tasks sets so many ages, one at a time, in a transaction of its own or, with
  /// `allowGrouping`, in one with others.
  func writeByTasks(
    _ taskCount: Int, _ count: Int, allowGrouping: Bool = false
  ) throws -> (Int, Duration) {
    let database = database
    let clock = ContinuousClock()
    let start = clock.now
    try waiting {
      try await withThrowingTaskGroup { group in
        for id in 0..<taskCount {
          group.addTask {
            for age in 0..<count {
              try await database.write(allowGrouping: allowGrouping) {
                $0.object(ofType: Person.self, forPrimaryKey: id)?.age = age
              }
            }
          }
        }
        try await group.waitForAll()
      }
    }
    return (taskCount * count, clock.now - start)
  }

  /// The same by threads, through the database or each through a Realm of its own.
  func writeByThreads(
    _ threadCount: Int, _ count: Int, openRealms: Bool = false
  ) throws -> (Int, Duration) {
    let database = database
    let isDone = DispatchSemaphore(value: 0)
    let clock = ContinuousClock()
    let start = clock.now
    for id in 0..<threadCount {
      Thread.detachNewThread {
        do {
          if openRealms {
            let realm = try Realm(configuration: database.configuration)
            let person = realm.object(ofType: Person.self, forPrimaryKey: id)
            for age in 0..<count { try realm.write { person?.age = age } }
          } else {
            for age in 0..<count {
              try database.write {
                $0.object(ofType: Person.self, forPrimaryKey: id)?.age = age
              }
            }
          }
        } catch { fatalError("\(error)") }
        isDone.signal()
      }
    }
    for _ in 0..<threadCount { isDone.wait() }
    return (threadCount * count, clock.now - start)
  }

  /// The same through one Realm, while so many threads write to the file without waiting for the medium.
  func writeBesideRelaxed(_ threadCount: Int, _ count: Int) throws -> (Int, Duration) {
    let configuration = database.configuration
    let isDone = DispatchSemaphore(value: 0)
    let isOver = DispatchSemaphore(value: 0)
    for id in 0..<threadCount {
      Thread.detachNewThread {
        do {
          var relaxed = configuration
          relaxed.durability = .relaxed
          let realm = try Realm(configuration: relaxed)
          let person = realm.object(ofType: Person.self, forPrimaryKey: id)
          while isOver.wait(timeout: .now()) == .timedOut { try realm.write { person?.age += 1 } }
        } catch { fatalError("\(error)") }
        isDone.signal()
      }
    }
    let realm = try Realm(configuration: configuration)
    let person = realm.object(ofType: Person.self, forPrimaryKey: threadCount)
    let duration = try ContinuousClock().measure {
      for age in 0..<count { try realm.write { person?.age = age } }
    }
    for _ in 0..<threadCount { isOver.signal() }
    for _ in 0..<threadCount { isDone.wait() }
    return (count, duration)
  }
}
