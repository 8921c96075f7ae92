#if Observability
  import CambiumCore
  import Metrics
  import Synchronization

  /// Counts and times what databases do, through swift-metrics.
  ///
  /// ```swift
  /// MetricsSystem.bootstrap(…)
  /// DatabaseEvents.listen(MetricsListener())
  /// ```
  ///
  /// Each has the dimension `store`, the path of the store or its name.
  ///
  /// | metric | what it is |
  /// | --- | --- |
  /// | `cambium_commits`, `cambium_commit_bytes` | counters: transactions, and the bytes of their pages |
  /// | `cambium_commit_duration` | timer: publishing a transaction, the sync in it |
  /// | `cambium_write_wait_duration` | timer: waiting for the writer lock |
  /// | `cambium_sync_duration` | timer: waiting for the medium |
  /// | `cambium_version_age` | timer: how long versions were held |
  /// | `cambium_decoded_pages`, `cambium_decoded_bytes` | counters: pages that no cache had |
  /// | `cambium_refreshes` | counter: Realms that moved to another version |
  /// | `cambium_observers_told` | counter: observers that were told of a version |
  /// | `cambium_notify_duration` | timer: telling the observers of a context |
  /// | `cambium_open_duration`, `cambium_migration_duration` | timers |
  public struct MetricsListener: DatabaseEventListener {
    private let known = Known()
    private let factory: (any MetricsFactory)?

    /// Reports to `factory`; nil for the one with which the program has set up swift-metrics.
    public init(factory: (any MetricsFactory)? = nil) { self.factory = factory }

    /// Reports an event.
    public func observe(_ event: DatabaseEvent, of store: String) {
      let metrics = known.metrics(of: store, factory ?? MetricsSystem.factory)
      switch event {
      case .opened(let time): metrics.opening.recordNanoseconds(time)
      case .writeBegan(let time): metrics.waiting.recordNanoseconds(time)
      case .committed(_, let byteCount, _, let time):
        metrics.commits.increment()
        metrics.commitBytes.increment(by: byteCount)
        metrics.committing.recordNanoseconds(time)
      case .synced(let time): metrics.syncing.recordNanoseconds(time)
      case .versionReleased(_, let age): metrics.versionAge.recordNanoseconds(age)
      case .pageDecoded(let byteCount, _):
        metrics.decodedPages.increment()
        metrics.decodedBytes.increment(by: byteCount)
      case .refreshed: metrics.refreshes.increment()
      case .observersTold(let count, _, let time):
        metrics.observersTold.increment(by: count)
        metrics.notifying.recordNanoseconds(time)
      case .migrated(_, _, let time): metrics.migrating.recordNanoseconds(time)
      }
    }
  }

  /// The metrics of one store, made once.
  private struct StoreMetrics: Sendable {
    let commits, commitBytes, decodedPages, decodedBytes, refreshes, observersTold: Counter
    let committing, waiting, syncing, versionAge, notifying, opening, migrating: Metrics.Timer

    init(_ store: String, _ factory: any MetricsFactory) {
      func counter(_ name: String) -> Counter {
        Counter(label: "cambium_\(name)", dimensions: [("store", store)], factory: factory)
      }
      func timer(_ name: String) -> Metrics.Timer {
        Metrics.Timer(label: "cambium_\(name)", dimensions: [("store", store)], factory: factory)
      }
      commits = counter("commits")
      commitBytes = counter("commit_bytes")
      decodedPages = counter("decoded_pages")
      decodedBytes = counter("decoded_bytes")
      refreshes = counter("refreshes")
      observersTold = counter("observers_told")
      committing = timer("commit_duration")
      waiting = timer("write_wait_duration")
      syncing = timer("sync_duration")
      versionAge = timer("version_age")
      notifying = timer("notify_duration")
      opening = timer("open_duration")
      migrating = timer("migration_duration")
    }
  }

  private final class Known: Sendable {
    private let stores = Mutex<[String: StoreMetrics]>([:])

    func metrics(of store: String, _ factory: any MetricsFactory) -> StoreMetrics {
      stores.withLock { stores in
        if let known = stores[store] { return known }
        let metrics = StoreMetrics(store, factory)
        stores[store] = metrics
        return metrics
      }
    }
  }
#endif
