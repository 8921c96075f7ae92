import CambiumCore
import Foundation

extension Realm {
  /// Writes a backup of this Realm's database at the version that is seen to a file that does not exist yet.
  ///
  /// The database may be in use: nobody waits for a backup, and it waits for nobody. With `base`, an earlier
  /// backup of the same database, only the pages are written that it lacks, so that what it costs follows what
  /// has changed since; it needs that file, and those that it builds on, in the same folder to be restored.
  /// Pages stay as they are stored, compressed and encrypted. Every page is checked before it is written, and
  /// read back after.
  ///
  /// ```
  /// try realm.backup(to: folder.appending(path: "monday.backup"))
  /// try realm.backup(to: folder.appending(path: "tuesday.backup"), after: folder.appending(path: "monday.backup"))
  /// ```
  ///
  /// A backup is a store of the kind `backup`, which can be read like others, and
  /// ``restore(from:encryptionKey:to:)`` makes a database of it again.
  ///
  /// Call it in the Realm's context, outside of a write transaction; frozen Realms may be backed up from any
  /// thread.
  ///
  /// - Throws: `Realm.Error` when there is a file of that name, `base` is a backup of another database, a page is
  ///   damaged, or the medium fails; then no file is left.
  @discardableResult
  public func backup(to fileURL: URL, after base: URL? = nil) throws -> BackupReport {
    try backup(to: fileURL, after: base, willWrite: { _ in }, progress: { _, _, _ in })
  }

  /// The same; tells of each file that is there until it is finished, and now and then how many bytes were written, and
  /// then checked, of how many, where that is known.
  package func backup(
    to fileURL: URL, after base: URL?, willWrite: @escaping (_ draft: String) -> Void,
    progress: @escaping (_ stage: BackupStage, _ byteCount: Int, _ all: Int?) -> Void
  ) throws -> BackupReport {
    instance.verify()
    guard unsafe instance.session == nil else {
      fatalError("A backup cannot be made in a write transaction; commit or cancel it first.")
    }
    let database = instance.coordinator.database
    do throws(StoreError) {
      let known = try base.map { url throws(StoreError) in
        // Its pages are not opened.
        try BackupStore(path: url.path, codec: nil, checksCodec: false)
      }
      return try BackupWriter(
        database, to: fileURL.path, after: known, willWrite: willWrite, progress: progress
      ).write(instance.currentSnapshot)
    } catch {
      throw RLMError(error, path: fileURL.path)
    }
  }

  /// Makes a database of a backup, and of those that it builds on, where `configuration` says.
  ///
  /// That may be any kind of store, through any codec; nothing may be there yet. `encryptionKey` is that of the
  /// backup. May be called from any thread.
  ///
  /// - Throws: `Realm.Error` when a file is missing, damaged, or of another series, something is at the
  ///   destination already, or the medium fails; then nothing is left.
  public static func restore(
    from backup: URL, encryptionKey: Data? = nil, to configuration: Configuration
  ) throws {
    BundledPlugIns.register()
    let key = encryptionKey.map {
      unsafe $0.withUnsafeBytes { unsafe CodecKey(copying: Span(_unsafeBytes: $0)) }
    }
    let result = catching { () throws(StoreError) in
      // The codec is the one that the backup names.
      let location = StoreLocation(choice: .backup, path: backup.path)
      let store = try location.openExisting(isReadOnly: true, key: key)
      return try Database(store: store).snapshot()
    }
    switch result {
    case .success(let snapshot): try writeNew(snapshot, to: configuration)
    case .failure(let error): throw RLMError(error, path: backup.path)
    }
  }
}
