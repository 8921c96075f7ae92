import CPlatform
import CambiumCore
import CambiumStoreKit
import Synchronization

/// Pages in a cluster: the newest version hangs from one object, the root, that all machines see.
///
/// Pages lie in an address space that only grows, cut into blocks, which are objects. A commit becomes the
/// newest version by one swap of the root; its pages are in their blocks before, or travel with the swap in
/// the root's log when they are few. Any number of processes on any machines read, each with the versions it
/// has pinned; one at a time writes, and owns the writer lock meanwhile. What fences an owner that was
/// superseded is the swap itself: it compares the epoch, which each owner raises.
///
/// Thread-safe, as `PageStore` says. A new version is seen by this process at once, and by others when the
/// cluster has acknowledged it and told them. A relaxed commit is sent a millisecond later and not waited for:
/// one that has not arrived ends with the process. When a swap fails for which readers here could not wait, or another
/// machine has taken over in between, the store is poisoned: it can be read, but not written until it is
/// closed and opened again.
///
/// Reads and writes that get no answer throw `StoreError.unreachable(path:operation:reason:)` after
/// ``ClusterOptions/readTimeoutSeconds``.
public final class ClusterStore: PageStore {
  /// What this store is; its path is that of its storage.
  public let identity: StoreIdentity
  /// The codec that pages go through, bound to this store; nil for none.
  public let boundCodec: (any PageCodec)?
  /// What the store keeps for the codec.
  public let codecParameters: [UInt8]
  let options: ClusterOptions
  let client: ObjectClient
  let layout: BlockLayout
  let names: ObjectNames
  let rootIdentity: RootIdentity
  let reader: RootReader
  let state: Mutex<ClusterState>
  /// The pages of the running write that were not sent yet.
  let gathered = GatheredPages()
  /// The pages that the log carries.
  let log = LogPages()
  /// The pages that were announced.
  let arrivals = PageArrivals()
  /// The pages that are on a local disk; nil when there is no such file.
  let localCache: LocalCache?
  /// How many audits are under way, for which pages come from the cluster.
  let auditCount = Atomic(0)
  let writers = WriterQueue()
  /// Raised when there is a new version, or the store was closed.
  let commits = CommitSignal()
  /// Raised when a swap of the root has ended.
  let swapped = CommitSignal()
  /// Raised when a commit joins for which a swap waits.
  let gathering = CommitSignal()
  /// Held by who reads the root for all.
  let refreshing = Mutex<Void>(())
  /// What this process holds the lock of pins as.
  let lease: PinLease
  /// Who is told of commits.
  package let watchers = CommitWatchers()
  /// Who is called when its write begins.
  private let beginnings = OrderedCalls(BackgroundLane())
  let jobs: ClusterJobs
  /// Who waits for the next look for commits of others.
  let refreshWaiters = Mutex<[@Sendable () -> Void]>([])
  private let newestNumber: Atomic<Version>
  private let forkCount = cambium_fork_count()

  /// Opens the store that `storage` has, or makes it unless it is opened for reading only.
  ///
  /// The store closes `storage`. Nothing is changed when this throws: `StoreError.notFound(path:)`,
  /// `StoreError.notAStore(path:reason:)`, `StoreError.unsupportedFormat(path:version:supported:)`,
  /// `StoreError.codecMismatch(path:found:expected:)`, `StoreError.damaged(_:)`, or what the cluster says.
  public convenience init(
    _ storage: any ObjectStorage, options: ClusterOptions = ClusterOptions()
  ) throws(StoreError) {
    try self.init(storage, options: options, lanes: ClusterLanes())
  }

  init(
    _ storage: any ObjectStorage, options: ClusterOptions, lanes: ClusterLanes
  ) throws(StoreError) {
    let opened: ClusterOpening.Opened
    do throws(StoreError) {
      opened = try ClusterOpening(storage: storage, options: options, lanes: lanes).open()
    } catch {
      storage.close()
      throw error
    }
    self.options = options
    client = opened.client
    boundCodec = opened.reader.codec
    codecParameters = opened.identity.parameters
    rootIdentity = opened.identity
    layout = BlockLayout(unitCount: UInt64(opened.identity.blockUnitCount))
    names = ObjectNames(opened.identity)
    reader = opened.reader
    lease = opened.lease
    localCache = opened.localCache
    identity = StoreIdentity(
      kind: storage.kind, path: storage.path,
      uuid: (opened.identity.uuidHigh, opened.identity.uuidLow),
      formatVersion: RootIdentity.formatVersion, codec: opened.identity.codec,
      isReadOnly: options.isReadOnly)
    for commit in opened.image.commits {
      log.add(commit.record.pages, in: commit.buffer, from: commit.pagesOffset)
    }
    let state = ClusterState(opened.image)
    newestNumber = Atomic(state.newest.version)
    self.state = Mutex(state)
    jobs = ClusterJobs(lanes)
    beginJobs()
  }

  deinit { try? close() }

  var path: String { client.path }
  var storage: any ObjectStorage { client.storage }
  var now: Int64 { client.clock.now }
  var isForked: Bool { forkCount != cambium_fork_count() }

  /// Runs `body` with the state of an open store.
  func withOpenState<Value>(
    _ body: (inout ClusterState) throws(StoreError) -> Value
  ) throws(StoreError) -> Value {
    if isForked { throw .forked(path: path) }
    return try state.withLock { state throws(StoreError) in
      if state.isClosed { throw .closed(path: path) }
      return try body(&state)
    }
  }

  // MARK: Reading

  /// The newest version that this process knows of; throws when the store is closed.
  public func newestHead() throws(StoreError) -> Head {
    try withOpenState { $0.newest }
  }

  /// Pins the newest version that this process knows of; asks nobody.
  public func pin() throws(StoreError) -> Pin {
    makePin(
      try withOpenState { state in
        state.ledger.hold(state.newest.version, .pin)
        return state.newest
      })
  }

  /// The pin of a version that is held for it.
  func makePin(_ head: Head) -> Pin {
    unsafe Pin(head: head) { self.release(head.version) }
  }

  func release(_ version: Version) {
    // What a forked child holds is its parent's.
    if isForked { return }
    let isLast = state.withLock { state in
      state.ledger.release(version, .pin) { _ in }
      return state.isLeft && state.ledger.pinnedVersions.isEmpty
    }
    if isLast { end() }
  }

  /// Whether what `pin` holds is the newest version that this process knows of; takes no lock.
  public func isNewest(_ pin: Pin) -> Bool {
    pin.head.version == newestNumber.load(ordering: .acquiring) && !isForked
  }

  /// Says that there is a new version.
  func announce(_ version: Version) {
    newestNumber.store(version, ordering: .releasing)
    commits.raise()
  }

  /// What the latest commits were given.
  public func metadata(
    from first: Version, through pin: Pin
  ) throws(StoreError) -> [CommitMetadata]? {
    let last = pin.head.version
    if first > last { return [] }
    return try withOpenState { state in
      guard first > 0, last - first < Version(CommitMetadata.keptCount) else { return nil }
      let records = state.recent + state.pending.lazy.filter(\.isVisible).map(\.record)
      let known = records.filter { $0.head.version >= first && $0.head.version <= last }
      guard known.count == Int(last - first) + 1 else { return nil }
      return known.map {
        CommitMetadata(version: $0.head.version, epoch: $0.head.epoch, bytes: $0.metadata)
      }
    }
  }

  /// Waits until the newest version is above `version`, the store is closed or the time is up, and
  /// returns the newest version then.
  public func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version {
    if isForked { return version }
    commits.wait(timeoutNanoseconds: timeoutNanoseconds) {
      state.withLock { $0.newest.version > version || $0.isClosed }
    }
    return state.withLock { $0.newest.version }
  }

  // MARK: Writing

  private func ensureWritable() throws(StoreError) {
    if options.isReadOnly { throw .readOnly(path: path) }
    try withOpenState { state throws(StoreError) in
      if state.isPoisoned { throw .poisoned(path: path) }
    }
  }

  /// Waits for the writer lock, of all machines, and begins a write at the newest version.
  ///
  /// Throws when the store is read-only, closed, or poisoned by a failed commit.
  public func beginWrite() throws(StoreError) -> any PageWriter {
    try ensureWritable()
    writers.acquire()
    return try writer()
  }

  /// Begins a write if this process owns the writer lock, nobody writes and nobody waits.
  public func beginWriteIfFree() throws(StoreError) -> (any PageWriter)? {
    try ensureWritable()
    guard isOwnerForNow, writers.tryAcquire() else { return nil }
    return try writer()
  }

  /// The same as ``beginWrite()`` without a waiting thread.
  public func beginWrite(
    then: @escaping @Sendable (sending Result<any PageWriter, StoreError>) -> Void
  ) {
    do throws(StoreError) { try ensureWritable() } catch {
      return beginnings.add { then(.failure(error)) }
    }
    writers.acquire { [self] in
      beginnings.add { [self] in
        do throws(StoreError) { then(.success(try writer())) } catch { then(.failure(error)) }
      }
    }
  }

  /// Begins a write; called by who has the writer lock of this process.
  private func writer() throws(StoreError) -> ClusterWriter {
    do throws(StoreError) {
      try ensureWritable()
      try own()
      return try withOpenState { state in
        state.isWriting = true
        state.ledger.hold(state.newest.version, .pin)
        return ClusterWriter(store: self, state)
      }
    } catch {
      handOver()
      writers.release()
      throw error
    }
  }

  /// Whether this process surely has the writer lock of all machines.
  private var isOwnerForNow: Bool {
    state.withLock { state in
      guard let renewed = state.ownership?.renewed else { return false }
      return now - renewed < leaseNanoseconds
    }
  }

  /// Ends the write that began at `base`, and gives the writer lock away if it is another machine's turn.
  func leave(_ base: Version) {
    state.withLock { $0.isWriting = false }
    handOver()
    release(base)
    writers.release()
  }

  /// Makes everything published so far durable.
  public func sync() throws(StoreError) {
    try withOpenState { state throws(StoreError) in
      if state.isPoisoned { throw .poisoned(path: path) }
    }
    try replicateAll()
  }

  /// Waits until `version` is in the root; those who wait at the same time share one swap.
  public func makeDurable(_ version: Version) throws(StoreError) {
    let version = try withOpenState { min(version, $0.newest.version) }
    try replicate(through: version)
  }

  // MARK: Closing

  /// Sends what is published, gives the writer lock back and leaves the cluster; with pins that are still
  /// alive, their end does the last.
  public func close() throws(StoreError) {
    if isForked { return }
    let (isFirst, isPoisoned) = state.withLock { state in
      defer { state.isClosed = true }
      return (!state.isClosed, state.isPoisoned)
    }
    if !isFirst { return }
    newestNumber.store(.max, ordering: .releasing)
    commits.raise()
    defer { leaveCluster() }
    if options.isReadOnly || isPoisoned { return }
    try replicateAll()
    // Who writes gives it back at the end.
    if writers.tryAcquire() {
      handOver()
      writers.release()
    }
  }

  private func leaveCluster() {
    let isLast = state.withLock { state in
      state.isLeft = true
      return state.ledger.pinnedVersions.isEmpty
    }
    if isLast { end() }
  }

  /// Ends what works in the background, and the connection.
  private func end() {
    let isFirst = state.withLock { state in
      defer { state.isEnded = true }
      return !state.isEnded
    }
    if !isFirst { return }
    jobs.cancel()
    localCache?.close()
    endRefreshWaits()
    // It is there still when closing has failed.
    if let ownership = state.withLock({ $0.ownership }) { unlock(ownership.number) }
    lease.end(client)
    storage.close()
  }
}

extension ClusterStore: WatchableStore {
  /// None: hints of other machines come to ``watchers``.
  package var sharedSignal: CommitSignal? { nil }
}
