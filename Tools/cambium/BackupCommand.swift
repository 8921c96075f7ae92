import ArgumentParser
import Cambium
import CambiumCore
import CambiumToolKit
import Foundation

/// `cambium backup PATH DESTINATION`: a consistent copy of a store in use.
///
/// Pointers: a path is lent to the system for one call.
struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract:
      "Writes a verified backup of a store in use; only what has changed with --incremental.",
    discussion: """
      One file, which holds one version of the store, its pages as they are stored:

        cambium backup people.realm monday.backup
        cambium backup people.realm tuesday.backup --incremental monday.backup
        cambium backup people.realm wednesday.backup --incremental tuesday.backup

      An incremental backup has the pages that the earlier one lacks, and needs it, in the same folder, to be \
      restored. Every page is checked before it is written, and read back after. A backup can be looked into like \
      a store: 'cambium query', 'inspect', 'verify', 'diff' and 'export' take its path. 'cambium restore' makes a \
      store of it.
      """)

  @OptionGroup var options: CommonOptions

  @Argument(help: "The file to write; nothing of that name may be there.", completion: .file())
  var destination: String

  @Option(help: "The earlier backup on which this one builds.", completion: .file())
  var incremental: String?

  func run() throws {
    try options.reportingErrors {
      let (location, key) = (try options.location(), try options.key())
      let realm = try OpenedRealm.open(location, key: key).freeze()
      let progress = options.progress
      defer { progress.finish() }
      var cleanups: [Cleanup] = []
      defer { for cleanup in cleanups { cleanup.forget() } }
      let report = try realm.backup(
        to: URL(fileURLWithPath: destination), after: incremental.map { URL(fileURLWithPath: $0) },
        willWrite: { draft in cleanups.append(Cleanup { unsafe unlink(draft) }) },
        progress: { stage, byteCount, all in
          progress.show("\(stage)", byteCount, of: all, "bytes")
        })
      progress.finish()
      guard options.json else {
        return Output.line(
          "\(destination): version \(report.version), \(report.pageCount) pages, "
            + Output.bytes(report.byteCount))
      }
      Output.line(
        JSONValue.object([
          .init("backup", .string(destination)), .init("version", .integer(Int64(report.version))),
          .init("pages", .integer(Int64(report.pageCount))),
          .init("bytes", .integer(Int64(report.byteCount))),
          .init("base", incremental.map { .string($0) } ?? .null),
        ]).pretty)
    }
  }
}

/// `cambium restore BACKUP DESTINATION`: a store from a backup.
struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Makes a store of a backup, and of those that it builds on, and compares both.",
    discussion: """
      The destination must not exist; it may be of any kind and have any codec, as with 'cambium copy':

        cambium restore wednesday.backup people.realm
        cambium restore wednesday.backup rocksdb:/data/people --codec zstd:3

      The backups that one builds on are looked for in its folder. What was encrypted needs its key.
      """)

  @OptionGroup var options: CommonOptions

  @Argument(help: "Where the store goes.", completion: .file())
  var destination: String

  @Option(help: "What the store's pages go through, such as 'zstd:9' or 'none'.")
  var codec: String?

  @Option(
    help: "The file with the key that encrypts the store; otherwise it has that of the backup.",
    completion: .file())
  var newKeyFile: String?

  func run() throws {
    try options.reportingErrors {
      let location = try options.location()
      guard location.choice.kind == "backup" else {
        throw StoreError.wrongStoreKind(
          path: location.path, found: location.choice.kind, expected: "backup")
      }
      try Copying.run(options, location, to: destination, chain: codec, newKeyFile: newKeyFile)
    }
  }
}
