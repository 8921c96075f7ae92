#if RocksDB
  import CPlatform
  import CRocksDB
  import CambiumCore
  import Synchronization

  /// An open RocksDB database; closed with its last reference, which snapshots and values hold too.
  ///
  /// The only file that calls RocksDB.
  ///
  /// Unchecked: RocksDB's objects may be used from any thread, and the pointers to them never change.
  @safe final class RocksDatabase: @unchecked Sendable {
    private let handle: OpaquePointer
    private let cache: OpaquePointer?
    private let readOptions = unsafe rocksdb_readoptions_create()
    private let syncedWrites = unsafe rocksdb_writeoptions_create()
    private let unsyncedWrites = unsafe rocksdb_writeoptions_create()
    private let forkCount = cambium_fork_count()
    /// As it was when this process, or the one it was forked from, first asked.
    private static let firstForkCount = cambium_fork_count()
    /// What keeps others out, besides RocksDB's own lock.
    private let claim: FolderClaim
    /// The folder's path without links, which stays right whatever folder the process works in later.
    var folder: String { claim.folder }

    /// Whether this process was forked from one that used RocksDB: its threads are not there, and what
    /// waits for them waits for ever.
    static var isForked: Bool { firstForkCount != cambium_fork_count() }

    /// Why nothing can be opened at `path` then, and the way out.
    static func forkedBefore(_ path: String) -> StoreError {
      .storeUnavailable(
        kind: RocksDBStore.kind,
        advice: "RocksDB's threads stayed with the process that this one was forked from. "
          + "Open '\(path)' in another program that is run (exec) after the fork")
    }

    /// Opens the database in the claimed folder, and makes it when the claim says that it is new.
    init(options: RocksDBOptions, claim: FolderClaim) throws(RocksFailure) {
      self.claim = claim
      let settings = unsafe rocksdb_options_create()
      defer { unsafe rocksdb_options_destroy(settings) }
      unsafe cache = unsafe rocksdb_cache_create_lru(options.blockCacheByteCount)
      unsafe Self.apply(options, to: settings, cache: cache)
      unsafe rocksdb_options_set_create_if_missing(settings, claim.isNew ? 1 : 0)
      unsafe rocksdb_writeoptions_set_sync(syncedWrites, 1)
      let opened: OpaquePointer?
      do throws(RocksFailure) {
        unsafe opened = try unsafe Self.attempt { error in
          unsafe options.isReadOnly
            ? rocksdb_open_for_read_only(settings, claim.folder, 0, &error)
            : rocksdb_open(settings, claim.folder, &error)
        }
      } catch {
        unsafe Self.destroy(readOptions, [syncedWrites, unsyncedWrites], cache)
        throw error
      }
      guard let opened = unsafe opened else {
        unsafe Self.destroy(readOptions, [syncedWrites, unsyncedWrites], cache)
        throw RocksFailure(text: "IO error: RocksDB has not opened the database")
      }
      unsafe handle = unsafe opened
      _ = ProcessEnd.watch
    }

    deinit {
      // The threads of RocksDB are not there in a child that was forked; closing would wait for them.
      // What RocksDB itself needs may be gone when the process ends.
      guard forkCount == cambium_fork_count(), !ProcessEnd.hasBegun else { return }
      unsafe rocksdb_close(handle)
      unsafe Self.destroy(readOptions, [syncedWrites, unsyncedWrites], cache)
      claim.end()
    }

    private static func destroy(
      _ readOptions: OpaquePointer?, _ writeOptions: [OpaquePointer?], _ cache: OpaquePointer?
    ) {
      unsafe rocksdb_readoptions_destroy(readOptions)
      unsafe writeOptions.forEach { unsafe rocksdb_writeoptions_destroy($0) }
      unsafe rocksdb_cache_destroy(cache)
    }

    private static func apply(
      _ options: RocksDBOptions, to settings: OpaquePointer?, cache: OpaquePointer?
    ) {
      unsafe rocksdb_options_set_write_buffer_size(settings, options.writeBufferByteCount)
      unsafe rocksdb_options_set_max_background_jobs(
        settings, Int32(max(2, options.backgroundJobCount)))
      unsafe rocksdb_options_set_compression(settings, options.compression.number)
      unsafe rocksdb_options_set_level_compaction_dynamic_level_bytes(settings, 1)
      // Every file stays open, so that a store that is only read never loses one.
      unsafe rocksdb_options_set_max_open_files(settings, -1)
      // Files in which much was deleted are rewritten before their turn.
      unsafe rocksdb_options_add_compact_on_deletion_collector_factory(settings, 256, 64)
      // Nothing but how it was opened: a log that meets a full disk ends the process where RocksDB was
      // built with assertions. What fails is told by the calls.
      unsafe rocksdb_options_set_info_log_level(settings, 4)
      unsafe rocksdb_options_set_keep_log_file_num(settings, 2)
      unsafe rocksdb_options_set_max_log_file_size(settings, 1 << 20)
      unsafe rocksdb_options_set_stats_dump_period_sec(settings, 0)
      if options.countsCacheReads { unsafe rocksdb_options_enable_statistics(settings) }
      let table = unsafe rocksdb_block_based_options_create()
      defer { unsafe rocksdb_block_based_options_destroy(table) }
      unsafe rocksdb_block_based_options_set_block_cache(table, cache)
      unsafe rocksdb_block_based_options_set_block_size(table, 16 << 10)
      unsafe rocksdb_block_based_options_set_format_version(table, 5)
      if options.filterBitsPerPage > 0 {
        unsafe rocksdb_block_based_options_set_filter_policy(
          table, rocksdb_filterpolicy_create_bloom_full(options.filterBitsPerPage))
      }
      unsafe rocksdb_options_set_block_based_table_factory(settings, table)
    }

    /// Runs a call and turns the text it leaves into an error.
    private static func attempt<Value>(
      _ body: (inout UnsafeMutablePointer<CChar>?) -> Value
    ) throws(RocksFailure) -> Value {
      var text: UnsafeMutablePointer<CChar>?
      let value = unsafe body(&text)
      guard let text = unsafe text else { return value }
      defer { unsafe rocksdb_free(text) }
      throw unsafe RocksFailure(text: String(cString: text))
    }

    // MARK: Reading

    /// The value under `key` as `snapshot` sees it, or as it is now; nil if there is none.
    func value(_ key: [UInt8], at snapshot: RocksSnapshot? = nil) throws(RocksFailure)
      -> RocksValue?
    {
      let options = unsafe snapshot?.readOptions ?? readOptions
      let slice = try unsafe Self.attempt { error in
        unsafe key.withUnsafeBytes { key in
          unsafe rocksdb_get_pinned(
            handle, options, key.baseAddress?.assumingMemoryBound(to: CChar.self), key.count, &error
          )
        }
      }
      return unsafe slice.map { unsafe RocksValue(slice: $0, database: self) }
    }

    /// What the database holds at this moment.
    func snapshot() -> RocksSnapshot { unsafe RocksSnapshot(of: handle, in: self) }

    /// Calls `body` with every key from `first` on that `snapshot` sees, in order, until it returns
    /// false.
    func forEachKey(
      from first: [UInt8], at snapshot: RocksSnapshot? = nil,
      _ body: (UnsafeRawBufferPointer) -> Bool
    ) throws(RocksFailure) {
      let iterator = unsafe rocksdb_create_iterator(handle, snapshot?.readOptions ?? readOptions)
      defer { unsafe rocksdb_iter_destroy(iterator) }
      unsafe first.withUnsafeBytes { first in
        unsafe rocksdb_iter_seek(
          iterator, first.baseAddress?.assumingMemoryBound(to: CChar.self), first.count)
      }
      while unsafe rocksdb_iter_valid(iterator) != 0 {
        var count = 0
        let key = unsafe rocksdb_iter_key(iterator, &count)
        if unsafe !body(UnsafeRawBufferPointer(start: key, count: count)) { break }
        unsafe rocksdb_iter_next(iterator)
      }
      try unsafe Self.attempt { error in unsafe rocksdb_iter_get_error(iterator, &error) }
    }

    /// One of RocksDB's counters.
    func number(_ name: String) -> Int? {
      var value: UInt64 = 0
      return unsafe rocksdb_property_int(handle, name, &value) == 0 ? Int(clamping: value) : nil
    }

    /// One of RocksDB's descriptions of itself.
    func text(_ name: String) -> String? {
      guard let text = unsafe rocksdb_property_value(handle, name) else { return nil }
      defer { unsafe rocksdb_free(text) }
      return unsafe String(cString: text)
    }

    // MARK: Writing

    /// Applies `batch`, all of it or nothing; when `isSynced`, it survives power loss with everything
    /// written before.
    func write(_ batch: RocksBatch, isSynced: Bool) throws(RocksFailure) {
      try unsafe Self.attempt { error in
        unsafe rocksdb_write(handle, isSynced ? syncedWrites : unsyncedWrites, batch.handle, &error)
      }
    }

    /// Makes everything that was written survive power loss.
    func sync() throws(RocksFailure) {
      try unsafe Self.attempt { error in unsafe rocksdb_flush_wal(handle, 1, &error) }
    }

    /// Rewrites all files without what was deleted; takes as long as that takes.
    func compact() throws(RocksFailure) {
      let flushing = unsafe rocksdb_flushoptions_create()
      defer { unsafe rocksdb_flushoptions_destroy(flushing) }
      try unsafe Self.attempt { error in unsafe rocksdb_flush(handle, flushing, &error) }
      let options = unsafe rocksdb_compactoptions_create()
      defer { unsafe rocksdb_compactoptions_destroy(options) }
      // Also the last level, which otherwise stays as it is.
      unsafe rocksdb_compactoptions_set_bottommost_level_compaction(options, 2)
      let errorCount = number("rocksdb.background-errors") ?? 0
      unsafe rocksdb_compact_range_opt(handle, options, nil, 0, nil, 0)
      // The call itself says nothing of how it went. What stops the database is told to the next write.
      guard number("rocksdb.background-errors") ?? 0 > errorCount else { return }
      try write(RocksBatch(), isSynced: false)
      throw RocksFailure(
        text: hasRoomForCopy ? "IO error: compaction failed" : "IO error: No space left on device")
    }
  }

  extension RocksDatabase {
    /// Whether the medium could take all files once more.
    private var hasRoomForCopy: Bool {
      StoreFolder.freeByteCount(at: folder) ?? .max > StoreFolder(path: folder).byteCount
    }
  }

  /// Whether the process is ending.
  ///
  /// RocksDB's own objects go then, while other threads still run: what they let go of stays where it is.
  private enum ProcessEnd {
    private static let begun = Atomic(false)

    static var hasBegun: Bool { begun.load(ordering: .acquiring) }

    /// Called behind the first opening, so that it is told before RocksDB's objects go.
    static let watch: Void = {
      atexit { ProcessEnd.begun.store(true, ordering: .releasing) }
    }()
  }

  /// What RocksDB said of a call that failed.
  struct RocksFailure: Error {
    /// Its words, which begin with the kind of failure.
    var text: String
  }

  /// A moment whose content stays readable.
  ///
  /// Unchecked: the pointers never change, and RocksDB's objects may be used from any thread.
  @safe final class RocksSnapshot: @unchecked Sendable {
    fileprivate let readOptions = unsafe rocksdb_readoptions_create()
    private let snapshot: OpaquePointer?
    private let handle: OpaquePointer
    private let database: RocksDatabase
    private let forkCount = cambium_fork_count()

    fileprivate init(of handle: OpaquePointer, in database: RocksDatabase) {
      unsafe self.handle = unsafe handle
      self.database = database
      unsafe snapshot = unsafe rocksdb_create_snapshot(handle)
      unsafe rocksdb_readoptions_set_snapshot(readOptions, snapshot)
    }

    deinit {
      guard forkCount == cambium_fork_count(), !ProcessEnd.hasBegun else { return }
      unsafe rocksdb_readoptions_destroy(readOptions)
      unsafe rocksdb_release_snapshot(handle, snapshot)
    }

    /// The database, which is open as long as this lives.
    var source: RocksDatabase { database }
  }

  /// A value that lies in RocksDB's memory, kept there for as long as this lives.
  ///
  /// Unchecked: the bytes are only read.
  @safe final class RocksValue: @unchecked Sendable {
    /// The first byte.
    let bytes: UnsafeRawPointer
    let byteCount: Int
    private let slice: OpaquePointer
    private let database: RocksDatabase
    private let forkCount = cambium_fork_count()

    fileprivate init(slice: OpaquePointer, database: RocksDatabase) {
      unsafe self.slice = unsafe slice
      self.database = database
      var count = 0
      // Only an empty value may have no place.
      unsafe bytes =
        unsafe rocksdb_pinnableslice_value(slice, &count).map { unsafe UnsafeRawPointer($0) }
        ?? UnsafeRawPointer(slice)
      byteCount = count
    }

    deinit {
      guard forkCount == cambium_fork_count(), !ProcessEnd.hasBegun else { return }
      unsafe rocksdb_pinnableslice_destroy(slice)
    }

    /// All its bytes.
    var buffer: UnsafeRawBufferPointer {
      unsafe UnsafeRawBufferPointer(start: bytes, count: byteCount)
    }
  }

  /// Changes that are applied together.
  ///
  /// One user at a time.
  ///
  /// Pointers: `handle` is the batch's own until the end. RocksDB copies keys and values within the
  /// calls that they are lent for.
  @safe final class RocksBatch {
    fileprivate let handle = unsafe rocksdb_writebatch_create()

    deinit { unsafe rocksdb_writebatch_destroy(handle) }

    /// Puts `value` under `key`.
    func put(_ key: [UInt8], _ value: UnsafeRawBufferPointer) {
      unsafe key.withUnsafeBytes { key in
        unsafe rocksdb_writebatch_put(
          handle, key.baseAddress?.assumingMemoryBound(to: CChar.self), key.count,
          value.baseAddress?.assumingMemoryBound(to: CChar.self), value.count)
      }
    }

    /// Removes what is under `key`.
    func remove(_ key: [UInt8]) {
      unsafe key.withUnsafeBytes { key in
        unsafe rocksdb_writebatch_delete(
          handle, key.baseAddress?.assumingMemoryBound(to: CChar.self), key.count)
      }
    }

    /// Removes the pages from the address `first` up to, and without, `end`.
    func removePages(from first: UInt64, to end: UInt64) {
      remove(
        from: StoredKey.page(Extent(address: first, unitCount: 0)),
        to: StoredKey.page(Extent(address: end, unitCount: 0)))
    }

    /// Removes what is under the keys from `first` up to, and without, `end`.
    func remove(from first: [UInt8], to end: [UInt8]) {
      unsafe first.withUnsafeBytes { first in
        unsafe end.withUnsafeBytes { end in
          unsafe rocksdb_writebatch_delete_range(
            handle, first.baseAddress?.assumingMemoryBound(to: CChar.self), first.count,
            end.baseAddress?.assumingMemoryBound(to: CChar.self), end.count)
        }
      }
    }
  }

  extension RocksDBOptions.Compression {
    fileprivate var number: Int32 {
      switch self {
      case .none: Int32(rocksdb_no_compression)
      case .snappy: Int32(rocksdb_snappy_compression)
      case .lz4: Int32(rocksdb_lz4_compression)
      case .zstd: Int32(rocksdb_zstd_compression)
      }
    }
  }
#endif
