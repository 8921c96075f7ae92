import Foundation
import Synchronization

/// An engine that can commit on many threads at a time.
protocol SharedCommitting: SmallCommitting {
  /// Sets one age in one transaction, on any thread; returns when that survives a power loss.
  func commitShared(_ change: AgeChange) throws
}

extension SharedCommitting {
  func commitShared(_ change: AgeChange) throws { try commit([change], isDurable: true) }
}

/// Durable changes of one row each, by one thread and by many.
struct SharedCommits: Workload {
  let people: People
  let seed: UInt64
  /// How many commits one thread makes; many make more of them together.
  let commitsPerRound: Int
  private static let threadCounts = [1, 8, 64]

  var id: String { "W14" }
  var title: String { "durable transactions of many threads" }
  var start: Contents { .changedPeople }
  var end: Contents { .changedPeople }

  func suits(_ engine: any Engine.Type) -> Bool { engine is any SharedCommitting.Type }

  func measure(_ engine: any Engine, round: Int) throws -> [Figure] {
    guard let engine = engine as? any SharedCommitting & PointReading else { return [] }
    // Whoever is measured first does not pay for the others.
    _ = try rate(engine, threadCount: 4, round: 2 * round + 1)
    let rates = try Self.threadCounts.map { try rate(engine, threadCount: $0, round: 2 * round) }
    var figures = zip(Self.threadCounts, rates).map { count, rate in
      Figure(
        Measure(
          workload: id,
          variant: "transactions of \(count) \(count == 1 ? "thread" : "threads")",
          unit: "k/s", isRate: true), rate)
    }
    if let most = rates.last, let one = rates.first {
      figures.append(
        Figure(
          Measure(
            workload: id, variant: "transactions: 64 threads, as many times as fast as one",
            unit: "times",
            isRate: true, aims: [.limit(8)]), most / one))
    }
    return figures
  }

  /// Thousands of commits per second.
  private func rate(
    _ engine: any SharedCommitting & PointReading, threadCount: Int, round: Int
  ) throws -> Double {
    let count = max(1, commitsPerRound * (threadCount < 8 ? 1 : 8) / threadCount)
    let committers = (0..<threadCount).map { index in
      Committer(
        engine, count: count,
        keys: stride(from: index, to: people.count, by: threadCount),
        seed: seed &+ UInt64(round * 100 + index))
    }
    for committer in committers { committer.start() }
    for committer in committers { committer.waitUntilReady() }
    let stopwatch = Stopwatch()
    for committer in committers { committer.go() }
    for committer in committers { try committer.join() }
    let seconds = stopwatch.seconds
    var ages: [Int64: Int64] = [:]
    for committer in committers { ages.merge(committer.ages) { $1 } }
    let keys = Array(ages.keys)
    let found = try engine.readAges(of: keys)
    try WrongAnswer.unless(found == keys.map { ages[$0] ?? -1 }, engine, self)
    return Double(count * threadCount) / seconds / 1e3
  }
}

/// A thread that commits ages of keys that are its own.
private final class Committer: Sendable {
  // Not Sendable: engines may be written by several threads, which is what this is about.
  nonisolated(unsafe) private let engine: any SharedCommitting
  private let changes: [AgeChange]
  private let failure = Mutex<(any Error)?>(nil)
  private let ready = DispatchSemaphore(value: 0)
  private let begun = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)

  init(
    _ engine: any SharedCommitting, count: Int, keys: StrideTo<Int>, seed: UInt64
  ) {
    self.engine = engine
    var random = RandomBits(seed: seed)
    let keys = Array(keys)
    changes = (0..<count).map { _ in
      AgeChange(
        key: Int64(keys[Int.random(in: keys.indices, using: &random)]),
        age: Int64.random(in: 0..<100, using: &random))
    }
  }

  /// What its changes leave.
  var ages: [Int64: Int64] { Dictionary(changes.map { ($0.key, $0.age) }) { $1 } }

  func start() {
    let thread = Thread { self.run() }
    thread.stackSize = 1 << 20
    thread.start()
  }

  func waitUntilReady() { ready.wait() }

  func go() { begun.signal() }

  func join() throws {
    ended.wait()
    if let failure = failure.withLock({ $0 }) { throw failure }
  }

  private func run() {
    defer { ended.signal() }
    ready.signal()
    begun.wait()
    do {
      for change in changes { try engine.commitShared(change) }
    } catch {
      failure.withLock { $0 = error }
    }
  }
}
