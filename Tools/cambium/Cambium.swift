import ArgumentParser

/// The command line: looks into stores, proves and shrinks them, offline.
@main
struct CambiumTool: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cambium",
    abstract: "Inspects, verifies, compacts and copies Cambium stores.",
    discussion: """
      Every command takes the path of a store, or its kind and path ('file:PATH', 'rocksdb:PATH'),
      prints for people by default and JSON with --json, and exits with a status other than 0 and one
      clear line when something is wrong.
      """,
    subcommands: [
      InspectCommand.self, VerifyCommand.self, CompactCommand.self, CopyCommand.self,
      DigestCommand.self,
    ])

  static func main() {
    Stores.register()
    Codecs.register()
    main(nil)
  }
}
