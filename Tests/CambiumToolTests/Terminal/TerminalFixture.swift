import Foundation
import TestSupport
import Testing

/// A folder with a store, its backup and documents, for commands that take long enough to show progress.
struct TerminalFixture {
  let folder: TemporaryFolder
  static let rowCount = 5_000

  /// A folder with `people`, a store that the commands of ``makings`` work on, and what they need besides.
  init() throws { try self.init(copying: Self.original.get()) }

  /// Made once; whoever uses it gets a copy.
  private static let original = Result { try TerminalFixture(in: TemporaryFolder()) }

  private init(in folder: TemporaryFolder) throws {
    self.folder = folder
    try Self.writeRows(Self.rowCount, to: folder.file("rows.csv"))
    let made = try run(["import", "rows.csv", "people", "--class", "Person"])
    let backup = try run(["backup", "people", "base.backup"])
    guard made.status == 0, backup.status == 0 else {
      throw PseudoTerminal.Failure(description: made.errors + backup.errors)
    }
  }

  static func writeRows(_ count: Int, to path: String) throws {
    let rows = (0..<count).map { "\($0),name \($0)\n" }.joined()
    try ("id,name\n" + rows).write(toFile: path, atomically: true, encoding: .utf8)
  }

  /// A folder that holds the same.
  init(copying other: TerminalFixture) throws {
    folder = try TemporaryFolder()
    for name in try other.contents() {
      try FileManager.default.copyItem(
        atPath: other.folder.file(name), toPath: folder.file(name))
    }
  }

  /// A command that makes something, and how the name of its draft begins.
  struct Making: CustomTestStringConvertible {
    let arguments: [String]
    let draft: String
    var testDescription: String { arguments.joined(separator: " ") }
  }

  static let makings = [
    Making(arguments: ["compact", "people"], draft: "people.compacting"),
    Making(arguments: ["compact", "people", "--output", "small"], draft: "small.compacting"),
    // Names of one character are names, too.
    Making(arguments: ["copy", "people", "c"], draft: "c.copying"),
    Making(arguments: ["backup", "people", "b"], draft: "b.writing"),
    Making(
      arguments: ["backup", "people", "part", "--incremental", "base.backup"], draft: "part.writing"
    ),
    Making(arguments: ["restore", "base.backup", "restored"], draft: "restored.copying"),
    Making(
      arguments: ["export", "people", "--output", "people.json"], draft: "people.json.writing"),
    Making(arguments: ["import", "rows.csv", "new", "--class", "Row"], draft: "new.copying"),
    Making(arguments: ["verify", "people", "--salvage", "saved"], draft: "saved.copying"),
  ]

  /// What is in the folder.
  func contents() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  /// Runs a command in a pipe, in this folder.
  func run(_ arguments: [String]) throws -> ToolRunner.Outcome {
    try ToolRunner.run(in: folder.path, arguments: arguments)
  }

  /// Starts a command in a terminal, in this folder.
  func start(
    _ arguments: [String], _ terminal: PseudoTerminal,
    redirecting redirection: TerminalProcess.Redirection = "", ignoring ignored: [String] = [],
    environment: [String: String] = [:]
  ) throws -> TerminalProcess {
    try TerminalProcess(
      arguments, in: folder.path, terminal, redirecting: redirection, ignoring: ignored,
      environment: environment)
  }

  /// Runs a command in a terminal with lines of so many characters, in this folder.
  func finished(
    _ arguments: [String], columns: Int = 80,
    redirecting redirection: TerminalProcess.Redirection = "", environment: [String: String] = [:]
  ) throws -> (end: TerminalProcess.End, process: TerminalProcess) {
    let process = try start(
      arguments, try PseudoTerminal(columns: columns), redirecting: redirection,
      environment: environment)
    return (process.end(), process)
  }
}
