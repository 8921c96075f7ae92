import ArgumentParser
import CambiumCore
import CambiumFile
import Foundation

/// Shows how large a file becomes while old versions are pinned and rows are changed one by one.
@main struct BenchSpace: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-space",
    abstract: "Pins versions, changes rows one by one and compares the file with what it may take.")

  @Option(help: "How many rows the table has.") var rows = 1_000_000
  @Option(help: "How many transactions change one row each.") var commits = 1_000_000
  @Option(help: "How many versions are pinned where several are.") var pins = 100
  @Option(help: "Which situations: \(Situation.allCases.map(\.rawValue).joined(separator: ", ")).")
  var only: [Situation] = Situation.allCases
  @Option(help: "The folder in which a temporary one is made.") var directory = "/var/tmp"
  @Flag(help: "Writes the samples as JSON.") var json = false
  /// Set for the process that pins a version for another one.
  @Option(help: .hidden) var hold: String?

  func run() throws {
    if let hold { return try Holder.hold(hold) }
    let folder = directory + "/cambium-space-\(ProcessInfo.processInfo.processIdentifier)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var reports: [Report] = []
    for situation in only {
      var course = try Course(
        situation, folder: folder, rowCount: rows, commitCount: commits, pinCount: pins)
      let report = try course.run { sample in
        if !json { print(sample.line) }
      }
      if !json { print(report.line + "\n") }
      reports.append(report)
    }
    if json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      print(String(decoding: try encoder.encode(reports), as: UTF8.self))
    }
    if !reports.allSatisfy(\.isWithin) { throw ExitCode.failure }
  }
}

/// Who pins what while rows are changed.
enum Situation: String, CaseIterable, ExpressibleByArgument, Codable {
  /// Nobody pins anything.
  case none
  /// The version before the first change, for all the time.
  case one
  /// Many versions, a thousand commits apart at first, which are let go in random order.
  case staggered
  /// The version before the first change, in another process.
  case process
  /// The same, and the writer closes the file and opens it again every now and then.
  case reopen
}
