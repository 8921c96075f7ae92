import CambiumCore
import Foundation

extension Realm {
  /// Says which Realm to open, and how.
  ///
  /// ```swift
  /// var configuration = Realm.Configuration(fileURL: url)
  /// configuration.objectTypes = [Dog.self, Person.self]
  /// let realm = try Realm(configuration: configuration)
  /// ```
  @frozen public struct Configuration: Sendable {
    /// The file; nil for a Realm in memory.
    ///
    /// Setting it clears ``inMemoryIdentifier``. The default is `default.realm` in the working
    /// directory (in the documents directory on Apple platforms).
    public var fileURL: URL? {
      didSet {
        filePath = fileURL?.path
        if fileURL != nil { (inMemoryIdentifier, remotePath) = (nil, nil) }
      }
    }
    /// The path of ``fileURL``: to ask a URL for it takes as long as all else that opening does when the
    /// database is open already.
    @usableFromInline private(set) var filePath: String?
    /// Names a Realm that lives in memory and ends with its last instance.
    ///
    /// Setting it clears ``fileURL``.
    public var inMemoryIdentifier: String? {
      didSet { if inMemoryIdentifier != nil { (fileURL, remotePath) = (nil, nil) } }
    }
    /// Where a Realm is that lies in no file, as its ``store`` understands it, such as `POOL/NAME` in a cluster.
    ///
    /// Setting it clears ``fileURL`` and ``inMemoryIdentifier``; ``init(location:codec:)`` sets it.
    public var remotePath: String? {
      didSet { if remotePath != nil { (fileURL, inMemoryIdentifier) = (nil, nil) } }
    }
    /// The key with which the file is encrypted, 64 bytes.
    ///
    /// Pages go through ``codec`` first, if one is chosen. Needs the package's trait `Crypto`; without
    /// it opening throws, and says how to add the trait.
    public var encryptionKey: Data?
    /// Whether the file is only read; it must exist then.
    public var readOnly: Bool
    /// The number of the classes' current form; raise it when properties change.
    public var schemaVersion: UInt64
    /// Carries data over when the file has a lower schema version.
    public var migrationBlock: MigrationBlock?
    /// Told how far ``Migration/enumerateObjects(ofType:_:)`` is, so that a long migration can be shown.
    ///
    /// Called on the thread on which the migration runs, which is another one than that of who opens the
    /// Realm with `await`: before the first object of a class, every 4,096 objects, and behind the last.
    /// It must not open the file.
    public var migrationProgress: (@Sendable (Migration.Progress) -> Void)?
    /// Whether the content is thrown away when the classes or their version differ from it.
    public var deleteRealmIfMigrationNeeded: Bool
    /// Whether a file of an older format is refused, with `.fileFormatUpgradeRequired`, instead of being
    /// brought to the newest one.
    ///
    /// A file is brought to the newest form when it is first opened for writing; after an error or a crash it is
    /// as it was, or half way and readable, and the next opening goes on. Older versions of this library refuse
    /// it from then on. What is only read stays as it is.
    public var disableFormatUpgrade = false
    /// Whether a file that Realm itself wrote is imported when it lies at ``fileURL``, instead of being refused
    /// with `.fileFormatUpgradeRequired`.
    ///
    /// Needs the package's trait `RealmFile`. Everything in the old file is brought to a new one, as
    /// ``Realm/importRealmFile(at:encryptionKey:into:progress:)`` does it, with ``encryptionKey`` as the key of
    /// both; the old one is renamed to `NAME.before-import` and stays until you delete it. Opening takes as
    /// long as that does. After an error the old file is where it was. A crash on the way is made good by the
    /// next opening. The schema version is that of the old file, so that ``migrationBlock`` runs as it would
    /// have.
    public var migratesRealmFiles = false
    /// Told how far the import is that ``migratesRealmFiles`` asks for.
    ///
    /// Called on the thread that opens the Realm. It must not open the file.
    public var importProgress: (@Sendable (Realm.ImportProgress) -> Void)?
    /// Whether to compact a file that exists and has free space, asked when this process opens it.
    ///
    /// Gets the file's size and the bytes in use. Nothing is done while another process has the file
    /// open, and for Realms that are only read.
    public var shouldCompactOnLaunch: (@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)?
    /// The classes; nil for all of the program's.
    public var objectTypes: [ObjectBase.Type]?
    /// Whether the classes are those that the database itself describes, instead of ``objectTypes``.
    ///
    /// For programs that look into databases whose classes they do not have: objects are ``DynamicObject``,
    /// from ``Realm/dynamicObjects(_:)``, and ``Realm/schema`` tells what there is. ``schemaVersion`` is that
    /// of the database, and nothing is migrated.
    public var usesStoredClasses = false
    /// How many versions may be in use at once when a write begins; nil for any number.
    public var maximumNumberOfActiveVersions: UInt?
    /// The most bytes that the database may take; nil for no limit but the medium's.
    ///
    /// A transaction that would make it larger throws `Realm.Error.outOfDiskSpace` when it commits, and has
    /// changed nothing. An eighth of the limit (at least 512 KiB, but a quarter of a small limit; at most
    /// 128 MiB) is kept for transactions that free as much as they take: a full database can be emptied by
    /// deleting, in several transactions where it is much. In a process the limit of the first opening counts;
    /// other processes keep to their own. That of a file counts its bytes, that of other stores the bytes of
    /// pages.
    public var maximumFileSize: Int?
    /// A file that is copied to ``fileURL`` before it is opened, when there is no file yet.
    public var seedFilePath: URL?
    /// Where the pages live; a mapped file unless another is chosen.
    public var store: Realm.Store = .file
    /// What pages go through on their way to the store; nothing unless chosen.
    public var codec: Realm.Codec?
    /// How long commits last once they have returned.
    ///
    /// Those of `.full` survive power loss. Of several that are under way at the same time others may see one before it
    /// does.
    public var durability: Durability = .full
    /// After how many seconds a read of pages on other machines gives up.
    ///
    /// What throws, throws then. What cannot throw, such as a property, waits so long and then stops the
    /// program, with a text that names the place and the cause; it never gives a value that was not
    /// stored. Stores on this machine make no use of it.
    public var readTimeout: TimeInterval = 60
    /// How the database under the Realm behaves; that of the first opening in the process counts.
    package var databaseOptions = DatabaseOptions()

    /// A configuration with the given choices and defaults for the rest.
    @preconcurrency
    public init(
      fileURL: URL? = Realm.Configuration.defaultFileURL, inMemoryIdentifier: String? = nil,
      encryptionKey: Data? = nil, readOnly: Bool = false, schemaVersion: UInt64 = 0,
      migrationBlock: MigrationBlock? = nil,
      deleteRealmIfMigrationNeeded: Bool = false,
      shouldCompactOnLaunch: (@Sendable (Int, Int) -> Bool)? = nil,
      objectTypes: [ObjectBase.Type]? = nil, seedFilePath: URL? = nil
    ) {
      self.fileURL = inMemoryIdentifier == nil ? fileURL : nil
      filePath = self.fileURL?.path
      self.inMemoryIdentifier = inMemoryIdentifier
      self.encryptionKey = encryptionKey
      self.readOnly = readOnly
      self.schemaVersion = schemaVersion
      self.migrationBlock = migrationBlock
      self.deleteRealmIfMigrationNeeded = deleteRealmIfMigrationNeeded
      self.shouldCompactOnLaunch = shouldCompactOnLaunch
      self.objectTypes = objectTypes
      self.seedFilePath = seedFilePath
    }

    /// Where the default Realm lies.
    @usableFromInline static var defaultFileURL: URL {
      #if canImport(Darwin)
        let folder = FileManager.default.urls(for: .documentDirectory, in: .userDomainMask).first
      #else
        let folder: URL? = nil
      #endif
      let parent =
        folder ?? URL(fileURLWithPath: FileManager.default.currentDirectoryPath, isDirectory: true)
      return parent.appendingPathComponent("default.realm")
    }

    /// What `Realm()` opens; shared by the whole process, may be set from any thread.
    public static var defaultConfiguration: Configuration {
      get { DefaultConfiguration.value }
      set { DefaultConfiguration.value = newValue }
    }
  }

  /// A kind of store that a configuration can choose, such as `.file` or `.memory`.
  public typealias Store = StoreChoice

  /// What a store has to be opened for.
  public typealias StoreRequest = CambiumCore.StoreRequest

  /// A codec that a configuration can choose.
  public struct Codec: Sendable {
    /// The codec's name, as the store records it.
    public let name: String
    /// Makes the codec.
    public let make: @Sendable () throws(StoreError) -> any PageCodec

    /// Describes a codec.
    public init(name: String, make: @escaping @Sendable () throws(StoreError) -> any PageCodec) {
      self.name = name
      self.make = make
    }

    /// Chooses a codec, such as `ZstdCodec()`.
    public init(_ codec: any PageCodec) {
      self.init(name: codec.name) { codec }
    }

    /// Chooses codecs by their names, such as `zstd:9`: those of the package's traits, and what else has
    /// joined `CodecRegistry`.
    ///
    /// Opening throws for other names, and says how to get those of this package.
    public static func named(_ chain: String) -> Codec {
      Codec(chain: chain)
    }

    private init(chain: String) {
      self.init(name: CodecRegistry.name(ofChain: chain)) { () throws(StoreError) in
        BundledPlugIns.register()
        guard let codec = try CodecRegistry.codec(chain) else {
          throw .codecUnavailable(
            codec: chain, advice: "Leave the configuration's codec out for none")
        }
        return codec
      }
    }
  }
}

extension Realm.Configuration: Equatable {
  /// Whether file, identifier, key, read-only flag and schema version are the same.
  public static func == (lhs: Realm.Configuration, rhs: Realm.Configuration) -> Bool {
    lhs.encryptionKey == rhs.encryptionKey && lhs.fileURL == rhs.fileURL
      && lhs.inMemoryIdentifier == rhs.inMemoryIdentifier && lhs.remotePath == rhs.remotePath
      && lhs.readOnly == rhs.readOnly
      && lhs.schemaVersion == rhs.schemaVersion
  }
}

extension Realm.Configuration: CustomStringConvertible {
  /// The choices, one per line.
  public var description: String {
    var lines = ["Realm.Configuration {"]
    if let fileURL { lines.append("\tfileURL = \(fileURL.path);") }
    if let remotePath { lines.append("\tremotePath = \(remotePath);") }
    if let inMemoryIdentifier { lines.append("\tinMemoryIdentifier = \(inMemoryIdentifier);") }
    lines.append("\tencryptionKey = \(encryptionKey == nil ? "nil" : "64 bytes");")
    lines.append("\treadOnly = \(readOnly);")
    lines.append("\tschemaVersion = \(schemaVersion);")
    lines.append("\tdeleteRealmIfMigrationNeeded = \(deleteRealmIfMigrationNeeded);")
    if let objectTypes {
      lines.append(
        "\tobjectTypes = [\(objectTypes.map { $0.className() }.joined(separator: ", "))];")
    }
    lines.append("\tstore = \(store.kind);")
    if let codec { lines.append("\tcodec = \(codec.name);") }
    lines.append("\tdurability = \(durability);")
    if let maximumFileSize { lines.append("\tmaximumFileSize = \(maximumFileSize);") }
    if migratesRealmFiles { lines.append("\tmigratesRealmFiles = true;") }
    lines.append("}")
    return lines.joined(separator: "\n")
  }
}

extension Realm.Configuration {
  /// Whether the content ends with its last user.
  var isInMemory: Bool { inMemoryIdentifier != nil || store.isVolatile }

  /// What pages go through: the chosen codec, then encryption when there is a key; nil for nothing.
  ///
  /// Pointers: the key's data lend their bytes while they are copied.
  func makeCodec() throws(StoreError) -> (any PageCodec)? {
    // Also for errors, which say how to get the codecs that a store names itself.
    BundledPlugIns.register()
    let chosen = try codec?.make()
    guard let encryptionKey else { return chosen }
    let key = unsafe encryptionKey.withUnsafeBytes {
      unsafe CodecKey(copying: Span(_unsafeBytes: $0))
    }
    guard let cipher = try CodecRegistry.codec(BundledPlugIns.cipher, key: key) else {
      return chosen
    }
    return chosen.map { CodecChain([$0, cipher]) } ?? cipher
  }

  /// The path or name that messages give.
  var path: String { filePath ?? inMemoryIdentifier ?? remotePath ?? "" }

  /// Whether the content lies in a file or a folder, at ``path``.
  var isInFile: Bool { filePath != nil && !isInMemory }

  /// What tells databases apart in this process.
  var identity: String {
    if isInMemory { return "memory:\(path)" }
    if let remotePath { return "\(store.kind):\(remotePath)" }
    return "\(store.kind):\(Self.resolved(filePath ?? Self.defaultFileURL.path))"
  }

  /// The path of a file behind all symbolic links, also of one that is not there yet.
  ///
  /// Pointers: the system's text is copied and then freed here.
  private static func resolved(_ path: String) -> String {
    func resolved(_ path: String) -> String? {
      guard let real = unsafe realpath(path, nil) else { return nil }
      defer { unsafe free(real) }
      return unsafe String(cString: real)
    }
    if let path = resolved(path) { return path }
    let url = URL(fileURLWithPath: path)
    let folder = url.deletingLastPathComponent().path
    return (resolved(folder) ?? folder) + "/" + url.lastPathComponent
  }

  /// The store to open: an identifier means memory whatever kind is chosen.
  var chosenStore: Realm.Store { inMemoryIdentifier != nil && !store.isVolatile ? .memory : store }

  /// Stops at choices that contradict one another.
  func check() {
    if let key = encryptionKey {
      guard key.count == 64 else { fatalError("Encryption key must be exactly 64 bytes long") }
      guard !isInMemory else { fatalError("Encryption is not supported for in-memory realms") }
    }
    if readOnly, deleteRealmIfMigrationNeeded {
      fatalError("Cannot set `deleteRealmIfMigrationNeeded` when `readOnly` is set.")
    }
    if readOnly, shouldCompactOnLaunch != nil {
      fatalError("Cannot set `readOnly` when `shouldCompactOnLaunch` is set.")
    }
    switch (fileURL, inMemoryIdentifier) {
    case (nil, nil) where remotePath != nil:
      guard store.isRemote else {
        fatalError("A store of kind '\(store.kind)' needs a fileURL, not a remotePath.")
      }
    case (nil, nil):
      fatalError("A Realm Configuration must specify a path or an in-memory identifier.")
    case (_?, _) where filePath?.isEmpty == true: fatalError("Realm path must not be empty")
    case (_, let name?) where name.isEmpty: fatalError("In-memory identifier must not be empty")
    default: break
    }
  }
}

/// Holds the process's default configuration.
///
/// Unchecked: what is current is read and written under the lock alone.
private enum DefaultConfiguration {
  private static let lock = NSLock()
  // Guarded by the lock.
  nonisolated(unsafe) private static var current = Realm.Configuration()

  static var value: Realm.Configuration {
    get { lock.withLock { unsafe current } }
    set { lock.withLock { unsafe current = newValue } }
  }
}
