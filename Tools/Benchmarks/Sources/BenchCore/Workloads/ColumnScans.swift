/// An engine that can look at every record.
protocol ColumnScanning: Engine {
  /// Counts the people whose age lies in `range`.
  func count(ofAgesIn range: Range<Int64>) throws -> Int

  /// Adds up all scores, in an order of the engine's choice.
  func sumOfScores() throws -> Double
}

/// Scans one integer column for a range, and adds up one column of doubles.
struct ColumnScans: Workload {
  private let ages: Range<Int64> = 30..<40
  private let expectedCount: Int
  private let expectedSum: Double

  /// Finds the right answers first.
  init(people: People) {
    expectedCount = people.count(ofAgesIn: ages)
    expectedSum = people.scoreSum
  }

  var id: String { "W4" }
  var title: String { "scans" }
  var start: Contents { .people }
  var end: Contents { .people }

  func suits(_ engine: any Engine.Type) -> Bool { engine is any ColumnScanning.Type }

  func measure(_ engine: any Engine, round: Int) throws -> [Figure] {
    guard let engine = engine as? any ColumnScanning else { return [] }
    let counts = try Repeated(5) { try engine.count(ofAgesIn: ages) }
    let sums = try Repeated(5) { try engine.sumOfScores() }
    for count in counts.results {
      try WrongAnswer.unless(count == expectedCount, engine, self)
    }
    for sum in sums.results {
      try WrongAnswer.unless(abs(sum - expectedSum) <= expectedSum * 1e-9, engine, self)
    }
    return [
      Figure(
        Measure(
          workload: id, variant: "count 30 ≤ age < 40", unit: "ms", isPerRun: true,
          aims: [.timesBestPeer(100), .fasterThanFloor]), counts.seconds * 1e3),
      Figure(
        Measure(
          workload: id, variant: "sum of scores", unit: "ms", isPerRun: true,
          aims: [.timesBestPeer(40), .fasterThanFloor]), sums.seconds * 1e3),
    ]
  }
}
