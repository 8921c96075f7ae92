import Cambium
import CambiumCore
import CambiumFile
import CambiumRocksDB

/// The kinds of stores that this program was built with.
enum Stores {
  /// Lets all of them join.
  static func register() {
    StoreRegistry.registerBundledKinds()
    #if RocksDB
      RocksDBStore.register()
    #endif
  }

  /// The path of the file at `location`; throws for another kind of store.
  static func file(_ location: StoreLocation) throws(StoreError) -> String {
    guard location.choice.kind == StoreChoice.file.kind else {
      throw .wrongStoreKind(
        path: location.path, found: location.choice.kind, expected: StoreChoice.file.kind)
    }
    return location.path
  }
}
