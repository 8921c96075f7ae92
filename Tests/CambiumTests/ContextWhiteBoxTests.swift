import CambiumCore
import Dispatch
import Foundation
import Synchronization
import Testing

@testable import Cambium

/// What the contexts of the object layer promise to the engine.
@Suite struct ContextWhiteBoxTests {
  @Test func `a thread with a run loop is woken`() {
    let found = DispatchSemaphore(value: 0)
    let place = Mutex<Smuggled<(context: ThreadContext, port: Timer)>?>(nil)
    Thread {
      // A loop without anything to wait for returns at once.
      let port = Smuggled(value: Timer(timeInterval: 3600, repeats: true) { _ in })
      RunLoop.current.add(port.value, forMode: .default)
      RunLoop.current.add(
        Timer(timeInterval: 0, repeats: false) { _ in
          place.withLock { $0 = Smuggled(value: (.current, port.value)) }
          found.signal()
        }, forMode: .default)
      _ = RunLoop.current.run(mode: .default, before: .distantFuture)
      found.signal()
    }.start()
    found.wait()
    guard let woken = place.withLock({ $0 }) else { return }
    let context = woken.value.context
    #expect(!context.isCurrent && context.canBeWoken)
    context.run {
      #expect(context.isCurrent)
      woken.value.port.invalidate()
    }
    found.wait()
  }

  @Test func `a thread without a run loop is not woken, nor one that has ended`() throws {
    let ended = try onAnotherThread {
      let context = ThreadContext.current
      #expect(context.isCurrent && !context.canBeWoken && context.ownThread != nil)
      return context
    }
    let other = try onAnotherThread {
      #expect(!ended.isCurrent)
      return ThreadContext.current.identity
    }
    #expect(!ended.canBeWoken && ended.identity != other)
  }

  @Test func `queues with equal labels are told apart, before and after they are known`() {
    let queues = (0..<2).map { _ in DispatchQueue(label: "realm") }
    let inner = DispatchQueue(label: "realm", target: queues[0])
    let contexts = queues.map { QueueContext($0) }
    for _ in 0..<2 {
      #expect(contexts.map(\.isCurrent) == [false, false])
      for (index, queue) in queues.enumerated() {
        let isCurrent = queue.sync { contexts.map(\.isCurrent) }
        #expect(isCurrent == [index == 0, index == 1])
      }
      let isCurrentInside = inner.sync { contexts.map(\.isCurrent) }
      #expect(isCurrentInside == [true, false])
      let isCurrentNested = queues[0].sync { queues[1].sync { contexts.map(\.isCurrent) } }
      #expect(isCurrentNested == [false, true])
      // Behind what was given to the queues when they became contexts.
      for queue in queues { queue.sync {} }
    }
    #expect(QueueContext(queues[0]).identity == contexts[0].identity)
    #expect(contexts[0].identity != contexts[1].identity)
    #expect(contexts.allSatisfy { $0.ownThread == nil && $0.canBeWoken })
  }

  @Test func `jobs reach queues, the main queue and actors`() async {
    let queue = QueueContext(DispatchQueue(label: "realm"))
    let actor = Home()
    let contexts: [any RealmContext] = [queue, MainContext.shared, ActorContext(actor)]
    for context in contexts {
      #expect(context.canBeWoken && context.isAlive)
      let isCurrent = await withCheckedContinuation { continuation in
        context.run { continuation.resume(returning: context.isCurrent) }
      }
      #expect(isCurrent, "\(context.identity)")
      #expect(contexts.filter { $0.identity == context.identity }.count == 1)
    }
    withExtendedLifetime(actor) {}
  }

  @Test func `the context of an actor does not keep it`() async {
    var actor: Home? = Home()
    let context = actor.map { ActorContext($0) }
    #expect(context?.isAlive == true && context?.isCurrent == false)
    actor = nil
    #expect(
      context?.isAlive == false && context?.canBeWoken == false && context?.isCurrent == false)
  }

  @Test func `an actor that brings its executor is recognised`() async {
    let home = QueueHome()
    let context = ActorContext(home)
    #expect(!context.isCurrent)
    #expect(await home.isCurrent(context))
  }
}

private actor Home {}

/// Runs an actor's jobs on a queue.
private final class QueueExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "home")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}

private actor QueueHome {
  private let executor = QueueExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  func isCurrent(_ context: ActorContext) -> Bool { context.isCurrent }
}
