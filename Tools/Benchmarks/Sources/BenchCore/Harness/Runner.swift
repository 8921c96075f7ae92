/// Runs workloads on engines in interleaved rounds.
struct Runner {
  /// The results so far.
  private(set) var results: Results

  private let contestants: [Contestant]
  private let stock: Stock
  private let rounds: Int
  private let progress: (String) -> Void

  /// Makes a runner for engines of the given types, whose results join `results`.
  init(
    engines: [any Engine.Type], stock: Stock, rounds: Int, results: Results,
    progress: @escaping (String) -> Void
  ) {
    contestants = engines.map { Contestant(type: $0) }
    self.stock = stock
    self.rounds = rounds
    self.results = results
    self.progress = progress
  }

  /// Runs all rounds of one workload.
  ///
  /// A round lets every engine work once, and each round starts with another engine, so that a
  /// machine that slows down for a while slows all of them.
  mutating func run(_ workload: some Workload) throws {
    let suited = contestants.filter { workload.suits($0.type) }
    let rounds = min(rounds, workload.roundLimit ?? rounds)
    for round in 0..<rounds {
      for turn in suited.indices {
        let contestant = suited[(turn + round) % suited.count]
        progress(
          "\(workload.id) \(workload.title) · round \(round + 1) of \(rounds) · "
            + contestant.type.name)
        let engine = try contestant.prepared(for: workload.start, stock)
        contestant.holds = workload.end
        for figure in try workload.measure(engine, round: round) {
          results.add(figure, engine: contestant.type.name, rows: stock.people.count)
        }
      }
    }
  }

  /// Closes every engine.
  func close() {
    for contestant in contestants { contestant.engine?.close() }
  }
}
