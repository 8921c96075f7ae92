import CambiumCore

/// Opens a store of any kind for looking into it, without changing anything.
enum OfflineStore {
  /// Runs `body` with the database at `location`, and closes it.
  static func withDatabase<Result>(
    _ location: StoreLocation, key: CodecKey?, _ body: (Database) throws -> Result
  ) throws -> Result {
    let database = try Database(store: try open(location, key: key))
    do {
      let result = try body(database)
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
      throw Codecs.missingKey(codec, location.path)
    }
  }
}
