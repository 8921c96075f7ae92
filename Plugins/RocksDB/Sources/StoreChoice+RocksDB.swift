#if RocksDB
  import CambiumCore

  extension StoreChoice {
    /// A folder with a RocksDB database, opened as `options` say; whether it is only read, and what
    /// codec its pages go through, are the configuration's choices.
    public static func rocksDB(_ options: RocksDBOptions = RocksDBOptions()) -> StoreChoice {
      StoreChoice(
        kind: RocksDBStore.kind,
        delete: { path throws(StoreError) in try RocksDBStore.delete(path: path) }
      ) { request throws(StoreError) in
        var options = options
        options.isReadOnly = request.isReadOnly
        options.codec = request.codec
        options.maximumByteCount = request.maximumByteCount
        return try RocksDBStore(path: request.path, options: options)
      }
    }
  }

  extension RocksDBStore {
    /// Lets the kind join `StoreRegistry` as `rocksdb`, with default options; the object layer does it by
    /// itself.
    public static func register() {
      StoreRegistry.register(.rocksDB()) { StoreFolder.holdsStore(path: $0) }
    }
  }
#endif
