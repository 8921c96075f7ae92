import ArgumentParser
import CambiumCore

/// `cambium inspect PATH`: what is in a store, and what it costs.
struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Shows what a store holds: versions, sizes, trees, and per class its columns.")

  @OptionGroup var options: CommonOptions

  func run() throws {
    try options.reportingErrors {
      let inspection = try OfflineStore.withDatabase(
        path: options.path, codec: options.codec()
      ) { database in
        try Inspection(database: database, path: options.path, progress: options.progress)
      }
      if options.json {
        try Output.json(inspection)
      } else {
        inspection.printForPeople()
      }
    }
  }
}
