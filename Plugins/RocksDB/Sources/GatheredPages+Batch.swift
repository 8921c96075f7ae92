#if RocksDB
  import CambiumCore
  import CambiumStoreKit

  /// Pointers: a page that goes into a batch is copied by RocksDB within the call; its buffer is in the
  /// table until then.
  extension GatheredPages {
    /// Adds all pages to a batch, in the order of their addresses; they stay here.
    func add(to batch: RocksBatch) {
      for (location, buffer) in sorted {
        unsafe batch.put(
          StoredKey.page(location: location),
          UnsafeRawBufferPointer(start: buffer.bytes, count: buffer.byteCount))
      }
    }
  }
#endif
