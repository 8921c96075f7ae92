import Cambium
import CambiumCore
import CambiumFile
import CambiumToolKit
import Foundation

/// The kinds of stores that commands take.
enum Stores {
  /// The path of the file at `location`; throws for another kind of store.
  static func file(_ location: StoreLocation) throws(StoreError) -> String {
    guard location.choice.kind == StoreChoice.file.kind else {
      throw .wrongStoreKind(
        path: location.path, found: location.choice.kind, expected: StoreChoice.file.kind)
    }
    return location.path
  }

  /// Whether what is at `path` is a store of any kind, perhaps a damaged one, its lock file, or a file of Realm;
  /// `key` tells one that is encrypted from another file that looks so.
  static func holdsStore(_ path: String, key: CodecKey?) throws(StoreError) -> Bool {
    // Whole, so that no part of it is taken for a kind.
    let path = URL(fileURLWithPath: path).path
    if RealmFileSummary.isRealmFile(path, encryptionKey: key?.data) { return true }
    if RealmFileSummary.looksEncrypted(path) || FileStore.isLockFile(path) { return true }
    if try StoreRegistry.location(path).choice.kind != StoreChoice.file.kind { return true }
    do throws(StoreError) {
      _ = try FileStore.inspect(path: path)
    } catch .notFound, .notAStore {
      return false
    } catch .damaged, .truncated, .unsupportedFormat {
      return true
    }
    return true
  }
}
