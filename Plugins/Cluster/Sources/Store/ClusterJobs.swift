import CambiumCore

/// What a store does in the background, each a job of its own.
struct ClusterJobs: Sendable {
  let leases: BackgroundJob
  let replication: BackgroundJob
  let handover: BackgroundJob
  let refreshing: BackgroundJob
  let collection: BackgroundJob
  /// What tells this store from all others, as an owner of the writer lock.
  let ownerNumber = UInt64.random(in: 1 ... .max)

  init(_ lanes: ClusterLanes) {
    leases = BackgroundJob(lanes.leases)
    replication = BackgroundJob(lanes.replication)
    handover = BackgroundJob(lanes.replication)
    refreshing = BackgroundJob(lanes.refreshing)
    collection = BackgroundJob(lanes.collection)
  }

  func cancel() {
    for job in [leases, replication, handover, refreshing, collection] { job.cancel() }
  }
}

extension ClusterStore {
  /// Begins what is done as long as the store is open.
  func beginJobs() {
    // The store must not go where hints are given, which its end may wait for.
    storage.watch { [weak self, jobs] hint in
      if hint == .wanted {
        jobs.handover.schedule { [weak self] _ in self?.handOverIfIdle() }
      } else {
        jobs.refreshing.schedule { [weak self] _ in self?.refreshAgain() }
      }
    }
    let lease = Int64(min(options.writerLeaseSeconds, options.pinLeaseSeconds)) * 1_000_000_000 / 3
    jobs.leases.schedule(at: jobs.leases.now + lease) { [weak self] _ in
      guard let self, !isForked else { return nil }
      renewLocks()
      return jobs.leases.now + lease
    }
    jobs.refreshing.schedule(at: jobs.refreshing.now + pollNanoseconds) { [weak self] _ in
      self?.refreshAgain()
    }
  }

  private var pollNanoseconds: Int64 { ClusterOptions.nanoseconds(options.pollSeconds) }

  /// Looks for commits of others, and says when to look the next time.
  private func refreshAgain() -> Int64? {
    if isForked { return nil }
    let calls = takeRefreshWaiters()
    do throws(StoreError) { try refresh() } catch {
      switch error {
      // What this process needs is not there any more, and means nothing to another store in its place.
      case .moved, .notFound: lease.end(client)
      // What gets no answer is tried again the next time.
      default: break
      }
    }
    for call in calls { call() }
    return state.withLock { $0.isEnded } ? nil : jobs.refreshing.now + pollNanoseconds
  }

  /// Asks the cluster for its newest version, and calls `then` when it is known here.
  public func lookForCommits(then: @escaping @Sendable () -> Void) {
    if isForked || state.withLock({ $0.isClosed || $0.ownership != nil }) { return then() }
    refreshWaiters.withLock { $0.append(then) }
    let isScheduled = jobs.refreshing.schedule { [weak self] _ in self?.refreshAgain() }
    if !isScheduled || state.withLock({ $0.isEnded }) { endRefreshWaits() }
  }

  /// Calls those who wait for a look at the root: there will be none.
  func endRefreshWaits() { for call in takeRefreshWaiters() { call() } }

  private func takeRefreshWaiters() -> [@Sendable () -> Void] {
    refreshWaiters.withLock { calls in
      defer { calls = [] }
      return calls
    }
  }

  /// Keeps the locks that this process has from ending.
  private func renewLocks() {
    let (oldest, ownership, isClosed) = state.withLock {
      ($0.oldestNeeded, $0.ownership, $0.isClosed)
    }
    lease.renew(oldest, client)
    guard let ownership, !isClosed else { return }
    let begin = now
    let result = storage.perform([lockRequest(ownership.number)])[0]
    // A lock that had ended meanwhile may have been another machine's.
    let isKept = ownership.renewed.map { begin - $0 < leaseNanoseconds } ?? false
    let isOwner = state.withLock { state in
      guard state.ownership?.number == ownership.number else { return false }
      switch result {
      case .success: state.ownership?.renewed = isKept ? begin : nil
      case .failure(.busy): state.ownership?.renewed = nil
      case .failure: if !isKept { state.ownership?.renewed = nil }
      }
      return true
    }
    if !isOwner {
      if case .success = result { unlock(ownership.number) }
      return
    }
    if state.withLock({ $0.ownership?.renewed != nil }) {
      if isAwaited { jobs.handover.schedule { [weak self] _ in self?.handOverIfIdle() } }
      return
    }
    // Others may write by now: this process reads what they commit until it writes again.
    guard writers.tryAcquire() else { return }
    giveUpOwnership(ownership.number)
    writers.release()
  }

  /// Whether another machine waits for the writer lock.
  private var isAwaited: Bool {
    let holders = storage.perform([.holders(name: ObjectNames.waiting)])[0]
    if case .success(.names(let names)) = holders { return !names.isEmpty }
    return false
  }

  /// Sees to it that what relaxed commits have published is sent.
  func replicateSoon() {
    jobs.replication.schedule(at: jobs.replication.now + Self.replicationNanoseconds) {
      [weak self] _ in
      guard let self, !isForked else { return nil }
      do throws(StoreError) {
        try replicateAll()
        return nil
      } catch {
        // Who writes next meets it again, or the poison.
        let isOver = state.withLock { $0.pending.isEmpty || $0.isEnded }
        return isOver ? nil : jobs.replication.now + Self.retryNanoseconds
      }
    }
  }

  /// Who wants to wait for a commit asks for it at once, and swaps the root itself.
  private static let replicationNanoseconds: Int64 = 1_000_000
  private static let retryNanoseconds: Int64 = 1_000_000_000

  /// Sees to it that blocks are removed that nobody needs, also those that somebody needs for now.
  func collectSoon() {
    let delay = ClusterOptions.nanoseconds(options.collectionSeconds)
    jobs.collection.schedule(at: jobs.collection.now + delay) { [weak self] _ in
      guard let self, !isForked else { return nil }
      collect()
      return hasLeftovers ? jobs.collection.now + max(delay, pinRenewalNanoseconds) : nil
    }
  }

  /// Others say at least so often which versions they need.
  private var pinRenewalNanoseconds: Int64 { Int64(options.pinLeaseSeconds) * 1_000_000_000 / 3 }
}
