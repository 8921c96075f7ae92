#if Observability
  import CambiumCore
  import Metrics
  import Synchronization

  /// Reports what a store looks like, at the moments at which it is asked, through swift-metrics.
  ///
  /// ```swift
  /// let gauges = StoreGauges(store: path) { try database.statistics() }
  /// try await gauges.run(every: .seconds(10))
  /// ```
  ///
  /// Each gauge has the dimension `store`. What happens in between is told by ``MetricsListener``.
  ///
  /// | gauge | what it is |
  /// | --- | --- |
  /// | `cambium_store_bytes`, `cambium_free_bytes` | all that the store occupies, and what of it is free |
  /// | `cambium_pending_bytes` | freed, but seen by a version that is held |
  /// | `cambium_pinned_versions` | versions that somebody holds, in whatever process |
  /// | `cambium_oldest_pin_seconds` | for how long the oldest of them has not been the newest version, as far as this has seen |
  /// | `cambium_versions_not_durable` | versions that power loss would take |
  public final class StoreGauges: Sendable {
    private let statistics: @Sendable () throws -> StoreStatistics
    private let bytes, free, pending, pins, age, notDurable: Gauge
    /// When versions that are held were first seen to be old.
    private let old = Mutex<[Version: ContinuousClock.Instant]>([:])

    /// Gauges of the store with that name, which `statistics` looks at; nil for the factory with which the
    /// program has set up swift-metrics.
    public init(
      store: String, factory: (any MetricsFactory)? = nil,
      statistics: @escaping @Sendable () throws -> StoreStatistics
    ) {
      let factory = factory ?? MetricsSystem.factory
      func gauge(_ name: String) -> Gauge {
        Gauge(label: "cambium_\(name)", dimensions: [("store", store)], factory: factory)
      }
      self.statistics = statistics
      (bytes, free, pending) = (gauge("store_bytes"), gauge("free_bytes"), gauge("pending_bytes"))
      (pins, age) = (gauge("pinned_versions"), gauge("oldest_pin_seconds"))
      notDurable = gauge("versions_not_durable")
    }

    /// Looks once; throws what looking throws, and reports nothing then.
    public func record() throws {
      let now = try statistics()
      bytes.record(now.totalByteCount)
      free.record(now.freeByteCount)
      pending.record(now.pendingByteCount)
      pins.record(now.pinnedVersions.count)
      notDurable.record(Double(now.newestVersion - min(now.durableVersion, now.newestVersion)))
      age.record(age(of: now.pinnedVersions.filter { $0 < now.newestVersion }, at: .now))
    }

    /// Looks every so often until the task is cancelled, which it throws, or looking throws.
    public func run(every interval: Duration) async throws {
      while true {
        try record()
        try await Task.sleep(for: interval)
      }
    }

    /// For how many seconds the oldest of `versions` has been seen.
    private func age(of versions: [Version], at now: ContinuousClock.Instant) -> Double {
      old.withLock { old in
        old = Dictionary(versions.map { ($0, old[$0] ?? now) }, uniquingKeysWith: min)
        return old.values.map { (now - $0) / .seconds(1) }.max() ?? 0
      }
    }
  }
#endif
