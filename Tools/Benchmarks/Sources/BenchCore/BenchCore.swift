import ArgumentParser
import BenchPicture
import Foundation

/// Measures the engine beside other databases and beside the bare machine.
@main
struct BenchCore: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-core",
    abstract: "Measures the storage engine beside LMDB, RocksDB, SQLite and the bare machine.",
    discussion: """
      Every engine does the same work in this process, in interleaved rounds; medians are shown. \
      Everything is written to a temporary folder that is removed at the end.
      """)

  @Option(parsing: .upToNextOption, help: "How many records to work on; several show growth.")
  var rows = [1_000_000]

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
    help: "Run only these: \(Programme.ids.joined(separator: ", ")).")
  var only: [String] = []

  @Option(
    parsing: .upToNextOption,
    help: "Run only these engines: \(Results.engines.joined(separator: ", ")).")
  var engines: [String] = []

  @Option(help: "A folder where to keep the results, too, as JSON and as pictures.")
  var results: String?

  @Option(help: "The name of the JSON file; there are pictures of 'latest' and 'growth'.")
  var name = "latest"

  @Flag(help: "Print an array of {workload, variant, engine, median, unit, rows} and nothing else.")
  var json = false

  func validate() throws {
    guard rows.allSatisfy({ $0 > 0 }), !rows.isEmpty, rounds > 0, commits > 0 else {
      throw ValidationError("--rows, --rounds and --commits must be at least 1")
    }
    for id in only where !Programme.ids.contains(id) {
      throw ValidationError(
        "no workload \(id); there are \(Programme.ids.joined(separator: ", "))")
    }
    for name in engines where !Results.engines.contains(name) {
      throw ValidationError(
        "no engine \(name); there are \(Results.engines.joined(separator: ", "))")
    }
  }

  func run() throws {
    try Victim.runIfAsked()
    try CompanionProcess.waitIfAsked()
    let folder = try TemporaryFolder(in: directory)
    defer { folder.remove() }
    let meter = ProgressLine()
    var collected = Results()
    for rowCount in rows {
      meter.show("making \(rowCount) records")
      let stock = Stock(people: People(count: rowCount, seed: seed), folder: folder, seed: seed)
      meter.show("warming up the disk")
      try RawFile.warmUp(in: folder.path, byteCount: max(64 << 20, rowCount * 512))
      var runner = Runner(
        engines: Programme.engines.filter { engines.isEmpty || engines.contains($0.name) },
        stock: stock, rounds: rounds, results: collected,
        progress: meter.show)
      defer { runner.close() }
      let programme = Programme(stock: stock, rounds: rounds, commits: commits)
      for workload in programme.workloads where only.isEmpty || only.contains(workload.id) {
        try runner.run(workload.make())
        // A long run that is interrupted has not been for nothing.
        try save(runner.results)
      }
      collected = runner.results
    }
    meter.clear()
    collected.sort()
    try report(collected)
  }

  private func report(_ results: Results) throws {
    if json {
      print(try results.json())
    } else {
      let counts = rows.map(String.init).joined(separator: ", ")
      print("\(counts) records, median of \(rounds) rounds\n")
      print(rows.count > 1 ? results.growthTable() : results.table())
    }
    try save(results)
  }

  /// Writes what there is so far to the folder of results, if one was named.
  private func save(_ unsorted: Results) throws {
    guard let folder = self.results else { return }
    var results = unsorted
    results.sort()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try (try results.json() + "\n").write(
      toFile: "\(folder)/\(name).json", atomically: true, encoding: .utf8)
    try Pictures(of: URL(filePath: folder)).draw()
  }
}
