import Cambium
import CambiumCore

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
}
