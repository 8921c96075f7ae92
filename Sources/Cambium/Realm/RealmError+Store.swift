import CambiumCore
import Synchronization

extension RLMError {
  /// What a failure of the engine means to someone who opens or writes the Realm at `path`.
  init(_ error: StoreError, path: String) {
    let opening = "Failed to open Realm file at path '\(path)': "
    switch error {
    case .notFound:
      self.init(
        .fileNotFound,
        opening
          + "No such file or directory. Check the path, or open it for writing to create one.",
        path: path, underlying: error)
    case .parentNotFound:
      self.init(
        .fileNotFound,
        "Failed to open file at path '\(path).lock': parent path is not a directory. "
          + "Create the folder first.",
        path: path, underlying: error)
    case .permissionDenied:
      self.init(
        .filePermissionDenied,
        opening + "Permission denied. Please use a path where your app has read-write permissions.",
        path: path, underlying: error)
    case .codecMismatch(_, let found, let expected)
    where Self.isEncrypted(found) != Self.isEncrypted(expected):
      let advice =
        Self.isEncrypted(found)
        ? "It is encrypted (\(found)): set the configuration's encryptionKey to its key."
        : "It is not encrypted: leave the configuration's encryptionKey nil, or make an encrypted copy "
          + "with writeCopy(toFile:encryptionKey:)."
      self.init(Self.code(of: error), opening + advice, path: path, underlying: error)
    default:
      let text = error.description
      self.init(
        Self.code(of: error), text.contains(path) ? text : "\(text) (Realm at path '\(path)')",
        path: path, underlying: error)
    }
  }

  /// Whether pages that go through the codecs of that name are encrypted.
  private static func isEncrypted(_ codec: String) -> Bool { codec.contains("aes") }

  private static func code(of error: StoreError) -> Code {
    switch error {
    case .notFound, .parentNotFound: .fileNotFound
    case .permissionDenied: .filePermissionDenied
    case .notAFile, .system, .poisoned, .readOnly, .unreachable, .refused, .ownershipLost,
      .moved:
      .fileAccess
    case .notAStore, .truncated, .codecMismatch, .codecFailure, .damaged, .leftUnfinished:
      .invalidDatabase
    case .unsupportedFormat, .unsupportedFeature: .unsupportedFileFormatVersion
    case .formatUpgradeRequired: .fileFormatUpgradeRequired
    case .inUse: .incompatibleLockFile
    case .mediumFull, .sizeLimitReached: .outOfDiskSpace
    case .addressSpaceExhausted: .addressSpaceExhausted
    case .wrongStoreKind, .versionGone, .tooManyVersions, .closed, .forked, .tooLarge,
      .exhausted, .indeterminate, .interrupted, .codecUnavailable, .storeUnavailable:
      .fail
    }
  }
}

/// Stops because the store failed where the interface cannot throw.
func stop(_ error: StoreError, path: String) -> Never {
  let message = RLMError(error, path: path).message
  UnthrownFailure.handler.withLock { $0 }?(message)
  fatalError(message)
}

/// A failure of a store where the interface cannot throw.
package enum UnthrownFailure {
  /// What ends the process in place of stopping with a trace; nil for that.
  package static let handler = Mutex<(@Sendable (_ message: String) -> Never)?>(nil)
}
