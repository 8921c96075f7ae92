import Cambium
import CambiumCore
import CambiumFile
import Foundation
import TestSupport

/// Imports for tests, in folders of their own.
enum Imports {
  /// The key of a sample, if it is encrypted.
  static func key(_ name: String) -> Data? {
    Samples.encrypted.contains(name) ? Data(Samples.key) : nil
  }

  /// How a program opens an imported file.
  static func configuration(
    _ url: URL, _ name: String, schemaVersion: UInt64, _ types: [ObjectBase.Type]
  ) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: url, encryptionKey: key(name), schemaVersion: schemaVersion, objectTypes: types)
  }

  /// Runs `body` with the place of an imported sample.
  static func withImported(
    _ name: String, _ body: (URL, Realm.ImportReport) throws -> Void
  ) throws {
    try TemporaryFolder.with { folder in
      let url = folder.appendingPathComponent("imported.cambium")
      let report = try Realm.importRealmFile(
        at: URL(fileURLWithPath: Samples.path(name)), encryptionKey: key(name),
        into: Realm.Configuration(fileURL: url, encryptionKey: key(name)))
      try body(url, report)
    }
  }

  /// What is wrong in an imported file, which is closed again.
  static func findings(at url: URL) throws -> [String] {
    let database = try Database(store: FileStore(path: url.path))
    defer { try? database.close() }
    let pages = try database.verify().findings.map { "\($0)" }
    return try autoreleasepool {
      var verifier = ObjectVerifier(snapshot: try database.snapshot())
      return try pages + verifier.run()
    }
  }

  /// A copy of a sample under `name` in a folder.
  static func copy(_ sample: String, to url: URL) throws {
    try FileManager.default.copyItem(atPath: Samples.path(sample), toPath: url.path)
  }

  /// The names of all files in a folder, sorted, without the lock files of databases.
  static func names(in folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
      .filter { !$0.hasSuffix(".lock") }
  }
}
