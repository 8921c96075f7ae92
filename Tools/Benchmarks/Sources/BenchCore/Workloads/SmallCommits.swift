/// A new age for one person.
struct AgeChange {
  var key: Int64
  var age: Int64
}

/// An engine that can make small transactions.
protocol SmallCommitting: Engine {
  /// Appends one person and returns when that survives a power loss, or at once if it need not.
  func commitAppend(_ person: Person, isDurable: Bool) throws

  /// Sets ages in one transaction and returns when that survives a power loss, or at once if it need
  /// not.
  func commit(_ changes: [AgeChange], isDurable: Bool) throws
}

/// Appends one row per transaction, then updates one random row per transaction.
struct SmallCommits: Workload {
  /// What the commits come after and wait for.
  enum Mode {
    /// Durable, on a file that was just filled.
    case durable
    /// Durable, on a file after as many random updates as there are rows.
    case durableOnAgedFile
    /// Nothing is synced: what is measured is the engines' own work.
    case unsynced
  }

  let people: People
  let commitsPerRound: Int
  let seed: UInt64
  let mode: Mode
  /// The first person that nobody has appended yet.
  let firstPerson: Int

  private var isDurable: Bool { mode != .unsynced }

  var id: String { "W2" }
  var title: String {
    switch mode {
    case .durable: "small durable commits"
    case .durableOnAgedFile: "small durable commits, aged file"
    case .unsynced: "small commits without sync"
    }
  }
  var start: Contents { mode == .durableOnAgedFile ? .agedPeople : .changedPeople }
  var end: Contents { start }

  func suits(_ engine: any Engine.Type) -> Bool {
    if mode == .unsynced, engine == FloorEngine.self { return false }
    return engine is any SmallCommitting.Type
  }

  func measure(_ engine: any Engine, round: Int) throws -> [Figure] {
    guard let engine = engine as? any SmallCommitting else { return [] }
    let first = firstPerson + round * commitsPerRound
    let before = WrittenBytes.count
    let appends = try latencies {
      try engine.commitAppend(people[first + $0], isDurable: isDurable)
    }
    let afterAppends = WrittenBytes.count
    var random = RandomBits(seed: seed &+ UInt64(round))
    var ages: [Int64: Int64] = [:]
    let changes = (0..<commitsPerRound).map { _ in
      let change = AgeChange(
        key: Int64.random(in: 0..<Int64(people.count), using: &random),
        age: Int64.random(in: 0..<100, using: &random))
      ages[change.key] = change.age
      return change
    }
    let updates = try latencies { try engine.commit([changes[$0]], isDurable: isDurable) }
    let afterUpdates = WrittenBytes.count
    try check(engine, first: first, ages)

    var figures =
      latencyFigures("append one row", appends) + latencyFigures("update one row", updates)
    if type(of: engine) == CambiumEngine.self {
      figures += [
        bytes("append one row", before, afterAppends),
        bytes("update one row", afterAppends, afterUpdates),
      ].compactMap(\.self)
    }
    if isDurable, let floor = engine as? FloorEngine {
      for pages in [2, 4, 6] {
        let times = try latencies { _ in try floor.overwrite(pageCount: pages) }
        let measure = Measure(
          workload: id, variant: "floor: overwrite \(pages * 4) KiB and sync" + suffix, unit: "µs")
        figures.append(Figure(measure, times.quantile(0.5)))
      }
    }
    return figures
  }

  private var suffix: String {
    switch mode {
    case .durable: ", durable"
    case .durableOnAgedFile: ", durable, aged file"
    case .unsynced: ", no sync"
    }
  }

  private func latencyFigures(_ variant: String, _ times: [Double]) -> [Figure] {
    let aim: Aim =
      switch mode {
      case .durable: .floorTimes(1.25)
      case .durableOnAgedFile: .floorTimes(1.3)
      case .unsynced: .times(1, LMDBEngine.name)
      }
    return [
      Figure(
        Measure(workload: id, variant: variant + suffix, unit: "µs", aims: [aim]),
        times.quantile(0.5)),
      Figure(
        Measure(workload: id, variant: variant + suffix + ", p99", unit: "µs"),
        times.quantile(0.99)),
    ]
  }

  /// How much was handed to the system per commit.
  private func bytes(_ variant: String, _ before: Int?, _ after: Int?) -> Figure? {
    guard let before, let after else { return nil }
    return Figure(
      Measure(workload: id, variant: variant + suffix + ", written", unit: "KiB"),
      Double(after - before) / 1024 / Double(commitsPerRound))
  }

  /// Reads back what was committed.
  private func check(_ engine: any Engine, first: Int, _ ages: [Int64: Int64]) throws {
    guard let engine = engine as? any PointReading else { return }
    var expected = NameDigest()
    let added = (first..<first + commitsPerRound).map { index in
      expected.add(people[index].name)
      return Int64(index)
    }
    try WrongAnswer.unless(try engine.readNames(of: added) == expected, engine, self)
    let keys = Array(ages.keys)
    let found = try engine.readAges(of: keys)
    try WrongAnswer.unless(found == keys.map { ages[$0] ?? -1 }, engine, self)
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
