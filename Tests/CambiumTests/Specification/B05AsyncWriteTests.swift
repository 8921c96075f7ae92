import Cambium
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

/// Section B5, on serial queues.
@Suite struct B05AsyncWriteTests {
  init() { TemporaryFolder.prepareForChildren() }

  /// A serial queue with a Realm.
  final class Desk: @unchecked Sendable {
    // Unchecked: everything but the log is used on the queue alone.
    let queue = DispatchQueue(label: "desk")
    let configuration: Realm.Configuration
    var realm: Realm!
    private let log = Mutex<[String]>([])
    private let noted = DispatchSemaphore(value: 0)

    init(_ configuration: Realm.Configuration = specConfiguration()) throws {
      self.configuration = configuration
      try queue.sync { realm = try Realm(configuration: configuration, queue: queue) }
    }

    func run<Value>(_ body: (Realm) throws -> Value) rethrows -> Value {
      try queue.sync { try body(realm) }
    }

    func note(_ text: String) {
      log.withLock { $0.append(text) }
      noted.signal()
    }

    /// What was noted, once it is so much.
    func notes(_ count: Int) async -> [String] {
      await withCheckedContinuation { continuation in
        DispatchQueue.global().async { [self] in
          for _ in 0..<count { noted.wait() }
          continuation.resume(returning: log.withLock { $0 })
        }
      }
    }

    func names() -> [String] { run { $0.objects(SpecDog.self).map(\.name) } }
  }

  @Test(arguments: ["commitAsyncWrite", "commitWrite", "cancelWrite"])
  func `completions come in the order of their writes, also of a block that ends by itself`(
    end: String
  ) async throws {
    let desk = try Desk()
    desk.run { realm in
      realm.beginAsyncWrite {
        realm.create(SpecDog.self, value: ["name": "first"])
        realm.commitAsyncWrite(allowGrouping: true) { _ in desk.note("first") }
      }
      realm.writeAsync {
        realm.create(SpecDog.self, value: ["name": "second"])
        switch end {
        case "commitAsyncWrite": realm.commitAsyncWrite { _ in desk.note("commit") }
        case "commitWrite": try? realm.commitWrite()
        default: realm.cancelWrite()
        }
      } onComplete: { _ in
        desk.note("second")
      }
    }
    let expected =
      end == "commitAsyncWrite" ? ["first", "commit", "second"] : ["first", "second"]
    #expect(await desk.notes(expected.count) == expected)
  }

  @Test func `a block may wait for what another Realm commits behind it`() async throws {
    let configuration = specConfiguration()
    let (waiting, other) = (try Desk(configuration), try Desk(configuration))
    let isCommitted = DispatchSemaphore(value: 0)
    waiting.run { realm in
      _ = realm.beginAsyncWrite {
        realm.create(SpecDog.self, value: ["name": "first"])
        realm.commitAsyncWrite(allowGrouping: true) { _ in waiting.note("told") }
        other.queue.async {
          other.realm.writeAsync {
            other.realm.create(SpecDog.self, value: ["name": "second"])
          } onComplete: { _ in
            isCommitted.signal()
          }
        }
        // Whoever waits for ever is found out at some time.
        let outcome = isCommitted.wait(timeout: .now() + 600)
        waiting.note(outcome == .success ? "committed" : "stuck")
      }
    }
    #expect(await waiting.notes(2) == ["committed", "told"])
    #expect(Set(other.names()) == ["first", "second"])
  }

  @Test func `a block runs later, in its context, and is committed`() async throws {
    let desk = try Desk()
    desk.run { realm in
      realm.writeAsync {
        #expect(realm.isInWriteTransaction)
        dispatchPrecondition(condition: .onQueue(desk.queue))
        realm.create(SpecDog.self, value: ["name": "Ben"])
        desk.note("block")
      } onComplete: { error in
        #expect(error == nil)
        #expect(!realm.isInWriteTransaction)
        desk.note("complete")
      }
      #expect(realm.isPerformingAsynchronousWriteOperations)
      #expect(realm.objects(SpecDog.self).isEmpty)
      desk.note("called")
    }
    #expect(await desk.notes(3) == ["called", "block", "complete"])
    #expect(desk.names() == ["Ben"])
    #expect(desk.run { !$0.isPerformingAsynchronousWriteOperations })
  }

  @Test func `blocks run in the order of their calls, and so do completions`() async throws {
    let desk = try Desk()
    desk.run { realm in
      for number in 0..<50 {
        if number.isMultiple(of: 2) {
          realm.writeAsync {
            desk.note("\(number)")
          } onComplete: { _ in
            desk.note("done \(number)")
          }
        } else {
          realm.beginAsyncWrite {
            desk.note("\(number)")
            realm.commitAsyncWrite(allowGrouping: true) { _ in desk.note("done \(number)") }
          }
        }
      }
    }
    let notes = await desk.notes(100)
    #expect(notes.filter { !$0.hasPrefix("done") } == (0..<50).map { "\($0)" })
    #expect(notes.filter { $0.hasPrefix("done") } == (0..<50).map { "done \($0)" })
  }

  @Test func `a block that does not commit is rolled back`() async throws {
    let desk = try Desk()
    desk.run { realm in
      realm.beginAsyncWrite {
        realm.create(SpecDog.self, value: ["name": "Ben"])
        desk.note("block")
      }
      realm.writeAsync {
        #expect(realm.objects(SpecDog.self).isEmpty)
        desk.note("next")
      }
    }
    #expect(await desk.notes(2) == ["block", "next"])
    #expect(desk.names() == [])
  }

  @Test(arguments: ["commit", "commit later", "cancel"])
  func `a block may end its transaction itself`(how: String) async throws {
    let desk = try Desk()
    desk.run { realm in
      realm.writeAsync {
        realm.create(SpecDog.self, value: ["name": "Ben"])
        switch how {
        case "commit": #expect(throws: Never.self) { try realm.commitWrite() }
        case "commit later": realm.commitAsyncWrite()
        default: realm.cancelWrite()
        }
      } onComplete: { _ in
        desk.note("complete")
      }
      realm.writeAsync {
      } onComplete: { _ in
        desk.note("last")
      }
    }
    #expect(await desk.notes(2) == ["complete", "last"])
    #expect(desk.names() == (how == "cancel" ? [] : ["Ben"]))
  }

  @Test func `a commit without waiting is seen at once, and ends any transaction`() async throws {
    let (desk, other) = (try Desk(), try Desk())
    _ = other
    let second = try Desk(desk.configuration)
    desk.run { realm in
      realm.beginWrite()
      realm.create(SpecDog.self, value: ["name": "Ben"])
      realm.commitAsyncWrite { error in
        #expect(error == nil)
        desk.note("complete")
      }
      #expect(!realm.isInWriteTransaction)
      #expect(realm.objects(SpecDog.self).map(\.name) == ["Ben"])
      #expect(realm.isPerformingAsynchronousWriteOperations)
      desk.note("returned")
    }
    #expect(await desk.notes(2) == ["returned", "complete"])
    second.run { realm in
      realm.refresh()
      #expect(realm.objects(SpecDog.self).map(\.name) == ["Ben"])
    }
  }

  @Test func `what waits can be cancelled, a commit's call too, and nothing else`() async throws {
    let desk = try Desk()
    desk.run { realm in
      let first = realm.writeAsync {
        desk.note("first")
      } onComplete: { _ in
        desk.note("first done")
      }
      let second = realm.beginAsyncWrite { desk.note("second") }
      let third = realm.writeAsync {
        desk.note("third")
      } onComplete: { _ in
        desk.note("third done")
      }
      #expect(Set([first, second, third]).count == 3)
      #expect(throws: Never.self) {
        try realm.cancelAsyncWrite(second)
        try realm.cancelAsyncWrite(third)
        try realm.cancelAsyncWrite(4711)
      }
      realm.beginAsyncWrite {
        let commit = realm.commitAsyncWrite(allowGrouping: true) { _ in desk.note("not called") }
        #expect(throws: Never.self) { try realm.cancelAsyncWrite(commit) }
      }
      realm.writeAsync {
      } onComplete: { _ in
        desk.note("end")
      }
    }
    #expect(await desk.notes(3) == ["first", "first done", "end"])
  }

  @Test func `a synchronous write waits for commits, and overtakes blocks`() async throws {
    let desk = try Desk()
    try desk.run { realm in
      realm.beginWrite()
      realm.create(SpecDog.self, value: ["name": "Ben"])
      realm.commitAsyncWrite(allowGrouping: true) { _ in desk.note("complete") }
      realm.writeAsync { desk.note("block") }
      try realm.write {
        desk.note("synchronous")
        realm.create(SpecDog.self, value: ["name": "Lita"])
      }
    }
    #expect(await desk.notes(3) == ["complete", "synchronous", "block"])
    #expect(desk.names() == ["Ben", "Lita"])
  }

  @Test func `the next write may begin in a completion`() async throws {
    let desk = try Desk()
    _ = desk.run { realm in
      realm.writeAsync {
        realm.create(SpecDog.self, value: ["name": "a"])
      } onComplete: { _ in
        #expect(throws: Never.self) {
          try realm.write { _ = realm.create(SpecDog.self, value: ["name": "b"]) }
        }
        realm.writeAsync {
          realm.create(SpecDog.self, value: ["name": "c"])
        } onComplete: { _ in
          desk.note("end")
        }
      }
    }
    #expect(await desk.notes(1) == ["end"])
    #expect(desk.names() == ["a", "b", "c"])
  }

  @Test func `a Realm that is dropped stays until its writes are done`() async throws {
    let desk = try Desk()
    desk.run { realm in
      desk.realm.writeAsync {
        // Nothing of the block keeps the Realm.
      } onComplete: { _ in
        desk.note("complete")
      }
      _ = realm
    }
    desk.queue.sync { desk.realm = nil }
    #expect(await desk.notes(1) == ["complete"])
    try desk.queue.sync {
      let configuration = desk.configuration
      desk.realm = try Realm(configuration: configuration, queue: desk.queue)
      #expect(!desk.realm.isPerformingAsynchronousWriteOperations)
    }
  }

  @Test func `invalidating completes what was committed and drops what has not begun`() async throws
  {
    let desk = try Desk()
    desk.run { realm in
      realm.beginWrite()
      realm.create(SpecDog.self, value: ["name": "Ben"])
      realm.commitAsyncWrite(allowGrouping: true) { _ in desk.note("complete") }
      realm.writeAsync { desk.note("dropped") }
      realm.invalidate()
      #expect(!realm.isPerformingAsynchronousWriteOperations)
      realm.writeAsync {
      } onComplete: { _ in
        desk.note("end")
      }
    }
    #expect(await desk.notes(2) == ["complete", "end"])
    #expect(desk.names() == ["Ben"])
  }

  @Test func `a queue that does not run keeps nobody from writing`() async throws {
    let desk = try Desk()
    let other = try Desk(desk.configuration)
    _ = desk.run { realm in
      realm.writeAsync {
        desk.note("late")
      } onComplete: { _ in
        desk.note("end")
      }
    }
    desk.queue.suspend()
    try other.run { realm in try realm.write { _ = realm.create(SpecDog.self, value: []) } }
    desk.queue.resume()
    #expect(await desk.notes(2) == ["late", "end"])
  }

  @Test(arguments: 0..<6) func `writers of all kinds in many contexts lose nothing`(
    seed: UInt64
  ) async throws {
    let configuration = specConfiguration()
    let desks = try (0..<3).map { _ in try Desk(configuration) }
    try desks[0].run { realm in try realm.write { realm.add(SpecPerson(0, "count", age: 0)) } }
    var random = SeededGenerator(seed: seed)
    var expected = 0
    for _ in 0..<60 {
      guard let desk = desks.randomElement(using: &random) else { return }
      let kind = Int.random(in: 0..<5, using: &random)
      if kind != 4 { expected += 1 }
      try desk.run { realm in
        @Sendable func count() {
          let realm = desk.realm!
          let person = realm.object(ofType: SpecPerson.self, forPrimaryKey: 0)
          person?.age = (person?.age ?? 0) + 1
        }
        switch kind {
        case 0: try realm.write(count)
        case 1: realm.writeAsync(count)
        case 2:
          realm.beginAsyncWrite {
            count()
            desk.realm.commitAsyncWrite(allowGrouping: true)
          }
        case 3:
          realm.beginWrite()
          count()
          realm.commitAsyncWrite()
        default: realm.beginAsyncWrite(count)
        }
      }
    }
    for desk in desks {
      _ = desk.run { realm in
        realm.writeAsync {
        } onComplete: { _ in
          desk.note("end")
        }
      }
      _ = await desk.notes(1)
    }
    for desk in desks {
      desk.run { realm in
        realm.refresh()
        #expect(
          realm.object(ofType: SpecPerson.self, forPrimaryKey: 0)?.age == expected, "seed \(seed)")
      }
    }
  }
}
