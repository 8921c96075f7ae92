import ArgumentParser
import Cambium
import CambiumToolKit
import Foundation

/// `cambium export PATH`: objects as documents.
struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes the objects of a store as JSON, JSON lines or CSV.",
    discussion: """
      JSON and JSON lines hold the classes, too, so that 'cambium import' makes the same objects of them:

        cambium export people.realm > people.json
        cambium export people.realm --format lines --output people.jsonl
        cambium export people.realm --class Person --class Dog
        cambium export people.realm --class Person --format csv --output people.csv

      A link is the primary key of its object, or {"$key": 12}, the number of its row, where the class has none. \
      Embedded objects stand in their place. Data is in base64, dates are in ISO 8601. In a CSV file nothing \
      between two commas is null, and "" an empty text; collections are JSON.

      The store may be in use; one version of it is written. --output replaces a file when all is written, but no \
      store. A '.realm' file that Realm wrote is read as well; its content lies in a folder for temporary files \
      meanwhile.
      """)

  @OptionGroup var options: CommonOptions

  @Option(name: .customLong("class"), help: "Only objects of this class; may be repeated.")
  var classNames: [String] = []

  @Option(help: "json, lines (JSON, an object on each line) or csv.")
  var format: DocumentFormat?

  @Option(
    name: .shortAndLong, help: "The file to write; otherwise standard output.", completion: .file())
  var output: String?

  func run() throws {
    try options.reportingErrors {
      if let output, try Stores.holdsStore(output, key: try options.key()) {
        throw TransferError("'\(output)' is a store, which no export replaces; name another file.")
      }
      try options.withRealm { realm in
        let realm = realm.freeze()
        guard let output else { return try write(realm) { Output.bytes($0) } }
        let file = try ReplacedFile(output)
        try write(realm) { try file.write($0) }
        try file.finish()
      }
    }
  }

  private func write(_ realm: Realm, _ write: @escaping ([UInt8]) throws -> Void) throws {
    var export = try Export(realm, classes: classNames, write)
    let progress = options.progress
    let total = export.objectCount
    export.progress = { progress.show("exporting", $0, of: total, "objects") }
    defer { progress.finish() }
    switch format ?? .json {
    case .json: try export.writeJSON()
    case .lines: try export.writeLines()
    case .csv: try export.writeCSV()
    }
  }
}

extension DocumentFormat: ExpressibleByArgument {}
