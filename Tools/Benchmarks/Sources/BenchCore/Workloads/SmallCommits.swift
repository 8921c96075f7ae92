/// An engine that can make small durable transactions.
protocol SmallCommitting: Engine {
  /// Appends one person and returns when that survives a power loss.
  func commitAppend(_ person: Person) throws

  /// Sets one person's age and returns when that survives a power loss.
  func commitUpdate(key: Int64, age: Int64) throws
}

/// Appends one row per transaction, then updates one random row per transaction.
struct SmallCommits: Workload {
  let people: People
  let commitsPerRound: Int
  let seed: UInt64

  var name: String { "commit" }
  var start: Contents { .changedPeople }
  var end: Contents { .changedPeople }
  var yardstick: Yardstick { .floor(FloorEngine.name) }

  func suits(_ engine: any Engine.Type) -> Bool { engine is any SmallCommitting.Type }

  func measure(_ engine: any Engine, round: Int) throws -> [Figure] {
    guard let engine = engine as? any SmallCommitting else { return [] }
    let first = people.count + round * commitsPerRound
    let appends = try latencies { try engine.commitAppend(people[first + $0]) }
    var random = RandomBits(seed: seed &+ UInt64(round))
    let updates = try latencies { _ in
      try engine.commitUpdate(
        key: Int64.random(in: 0..<Int64(people.count), using: &random),
        age: Int64.random(in: 0..<100, using: &random))
    }
    return [
      Figure(name: "commit-append", value: appends.quantile(0.5), unit: "µs"),
      Figure(name: "commit-append-p99", value: appends.quantile(0.99), unit: "µs"),
      Figure(name: "commit-update", value: updates.quantile(0.5), unit: "µs"),
      Figure(name: "commit-update-p99", value: updates.quantile(0.99), unit: "µs"),
    ]
  }

  /// The microseconds of each commit.
  private func latencies(of commit: (Int) throws -> Void) rethrows -> [Double] {
    try (0..<commitsPerRound).map { index in
      let stopwatch = Stopwatch()
      try commit(index)
      return stopwatch.seconds * 1e6
    }
  }
}
