import CambiumCore
import CambiumFile

/// Opens a store for looking into it, without changing anything.
enum OfflineStore {
  /// Runs `body` with the database at `path`, and closes it.
  static func withDatabase<Result>(
    path: String, codec: (any PageCodec)?, _ body: (Database) throws -> Result
  ) throws -> Result {
    let store = try FileStore(path: path, options: FileStoreOptions(isReadOnly: true, codec: codec))
    let database = try Database(store: store)
    do {
      let result = try body(database)
      try database.close()
      return result
    } catch {
      try? database.close()
      throw error
    }
  }
}
