#if RocksDB
  import CambiumCore

  /// What RocksDB counts in its files and its memory; sizes are in bytes.
  ///
  /// All of it describes one moment, and what RocksDB estimates may be off.
  public struct RocksDBStatistics: Hashable, Sendable, Encodable {
    /// What the block cache may take; see ``RocksDBOptions/blockCacheByteCount``.
    public var blockCacheCapacity: Int
    /// What it takes.
    public var blockCacheByteCount: Int
    /// What of that is lent, and cannot be let go.
    public var blockCachePinnedByteCount: Int
    /// How many blocks were found in the cache since the store was opened; nil unless
    /// ``RocksDBOptions/countsCacheReads`` was set.
    public var blockCacheHitCount: Int?
    /// How many blocks had to be read instead; nil as above.
    public var blockCacheMissCount: Int?
    /// An estimate of what would be left if everything were compacted.
    public var liveDataByteCount: Int
    /// What the files of the newest state take.
    public var liveFileByteCount: Int
    /// What all files with values take, with those that only snapshots or running reads keep.
    public var fileByteCount: Int
    /// How many files each level has, from level 0 on.
    public var fileCountByLevel: [Int]
    /// What commits take in memory before they are written to files.
    public var memoryTableByteCount: Int
    /// An estimate of how many keys there are; a page has one.
    public var keyCount: Int
    /// How many deletions wait, in memory and in files, for a compaction to carry them out.
    public var deletionCount: Int
    /// An estimate of how much compactions have to rewrite until every level has its size.
    public var pendingCompactionByteCount: Int
    /// How many compactions run.
    public var runningCompactionCount: Int
    /// How many of RocksDB's snapshots are held.
    public var snapshotCount: Int
    /// How many flushes and compactions have failed since the store was opened.
    public var backgroundErrorCount: Int
  }

  extension RocksDBStore {
    /// What RocksDB counts.
    ///
    /// Throws `StoreError.closed(path:)` or `StoreError.forked(path:)`.
    public func rocksDBStatistics() throws(StoreError) -> RocksDBStatistics {
      let database = try withOpenState { _, database in database }
      return RocksDBStatistics(database)
    }
  }

  extension RocksDBStatistics {
    fileprivate init(_ database: RocksDatabase) {
      func number(_ name: String) -> Int { database.number("rocksdb.\(name)") ?? 0 }
      let counters = database.text("rocksdb.options-statistics") ?? ""
      let files = database.text("rocksdb.aggregated-table-properties") ?? ""
      self.init(
        blockCacheCapacity: number("block-cache-capacity"),
        blockCacheByteCount: number("block-cache-usage"),
        blockCachePinnedByteCount: number("block-cache-pinned-usage"),
        blockCacheHitCount: Self.count(after: "rocksdb.block.cache.hit COUNT : ", in: counters),
        blockCacheMissCount: Self.count(after: "rocksdb.block.cache.miss COUNT : ", in: counters),
        liveDataByteCount: number("estimate-live-data-size"),
        liveFileByteCount: number("live-sst-files-size"),
        fileByteCount: number("total-sst-files-size"),
        fileCountByLevel: Self.levels(in: database),
        memoryTableByteCount: number("cur-size-all-mem-tables"),
        keyCount: number("estimate-num-keys"),
        deletionCount: number("num-deletes-active-mem-table") + number("num-deletes-imm-mem-tables")
          + (Self.count(after: "# deletions=", in: files) ?? 0),
        pendingCompactionByteCount: number("estimate-pending-compaction-bytes"),
        runningCompactionCount: number("num-running-compactions"),
        snapshotCount: number("num-snapshots"),
        backgroundErrorCount: number("background-errors"))
    }

    /// The number that follows `name` in a text of RocksDB's.
    private static func count(after name: String, in text: String) -> Int? {
      guard let range = text.firstRange(of: name) else { return nil }
      return Int(text[range.upperBound...].prefix { $0.isASCII && $0.isNumber })
    }

    /// RocksDB says nothing of a level that there is not.
    private static func levels(in database: RocksDatabase) -> [Int] {
      var counts: [Int] = []
      while let text = database.text("rocksdb.num-files-at-level\(counts.count)"),
        let count = Int(text)
      {
        counts.append(count)
      }
      return counts
    }
  }
#endif
