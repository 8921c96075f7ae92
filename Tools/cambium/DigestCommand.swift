import ArgumentParser
import CambiumCore

/// `cambium digest PATH`: one number for all that a store holds.
struct DigestCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "digest",
    abstract: "Prints one number for all that a store holds, whatever its kind and codec.",
    discussion: """
      Equal content gives equal digests: names, columns, keys and values count; pages, versions and \
      what was deleted do not. A guard against accidents, not against forgery.
      """)

  @OptionGroup var options: CommonOptions

  func run() throws {
    try options.reportingErrors {
      let location = try options.location()
      let progress = options.progress
      defer { progress.finish() }
      let digest = try OfflineStore.withDatabase(location, key: options.key()) { database in
        try database.snapshot().contentDigest { progress.show("reading", $0, of: nil, "rows") }
      }
      progress.finish()
      if options.json {
        try Output.json(Digest(path: location.path, digest: "\(digest)"))
      } else {
        Output.line("\(digest)")
      }
    }
  }

  private struct Digest: Encodable {
    var path, digest: String
  }
}
