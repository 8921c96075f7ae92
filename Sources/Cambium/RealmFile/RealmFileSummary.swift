import Foundation

#if RealmFile
  internal import CambiumRealmFile
#endif

/// What a `.realm` file holds: for tools, which show it.
///
/// Pointers: to local variables with the length that is told, for the length of a call.
package struct RealmFileSummary: Sendable {
  /// A class of the file.
  package struct Class: Sendable {
    /// What it would be here.
    package var schema: ObjectSchema
    /// Whether its objects are only sent elsewhere, so that a file has none.
    package var isAsymmetric: Bool
    package var objectCount: Int
  }

  package var path: String
  package var byteCount: Int
  /// The number of the format.
  package var format: Int
  package var isEncrypted: Bool
  /// Whether it is a copy that nobody has written to since.
  package var isCopy: Bool
  /// The number of the version that is seen.
  package var version: UInt64
  /// Nil when it was never set.
  package var schemaVersion: UInt64?
  /// In the order of the file.
  package var classes: [Class]

  /// Reads the file at `path`, without its objects; the key counts if it is encrypted.
  ///
  /// Throws what ``Realm/importRealmFile(at:encryptionKey:into:progress:)`` does of the file.
  package init(path: String, encryptionKey: Data?) throws(RLMError) {
    #if RealmFile
      let key = Self.isPlainRealmFile(path) ? nil : encryptionKey
      let file = try RealmFile(opening: path, key)
      let schemas = RealmFileSchema(file, includesAsymmetric: true)
      self.path = path
      byteCount = file.byteCount
      format = file.format
      isEncrypted = file.isEncrypted
      isCopy = file.form == .streamed
      version = file.version
      schemaVersion = file.schemaVersion
      classes = zip(file.classes, schemas.classes).map { type, schema in
        Class(
          schema: schema, isAsymmetric: type.kind == .asymmetric, objectCount: type.objectCount)
      }
    #else
      throw RealmFileMigration.traitIsMissing(path)
    #endif
  }

  /// Whether there is a `.realm` file at `path`: one that is not encrypted, or one that `encryptionKey` opens.
  ///
  /// False for what cannot be read, and for anything but a file.
  package static func isRealmFile(_ path: String, encryptionKey: Data?) -> Bool {
    if isPlainRealmFile(path) { return true }
    #if RealmFile
      guard let encryptionKey else { return false }
      // An empty file is of no form, and opens with any key.
      return (try? RealmFile(opening: path, encryptionKey)).map { $0.format != 0 } ?? false
    #else
      return false
    #endif
  }

  /// Whether the file at `path` has the shape of an encrypted `.realm` file, and is no text.
  package static func looksEncrypted(_ path: String) -> Bool {
    #if RealmFile
      do throws(RealmFileError) {
        _ = try RealmFile(path: path, encryptionKey: nil)
        return false
      } catch {
        guard case .needsKey = error, let file = FileHandle(forReadingAtPath: path),
          let head = try? file.read(upToCount: 4096)
        else { return false }
        // The end may be in the middle of a character.
        return !(0..<4).contains { String(validating: head.dropLast($0), as: UTF8.self) != nil }
      }
    #else
      return false
    #endif
  }

  /// Whether the file at `path` begins as a `.realm` file does that is not encrypted.
  package static func isPlainRealmFile(_ path: String) -> Bool {
    // Opening a pipe would wait for who writes to it.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return false
    }
    var head = [UInt8](repeating: 0, count: 24)
    guard unsafe pread(descriptor, &head, head.count, 0) == head.count else { return false }
    return head[16..<20].elementsEqual("T-DB".utf8)
  }
}
