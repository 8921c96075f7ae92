#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Pointers: the text of a system error is the C library's, and is copied at once.
extension RealmFileError: CustomStringConvertible {
  /// What happened to which file, and what can be done about it.
  public var description: String {
    switch self {
    case .notARealmFile(let path):
      "'\(path)' is no Realm file: it has no header of one. If it is encrypted, it is damaged."
    case .needsKey(let path):
      "'\(path)' has no header of a Realm file. If it is encrypted, give its key of 64 bytes."
    case .notEncrypted(let path):
      "'\(path)' is not encrypted. Open it without a key."
    case .wrongKeyLength(let byteCount, let path):
      "The key for '\(path)' has \(byteCount) bytes. The key of a Realm file has 64."
    case .wrongKey(let path):
      "The key is not the one with which '\(path)' was encrypted, or the file is damaged."
    case .encryptionUnavailable(let path):
      "'\(path)' cannot be decrypted by this build. Enable the package trait 'Crypto'."
    case .unsupportedFormat(let format, let path):
      Self.describe(format: format, path)
    case .truncated(let path, let what):
      "'\(path)' is cut short: \(what). Copy it again from where it came."
    case .damaged(let damage, let path):
      "'\(path)' is damaged: \(damage)."
    case .changed(let path):
      "'\(path)' was changed while it was read. Close the program that writes it, or read a copy."
    case .system(let operation, let code, let path):
      "'\(path)' cannot be read: \(operation) failed: \(Self.text(of: code))."
    }
  }

  private static func describe(format: Int, _ path: String) -> String {
    if format < FileHeader.formats.lowerBound {
      return "'\(path)' has format \(format), which is older than this reader. Open it once with"
        + " Realm Swift 10.0 to 10.48, which upgrades it."
    }
    return "'\(path)' has format \(format), which this reader does not know. It knows"
      + " 10, 11 and 20 to 24."
  }

  private static func text(of code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }
}

extension RealmFileError.Damage: CustomStringConvertible {
  /// Class, property and position, as far as they are known, and what is wrong.
  public var description: String {
    var text = ""
    if let className {
      text += propertyName.map { "\(className).\($0): " } ?? "class \(className): "
    }
    text += what
    if let position { text += " (at byte \(position))" }
    return text
  }
}
