import CambiumCore
import CambiumFile
import Foundation

extension Realm {
  /// Writes a compacted copy of this Realm at its version to a file that does not exist yet.
  ///
  /// In a write transaction the copy has its changes so far. Works on frozen Realms too. The copy
  /// is encrypted with `encryptionKey`, or not at all without one; otherwise it goes through the same
  /// codec as this Realm.
  ///
  /// - Throws: `.fileExists` when there is a file already, `.fail` when an encryption key is given
  ///   and the crypto plug-in is missing, and whatever writing a file throws; then no file is left.
  public func writeCopy(toFile fileURL: URL, encryptionKey: Data? = nil) throws {
    var configuration = instance.configuration
    configuration.fileURL = fileURL
    configuration.readOnly = false
    configuration.encryptionKey = encryptionKey
    if configuration.store.isVolatile { configuration.store = .file }
    try writeCopy(configuration: configuration)
  }

  /// Writes a compacted copy of this Realm at its version to where `configuration` says, with its
  /// store and codec.
  ///
  /// - Throws: what ``writeCopy(toFile:encryptionKey:)`` throws.
  public func writeCopy(configuration: Realm.Configuration) throws {
    instance.verify()
    configuration.check()
    let path = configuration.path
    guard !configuration.isInMemory else {
      throw RLMError(
        .fail, "Cannot write a copy to the in-memory Realm '\(path)': name a file.", path: path)
    }
    guard !FileManager.default.fileExists(atPath: path) else {
      throw RLMError(
        .fileExists, "Failed to write a copy to path '\(path)': the file exists already.",
        path: path)
    }
    instance.session?.settle()
    let draft = path + ".copying-\(UUID().uuidString)"
    defer {
      for file in [draft, draft + ".lock"] { try? FileManager.default.removeItem(atPath: file) }
    }
    let isNamed: Bool
    do throws(StoreError) {
      if let failure = instance.session?.failure { throw failure }
      try Self.write(instance.view, to: configuration, at: draft)
      isNamed = try Self.name(draft, as: path)
    } catch .parentNotFound {
      throw RLMError(StoreError.parentNotFound(path: path), path: path)
    } catch {
      throw RLMError(error, path: path)
    }
    guard isNamed else {
      throw RLMError(
        .fileExists, "Failed to write a copy to path '\(path)': the file exists already.",
        path: path)
    }
  }

  /// Gives a finished copy its name; false when there is something of that name.
  private static func name(_ draft: String, as path: String) throws(StoreError) -> Bool {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: draft, isDirectory: &isFolder), isFolder.boolValue
    else { return try FileStore.name(draft: draft, as: path) }
    return (try? FileManager.default.moveItem(atPath: draft, toPath: path)) != nil
  }

  private static func write(
    _ view: some ReadTransaction, to configuration: Configuration, at path: String
  ) throws(StoreError) {
    let codec = try configuration.makeCodec()
    let store = try configuration.chosenStore.open(
      StoreRequest(path: path, isReadOnly: false, codec: codec))
    do throws(StoreError) {
      let database = try Database(store: store, codec: codec)
      try database.fill(with: view)
      try database.close()
    } catch {
      try? store.close()
      throw error
    }
  }
}

/// The schema version of a Realm's file, read without opening it with classes; 0 unless one was set.
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

extension Realm {
  /// Opens the configuration's file, which migrates it when it has a lower schema version, and closes
  /// it.
  ///
  /// Stops when the file is open in this process.
  ///
  /// - Throws: what opening throws; the file is as it was then.
  public static func performMigration(
    for configuration: Realm.Configuration = .defaultConfiguration
  ) throws {
    guard !Coordinator.isOpen(configuration) else {
      fatalError("Cannot migrate Realms that are already open.")
    }
    _ = try Realm(configuration: configuration)
  }
}
