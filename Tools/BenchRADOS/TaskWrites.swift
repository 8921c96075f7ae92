#if RADOS
  import Cambium
  import Foundation
  import Synchronization

  /// An object that tasks change.
  final class BenchCounter: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var value = 0
  }

  /// What tasks write through one `RealmDatabase`, each an object after the other, each durable: in transactions
  /// of their own or, with `allowGrouping`, in those of others that wait at the same time.
  final class TaskWrites: Sendable {
    private static let objectCount = 10_000
    private let configuration: Realm.Configuration
    private let allowGrouping: Bool
    private let count = Atomic(0)
    private let isOver = Atomic(false)

    init(_ configuration: Realm.Configuration, allowGrouping: Bool = false) {
      var configuration = configuration
      configuration.objectTypes = [BenchCounter.self]
      self.configuration = configuration
      self.allowGrouping = allowGrouping
    }

    /// How many changes a second so many tasks make.
    func perSecond(tasks: Int, seconds: Double) throws -> Double {
      let isDone = DispatchSemaphore(value: 0)
      let failure = Mutex<(any Error)?>(nil)
      Task { [self] in
        do { try await run(tasks, seconds) } catch { failure.withLock { $0 = error } }
        isDone.signal()
      }
      isDone.wait()
      if let error = failure.withLock({ $0 }) { throw error }
      return Double(count.load(ordering: .relaxed)) / seconds
    }

    private func run(_ tasks: Int, _ seconds: Double) async throws {
      let database = try await RealmDatabase(configuration)
      try await database.write { realm in
        for id in 0..<Self.objectCount {
          realm.create(BenchCounter.self, value: ["id": id], update: .modified)
        }
      }
      try await withThrowingTaskGroup { group in
        for task in 0..<tasks {
          group.addTask { [self] in
            var id = task
            while !isOver.load(ordering: .relaxed) {
              id = (id &* 7919 &+ 13) % Self.objectCount
              try await database.write(allowGrouping: allowGrouping) { [id] realm in
                realm.object(ofType: BenchCounter.self, forPrimaryKey: id)?.value += 1
              }
              count.add(1, ordering: .relaxed)
            }
          }
        }
        try await Task.sleep(for: .seconds(seconds))
        isOver.store(true, ordering: .relaxed)
        try await group.waitForAll()
      }
      await database.close()
    }
  }
#endif
