import ArgumentParser
import Foundation

/// Measures the engine beside LMDB and beside the bare disk.
@main
struct BenchCore: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-core",
    abstract: "Measures the storage engine beside LMDB and beside the bare disk.",
    discussion: """
      Every engine does the same work in this process, in interleaved rounds; medians are shown. \
      Everything is written to a temporary folder that is removed at the end.
      """)

  @Option(help: "How many records to work on.")
  var rows = 1_000_000

  @Option(help: "How many rounds to run.")
  var rounds = 5

  @Option(help: "How many commits of each kind a round makes.")
  var commits = 200

  @Option(help: "The seed of records and orders.")
  var seed: UInt64 = 1

  @Option(help: "Where to make the temporary folder; it should be on a disk.")
  var directory = "/var/tmp"

  @Option(
    parsing: .upToNextOption,
    help: "Run only these: \(BenchCore.workloadNames.joined(separator: ", ")).")
  var only: [String] = []

  @Flag(help: "Print an array of {workload, engine, median, unit} and nothing else.")
  var json = false

  private static let workloadNames = [
    "bulk-append", "point-read", "scan", "commit", "commit-nosync",
  ]
  private static var engines: [any Engine.Type] {
    [
      FloorEngine.self, LMDBEngine.self, CambiumEngine.self,
    ]
  }

  func validate() throws {
    guard rows > 0, rounds > 0, commits > 0 else {
      throw ValidationError("--rows, --rounds and --commits must be at least 1")
    }
    for name in only where !Self.workloadNames.contains(name) {
      throw ValidationError(
        "no workload \(name); there are \(Self.workloadNames.joined(separator: ", "))")
    }
  }

  func run() throws {
    let folder = try TemporaryFolder(in: directory)
    defer { folder.remove() }
    let meter = ProgressLine()
    meter.show("making \(rows) records")
    let people = People(count: rows, seed: seed)
    meter.show("warming up the disk")
    try RawFile.warmUp(in: folder.path, byteCount: max(64 << 20, rows * 512))

    var runner = Runner(
      engines: Self.engines, people: people, folder: folder, rounds: rounds, progress: meter.show)
    defer { runner.close() }
    for workload in workloads(people) where only.isEmpty || only.contains(workload.name) {
      try runner.run(workload)
    }
    meter.clear()

    let names = Self.engines.map { $0.name }
    if json {
      print(try runner.results.json(engines: names))
    } else {
      print("\(rows) records, median of \(rounds) rounds")
      print(runner.results.table(engines: names, subject: CambiumEngine.name))
    }
  }

  private func workloads(_ people: People) -> [any Workload] {
    [
      BulkAppend(people: people),
      PointReads(people: people, seed: seed &+ 1),
      ColumnScan(people: people),
      SmallCommits(
        people: people, commitsPerRound: commits, seed: seed &+ 2, isDurable: true,
        firstPerson: people.count),
      SmallCommits(
        people: people, commitsPerRound: commits, seed: seed &+ 3, isDurable: false,
        firstPerson: people.count + rounds * commits),
    ]
  }
}
