import CambiumCore

/// How a file store is opened.
public struct FileStoreOptions: Sendable {
  /// How pages are read.
  public enum Access: Sendable {
    /// Through a mapping of the file, without copies. The default. Should another program cut the
    /// file short meanwhile, reading stops the process: only this library may write to it.
    case mapped
    /// Copied into memory one by one, for media and limits where mapping is unwise.
    case buffered
  }

  /// How pages are read.
  public var access = Access.mapped
  /// Whether writes are refused.
  ///
  /// A store that is only read can be opened by several at a time, and is never created.
  public var isReadOnly = false
  /// The codec that pages go through; nil for none.
  ///
  /// Its name, and what it wants kept, are recorded in a new file; that of an existing file must be
  /// the same.
  public var codec: (any PageCodec)?
  /// How far the file grows ahead of need at most, in bytes; a file of less than 32 times that
  /// grows by a 32nd of itself.
  public var growthByteCount = 4 << 20
  /// The most bytes that the file may have; nil for no limit.
  ///
  /// See `StoreRequest.maximumByteCount`.
  public var maximumByteCount: Int?
  /// Whether a file of an older format is brought to the newest one when it is opened for writing.
  ///
  /// See `StoreRequest.upgradesFormat`.
  public var upgradesFormat = true
  /// What this user of the file is called where its users and their pins are listed; at most 95
  /// bytes of it are kept.
  public var label = ""
  /// Makes the device for a path in place of the operating system's file, for tests.
  ///
  /// No locks are taken and no lock file is made.
  public var device: (@Sendable (_ path: String) throws(StoreError) -> any Device)?

  /// Whether a reader shares memory with others where it could; without that writers are locked out.
  package var readersShare = true
  /// What stands in for the lock file when the device is the caller's: it outlives a store as the lock
  /// file outlives a process that is killed.
  var memory: SharedMemory?
  /// Whether pages in memory are stored without being asked: soon after opening, and by another store when this one
  /// has gone.
  var storesUnasked = true
  /// Whether there is somebody who uses the caller's device, of whom `memory` speaks.
  var joins = false
  /// So many bytes of a commit are gathered before they are written.
  package var gatheredByteCount = 1 << 20
  /// More than this behind what is used is cut off at close, to a quarter of it; in ordinary operation
  /// more than twice as much, to half of it.
  package var largestSlackByteCount = 512 << 10
  /// Live pages are not moved for the sake of fewer bytes.
  package var leastRelocatedByteCount = 1 << 20
  /// Live pages are moved whenever the file can become shorter by that, not only when it becomes much shorter.
  var movesEagerly = false
  /// So many bytes behind what is used are kept for writes that free as much as they take, on a full medium.
  package var spareByteCount = 256 << 10
  /// How many records pile up before the free map is brought up to date; half of them stay.
  package var checkpointAfterRecordCount = 2 * CommitMetadata.keptCount
  /// After so many changed leaves of the free map, 8 GiB of a bulk load, it is brought up to date however few the
  /// records are: who opens the file next would have to read and keep as many.
  package var checkpointAfterLeafCount = 4096
  /// After so many bytes of records, what half a gigabyte of a bulk load leaves, it is brought up to date as well: the
  /// first write after each opening reads them.
  package var checkpointAfterRecordByteCount = 1 << 20
  /// A commit of more bytes is synced in two steps.
  package var largestSingleSyncByteCount = 4 << 20
  /// A mapping is never smaller, so that most files are mapped once.
  package var smallestMappingByteCount = 1 << 30
  /// About so much room is kept behind what is used of a file for small commits whose pages lie in memory, and
  /// less in one of less than 32 MiB.
  ///
  /// With twice as much the pages of appended rows leave the processor's cache.
  package var loggedByteCount = 2 << 20
  /// So large at most is the log in the file; zero for none.
  ///
  /// Small durable commits leave there what they change until their pages are stored. It takes a sixteenth of the file,
  /// but 128 KiB at least.
  package var storedLogByteCount = 1 << 20
  /// So many small durable commits of a store come before the first that uses the log: who makes one and closes the file
  /// need not make it longer for that.
  package var unloggedCommitCount = 1
  /// Relaxed commits are made durable after this time at the latest.
  package var relaxedDelayNanoseconds: Int64 = 100_000_000
  /// Relaxed commits are made durable at once after so many bytes.
  package var relaxedByteCount = 4 << 20
  /// A write waits for the medium before it begins when so many bytes are unsynced: the last durable
  /// version is held until there is a newer one, and with it what was freed since.
  package var relaxedLimitByteCount = 8 << 20

  /// A settled head is written when no commit came for so long.
  package var settleDelayNanoseconds: Int64 = 1_000_000_000
  /// Does all background work of the store and tells its time; nil for lanes of its own, with threads.
  package var lane: BackgroundLane?

  /// The defaults: mapped, for reading and writing, without codec.
  public init() {}

  /// Differs from the defaults in what is given.
  public init(access: Access = .mapped, isReadOnly: Bool = false, codec: (any PageCodec)? = nil) {
    self.access = access
    self.isReadOnly = isReadOnly
    self.codec = codec
  }
}
