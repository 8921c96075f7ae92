import ArgumentParser
import CambiumCore
import CambiumFile

/// `cambium verify PATH`: proves that a store is sound, or lists what is not.
struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Proves checksums, order, counts, indexes and backlinks of a whole store.",
    discussion: """
      Also proves that reachable, free and pending extents partition the file. A damaged store gives \
      a list of findings and exit status 1. The store is not changed, unless --repair is given and \
      nothing but the free map is damaged: then that is rebuilt, and the store verified again.

      With --salvage everything that can still be read is written into a new store, with indexes \
      and backlinks made anew, and what is lost is listed. Exit status 1 says that something is. The \
      damaged store is only read.
      """)

  @OptionGroup var options: CommonOptions

  @Flag(help: "Rebuild a damaged free map, so that the store can be written again.")
  var repair = false

  @Option(help: "Write everything that can still be read into a new store at this path.")
  var salvage: String?

  func validate() throws {
    if repair, salvage != nil {
      throw ValidationError("Give either --repair or --salvage: one mends, the other copies.")
    }
  }

  func run() throws {
    if let salvage { return try run(salvaging: salvage) }
    let verification = try options.reportingErrors {
      let location = try options.location()
      let key = try options.key()
      let first = try Verification(location, key: key, progress: options.progress)
      if !repair || first.isSound { return first }
      let progress = options.progress
      defer { progress.finish() }
      let repaired = try FileStore.repairFreeMap(
        path: try Stores.file(location), codec: try options.codec()
      ) { walked in
        progress.show("repairing", walked, of: nil, "bytes")
      }
      progress.finish()
      var second = try Verification(location, key: key, progress: options.progress)
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

  private func run(salvaging output: String) throws {
    let salvaging = try options.reportingErrors {
      try Salvaging(
        path: options.filePath(), codec: options.codecIfKnown(), output: output,
        progress: options.progress)
    }
    if options.json {
      try Output.json(salvaging)
    } else {
      salvaging.printForPeople()
    }
    if !salvaging.losses.isEmpty { throw ExitCode(1) }
  }
}
