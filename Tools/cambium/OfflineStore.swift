import CambiumCore
import CambiumToolKit

/// Opens a store of any kind for looking into it, without changing anything.
enum OfflineStore {
  /// Runs `body` with the database at `location`, and closes it.
  static func withDatabase<Result>(
    _ location: StoreLocation, key: CodecKey?, _ body: (Database) throws -> Result
  ) throws -> Result {
    try withStore(location, key: key) { _, database in try body(database) }
  }

  /// Runs `body` with the store at `location` and the database in it, and closes both.
  static func withStore<Result>(
    _ location: StoreLocation, key: CodecKey?, _ body: (any PageStore, Database) throws -> Result
  ) throws -> Result {
    let store = try open(location, key: key)
    let database = try Database(store: store)
    do {
      let result = try body(store, database)
      try database.close()
      return result
    } catch {
      try? database.close()
      throw error
    }
  }

  private static func open(
    _ location: StoreLocation, key: CodecKey?
  ) throws(StoreError) -> any PageStore {
    do throws(StoreError) {
      return try location.openExisting(isReadOnly: true, key: key)
    } catch .codecFailure(let codec, _) where key == nil {
      throw KeyFile.missing(codec, location.path)
    }
  }
}
