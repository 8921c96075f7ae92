// snippet.hide
import CambiumCore
import CambiumMemory
// snippet.show
import Foundation
import Synchronization

/// The event loop of a program: jobs wait until it turns.
final class EventLoop: ExecutionContext {
  private struct State {
    var jobs: [@Sendable () -> Void] = []
    var runner: ObjectIdentifier?
  }

  private let state = Mutex(State())

  var identity: ContextIdentity { ContextIdentity(kind: "loop", of: self) }

  var isCurrent: Bool { state.withLock { $0.runner == ObjectIdentifier(Thread.current) } }

  var canBeWoken: Bool { true }

  func run(_ job: @escaping @Sendable () -> Void) { state.withLock { $0.jobs.append(job) } }

  /// Runs what waits.
  func turn() {
    let jobs = state.withLock { state in
      precondition(state.runner == nil, "A loop runs one job at a time.")
      state.runner = ObjectIdentifier(Thread.current)
      defer { state.jobs = [] }
      return state.jobs
    }
    for job in jobs { job() }
    state.withLock { $0.runner = nil }
  }
}

// snippet.hide
let database = try Database(store: MemoryStore())
// snippet.next
// snippet.show
let loop = EventLoop()
let draft = Confined(try database.beginWrite(), to: loop)

// An event, on any thread.
draft.run { transaction in try? transaction.setValue("title", Array("Draft".utf8)) }
// Another one, later.
draft.run { transaction in _ = try? transaction.commit() }

loop.turn()
// snippet.hide
print(String(decoding: try database.snapshot().value("title") ?? [], as: UTF8.self))
