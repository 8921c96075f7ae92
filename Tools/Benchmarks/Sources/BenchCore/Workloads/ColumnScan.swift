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
    var stopwatch = Stopwatch()
    let count = try engine.count(ofAgesIn: ages)
    let counting = stopwatch.seconds * 1e3
    stopwatch = Stopwatch()
    let sum = try engine.sumOfScores()
    let adding = stopwatch.seconds * 1e3
    try WrongAnswer.unless(count == expectedCount, engine, self)
    try WrongAnswer.unless(abs(sum - expectedSum) <= expectedSum * 1e-9, engine, self)
    return [
      Figure(name: "scan-count-age", value: counting, unit: "ms"),
      Figure(name: "scan-sum-score", value: adding, unit: "ms"),
    ]
  }
}
