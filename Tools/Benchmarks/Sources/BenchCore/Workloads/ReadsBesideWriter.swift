import Foundation
import Synchronization

/// Point reads, a hundred per snapshot, alone and beside a writer that commits at a fixed rate.
struct ReadsBesideWriter: Workload {
  let people: People
  let seed: UInt64
  private static let readsPerSnapshot = 100
  private static let seconds = 1.0
  private static let commitsPerSecond = 1000

  var id: String { "W10" }
  var title: String { "reads beside a writer" }
  var start: Contents { .changedPeople }
  var end: Contents { .changedPeople }

  init(people: People, seed: UInt64) {
    self.people = people
    self.seed = seed
  }

  func suits(_ engine: any Engine.Type) -> Bool {
    engine is any PointReading.Type && engine is any SmallCommitting.Type
  }

  func measure(_ engine: any Engine, round: Int) throws -> [Figure] {
    guard let engine = engine as? any PointReading & SmallCommitting else { return [] }
    // What both threads use is made before they part.
    _ = try engine.readNames(of: people.sampleKeys)
    try engine.commit([], isDurable: false)
    let alone = try read(engine, round)
    let writer = PacedWriter(
      engine, rows: people.count, perSecond: Self.commitsPerSecond, seed: seed &+ UInt64(round))
    writer.start()
    let beside = Result { try read(engine, round) }
    let (commitRate, ages) = try writer.stop()
    let both = try beside.get()
    let keys = Array(ages.keys)
    let found = try engine.readAges(of: keys)
    try WrongAnswer.unless(found == keys.map { ages[$0] ?? -1 }, engine, self)
    func figure(_ variant: String, _ value: Double, _ unit: String, _ aims: [Aim] = []) -> Figure {
      Figure(
        Measure(
          workload: id, variant: variant, unit: unit, isRate: unit == "k/s", aims: aims), value)
    }
    let name = "beside \(Self.commitsPerSecond) commits a second"
    return [
      figure("point reads, \(Self.readsPerSnapshot) per snapshot, alone", alone.rate, "k/s"),
      figure("point reads \(name)", both.rate, "k/s", [.timesBestPeer(1.2)]),
      figure("\(Self.readsPerSnapshot) reads alone, p99.9", alone.tail, "µs"),
      figure("\(Self.readsPerSnapshot) reads \(name), p99.9", both.tail, "µs"),
      figure("commits of that writer", commitRate / 1e3, "k/s"),
    ]
  }

  /// Thousands of reads per second, and the microseconds of the slowest snapshots.
  private func read(
    _ engine: any PointReading, _ round: Int
  ) throws -> (rate: Double, tail: Double) {
    var random = RandomBits(seed: seed &+ 100 &+ UInt64(round))
    var times: [Double] = []
    var total = 0.0
    while total < Self.seconds {
      var expected = NameDigest()
      let keys = (0..<Self.readsPerSnapshot).map { _ in
        let row = Int.random(in: 0..<people.count, using: &random)
        expected.add(people.name(of: row))
        return Int64(row)
      }
      let stopwatch = Stopwatch()
      let digest = try engine.readNames(of: keys)
      let seconds = stopwatch.seconds
      total += seconds
      times.append(seconds * 1e6)
      try WrongAnswer.unless(digest == expected, engine, self)
    }
    return (
      Double(times.count * Self.readsPerSnapshot) / total / 1e3, times.quantile(0.999)
    )
  }
}

/// Commits on a thread of its own, at a fixed rate as long as it keeps up.
private final class PacedWriter: Sendable {
  private struct State {
    var isStopped = false
    var rate = 0.0
    var ages: [Int64: Int64] = [:]
    var failure: (any Error)?
  }

  // Not Sendable: engines are written by one thread and read by another, which all of them allow.
  nonisolated(unsafe) private let engine: any SmallCommitting
  private let rows: Int
  private let perSecond: Int
  private let seed: UInt64
  private let state = Mutex(State())
  private let finished = DispatchSemaphore(value: 0)

  init(_ engine: any SmallCommitting, rows: Int, perSecond: Int, seed: UInt64) {
    self.engine = engine
    self.rows = rows
    self.perSecond = perSecond
    self.seed = seed
  }

  func start() {
    let thread = Thread { self.run() }
    thread.stackSize = 8 << 20
    thread.start()
  }

  /// Ends the thread; returns how often it committed per second, and the ages it left.
  func stop() throws -> (rate: Double, ages: [Int64: Int64]) {
    state.withLock { $0.isStopped = true }
    finished.wait()
    return try state.withLock { state in
      if let failure = state.failure { throw failure }
      return (state.rate, state.ages)
    }
  }

  private func run() {
    defer { finished.signal() }
    var random = RandomBits(seed: seed)
    let stopwatch = Stopwatch()
    var count = 0
    while !state.withLock({ $0.isStopped }) {
      let wait = Double(count) / Double(perSecond) - stopwatch.seconds
      if wait > 0 { usleep(UInt32(wait * 1e6)) }
      let change = AgeChange(
        key: Int64.random(in: 0..<Int64(rows), using: &random),
        age: Int64.random(in: 0..<100, using: &random))
      do {
        try engine.commit([change], isDurable: false)
      } catch {
        state.withLock { $0.failure = error }
        return
      }
      count += 1
      state.withLock { state in
        state.rate = Double(count) / stopwatch.seconds
        state.ages[change.key] = change.age
      }
    }
  }
}
