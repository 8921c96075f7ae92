/// Work that is too short for a single look at the clock, done several times.
struct Repeated<Result> {
  /// What each time gave.
  private(set) var results: [Result] = []
  /// The median of the times.
  let seconds: Double

  /// Does `work` `count` times.
  init(_ count: Int, _ work: () throws -> Result) rethrows {
    var times: [Double] = []
    for _ in 0..<count {
      let stopwatch = Stopwatch()
      let result = try work()
      times.append(stopwatch.seconds)
      results.append(result)
    }
    seconds = times.quantile(0.5)
  }
}
