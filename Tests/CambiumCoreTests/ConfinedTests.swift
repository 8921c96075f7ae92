import CambiumCore
import CambiumMemory
import Foundation
import Synchronization
import TestSupport
import Testing

/// A program's own context: jobs that wait until somebody runs them.
private final class EventLoop: ExecutionContext {
  private struct State {
    var jobs: [@Sendable () -> Void] = []
    var runner: ObjectIdentifier?
    var isOpen = true
  }

  private let state = Mutex(State())

  var identity: ContextIdentity { ContextIdentity(kind: "loop", of: self) }
  var isCurrent: Bool { state.withLock { $0.runner == ObjectIdentifier(Thread.current) } }
  var canBeWoken: Bool { state.withLock { $0.isOpen } }
  func run(_ job: @escaping @Sendable () -> Void) { state.withLock { $0.jobs.append(job) } }

  /// Runs what waits; how many jobs that were.
  @discardableResult func turn() -> Int {
    let jobs = state.withLock { state in
      defer { state.jobs = [] }
      return state.jobs
    }
    perform { for job in jobs { job() } }
    return jobs.count
  }

  /// Runs `body` as a job.
  func perform<Result>(_ body: () throws -> Result) rethrows -> Result {
    state.withLock { $0.runner = ObjectIdentifier(Thread.current) }
    defer { state.withLock { $0.runner = nil } }
    return try body()
  }

  func close() { state.withLock { $0.isOpen = false } }
}

/// Says when it ends, and where.
private final class Ending {
  private let note: @Sendable () -> Void
  init(_ note: @escaping @Sendable () -> Void) { self.note = note }
  deinit { note() }
}

private final class Ends: Sendable {
  let list = Mutex<[Bool]>([])
}

@Suite struct ConfinedTests {
  @Test func `a transaction belongs to a loop of the program's own`() throws {
    let database = try Database(store: MemoryStore())
    let loop = EventLoop()
    let draft = Confined(try database.beginWrite(), to: loop)
    draft.run { transaction in try? transaction.setValue("note", [1]) }
    draft.run { transaction in try? transaction.setValue("note", [2]) }
    #expect(try database.snapshot().value("note") == nil)
    #expect(loop.turn() == 2)
    try loop.perform { try draft.withValue { _ = try $0.commit() } }
    #expect(try database.snapshot().value("note") == [2])
  }

  @Test func `a value changes in place and gives what it is asked for`() {
    let loop = EventLoop()
    let numbers = Confined([1, 2], to: loop)
    let sum = loop.perform {
      numbers.withValue { $0.append(3) }
      return numbers.withValue { $0.reduce(0, +) }
    }
    #expect(sum == 6)
  }

  @Test func `use elsewhere stops and names the context`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let loop = EventLoop()
      let other = EventLoop()
      let value = Confined(1, to: loop)
      other.perform { value.withValue { $0 += 1 } }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("A value that belongs to loop "), "\(text.prefix(600))")
    #expect(text.contains("run(_:)"))
  }

  @Test func `a value ends in its context where that can be reached`() {
    let loop = EventLoop()
    let ends = Ends()
    func make() -> Confined<Ending> {
      Confined(Ending { ends.list.withLock { $0.append(loop.isCurrent) } }, to: loop)
    }
    _ = make()
    #expect(ends.list.withLock { $0 } == [])
    loop.turn()
    #expect(ends.list.withLock { $0 } == [true])
    loop.perform { _ = make() }
    #expect(ends.list.withLock { $0 } == [true, true])
    loop.close()
    _ = make()
    #expect(ends.list.withLock { $0 } == [true, true, false])
  }

  @Test func `contexts are told apart by kind and number`() {
    let loops = [EventLoop(), EventLoop()]
    #expect(loops[0].identity != loops[1].identity)
    #expect(loops[0].identity == loops[0].identity)
    #expect(
      ContextIdentity(kind: "thread", number: 3) != ContextIdentity(kind: "queue", number: 3))
    #expect("\(ContextIdentity(kind: "thread", number: 3))" == "thread 3")
  }
}
