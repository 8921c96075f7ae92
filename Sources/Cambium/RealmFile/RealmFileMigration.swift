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
///     NAME.import-draft    the database while objects are brought into it
///     NAME.import-whole    the same when it is whole, compared and on the medium
///     NAME.before-import   the old file under its second name
///
/// The database takes the place of the old file in one step. Where that cannot be, because it is a folder or
/// the medium knows no second names, the old file is renamed first, and whoever finds NAME free goes on. After
/// a crash before that the next opening begins anew. Who imports holds a lock on the old file; others wait for
/// it, and find the database.
///
/// Pointers: paths and structures are lent to the system for one call.
package struct RealmFileMigration {
  private let configuration: Realm.Configuration
  /// The file behind all symbolic links, which stay.
  private let path: String

  init(_ configuration: Realm.Configuration) {
    self.configuration = configuration
    path = Self.target(of: configuration.path)
  }

  /// Where symbolic links lead, also to a file that is not there.
  private static func target(of path: String) -> String {
    var path = path
    for _ in 0..<40 {
      guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else {
        break
      }
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
      path = target.hasPrefix("/") ? target : folder + "/" + target
    }
    return path
  }

  private var draft: String { path + ".import-draft" }
  private var whole: String { path + ".import-whole" }
  private var aside: String { path + ".before-import" }

  /// Where an import is when somebody asks; for tests, which stop there.
  package enum Step: Int, CaseIterable, Sendable {
    case begun, filled, whole, putAside, named
  }

  /// Called at each step.
  @TaskLocal package static var didReach: @Sendable (Step) -> Void = { _ in }

  // MARK: What is left

  /// Gives an imported database its name, if somebody was stopped when the old file had left it.
  ///
  /// Called when there is no file at the path.
  func finish() throws(RLMError) {
    guard !configuration.readOnly, exists(whole), exists(aside) else { return }
    Logger.log(.info, "Finishing the import of a Realm file to '\(path)'.")
    try rename(whole, to: path)
    removeLockFiles()
  }

  /// Removes what an import has left that was stopped; whether there was anything.
  @discardableResult
  func removeDrafts() -> Bool {
    let left = [draft, whole].filter(exists)
    for file in left { try? FileManager.default.removeItem(atPath: file) }
    removeLockFiles()
    return !left.isEmpty
  }

  private func removeLockFiles() {
    for file in [draft, whole] { try? FileManager.default.removeItem(atPath: file + ".lock") }
  }

  private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  // MARK: Old files

  /// Whether a file begins as those of Realm do that are not encrypted.
  static func isOldFile(_ path: String) -> Bool {
    guard let file = FileHandle(forReadingAtPath: path) else { return false }
    defer { try? file.close() }
    let start = (try? file.read(upToCount: 20)) ?? nil
    return start?.suffix(4) == Data("T-DB".utf8)
  }

  /// What to do when opening failed with `error`: true when the path holds a database now, so that opening
  /// it again succeeds; throws what the user has to know of an old file.
  func run(after error: StoreError) throws(RLMError) -> Bool {
    guard mayBeOldFile(error) else { return false }
    #if RealmFile
      guard let found = try oldFile() else {
        try explainEncryption(error)
        return false
      }
      let call =
        "bring its content to a new file with Realm.importRealmFile(at:encryptionKey:into:)"
      guard configuration.migratesRealmFiles else {
        throw Self.refusal(
          configuration.path, found.format,
          "To use it, \(call), or set the configuration's 'migratesRealmFiles' to have that done when "
            + "it is opened")
      }
      guard !configuration.readOnly else {
        throw Self.refusal(
          configuration.path, found.format,
          "Open it once for writing, so that it can be imported, or \(call)")
      }
      try migrate()
      return true
    #else
      guard RealmFileSummary.isPlainRealmFile(path) else { return false }
      throw Self.traitIsMissing(configuration.path)
    #endif
  }

  /// The schema version of the old file at which opening failed with `error`; nil when it is none.
  func schemaVersion(after error: StoreError) throws(RLMError) -> UInt64? {
    #if RealmFile
      guard mayBeOldFile(error), let old = try oldFile() else { return nil }
      return old.schemaVersion ?? 0
    #else
      return nil
    #endif
  }

  private func mayBeOldFile(_ error: StoreError) -> Bool {
    if !configuration.isInFile { return false }
    switch error {
    case .notAStore, .notAFile, .wrongStoreKind, .permissionDenied, .system: return true
    default: return false
    }
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
      // An empty file is of no form, and opens with any key.
      return (try? RealmFile(opening: path, key)).flatMap { $0.format == 0 ? nil : $0 }
    }

    /// Says of a file that is no store, and has the shape of an encrypted `.realm` file, that it may be one.
    private func explainEncryption(_ error: StoreError) throws(RLMError) {
      guard case .notAStore = error else { return }
      do throws(RealmFileError) {
        _ = try RealmFile(path: path, encryptionKey: configuration.encryptionKey.map { Array($0) })
      } catch {
        switch error {
        case .needsKey, .wrongKey, .encryptionUnavailable:
          throw RLMError(
            .invalidDatabase,
            "'\(configuration.path)' is not a Cambium store. If Realm has written it: \(error)",
            path: configuration.path)
        default: return
        }
      }
    }

    // MARK: Importing

    private func migrate() throws(RLMError) {
      guard let lock = try lockOldFile() else { return }
      defer { close(lock) }
      guard let source = try oldFile() else { return }
      Logger.log(.info, "Importing the Realm file '\(path)', of format \(source.format).")
      removeDrafts()
      Self.didReach(.begun)
      try makePrivatePlace()
      var target = configuration
      target.fileURL = URL(fileURLWithPath: draft)
      do {
        defer { removeLockFiles() }
        let told = configuration.importProgress
        _ = try Realm.importRealmFile(source, into: target) { told?($0) }.report
      } catch {
        removeDrafts()
        throw error as? RLMError ?? RLMError(.fail, "\(error)", path: configuration.path)
      }
      shareRights()
      Self.didReach(.filled)
      try rename(draft, to: whole)
      Self.didReach(.whole)
      let aside = try putAside()
      Self.didReach(.putAside)
      try rename(whole, to: path)
      Self.didReach(.named)
      Logger.log(.info, "Imported '\(path)'; the old file is '\(aside)'.")
    }

    /// A descriptor that holds the old file against others who would import it; nil when somebody was faster.
    private func lockOldFile() throws(RLMError) -> Int32? {
      let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
      guard descriptor >= 0 else {
        let code = errno
        guard code == ENOENT else { throw systemError("open", path, code) }
        try finish()
        return nil
      }
      let code = cambium_file_lock(descriptor, 0, 1, 2, true)
      guard code == 0 else {
        close(descriptor)
        throw systemError("lock", path, code)
      }
      var (held, named) = (stat(), stat())
      let isNamed = unsafe fstat(descriptor, &held) == 0 && stat(path, &named) == 0
      if isNamed, held.st_ino == named.st_ino, held.st_dev == named.st_dev { return descriptor }
      close(descriptor)
      if !isNamed { try finish() }
      return nil
    }

    /// Makes what the store begins with, so that nobody else can open it before it is whole: an empty file, or
    /// an empty folder.
    private func makePrivatePlace() throws(RLMError) {
      let isFile = configuration.store.kind == Realm.Store.file.kind
      let descriptor =
        unsafe isFile ? open(draft, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600) : -1
      if descriptor >= 0 { close(descriptor) }
      guard unsafe descriptor >= 0 || !isFile && mkdir(draft, 0o700) == 0 else {
        throw systemError("create", draft, errno)
      }
    }

    /// Lets those open the new database who may open the old file, and nobody else.
    private func shareRights() {
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return }
      var mode = status.st_mode & 0o777
      if isFolder(draft) {
        // Who may read a folder has to enter it.
        mode |= (mode & 0o444) >> 2
      } else if geteuid() == 0 {
        _ = unsafe chown(draft, status.st_uid, status.st_gid)
      }
      _ = unsafe chmod(draft, mode)
    }

    /// Gives the old file its second name, and takes the first away where the database cannot replace it.
    private func putAside() throws(RLMError) -> String {
      var name = aside
      var number = 1
      while exists(name) {
        // Who was stopped here has named it already.
        if isSame(name, path) { return name }
        number += 1
        name = "\(aside)-\(number)"
      }
      if !isFolder(whole), unsafe link(path, name) == 0 {
        try syncFolder()
      } else {
        try rename(path, to: name)
      }
      return name
    }

    private func isSame(_ left: String, _ right: String) -> Bool {
      var (first, second) = (stat(), stat())
      return unsafe stat(left, &first) == 0 && stat(right, &second) == 0
        && first.st_ino == second.st_ino && first.st_dev == second.st_dev
    }

    private func isFolder(_ path: String) -> Bool {
      var isFolder: ObjCBool = false
      return unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        && isFolder.boolValue
    }
  #endif

  // MARK: Files

  /// Renames in a step that survives power loss, with all that a file has.
  private func rename(_ old: String, to new: String) throws(RLMError) {
    let descriptor = unsafe open(old, O_RDONLY | O_CLOEXEC)
    if descriptor >= 0 {
      defer { close(descriptor) }
      guard fsync(descriptor) == 0 else { throw systemError("sync", old, errno) }
    }
    guard unsafe Foundation.rename(old, new) == 0 else {
      let code = errno
      // Somebody else has finished it.
      if code == ENOENT, exists(new) { return }
      throw systemError("rename", old, code)
    }
    try syncFolder()
  }

  private func syncFolder() throws(RLMError) {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let descriptor = unsafe open(folder, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw systemError("sync", folder, errno) }
  }

  private func systemError(_ operation: String, _ path: String, _ code: Int32) -> RLMError {
    RLMError(
      StoreError.system(operation: operation, path: path, code: code), path: configuration.path)
  }
}
