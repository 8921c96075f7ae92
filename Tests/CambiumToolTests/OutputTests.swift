import CambiumCore
import CambiumFile
import Foundation
import TestSupport
import Testing

/// What the tool does when its output goes nowhere.
@Suite struct OutputTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("store.cambium")
    try FileStore(path: path).close()
  }

  @Test(arguments: [["inspect"], ["inspect", "--json"], ["verify"], ["digest"], ["compact"]])
  func `output that a full medium refuses is a failure and one line`(arguments: [String]) throws {
    let outcome = try ToolRunner.run(
      redirecting: "> /dev/full", arguments: arguments + [path])
    #expect(outcome.status == 1)
    #expect(outcome.errors == "cambium: Cannot write the output: No space left on device.\n")
  }

  @Test func `so is output without a stream, and help that cannot be shown`() throws {
    let closed = try ToolRunner.run(redirecting: ">&-", arguments: ["inspect", path])
    #expect(closed.status == 1)
    #expect(closed.errors == "cambium: Cannot write the output: Bad file descriptor.\n")
    let help = try ToolRunner.run(redirecting: "> /dev/full", arguments: ["--help"])
    #expect(help.status == 1)
    #expect(help.errors == "cambium: Cannot write the output: No space left on device.\n")
  }

  @Test func `the status of a command that failed stays when its output is lost`() throws {
    let missing = folder.file("missing")
    let outcome = try ToolRunner.run(redirecting: "> /dev/full", arguments: ["inspect", missing])
    #expect(outcome.status == 1)
    #expect(outcome.errors.hasPrefix("cambium: No store at"))
    let usage = try ToolRunner.run(redirecting: "> /dev/full", arguments: ["inspect"])
    #expect(usage.status == 64)
    #expect(usage.errors.contains("Missing expected argument"))
  }

  @Test(arguments: [false, true])
  func `output that nobody reads ends the tool quietly`(ignoringSignal: Bool) throws {
    let outcome = try ToolRunner.runUnread(
      ignoringSignal: ignoringSignal, arguments: ["inspect", path])
    #expect(outcome.status == -SIGPIPE)
    #expect(outcome.errors == "")
  }

  @Test func `help and version of the tool are output, and mistakes are not`() throws {
    let help = try ToolRunner.run("--help")
    #expect(help.status == 0 && help.errors == "")
    #expect(help.output.contains("Looks into Cambium stores, and moves what they hold."))
    let mistake = try ToolRunner.run("inspect", path, "--colour")
    #expect(mistake.status == 64 && mistake.output == "")
    #expect(mistake.errors.contains("Unknown option '--colour'"))
  }
}
