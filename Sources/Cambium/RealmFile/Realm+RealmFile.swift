import CambiumCore
import Foundation

#if RealmFile
  internal import CambiumRealmFile
#endif

extension Realm {
  /// How far an import is.
  public struct ImportProgress: Sendable, Hashable {
    /// What is being done.
    public enum Stage: Sendable, Hashable {
      /// Objects are written.
      case importing
      /// What was written is compared with the file.
      case comparing
    }

    /// What is being done.
    public let stage: Stage
    /// The class.
    public let className: String
    /// How many of its objects are done.
    public internal(set) var completed: Int
    /// How many objects the class has.
    public let total: Int
  }

  /// What an import has brought.
  public struct ImportReport: Sendable, Hashable {
    /// The objects of one class.
    public struct ClassCount: Sendable, Hashable {
      /// The class.
      public let className: String
      /// How many objects it has.
      public let objectCount: Int
    }

    /// The number of the old file's format.
    public let format: Int
    /// The schema version that the file had; nil when it was never set.
    public let schemaVersion: UInt64?
    /// The classes, in the order of the file.
    public let classes: [ClassCount]
    /// Classes that were left out: those whose objects are only sent elsewhere, which a file does not have.
    public let classesLeftOut: [String]
    /// How many texts were no valid UTF-8; what is not is replaced by U+FFFD.
    public let repairedTextCount: Int
  }

  #if RealmFile
    /// Brings the content of a `.realm` file, as Realm Swift wrote it, to where `configuration` says, where
    /// nothing may be yet.
    ///
    /// ```swift
    /// try Realm.importRealmFile(at: old, into: Realm.Configuration(fileURL: new))
    /// let realm = try Realm(configuration: Realm.Configuration(fileURL: new))
    /// ```
    ///
    /// Takes everything that the file has: all classes with their properties, primary keys and indexes,
    /// whether the program declares them or not; links, embedded objects, collections, values of any type;
    /// and the schema version, from which the program's own migrations go on. Links to objects that are not
    /// there are null, and left out of lists and sets. Integer keys of dictionaries become their digits.
    ///
    /// The old file is never changed, and must not be written meanwhile. Of `configuration` the place, the
    /// store, the codec, the encryption key and the file's limit count. The new file takes its name when all
    /// objects were compared with the old ones; after an error there is none.
    ///
    /// May be called on any thread and takes as long as reading the old file twice and writing the new one;
    /// memory is bounded. `progress` is called on the same thread every few hundred objects, and throws to
    /// end the import.
    ///
    /// - Throws: `.fileExists` when something is at the destination; `.fileNotFound`; `.invalidDatabase` for
    ///   a file that is damaged, is no Realm file, or needs another key; `.unsupportedFileFormatVersion`,
    ///   with the way out, for one older than Realm Swift 5; `.schemaMismatch` for classes that cannot be
    ///   here; `.fail` when what was written is not the same.
    @discardableResult
    public static func importRealmFile(
      at fileURL: URL, encryptionKey: Data? = nil, into configuration: Configuration,
      progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> ImportReport {
      let source = try RealmFile(opening: fileURL.path, encryptionKey)
      var report: ImportReport?
      try withoutActuallyEscaping(progress) { progress in
        try makeNew(at: configuration, to: "import to") { draft in
          report = try importRealmFile(source, into: draft, progress: progress).report
        }
      }
      guard let report else { throw RLMError(.fail, "Nothing was imported.") }
      return report
    }

    /// Imports into a database that is made at `configuration`; the Realm, which has the classes of the file.
    static func importRealmFile(
      _ file: RealmFile, into configuration: Configuration,
      progress: @escaping (ImportProgress) throws -> Void
    ) throws -> (realm: Realm, report: ImportReport) {
      var configuration = configuration
      configuration.readOnly = false
      configuration.deleteRealmIfMigrationNeeded = false
      configuration.shouldCompactOnLaunch = nil
      configuration.seedFilePath = nil
      configuration.durability = .full
      configuration.databaseOptions.transactionBudgetByteCount = min(
        configuration.databaseOptions.transactionBudgetByteCount, importBudget)
      let schema = RealmFileSchema(file)
      let realm = try Realm(configuration: configuration, adding: schema.classes)
      do {
        try realm.write {
          try RealmFileImport(
            file: file, schema: schema, realm: realm.instance, progress: progress
          ).run()
        }
        // The comparison meets them again.
        let repairedTextCount = file.replacedTextCount
        let counts = try RealmFileComparison(file, schema, realm.instance, progress: progress).run()
        try file.checkUnchanged()
        let report = ImportReport(
          format: file.format, schemaVersion: file.schemaVersion,
          classes: zip(schema.classes, counts).map {
            ImportReport.ClassCount(className: $0.className, objectCount: $1)
          }, classesLeftOut: schema.leftOut, repairedTextCount: repairedTextCount)
        return (realm, report)
      } catch let error as RealmFileError {
        throw RLMError(error, path: file.path)
      }
    }

    /// How many bytes of changed pages an import holds.
    private static let importBudget = 64 << 20
  #else
    /// Not there: the package was built without its trait `RealmFile`.
    @available(
      *, unavailable,
      message:
        "Enable the trait: .package(url: …, traits: [\"RealmFile\"]), or swift build --traits RealmFile"
    )
    @discardableResult
    public static func importRealmFile(
      at fileURL: URL, encryptionKey: Data? = nil, into configuration: Configuration,
      progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> ImportReport { fatalError() }
  #endif
}

#if RealmFile
  extension RealmFile {
    /// Opens the file at `path`; throws `Realm.Error`.
    convenience init(opening path: String, _ encryptionKey: Data?) throws(RLMError) {
      do throws(RealmFileError) {
        try self.init(path: path, encryptionKey: encryptionKey.map { Array($0) })
      } catch {
        throw RLMError(error, path: path)
      }
    }
  }

  extension RLMError {
    /// What a `.realm` file that cannot be read means to someone who wants to open it.
    init(_ error: RealmFileError, path: String) {
      self.init(Self.code(of: error), error.description, path: path)
    }

    private static func code(of error: RealmFileError) -> Code {
      switch error {
      case .notARealmFile, .needsKey, .notEncrypted, .wrongKey, .truncated, .damaged:
        .invalidDatabase
      case .wrongKeyLength: .invalidInput
      case .encryptionUnavailable: .fail
      case .unsupportedFormat: .unsupportedFileFormatVersion
      case .changed: .fileAccess
      case .system(_, ENOENT, _): .fileNotFound
      case .system(_, EACCES, _), .system(_, EPERM, _): .filePermissionDenied
      case .system: .fileAccess
      }
    }
  }
#endif
