#if RocksDB
  import CambiumCore

  /// How a RocksDB store is opened, and how RocksDB works under it.
  public struct RocksDBOptions: Sendable {
    /// How RocksDB compresses what lies in its files; what it can depends on how it was built.
    public enum Compression: Hashable, Sendable {
      /// Not at all: the choice where a codec compresses or encrypts.
      case none
      /// Fast.
      case snappy
      /// Fast, and a little smaller.
      case lz4
      /// Smallest.
      case zstd
    }

    /// Whether writes are refused.
    ///
    /// Several may read at a time, while nobody has the store open for writing. A store that is only
    /// read is never created, and shows the version that is the newest when it is opened.
    public var isReadOnly = false
    /// The codec that pages go through; nil for none.
    ///
    /// Its name, and what it wants kept, are recorded in a new store; that of an existing store must be
    /// the same.
    public var codec: (any PageCodec)?
    /// The most bytes that pages may have, before RocksDB compresses its files; nil for no limit.
    ///
    /// See `StoreRequest.maximumByteCount`.
    public var maximumByteCount: Int?
    /// How RocksDB compresses its files.
    public var compression = Compression.lz4
    /// How many bytes of file blocks RocksDB keeps in memory, beside the database's own cache of
    /// decoded pages.
    public var blockCacheByteCount = 32 << 20
    /// How many bytes of commits gather in memory before they are written to a file of their own; as
    /// much again is in the log.
    public var writeBufferByteCount = 32 << 20
    /// How many flushes and compactions may run at a time.
    public var backgroundJobCount = 2
    /// How many bits per page the filters take that spare looking into files; 0 for none.
    public var filterBitsPerPage = 10.0
    /// Whether RocksDB counts what its block cache is asked for, which makes reads a little slower.
    public var countsCacheReads = false
    /// How many bytes of pages a transaction gathers before it writes some ahead of its commit.
    ///
    /// A smaller commit is one atomic batch; of a larger one the last batch makes it the newest version.
    public var batchByteCount = 16 << 20
    /// Relaxed commits are synced after this time at the latest, in nanoseconds.
    public var relaxedDelayNanoseconds: Int64 = 100_000_000

    /// The defaults.
    public init() {}

    /// Differs from the defaults in what is given.
    public init(
      isReadOnly: Bool = false, codec: (any PageCodec)? = nil, compression: Compression = .lz4,
      blockCacheByteCount: Int = 32 << 20
    ) {
      self.isReadOnly = isReadOnly
      self.codec = codec
      self.compression = compression
      self.blockCacheByteCount = blockCacheByteCount
    }
  }
#endif
