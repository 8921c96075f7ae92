/// An engine whose reads begin with a snapshot.
protocol SnapshotTaking: Engine {
  /// Begins and ends a read `count` times, nothing else being open.
  func beginReads(_ count: Int) throws
}

/// An engine that hands out further handles on the version that a reader has open.
protocol Freezing: Engine {
  /// Makes and drops `count` handles on one version.
  func freeze(_ count: Int) throws
}

/// Begins reads, alone and after each of many commits.
struct ReadBeginnings: Workload {
  let people: People
  let seed: UInt64
  private static let count = 100_000

  var id: String { "W13" }
  var title: String { "begin a read" }
  var start: Contents { .changedPeople }
  var end: Contents { .changedPeople }

  init(people: People, seed: UInt64) {
    self.people = people
    self.seed = seed
  }

  func suits(_ engine: any Engine.Type) -> Bool { engine is any SnapshotTaking.Type }

  func measure(_ engine: any Engine, round: Int) throws -> [Figure] {
    guard let engine = engine as? any SnapshotTaking else { return [] }
    var figures = [
      Figure(
        Measure(workload: id, variant: "begin and end a read", unit: "ns", aims: [.limit(50)]),
        try timed { try engine.beginReads($0) })
    ]
    if let freezing = engine as? any Freezing {
      figures.append(
        Figure(
          Measure(
            workload: id, variant: "freeze: another handle on an open version", unit: "ns",
            aims: [.limit(100)]), try timed { try freezing.freeze($0) }))
    }
    if let writing = engine as? any SmallCommitting {
      figures.append(
        Figure(
          Measure(workload: id, variant: "begin a read after a commit", unit: "ns"),
          try afterCommits(engine, writing, round)))
    }
    return figures
  }

  private func timed(_ work: (Int) throws -> Void) rethrows -> Double {
    let times = try (0..<3).map { _ in
      let stopwatch = Stopwatch()
      try work(Self.count)
      return stopwatch.seconds * 1e9 / Double(Self.count)
    }
    return times.quantile(0.5)
  }

  private func afterCommits(
    _ engine: any SnapshotTaking, _ writing: any SmallCommitting, _ round: Int
  ) throws -> Double {
    var random = RandomBits(seed: seed &+ UInt64(round))
    let times = try (0..<500).map { _ in
      let change = AgeChange(
        key: Int64.random(in: 0..<Int64(people.count), using: &random),
        age: Int64.random(in: 0..<100, using: &random))
      try writing.commit([change], isDurable: false)
      let stopwatch = Stopwatch()
      try engine.beginReads(1)
      return stopwatch.seconds * 1e9
    }
    return times.quantile(0.5)
  }
}
