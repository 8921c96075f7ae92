import CambiumCore
import CambiumFile
import Foundation

/// What happens to a file when this process opens it for the first time: it is made from a seed, imported
/// from a file of Realm, and compacted, when the configuration wants it.
///
/// Pointers: to a local variable, for the length of a call.
struct Launch {
  let configuration: Realm.Configuration
  /// The databases of which `shouldCompactOnLaunch` is being asked here.
  @TaskLocal private static var asked: [String] = []

  /// Stops when the configuration's database is opened by its own `shouldCompactOnLaunch`.
  static func check(_ configuration: Realm.Configuration) {
    if asked.contains(configuration.identity) {
      fatalError(
        "The Realm at path '\(configuration.path)' is opened inside of its shouldCompactOnLaunch block, "
          + "which decides from the sizes that it is given.")
    }
  }

  /// Opens the configuration's database.
  func open() throws(RLMError) -> Database {
    let path = configuration.path
    let old = RealmFileMigration(configuration)
    if configuration.isInFile, !FileManager.default.fileExists(atPath: path) { try old.finish() }
    do throws(StoreError) { return try openStore() } catch {
      guard try old.run(after: error) else { throw RLMError(error, path: path) }
    }
    do throws(StoreError) { return try openStore() } catch { throw RLMError(error, path: path) }
  }

  private func openStore() throws(StoreError) -> Database {
    let path = configuration.path
    guard configuration.isInFile else { return try openDatabase() }
    if !FileManager.default.fileExists(atPath: path) { try copySeed(to: path) }
    let isNew = !FileManager.default.fileExists(atPath: path)
    let database = try openDatabase()
    guard !isNew, configuration.store.kind == Realm.Store.file.kind,
      let decide = configuration.shouldCompactOnLaunch
    else { return database }
    let wantsCompaction: Bool
    do throws(StoreError) {
      let statistics = try database.statistics()
      let total = statistics.totalByteCount
      wantsCompaction =
        statistics.freeByteCount > 0
        && Self.$asked.withValue(Self.asked + [configuration.identity]) {
          decide(total, total - statistics.freeByteCount)
        }
    } catch {
      try? database.close()
      throw error
    }
    guard wantsCompaction else { return database }
    let hasBackup = (database.store as? FileStore)?.hasBackup.load(ordering: .relaxed) ?? false
    try database.close()
    do throws(StoreError) {
      Logger.log(.info, "Compacting '\(path)'.")
      _ = try FileStore.compact(path: path, codec: try configuration.makeCodec())
      Logger.log(.info, "Compacted '\(path)'.")
    } catch {
      // Somebody was faster, or there is no room; the file stays as it is.
      switch error {
      case .inUse, .mediumFull: Logger.log(.warn, "'\(path)' was not compacted: \(error)")
      default: throw error
      }
    }
    let compacted = try openDatabase()
    if hasBackup { (compacted.store as? FileStore)?.hasBackup.store(true, ordering: .relaxed) }
    return compacted
  }

  private func openDatabase() throws(StoreError) -> Database {
    var request = Realm.StoreRequest(
      path: configuration.path, isReadOnly: configuration.readOnly,
      codec: try configuration.makeCodec())
    request.maximumByteCount = configuration.maximumFileSize
    request.readTimeoutSeconds = configuration.readTimeout
    request.upgradesFormat = !configuration.disableFormatUpgrade
    let store: any PageStore
    do throws(StoreError) { store = try configuration.chosenStore.open(request) } catch {
      // Who opens it gets the error.
      Logger.log(.debug, "'\(configuration.path)' was not opened: \(error)")
      throw error
    }
    if let file = store as? FileStore {
      for note in file.recoveryNotes { Logger.log(.warn, "'\(configuration.path)': \(note)") }
    }
    let identity = store.identity
    Logger.log(
      .debug,
      "Opened '\(identity.path)' (\(identity.kind), codec \(identity.codec.isEmpty ? "none" : identity.codec))."
    )
    do throws(StoreError) {
      return try Database(
        store: store, codec: request.codec, options: configuration.databaseOptions)
    } catch {
      try? store.close()
      throw error
    }
  }

  /// Puts a copy of the seed to `path` in one step, so that nobody sees half a file, also after a crash.
  private func copySeed(to path: String) throws(StoreError) {
    guard let seed = configuration.seedFilePath else { return }
    guard FileManager.default.fileExists(atPath: seed.path) else {
      throw .notFound(path: seed.path)
    }
    let draft = path + ".seeding-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: draft) }
    do {
      // A copy of a symbolic link would lead to the seed itself.
      try FileManager.default.copyItem(
        atPath: seed.resolvingSymlinksInPath().path, toPath: draft)
    } catch {
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
      var isFolder: ObjCBool = false
      guard unsafe FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder),
        isFolder.boolValue
      else { throw .parentNotFound(path: path) }
      if (error as? CocoaError)?.code == .fileWriteOutOfSpace { throw .mediumFull(path: path) }
      throw .permissionDenied(path: path, operation: "create")
    }
    try check(draft, copiedFrom: seed)
    Logger.log(.info, "Made '\(path)' from the seed '\(seed.path)'.")
    // Where another process has put the file there meanwhile, that one stays.
    _ = try FileStore.name(draft: draft, as: path)
  }

  /// Throws when what was copied from the seed is no database, before it gets its name.
  private func check(_ draft: String, copiedFrom seed: URL) throws(StoreError) {
    do throws(StoreError) { _ = try FileStore.inspect(path: draft) } catch {
      // Files of Realm, which may be imported, and all that needs a key are looked at when it is opened.
      guard case .notAStore(_, let reason) = error, configuration.encryptionKey == nil,
        !RealmFileMigration.isOldFile(draft)
      else { return }
      throw .notAStore(path: seed.path, reason: reason)
    }
  }
}
