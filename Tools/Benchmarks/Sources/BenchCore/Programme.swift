/// Who takes part, and in what.
struct Programme {
  /// Everybody.
  static var engines: [any Engine.Type] {
    [
      FloorEngine.self, LMDBEngine.self, RocksDBEngine.self, SQLiteEngine.self,
      CambiumEngine.self,
    ]
  }

  /// The workloads there are.
  static let ids = (1...15).map { "W\($0)" }

  private let stock: Stock
  private let rounds: Int
  private let commits: Int

  init(stock: Stock, rounds: Int, commits: Int) {
    self.stock = stock
    self.rounds = rounds
    self.commits = commits
  }

  /// All workloads, in an order that fills the databases as seldom as possible, each made when its
  /// turn comes: many work out the right answers first.
  var workloads: [(id: String, make: () -> any Workload)] {
    let (people, folder, seed) = (stock.people, stock.folder, stock.seed)
    return [
      ("W1", { BulkLoad(people: people, order: .shuffled(people.count, seed: seed &+ 1)) }),
      ("W1", { BulkLoad(people: people, order: .ascending(people.count)) }),
      ("W12", { FileSize(folder: folder) }),
      ("W3", { PointReads(people: people, seed: seed &+ 2, hasRandomKeys: false) }),
      ("W4", { ColumnScans(people: people) }),
      ("W5", { TextScans(people: people) }),
      ("W7", { SortedReads(people: people) }),
      ("W6", { IndexUse(people: people, seed: seed &+ 8) }),
      ("W10", { ReadsBesideWriter(people: people, seed: seed &+ 9) }),
      ("W11", { Opening(people: people, folder: folder, seed: seed &+ 4) }),
      ("W13", { ReadBeginnings(people: people, seed: seed &+ 5) }),
      ("W2", { smallCommits(.durable, 0) }),
      ("W2", { smallCommits(.unsynced, 1) }),
      ("W2", { smallCommits(.durableOnAgedFile, 0) }),
      ("W14", { sharedCommits }),
      ("W15", { Waking(folder: folder) }),
      ("W3", { PointReads(people: people, seed: seed &+ 3, hasRandomKeys: true) }),
      ("W8", { ColumnUpdate(people: people) }),
      ("W9", { deletion(.everySecond, 6) }),
      ("W9", { deletion(.fourFifths, 7) }),
    ]
  }

  private func smallCommits(_ mode: SmallCommits.Mode, _ turn: Int) -> SmallCommits {
    SmallCommits(
      people: stock.people, commitsPerRound: commits, seed: stock.seed &+ 1000 &+ UInt64(turn),
      mode: mode, firstPerson: stock.people.count + turn * rounds * commits)
  }

  private var sharedCommits: SharedCommits {
    SharedCommits(people: stock.people, seed: stock.seed &+ 10, commitsPerRound: 5 * commits)
  }

  private func deletion(_ part: Deletion.Part, _ offset: UInt64) -> Deletion {
    Deletion(
      people: stock.people, part: part, folder: stock.folder, seed: stock.seed &+ offset)
  }
}
