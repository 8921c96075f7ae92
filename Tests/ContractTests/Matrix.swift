import CambiumCore
import CambiumFile
import CambiumMemory
import CambiumStoreContract
import TestSupport

#if RocksDB
  import CambiumRocksDB
#endif
#if Zstd
  import CambiumZstd
#endif

/// The stores and codecs that are held against the contract, each store with each codec.
///
/// A new one is a line here.
enum Matrix {
  static let stores: [StoreSubject] = {
    var stores = [memory, file("file", .mapped), file("buffered", .buffered)]
    #if RocksDB
      stores.append(rocksDB)
    #endif
    return stores
  }()

  static let codecs: [CodecSubject] = {
    var codecs = [CodecSubject("mask") { () throws(StoreError) in MaskCodec() }]
    #if Zstd
      codecs.append(CodecSubject("zstd") { () throws(StoreError) in try ZstdCodec() })
    #endif
    return codecs
  }()

  /// Each store with each codec.
  static let storesWithCodecs: [StoreSubject] = stores.flatMap { store in
    codecs.map { store.with(codec: $0.name, $0.make) }
  }

  private static let memory: StoreSubject = {
    var subject = StoreSubject("memory") { place throws(StoreError) in
      guard let codec = place.codec else { return MemoryStore(name: place.path) }
      return try MemoryStore(name: place.path, codec: codec)
    }
    subject.isPersistent = false
    subject.canBeReadOnly = false
    subject.sharing = .shared
    return subject
  }()

  private static func file(
    _ name: String, _ access: FileStoreOptions.Access
  ) -> StoreSubject {
    var subject = StoreSubject(name) { place throws(StoreError) in
      var options = FileStoreOptions(
        access: access, isReadOnly: place.isReadOnly, codec: place.codec)
      options.foldAfterRecordCount = 4
      return try FileStore(path: place.path, options: options)
    }
    subject.sharing = .shared
    // A file grows ahead of need.
    subject.slackByteCount = 4 << 20
    return subject
  }

  #if RocksDB
    private static let rocksDB: StoreSubject = {
      var subject = StoreSubject("rocksdb") { place throws(StoreError) in
        var options = RocksDBOptions(isReadOnly: place.isReadOnly, codec: place.codec)
        options.writeBufferByteCount = 256 << 10
        options.batchByteCount = 64 << 10
        return try RocksDBStore(path: place.path, options: options)
      }
      // Logs, and what waits for compaction.
      subject.slackByteCount = 8 << 20
      return subject
    }()
  #endif
}
