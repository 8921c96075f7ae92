#if Observability
  import CambiumCore
  import CambiumObservability
  import Foundation
  import Logging
  import Metrics
  import MetricsTestKit
  import Synchronization
  import Testing

  /// What databases do as metrics and as lines of a log.
  @Suite struct ListenerTests {
    private static let events: [DatabaseEvent] = [
      .opened(nanoseconds: 5), .writeBegan(waitNanoseconds: 7),
      .committed(version: 3, byteCount: 4096, durability: .full, nanoseconds: 900),
      .committed(version: 4, byteCount: 100, durability: .relaxed, nanoseconds: 100),
      .synced(nanoseconds: 11), .versionReleased(version: 3, ageNanoseconds: 13),
      .pageDecoded(byteCount: 8192, nanoseconds: 17), .refreshed(from: 3, to: 4),
      .observersTold(count: 6, version: 4, nanoseconds: 19),
      .migrated(from: 1, to: 2, nanoseconds: 23),
    ]

    @Test func `every event is counted or timed, by its store`() throws {
      let metrics = TestMetrics()
      let listener = MetricsListener(factory: metrics)
      for event in Self.events { listener.observe(event, of: "/a") }
      listener.observe(.refreshed(from: 1, to: 2), of: "/b")
      func counted(_ name: String, _ store: String = "/a") throws -> Int64 {
        try metrics.expectCounter("cambium_\(name)", [("store", store)]).totalValue
      }
      func timed(_ name: String) throws -> [Int64] {
        try metrics.expectTimer("cambium_\(name)", [("store", "/a")]).values
      }
      #expect(try counted("commits") == 2 && counted("commit_bytes") == 4196)
      #expect(try counted("decoded_pages") == 1 && counted("decoded_bytes") == 8192)
      #expect(try counted("refreshes") == 1 && counted("refreshes", "/b") == 1)
      #expect(try counted("observers_told") == 6)
      #expect(try timed("commit_duration") == [900, 100])
      #expect(try timed("write_wait_duration") == [7] && timed("sync_duration") == [11])
      #expect(try timed("version_age") == [13] && timed("notify_duration") == [19])
      #expect(try timed("open_duration") == [5] && timed("migration_duration") == [23])
    }

    @Test func `gauges tell sizes, held versions, and for how long the oldest is held`() throws {
      let metrics = TestMetrics()
      let now = Mutex(
        StoreStatistics(
          totalByteCount: 900, freeByteCount: 100, pendingByteCount: 50, newestVersion: 9,
          durableVersion: 7, pinnedVersions: [4, 9]))
      let gauges = StoreGauges(store: "/a", factory: metrics) { now.withLock { $0 } }
      func last(_ name: String) throws -> Double? {
        try metrics.expectGauge("cambium_\(name)", [("store", "/a")]).lastValue
      }
      try gauges.record()
      #expect(try last("store_bytes") == 900 && last("free_bytes") == 100)
      #expect(try last("pending_bytes") == 50 && last("pinned_versions") == 2)
      #expect(try last("versions_not_durable") == 2 && last("oldest_pin_seconds") == 0)
      // The newest version is not old, however long it is held.
      try gauges.record()
      let first = try #require(try last("oldest_pin_seconds"))
      #expect(first > 0)
      try gauges.record()
      #expect(try #require(try last("oldest_pin_seconds")) > first)
      now.withLock { $0.pinnedVersions = [8, 9] }
      try gauges.record()
      #expect(try last("oldest_pin_seconds") == 0, "another one is the oldest now")
      now.withLock { $0.pinnedVersions = [9] }
      try gauges.record()
      #expect(try last("oldest_pin_seconds") == 0 && last("pinned_versions") == 1)
    }

    /// Keeps what is logged.
    private final class Lines: Sendable {
      let all = Mutex<[(level: Logger.Level, text: String, metadata: Logger.Metadata)]>([])
    }

    private struct Handler: LogHandler {
      let lines: Lines
      var metadata: Logger.Metadata = [:]
      var logLevel = Logger.Level.trace

      subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
      }

      func log(event: LogEvent) {
        lines.all.withLock {
          $0.append((event.level, event.message.description, event.metadata ?? [:]))
        }
      }
    }

    @Test func `what takes long is a warning`() {
      let lines = Lines()
      let logger = Logger(label: "test") { _ in Handler(lines: lines) }
      let listener = ListenerGroup([LogListener(logger, slow: .nanoseconds(500))])
      for event in Self.events { listener.observe(event, of: "/a") }
      let all = lines.all.withLock { $0 }
      let levels: [Logger.Level] = [
        .info, .trace, .warning, .trace, .trace, .trace, .trace, .trace, .trace, .info,
      ]
      #expect(all.map(\.level) == levels)
      #expect(all[2].text == "committed" && all[2].metadata["version"] == "3")
      #expect(all.allSatisfy { $0.metadata["store"] == "/a" })
    }

    @Test func `a logger is told what it wants to know, and nothing is too slow for ever`() {
      let lines = Lines()
      var logger = Logger(label: "test") { _ in Handler(lines: lines) }
      logger.logLevel = .warning
      let listener = LogListener(logger, slow: .nanoseconds(500))
      for event in Self.events { listener.observe(event, of: "/a") }
      #expect(lines.all.withLock { $0.map(\.text) } == ["committed"])
      let patient = LogListener(logger, slow: .seconds(Int64.max))
      for event in Self.events { patient.observe(event, of: "/a") }
      #expect(lines.all.withLock { $0.count } == 1)
    }
  }
#endif
