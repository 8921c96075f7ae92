import ArgumentParser
import CambiumCore

/// `cambium verify PATH`: proves that a store is sound, or lists what is not.
struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Proves checksums, order, counts, indexes and backlinks of a whole store.",
    discussion: """
      Also proves that reachable, free and pending extents partition the file. A damaged store gives
      a list of findings and exit status 1. The store is not changed.
      """)

  @OptionGroup var options: CommonOptions

  func run() throws {
    let verification = try options.reportingErrors {
      try Verification(path: options.path, progress: options.progress)
    }
    if options.json {
      try Output.json(verification)
    } else {
      verification.printForPeople()
    }
    if !verification.findings.isEmpty { throw ExitCode(1) }
  }
}
