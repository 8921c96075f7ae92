import CPlatform
import CambiumCore
import CambiumFile
import Foundation

#if RealmFile
  internal import CambiumRealmFile
#endif

/// What happens when a `.realm` file lies where a database is to be opened: it is refused, or imported and
/// put aside.
///
///     NAME                 the old file
///     NAME.importing       the database while objects are brought into it
///     NAME.imported        the same when it is whole, compared and on the medium
///     NAME.before-import   the old file, from the moment that NAME is free
///
/// After a crash the next opening begins anew, or goes on where NAME is free already. Who imports holds a
/// lock on the old file; others wait for it, and find the database.
///
/// Pointers: paths and structures are lent to the system for one call.
package struct RealmFileMigration {
  private let configuration: Realm.Configuration
  /// The file behind all symbolic links, which stay.
  private let path: String

  init(_ configuration: Realm.Configuration) {
    self.configuration = configuration
    path = URL(fileURLWithPath: configuration.path).resolvingSymlinksInPath().path
  }

  private var draft: String { path + ".importing" }
  private var whole: String { path + ".imported" }

  /// Where an import is when somebody asks; for tests, which stop there.
  package enum Step: Int, CaseIterable, Sendable {
    case begun, filled, whole, putAside, named
  }

  /// Called at each step.
  @TaskLocal package static var didReach: @Sendable (Step) -> Void = { _ in }

  // MARK: A crash before

  /// Gives an imported database its name, if somebody was stopped before that.
  ///
  /// Called when there is no file at the path.
  func finish() throws(RLMError) {
    guard FileManager.default.fileExists(atPath: whole) else { return }
    Logger.log(.info, "Finishing the import of a Realm file to '\(path)'.")
    try rename(whole, to: path)
    removeLockFiles()
  }

  // MARK: Old files

  /// What to do when opening failed with `error`: true when the path holds a database now, so that opening
  /// it again succeeds; throws what the user has to know of an old file.
  func run(after error: StoreError) throws(RLMError) -> Bool {
    if configuration.isInMemory { return false }
    switch error {
    case .notAStore, .notAFile, .wrongStoreKind, .system: break
    default: return false
    }
    #if RealmFile
      guard let found = try oldFile() else { return false }
      guard configuration.migratesRealmFiles else {
        throw Self.refusal(
          configuration.path, found.format,
          "Bring its content to a new file with Realm.importRealmFile(at:encryptionKey:into:), or set the "
            + "configuration's 'migratesRealmFiles' to have that done when it is opened")
      }
      guard !configuration.readOnly else {
        throw Self.refusal(
          configuration.path, found.format, "Open it once for writing, so that it can be imported")
      }
      try migrate()
      return true
    #else
      guard RealmFileSummary.isPlainRealmFile(path) else { return false }
      throw Self.traitIsMissing(configuration.path)
    #endif
  }

  #if !RealmFile
    /// What to say of a `.realm` file where nothing can read it.
    static func traitIsMissing(_ path: String) -> RLMError {
      refusal(
        path, nil,
        "Enable the package's trait to import it: .package(url: …, traits: [\"RealmFile\"]), or swift "
          + "build --traits RealmFile")
    }
  #endif

  private static func refusal(_ path: String, _ format: Int?, _ advice: String) -> RLMError {
    let format = format.map { " of format \($0)" } ?? ""
    return RLMError(
      .fileFormatUpgradeRequired,
      "'\(path)' is a Realm file\(format), which was written by another library. It was left as it is. "
        + "\(advice).", path: path)
  }

  #if RealmFile
    /// The old file; nil when it is none, or one that the configuration's key does not open.
    private func oldFile() throws(RLMError) -> RealmFile? {
      if RealmFileSummary.isPlainRealmFile(path) { return try RealmFile(opening: path, nil) }
      guard let key = configuration.encryptionKey else { return nil }
      return try? RealmFile(opening: path, key)
    }

    private func migrate() throws(RLMError) {
      guard let lock = try lockOldFile() else { return }
      defer { close(lock) }
      guard let source = try oldFile() else { return }
      Logger.log(.info, "Importing the Realm file '\(path)', of format \(source.format).")
      // What somebody left who was stopped.
      for file in [draft, whole] { try? FileManager.default.removeItem(atPath: file) }
      removeLockFiles()
      Self.didReach(.begun)
      var target = configuration
      target.fileURL = URL(fileURLWithPath: draft)
      do {
        defer { removeLockFiles() }
        let told = configuration.importProgress
        _ = try Realm.importRealmFile(source, into: target) { told?($0) }.report
      } catch {
        try? FileManager.default.removeItem(atPath: draft)
        throw error as? RLMError ?? RLMError(.fail, "\(error)", path: configuration.path)
      }
      Self.didReach(.filled)
      try nameWhole()
      Self.didReach(.whole)
      let aside = freeName()
      try rename(path, to: aside)
      Self.didReach(.putAside)
      try rename(whole, to: path)
      Self.didReach(.named)
      Logger.log(.info, "Imported '\(path)'; the old file is '\(aside)'.")
    }

    /// A descriptor that holds the old file against others who would import it; nil when somebody was faster.
    private func lockOldFile() throws(RLMError) -> Int32? {
      let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
      guard descriptor >= 0 else {
        if errno == ENOENT {
          try finish()
          return nil
        }
        throw systemError("open", path)
      }
      let code = cambium_file_lock(descriptor, 0, 1, 2, true)
      var (held, named) = (stat(), stat())
      guard code == 0, unsafe fstat(descriptor, &held) == 0 else {
        close(descriptor)
        throw systemError("lock", path)
      }
      let isNamed = unsafe stat(path, &named) == 0
      if isNamed, held.st_ino == named.st_ino, held.st_dev == named.st_dev { return descriptor }
      close(descriptor)
      if !isNamed { try finish() }
      return nil
    }

    /// Puts the draft on the medium under its second name.
    private func nameWhole() throws(RLMError) {
      var isFolder: ObjCBool = false
      guard unsafe FileManager.default.fileExists(atPath: draft, isDirectory: &isFolder),
        isFolder.boolValue
      else {
        do throws(StoreError) {
          guard try FileStore.name(draft: draft, as: whole) else {
            throw .system(operation: "create", path: whole, code: EEXIST)
          }
        } catch {
          throw RLMError(error, path: configuration.path)
        }
        return
      }
      try rename(draft, to: whole)
    }

    /// A name for the old file that nothing has.
    private func freeName() -> String {
      let name = path + ".before-import"
      var number = 1
      while true {
        let candidate = number == 1 ? name : "\(name)-\(number)"
        if !FileManager.default.fileExists(atPath: candidate) { return candidate }
        number += 1
      }
    }
  #endif

  // MARK: Files

  /// Renames in a step that survives power loss.
  private func rename(_ old: String, to new: String) throws(RLMError) {
    guard unsafe Foundation.rename(old, new) == 0 else {
      // Somebody else has finished it.
      if errno == ENOENT, FileManager.default.fileExists(atPath: new) { return }
      throw systemError("rename", old)
    }
    let parent = URL(fileURLWithPath: new).deletingLastPathComponent().path
    let descriptor = unsafe open(parent, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    if fsync(descriptor) != 0 { throw systemError("sync", parent) }
  }

  private func removeLockFiles() {
    for file in [draft, whole] { try? FileManager.default.removeItem(atPath: file + ".lock") }
  }

  private func systemError(_ operation: String, _ path: String) -> RLMError {
    RLMError(
      StoreError.system(operation: operation, path: path, code: errno), path: configuration.path)
  }
}
