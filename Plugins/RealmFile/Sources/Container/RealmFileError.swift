/// Why a `.realm` file cannot be read.
public enum RealmFileError: Error, Hashable, Sendable {
  /// The file has no header of a Realm file, and does not look encrypted.
  case notARealmFile(path: String)
  /// The file has no header of a Realm file but the shape of an encrypted one, and no key was given.
  case needsKey(path: String)
  /// The file is not encrypted, and a key was given.
  case notEncrypted(path: String)
  /// A key has 64 bytes, and that one has `byteCount`.
  case wrongKeyLength(byteCount: Int, path: String)
  /// The key is not the one with which the file was encrypted.
  case wrongKey(path: String)
  /// The package was built without its trait `Crypto`, so that it reads no encrypted files.
  case encryptionUnavailable(path: String)
  /// The file has a format that this reader does not know.
  case unsupportedFormat(Int, path: String)
  /// The file ends too early, which its header or its end tell.
  case truncated(path: String, what: String)
  /// Something in the file breaks its format.
  case damaged(Damage, path: String)
  /// The file is not what it was when it was opened.
  case changed(path: String)
  /// The system refused an operation; `code` is its error number.
  case system(operation: String, code: Int32, path: String)

  /// What is wrong in a file, and where.
  public struct Damage: Hashable, Sendable {
    /// What is wrong.
    public var what: String
    /// The ref of the node where it was found, or a position in the plain file; nil for none.
    public var position: Int?
    /// The class that was read.
    public var className: String?
    /// The property that was read.
    public var propertyName: String?

    /// Describes a finding.
    public init(
      _ what: String, position: Int? = nil, className: String? = nil, propertyName: String? = nil
    ) {
      self.what = what
      self.position = position
      self.className = className
      self.propertyName = propertyName
    }
  }
}
