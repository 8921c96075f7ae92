/// An engine that can make small transactions.
protocol SmallCommitting: Engine {
  /// Appends one person and returns when that survives a power loss, or at once if it need not.
  func commitAppend(_ person: Person, isDurable: Bool) throws

  /// Sets one person's age and returns when that survives a power loss, or at once if it need not.
  func commitUpdate(key: Int64, age: Int64, isDurable: Bool) throws
}

/// Appends one row per transaction, then updates one random row per transaction.
struct SmallCommits: Workload {
  let people: People
  let commitsPerRound: Int
  let seed: UInt64
  /// Whether each transaction is synced; otherwise what is measured is the engines' own work.
  let isDurable: Bool
  /// The first person that nobody has appended yet.
  let firstPerson: Int

  var name: String { isDurable ? "commit" : "commit-nosync" }
  var start: Contents { .changedPeople }
  var end: Contents { .changedPeople }
  var yardstick: Yardstick {
    isDurable ? .floor(FloorEngine.name) : .engine(LMDBEngine.name)
  }

  func suits(_ engine: any Engine.Type) -> Bool {
    engine is any SmallCommitting.Type && (isDurable || engine != FloorEngine.self)
  }

  func measure(_ engine: any Engine, round: Int) throws -> [Figure] {
    guard let engine = engine as? any SmallCommitting else { return [] }
    let first = firstPerson + round * commitsPerRound
    let appends = try latencies {
      try engine.commitAppend(people[first + $0], isDurable: isDurable)
    }
    var random = RandomBits(seed: seed &+ UInt64(round))
    let updates = try latencies { _ in
      try engine.commitUpdate(
        key: Int64.random(in: 0..<Int64(people.count), using: &random),
        age: Int64.random(in: 0..<100, using: &random), isDurable: isDurable)
    }
    let suffix = isDurable ? "" : "-nosync"
    return [
      Figure(name: "commit-append\(suffix)", value: appends.quantile(0.5), unit: "µs"),
      Figure(name: "commit-append\(suffix)-p99", value: appends.quantile(0.99), unit: "µs"),
      Figure(name: "commit-update\(suffix)", value: updates.quantile(0.5), unit: "µs"),
      Figure(name: "commit-update\(suffix)-p99", value: updates.quantile(0.99), unit: "µs"),
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
