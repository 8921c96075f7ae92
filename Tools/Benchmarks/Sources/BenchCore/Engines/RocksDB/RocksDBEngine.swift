import CPeerRocksDB

/// RocksDB, tuned for what is asked of it: a packed record under a key of eight bytes, hashed block
/// indexes, Bloom filters, a cache that holds everything, and no compression.
final class RocksDBEngine: Engine {
  static let name = "rocksdb"

  let folder: String
  private(set) var database: OpaquePointer?
  /// The index of names, while there is one.
  var index: OpaquePointer?
  let options = rocksdb_options_create()
  private let tableOptions = rocksdb_block_based_options_create()
  private let cache = rocksdb_cache_create_lru(2 << 30)
  let readOptions = rocksdb_readoptions_create()
  private let syncedWrites = rocksdb_writeoptions_create()
  private let unsyncedWrites = rocksdb_writeoptions_create()

  init(folder: String) {
    self.folder = folder + "/people"
    rocksdb_options_set_create_if_missing(options, 1)
    rocksdb_options_increase_parallelism(options, 2)
    rocksdb_options_set_write_buffer_size(options, 64 << 20)
    rocksdb_options_set_max_write_buffer_number(options, 4)
    rocksdb_options_set_compression(options, Int32(rocksdb_no_compression))
    rocksdb_options_set_recycle_log_file_num(options, 2)
    rocksdb_block_based_options_set_block_cache(tableOptions, cache)
    rocksdb_block_based_options_set_filter_policy(
      tableOptions, rocksdb_filterpolicy_create_bloom_full(10))
    rocksdb_block_based_options_set_data_block_index_type(
      tableOptions, Int32(rocksdb_block_based_table_data_block_index_type_binary_search_and_hash))
    rocksdb_options_set_block_based_table_factory(options, tableOptions)
    rocksdb_writeoptions_set_sync(syncedWrites, 1)
  }

  deinit {
    close()
    rocksdb_readoptions_destroy(readOptions)
    rocksdb_writeoptions_destroy(syncedWrites)
    rocksdb_writeoptions_destroy(unsyncedWrites)
    rocksdb_block_based_options_destroy(tableOptions)
    rocksdb_options_destroy(options)
    rocksdb_cache_destroy(cache)
  }

  func create() throws { try open() }

  func open() throws {
    database = try check { rocksdb_open(options, folder, &$0) }
  }

  func close() {
    if let database { rocksdb_close(database) }
    if let index { rocksdb_close(index) }
    (database, index) = (nil, nil)
  }

  /// Writes the newest records to tables and merges all tables into one level.
  func settle() throws {
    let flush = rocksdb_flushoptions_create()
    defer { rocksdb_flushoptions_destroy(flush) }
    try check { rocksdb_flush(database, flush, &$0) }
    rocksdb_compact_range(database, nil, 0, nil, 0)
  }

  /// Fills a batch and writes it.
  func write(isDurable: Bool, _ fill: (OpaquePointer?) throws -> Void) throws {
    let batch = rocksdb_writebatch_create()
    defer { rocksdb_writebatch_destroy(batch) }
    try fill(batch)
    try write(batch, isDurable: isDurable)
  }

  func write(_ batch: OpaquePointer?, isDurable: Bool) throws {
    try check { rocksdb_write(database, isDurable ? syncedWrites : unsyncedWrites, batch, &$0) }
  }

  /// Calls into RocksDB and throws what it says of failures.
  @inline(__always)
  func check<Result>(
    _ call: (inout UnsafeMutablePointer<CChar>?) -> Result
  ) throws -> Result {
    var message: UnsafeMutablePointer<CChar>?
    let result = call(&message)
    if let message {
      defer { rocksdb_free(message) }
      throw RocksDBFailure(description: "RocksDB: " + String(cString: message))
    }
    return result
  }

  /// Visits every record in key order; the bytes are RocksDB's own.
  @inline(__always)
  func scan(_ visit: (Int64, UnsafeRawBufferPointer) throws -> Void) throws {
    let iterator = rocksdb_create_iterator(database, readOptions)
    defer { rocksdb_iter_destroy(iterator) }
    rocksdb_iter_seek_to_first(iterator)
    var length = 0
    while rocksdb_iter_valid(iterator) != 0 {
      guard let key = rocksdb_iter_key(iterator, &length) else { break }
      let id = Int64(bigEndian: UnsafeRawPointer(key).loadUnaligned(as: Int64.self))
      let value = rocksdb_iter_value(iterator, &length)
      try visit(id, UnsafeRawBufferPointer(start: value, count: length))
      rocksdb_iter_next(iterator)
    }
    try check { rocksdb_iter_get_error(iterator, &$0) }
  }
}

/// What RocksDB said.
struct RocksDBFailure: Error, CustomStringConvertible {
  var description: String
}

/// Keys compare as bytes: the highest byte comes first.
@inline(__always)
func withRocksDBKey<Result>(
  _ key: Int64, _ body: (UnsafePointer<CChar>?) throws -> Result
) rethrows -> Result {
  var bytes = key.bigEndian
  return try withUnsafeBytes(of: &bytes) {
    try body($0.baseAddress?.assumingMemoryBound(to: CChar.self))
  }
}
