/// An engine that can look at every record.
protocol ColumnScanning: Engine {
  /// Counts the people whose age lies in `range`.
  func count(ofAgesIn range: Range<Int64>) throws -> Int

  /// Adds up all scores, in an order of the engine's choice.
  func sumOfScores() throws -> Double
}

/// Scans one integer column for a range, and adds up one column of doubles.
struct ColumnScan: Workload {
  private let ages: Range<Int64> = 30..<40
  private let expectedCount: Int
  private let expectedSum: Double

  /// Finds the right answers first.
  init(people: People) {
    expectedCount = people.count(ofAgesIn: ages)
    expectedSum = people.scoreSum
  }

  var name: String { "scan" }
  var start: Contents { .people }
  var end: Contents { .people }
  var yardstick: Yardstick { .engine(LMDBEngine.name) }

  func suits(_ engine: any Engine.Type) -> Bool { engine is any ColumnScanning.Type }

  func measure(_ engine: any Engine, round: Int) throws -> [Figure] {
    guard let engine = engine as? any ColumnScanning else { return [] }
    let counts = try repeated { try engine.count(ofAgesIn: ages) }
    let sums = try repeated { try engine.sumOfScores() }
    for count in counts.results {
      try WrongAnswer.unless(count == expectedCount, engine, self)
    }
    for sum in sums.results {
      try WrongAnswer.unless(abs(sum - expectedSum) <= expectedSum * 1e-9, engine, self)
    }
    return [
      Figure(name: "scan-count-age", value: counts.milliseconds, unit: "ms"),
      Figure(name: "scan-sum-score", value: sums.milliseconds, unit: "ms"),
    ]
  }

  /// Scans several times and takes the median: one scan is too short for a single look at the clock,
  /// and a column that is asked for again is what a scan mostly meets.
  private func repeated<Result>(
    _ scan: () throws -> Result
  ) rethrows -> (results: [Result], milliseconds: Double) {
    var results: [Result] = []
    let times = try (0..<5).map { _ in
      let stopwatch = Stopwatch()
      results.append(try scan())
      return stopwatch.seconds * 1e3
    }
    return (results, times.quantile(0.5))
  }
}
