import CambiumCore
import Foundation

/// The schema version of a Realm's file, read without opening it with classes; 0 unless one was set.
///
/// Where the package's trait `RealmFile` is on, files that Realm itself wrote are asked as well.
///
/// - Throws: `.fileNotFound` when there is no file, `.invalidDatabase` when it was never opened as a
///   Realm or is none, `.incompatibleLockFile` while another process has it open.
public func schemaVersionAtURL(_ fileURL: URL, encryptionKey: Data? = nil) throws -> UInt64 {
  let configuration = Realm.Configuration(
    fileURL: fileURL, encryptionKey: encryptionKey, readOnly: true, objectTypes: [])
  return try Realm.schemaVersion(for: configuration)
}

extension Realm {
  /// The schema version of what `configuration` names, in its kind of store and through its codec,
  /// read without opening it with classes; 0 unless one was set.
  ///
  /// Throws as ``schemaVersionAtURL(_:encryptionKey:)`` does, which knows files and keys alone.
  public static func schemaVersion(for configuration: Configuration) throws -> UInt64 {
    configuration.check()
    let path = configuration.path
    do {
      if let version = try StoredSchemaVersion.read(configuration) { return version }
    } catch {
      if let version = try RealmFileMigration(configuration).schemaVersion(after: error) {
        return version
      }
      throw RLMError(error, path: path)
    }
    throw RLMError(
      .invalidDatabase, "Realm at path '\(path)' has not been initialized.", path: path)
  }
}

/// Reads a file's schema version.
enum StoredSchemaVersion {
  static func read(_ configuration: Realm.Configuration) throws(StoreError) -> UInt64? {
    // A database that is open in this process is asked itself.
    if let coordinator = Coordinator.current(configuration) {
      defer { coordinator.release() }
      return try SchemaComparison.version(try coordinator.database.snapshot())
    }
    let codec: (any PageCodec)?
    do throws(StoreError) {
      codec = try configuration.makeCodec()
    } catch {
      // A file that is not there needs no codec, and says more.
      guard FileManager.default.fileExists(atPath: configuration.path) else {
        throw .notFound(path: configuration.path)
      }
      throw error
    }
    let store = try configuration.chosenStore.open(
      Realm.StoreRequest(path: configuration.path, isReadOnly: true, codec: codec))
    do throws(StoreError) {
      let database = try Database(store: store, codec: codec)
      let version = try SchemaComparison.version(try database.snapshot())
      try database.close()
      return version
    } catch {
      try? store.close()
      throw error
    }
  }
}
