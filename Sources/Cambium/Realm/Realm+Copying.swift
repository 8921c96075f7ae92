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
    if configuration.store.isVolatile || configuration.store.isRemote {
      configuration.store = .file
    }
    try writeCopy(configuration: configuration)
  }

  /// Writes a compacted copy of this Realm at its version to where `configuration` says, with its
  /// store and codec.
  ///
  /// - Throws: what ``writeCopy(toFile:encryptionKey:)`` throws.
  public func writeCopy(configuration: Realm.Configuration) throws {
    instance.verify()
    instance.stopInGroup("What those have changed may not last: copy outside of a write.")
    unsafe instance.session?.settle()
    if let failure = unsafe instance.session?.failure {
      throw RLMError(failure, path: configuration.path)
    }
    try Self.writeNew(instance.view, to: configuration)
  }

  /// Writes what `view` sees to where `configuration` says, where nothing may be yet.
  static func writeNew(
    _ view: some ReadTransaction, to configuration: Realm.Configuration
  ) throws {
    try makeNew(at: configuration, to: "write a copy to") { draft in
      do throws(StoreError) { try Self.write(view, to: draft) } catch {
        throw RLMError(error, path: configuration.path)
      }
    }
  }

  /// Lets `fill` make a database under another name and gives it that of `configuration`, where nothing may
  /// be yet, when it is whole and closed; leaves nothing after an error, which says that one failed to `verb`.
  static func makeNew(
    at configuration: Realm.Configuration, to verb: String,
    _ fill: (Configuration) throws -> Void
  ) throws {
    configuration.check()
    let path = configuration.path
    guard configuration.isInFile else {
      let kind = configuration.isInMemory ? "in-memory Realm" : "Realm on other machines"
      throw RLMError(.fail, "Cannot \(verb) the \(kind) '\(path)': name a file.", path: path)
    }
    let exists = RLMError(
      .fileExists, "Failed to \(verb) path '\(path)': the file exists already.",
      path: path)
    guard !FileManager.default.fileExists(atPath: path) else { throw exists }
    var isFolder: ObjCBool = false
    let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
    guard unsafe FileManager.default.fileExists(atPath: parent, isDirectory: &isFolder),
      isFolder.boolValue
    else { throw RLMError(StoreError.parentNotFound(path: path), path: path) }
    let prefix = path + ".copying-"
    removeLeftDrafts(prefix)
    let draft = prefix + UUID().uuidString
    defer {
      for file in [draft, draft + ".lock"] { try? FileManager.default.removeItem(atPath: file) }
    }
    var configuration = configuration
    configuration.fileURL = URL(fileURLWithPath: draft)
    do { try fill(configuration) } catch let error as RLMError {
      // Nobody knows the draft.
      throw RLMError(
        error.code, error.message.replacingOccurrences(of: draft, with: path), path: path,
        underlying: error.underlying)
    }
    let isNamed: Bool
    do throws(StoreError) { isNamed = try Self.name(draft, as: path) } catch {
      throw RLMError(error, path: path)
    }
    guard isNamed else { throw exists }
  }

  /// Removes what processes have left that were killed while they copied.
  private static func removeLeftDrafts(_ prefix: String) {
    let folder = URL(fileURLWithPath: prefix).deletingLastPathComponent()
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    let start = (prefix as NSString).lastPathComponent
    for name in names where name.hasPrefix(start) {
      guard UUID(uuidString: String(name.dropFirst(start.count))) != nil else { continue }
      // One that is being written is in use.
      _ = try? FileStore.delete(path: folder.appendingPathComponent(name).path)
    }
  }

  /// Gives a finished copy its name; false when there is something of that name.
  private static func name(_ draft: String, as path: String) throws(StoreError) -> Bool {
    var isFolder: ObjCBool = false
    guard unsafe FileManager.default.fileExists(atPath: draft, isDirectory: &isFolder),
      isFolder.boolValue
    else { return try FileStore.name(draft: draft, as: path) }
    return (try? FileManager.default.moveItem(atPath: draft, toPath: path)) != nil
  }

  private static func write(
    _ view: some ReadTransaction, to configuration: Configuration
  ) throws(StoreError) {
    let codec = try configuration.makeCodec()
    let store = try configuration.chosenStore.open(
      StoreRequest(path: configuration.path, isReadOnly: false, codec: codec))
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
