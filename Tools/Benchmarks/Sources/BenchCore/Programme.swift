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
  static let ids = (1...13).map { "W\($0)" }

  /// All workloads, in an order that fills the databases as seldom as possible.
  let workloads: [any Workload]

  init(stock: Stock, rounds: Int, commits: Int) {
    let (people, seed) = (stock.people, stock.seed)
    func smallCommits(_ mode: SmallCommits.Mode, _ turn: Int) -> SmallCommits {
      SmallCommits(
        people: people, commitsPerRound: commits, seed: seed &+ 1000 &+ UInt64(turn), mode: mode,
        firstPerson: people.count + turn * rounds * commits)
    }
    workloads = [
      BulkLoad(people: people, order: .shuffled(people.count, seed: seed &+ 1)),
      BulkLoad(people: people, order: .ascending(people.count)),
      FileSize(folder: stock.folder),
      PointReads(people: people, seed: seed &+ 2, hasRandomKeys: false),
      ColumnScans(people: people),
      TextScans(people: people),
      SortedReads(people: people),
      IndexUse(people: people, seed: seed &+ 8),
      ReadsBesideWriter(people: people, seed: seed &+ 9),
      Opening(people: people, folder: stock.folder, seed: seed &+ 4),
      ReadBeginnings(people: people, seed: seed &+ 5),
      smallCommits(.durable, 0),
      smallCommits(.unsynced, 1),
      smallCommits(.durableOnAgedFile, 0),
      PointReads(people: people, seed: seed &+ 3, hasRandomKeys: true),
      ColumnUpdate(people: people),
      Deletion(people: people, part: .everySecond, folder: stock.folder, seed: seed &+ 6),
      Deletion(people: people, part: .fourFifths, folder: stock.folder, seed: seed &+ 7),
    ]
  }
}
