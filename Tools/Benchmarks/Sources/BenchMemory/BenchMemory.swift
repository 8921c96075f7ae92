import ArgumentParser
import Cambium
import Foundation

/// Shows how much memory large transactions of a Realm over a file take.
@main struct BenchMemory: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-memory",
    abstract: "Runs large transactions, each in a process of its own, and measures its memory.",
    discussion: """
      Shown is the most memory that is the process's own at any time (RssAnon, looked at every 10 ms), which \
      leaves pages of the mapped file out: the system takes those back when it needs them.
      """)

  @Option(help: "How many objects the database has.") var objects = 10_000_000
  @Option(help: "The folder in which a temporary one is made.") var directory = "/var/tmp"
  @Option(
    parsing: .upToNextOption,
    help: "Which steps: \(Step.allCases.map(\.rawValue).joined(separator: ", ")).")
  var only: [Step] = Step.allCases
  @Flag(help: "Writes the results as JSON.") var json = false
  /// Set for the process that does one step.
  @Option(help: .hidden) var step: Step?
  @Option(help: .hidden) var file: String?

  func run() throws {
    if let step, let file { return try measure(step, file) }
    let folder = directory + "/cambium-memory-\(ProcessInfo.processInfo.processIdentifier)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var results: [StepResult] = []
    // Later steps need what earlier ones leave behind.
    for step in Step.allCases where step == .fill || only.contains(step) {
      let result = try inOwnProcess(step, folder + "/people.realm")
      if !json { print(result.line) }
      results.append(result)
    }
    if json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      print(String(decoding: try encoder.encode(results), as: UTF8.self))
    }
    if !results.allSatisfy(\.isWithin) { throw ExitCode.failure }
  }

  private func inOwnProcess(_ step: Step, _ file: String) throws -> StepResult {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--step", step.rawValue, "--file", file, "--objects", "\(objects)"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw ExitCode(process.terminationStatus) }
    return try JSONDecoder().decode(StepResult.self, from: data)
  }

  private func measure(_ step: Step, _ file: String) throws {
    let watch = MemoryWatch()
    let duration = try ContinuousClock().measure { try step.run(file, objects) }
    let result = StepResult(
      step: step.rawValue, objects: step == .create ? min(objects, 1_000_000) : objects,
      seconds: Double(duration.components.seconds) + Double(duration.components.attoseconds)
        * 1e-18,
      megabytes: watch.end() >> 20, limit: step.limit)
    FileHandle.standardOutput.write(try JSONEncoder().encode(result))
  }
}

/// What one step took.
struct StepResult: Codable {
  var step: String
  var objects: Int
  var seconds: Double
  /// The most memory of the process's own, in MiB.
  var megabytes: Int
  /// What it may be.
  var limit: Int

  var isWithin: Bool { megabytes <= limit }

  var line: String {
    let rate = seconds * 1e9 / Double(objects)
    let name = "\(step), \(objects) objects".padding(toLength: 34, withPad: " ", startingAt: 0)
    return name
      + String(format: "%8.1f s %8.0f ns each %6d MiB of %d", seconds, rate, megabytes, limit)
      + (isWithin ? "" : "  TOO MUCH")
  }
}
