/// What is read when a file is opened.
struct Opening {
  /// Nil for a file of no bytes.
  let header: FileHeader?
  let version: UInt64
  let schema: Schema
  let reader: ValueReader

  init(_ file: DiskFile, _ key: [UInt8]?) throws(RealmFileError) {
    let bytes = PlainBytes(try Self.source(of: file, key))
    let path = file.path
    do throws(ReadFault) {
      header =
        bytes.byteCount == 0 ? nil : try Self.header(of: bytes, file, isEncrypted: key != nil)
      guard let header, header.root != 0 else {
        version = 0
        schema = Schema()
        reader = ValueReader(
          bytes, format: header?.format ?? 0, logicalByteCount: bytes.byteCount)
        return
      }
      let root = try SnapshotRoot(at: header.root, of: bytes)
      version = root.version
      reader = ValueReader(
        bytes, format: header.format, logicalByteCount: root.logicalByteCount)
      schema = try Schema(of: root, reader, path: path)
    } catch {
      throw error.error(path: path)
    }
  }

  /// The blocks of the plain file.
  private static func source(
    of file: DiskFile, _ key: [UInt8]?
  ) throws(RealmFileError) -> any BlockSource {
    guard let key, file.byteCount > 0 else { return FileBlocks(file) }
    if FileHeader.hasMagic(file.head) { throw .notEncrypted(path: file.path) }
    #if Crypto
      return try EncryptedPages(file, key: key)
    #else
      throw .encryptionUnavailable(path: file.path)
    #endif
  }

  /// The header; without its magic bytes, a key is wrong or missing.
  private static func header(
    of bytes: PlainBytes, _ file: DiskFile, isEncrypted: Bool
  ) throws(ReadFault) -> FileHeader {
    do throws(ReadFault) {
      return try FileHeader(of: bytes, path: file.path)
    } catch {
      guard case .file(.notARealmFile) = error else { throw error }
      if isEncrypted { throw .file(.wrongKey(path: file.path)) }
      if looksEncrypted(file) { throw .file(.needsKey(path: file.path)) }
      throw error
    }
  }

  /// Whether the file has whole pages, at least two, and begins with a record that is in use.
  private static func looksEncrypted(_ file: DiskFile) -> Bool {
    file.byteCount % 4096 == 0 && file.byteCount >= 2 * 4096
      && file.head.prefix(4).contains { $0 != 0 }
  }
}
