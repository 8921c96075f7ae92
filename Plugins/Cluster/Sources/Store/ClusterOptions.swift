import CambiumCore

/// How a store in a cluster is opened.
public struct ClusterOptions: Sendable {
  /// Whether writes are refused; then the store must exist.
  public var isReadOnly = false
  /// Whether there must be no store yet: otherwise opening throws `StoreError.system(operation:path:code:)` with
  /// `EEXIST`, also when another machine makes one at the same time.
  public var mustBeNew = false
  /// The codec that pages go through; nil for none.
  public var codec: (any PageCodec)?
  /// The most bytes that the pages of the newest version may take; nil for no limit but the cluster's.
  public var maximumByteCount: Int?
  /// How many bytes an object with pages has, of a store that is made: a multiple of 64 up to 64 MiB.
  public var blockByteCount = 4 << 20
  /// A commit whose pages take so many bytes at most is one operation: its pages go into the log with it.
  public var inlineByteCount = 64 << 10
  /// The log begins anew when it would become longer than so many bytes.
  public var logByteCount = 1 << 20
  /// A transaction sends pages ahead of its commit when so many bytes of them have gathered.
  public var writeAheadByteCount = 32 << 20
  /// How many pages are asked for ahead of a walk.
  public var readAheadCount = 1024
  /// The path of a file on a local disk that keeps pages of the cluster, across restarts too; nil for none.
  ///
  /// One process at a time uses it, others do without. It holds what the cluster holds: encrypted pages stay
  /// encrypted. It may be deleted while no process has it open. A file of something else is refused when the
  /// store is opened.
  public var localCachePath: String?
  /// How large that file may become, in bytes; two segments of 4 MiB at least.
  ///
  /// About 40 bytes of memory are needed for each of its pages.
  public var localCacheByteCount = 1 << 30
  /// A read that gets no answer throws after so many seconds, and a commit after twice as many.
  public var readTimeoutSeconds = 60.0
  /// The writer lock of a machine that does not answer goes to another one after so many seconds.
  public var writerLeaseSeconds = 10
  /// What a process has pinned may go when it was cut off for so many seconds.
  public var pinLeaseSeconds = 30
  /// Who misses a hint sees a commit after so many seconds.
  public var pollSeconds = 1.0
  /// Who has the writer lock keeps it for so many seconds while others wait for it.
  public var turnSeconds = 0.05
  /// What nobody needs any more is removed so many seconds after the commits that gave it up.
  public var collectionSeconds = 1.0
  /// Who opens the store, for people who ask by whom it is in use.
  public var holder = ""

  /// The defaults.
  public init() {}

  /// `seconds` in nanoseconds: none for what is no time, and a century for longer ones, so that sums with a clock do not
  /// overflow.
  static func nanoseconds(_ seconds: Double) -> Int64 { Int64(max(0, min(seconds, 3e9)) * 1e9) }
}

/// Where the work of a store in the background is done.
///
/// Each kind of work has a lane of its own, because it may wait for the cluster.
struct ClusterLanes: Sendable {
  /// Keeps locks from ending.
  let leases: BackgroundLane
  /// Sends what relaxed commits have written, and gives the writer lock away.
  let replication: BackgroundLane
  /// Looks for commits of others.
  let refreshing: BackgroundLane
  /// Removes what nobody needs.
  let collection: BackgroundLane
  /// Writes the file with pages on a local disk.
  let localCache: BackgroundLane

  /// Lanes that threads run.
  init() {
    (leases, replication) = (BackgroundLane(), BackgroundLane())
    (refreshing, collection) = (BackgroundLane(), BackgroundLane())
    localCache = BackgroundLane()
  }

  /// One lane for all, which a simulation runs.
  init(all lane: BackgroundLane) {
    (leases, replication, refreshing, collection) = (lane, lane, lane, lane)
    localCache = lane
  }
}
