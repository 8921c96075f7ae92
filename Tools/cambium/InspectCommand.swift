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
      let location = try options.location()
      let inspection = try OfflineStore.withDatabase(location, key: options.key()) { database in
        try Inspection(database: database, path: location.path, progress: options.progress)
      }
      if options.json {
        try Output.json(inspection)
      } else {
        inspection.printForPeople()
      }
    }
  }
}
