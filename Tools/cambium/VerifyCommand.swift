import ArgumentParser
import CambiumCore
import CambiumFile

/// `cambium verify PATH`: proves that a store is sound, or lists what is not.
struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Proves checksums, order, counts, indexes and backlinks of a whole store.",
    discussion: """
      Also proves that reachable, free and pending extents partition the file. A damaged store gives
      a list of findings and exit status 1. The store is not changed, unless --repair is given and
      nothing but the free map is damaged: then that is rebuilt, and the store verified again.
      """)

  @OptionGroup var options: CommonOptions

  @Flag(help: "Rebuild a damaged free map, so that the store can be written again.")
  var repair = false

  func run() throws {
    let verification = try options.reportingErrors {
      let first = try Verification(path: options.path, progress: options.progress)
      if !repair || first.isSound { return first }
      let progress = options.progress
      let repaired = try FileStore.repairFreeMap(path: options.path) { walked in
        progress.show("repairing", Output.bytes(walked))
      }
      progress.finish()
      var second = try Verification(path: options.path, progress: options.progress)
      second.repaired = repaired
      return second
    }
    if options.json {
      try Output.json(verification)
    } else {
      verification.printForPeople()
    }
    if !verification.findings.isEmpty { throw ExitCode(1) }
  }
}
