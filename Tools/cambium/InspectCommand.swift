import ArgumentParser
import Cambium
import CambiumCore
import CambiumFile
import CambiumRocksDB
import CambiumToolKit

/// `cambium inspect PATH`: what is in a store, and what it costs.
struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Shows what a store holds: versions, sizes, trees, and per class its columns.",
    discussion: """
      Of all classes, of some of them, or with the pages by kind and where they lie:

        cambium inspect people.realm
        cambium inspect people.realm --class Person --json
        cambium inspect people.realm --pages

      Nothing is changed; the store may be in use. Of a '.realm' file that Realm wrote its classes are shown, and \
      how many objects they have.
      """)

  @OptionGroup var options: CommonOptions

  @Option(name: .customLong("class"), help: "Only this class and its trees; may be repeated.")
  var classNames: [String] = []

  @Flag(help: "Show the pages by kind, and a map of where they lie.") var pages = false

  func run() throws {
    try options.reportingErrors {
      var location = try options.location()
      let key = try options.key()
      if RealmFileSummary.isRealmFile(location.path, encryptionKey: key?.data) {
        if pages { throw TransferError("A Realm file has no pages to show; leave --pages out.") }
        var summary = try RealmFileSummary(path: location.path, encryptionKey: key?.data)
        try summary.keep(classes: classNames)
        return options.json ? Output.line(summary.json.pretty) : summary.printForPeople()
      }
      #if RocksDB
        if location.choice.kind == RocksDBStore.kind {
          var settings = RocksDBOptions()
          settings.countsCacheReads = true
          location.choice = .rocksDB(settings)
        }
      #endif
      // Asked before there are any of this process.
      let pins =
        location.choice.kind == "file"
        ? (try? FileStore.inspect(path: location.path).pins) ?? [] : []
      let inspection = try OfflineStore.withStore(location, key: key) { store, database in
        var inspection = try Inspection(
          database: database, path: location.path, pins: pins, progress: options.progress)
        inspection.smallCommits = try (store as? FileStore).map {
          SmallCommitInspection(try $0.smallCommitStatistics())
        }
        #if RocksDB
          inspection.rocksDB = try (store as? RocksDBStore)?.rocksDBStatistics()
        #endif
        try inspection.keep(classes: classNames)
        if pages { inspection.pages = PageInspection(try database.pages()) }
        return inspection
      }
      if options.json {
        try Output.json(inspection)
      } else {
        inspection.printForPeople()
      }
    }
  }
}
