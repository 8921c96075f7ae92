import Foundation

/// Another process that writes to a database until it is killed.
enum Victim {
  /// The engine whose database is written, and where: set by the parent process.
  private static let engineKey = "CAMBIUM_BENCH_VICTIM_ENGINE"
  private static let folderKey = "CAMBIUM_BENCH_VICTIM_FOLDER"
  private static let rowsKey = "CAMBIUM_BENCH_VICTIM_ROWS"

  /// Lets another process open the database of an engine and commit for a while, and kills it.
  static func killWriter(of engine: String, in folder: TemporaryFolder, rows: Int) throws {
    let process = Process()
    process.executableURL = CompanionProcess.executable
    var environment = ProcessInfo.processInfo.environment
    environment[engineKey] = engine
    environment[folderKey] = folder.path + "/" + engine
    environment[rowsKey] = String(rows)
    process.environment = environment
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    // A byte says that enough was committed; no byte, that the process failed.
    let word = try output.fileHandleForReading.read(upToCount: 1)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    if word?.isEmpty ?? true { throw VictimFailure(engine: engine) }
  }

  /// Commits until the process is killed, if this is such a process.
  static func runIfAsked() throws {
    let environment = ProcessInfo.processInfo.environment
    guard let name = environment[engineKey], let folder = environment[folderKey],
      let rows = environment[rowsKey].flatMap(Int64.init),
      let type = Programme.engines.first(where: { $0.name == name }),
      let engine = type.init(folder: folder) as? any SmallCommitting
    else { return }
    try engine.open()
    var random = RandomBits(seed: 7)
    var count = 0
    while true {
      let change = AgeChange(
        key: Int64.random(in: 0..<rows, using: &random),
        age: Int64.random(in: 0..<100, using: &random))
      try engine.commit([change], isDurable: count < 5)
      count += 1
      if count == 500 { FileHandle.standardOutput.write(Data([1])) }
    }
  }
}

/// The process that should have been killed ended by itself.
struct VictimFailure: Error, CustomStringConvertible {
  var engine: String
  var description: String { "the writer of \(engine) that was to be killed ended by itself" }
}
