/// A `.realm` file, opened for reading.
///
/// The newest committed version is read, of formats 10, 11 and 20 to 24. The file is never changed, and
/// nothing is made beside it. Realm's lock file is not used: no other program may write the file
/// meanwhile, which ``checkUnchanged()`` finds out at the end.
///
/// A damaged file gives errors, or values that fit its schema; memory is bounded by its size, and
/// work too, but for texts that many objects share.
///
/// Belongs to one thread at a time.
public final class RealmFile {
  /// In which form a file was written.
  public enum Form: Hashable, Sendable {
    /// In place, with its root in the header.
    case normal
    /// From front to back, with its root in a footer, as copies are.
    case streamed
  }

  /// Where the file lies.
  public let path: String
  /// The length of the file itself.
  public let byteCount: Int
  /// The number of the file format; 0 only for an empty file.
  public let format: Int
  /// Whether the file is encrypted.
  public let isEncrypted: Bool
  /// In which form it was written.
  public let form: Form
  /// The number of the version that is read; 0 for an empty file.
  public let version: UInt64
  /// The version of the schema that the program set; nil when none was.
  public let schemaVersion: UInt64?
  /// The classes in the order of their tables.
  public let classes: [RealmFileClass]

  private let file: DiskFile
  let tables: [ClassTable]
  let reader: ValueReader
  /// One for each class; nil for asymmetric ones, which have no objects.
  private let lookups: [ObjectLookup?]

  /// Opens a file and reads its schema; `encryptionKey` is nil for a file that is not encrypted.
  ///
  /// A key has 64 bytes. The file must be an ordinary one; an empty one has no classes.
  public init(path: String, encryptionKey: [UInt8]? = nil) throws(RealmFileError) {
    self.path = path
    file = try DiskFile(path: path)
    byteCount = file.byteCount
    isEncrypted = encryptionKey != nil && file.byteCount > 0
    let opening = try Opening(file, encryptionKey)
    format = opening.header?.format ?? 0
    form = opening.header?.form ?? .normal
    version = opening.version
    schemaVersion = opening.schema.version
    tables = opening.schema.tables
    reader = opening.reader
    classes = tables.map(\.description)
    lookups = tables.map { $0.kind == .asymmetric ? nil : ObjectLookup(root: $0.objects) }
  }

  /// How many texts were not valid UTF-8 so far, and were read with replacement.
  public var replacedTextCount: Int { reader.replacedTextCount }

  /// Throws ``RealmFileError/changed(path:)`` when the file is not what it was at its opening.
  ///
  /// Compares the first bytes, the length, the modification time, and which file the path leads to.
  public func checkUnchanged() throws(RealmFileError) { try file.checkUnchanged() }

  /// What finds the objects of a class; nil when it can have none, traps when there is no such class.
  func lookup(_ classIndex: Int) -> ObjectLookup? {
    precondition(
      lookups.indices.contains(classIndex),
      "There is no class \(classIndex); indexes are those of RealmFile.classes.")
    return lookups[classIndex]
  }

  /// The table of a class; traps when there is none.
  func table(_ classIndex: Int) -> ClassTable {
    precondition(
      tables.indices.contains(classIndex),
      "There is no class \(classIndex); indexes are those of RealmFile.classes.")
    return tables[classIndex]
  }

  /// The column of a property; traps when there is none.
  func column(_ propertyIndex: Int, of classIndex: Int) -> Column {
    let columns = table(classIndex).columns
    precondition(
      columns.indices.contains(propertyIndex),
      "There is no property \(propertyIndex); indexes are those of RealmFileClass.properties.")
    return columns[propertyIndex]
  }
}
