#if Observability
  import CambiumCore
  import Logging

  /// Writes what databases do to a swift-log logger: what takes long as a warning, openings and migrations as
  /// information, everything else at the level `trace`.
  ///
  /// ```swift
  /// DatabaseEvents.listen(LogListener(Logger(label: "database"), slow: .milliseconds(100)))
  /// ```
  public struct LogListener: DatabaseEventListener {
    private let logger: Logger
    private let slowNanoseconds: Int64

    /// Writes to `logger`; commits, syncs and waits for the writer lock that take longer than `slow` are
    /// warnings, and so are versions that were held for longer than a thousand times that.
    public init(_ logger: Logger, slow: Duration = .milliseconds(500)) {
      self.logger = logger
      let (seconds, attoseconds) = slow.components
      slowNanoseconds = Int64(
        clamping: Int128(seconds) * 1_000_000_000 + Int128(attoseconds / 1_000_000_000))
    }

    /// Writes a line, if the logger wants lines of its level.
    public func observe(_ event: DatabaseEvent, of store: String) {
      let level = level(of: event)
      // Most are of a level that nobody looks at, and words take longer than what they tell of.
      guard level >= logger.logLevel else { return }
      let (text, facts) = line(event)
      logger.log(
        level: level, "\(text)",
        metadata: facts.reduce(into: ["store": "\(store)"]) { $0[$1.key] = "\($1.value)" })
    }

    private func level(of event: DatabaseEvent) -> Logger.Level {
      func level(_ nanoseconds: Int64, factor: Int64 = 1) -> Logger.Level {
        nanoseconds / factor > slowNanoseconds ? .warning : .trace
      }
      return switch event {
      case .opened, .migrated: .info
      case .writeBegan(let nanoseconds), .committed(_, _, _, let nanoseconds),
        .synced(let nanoseconds), .observersTold(_, _, let nanoseconds):
        level(nanoseconds)
      case .versionReleased(_, let age): level(age, factor: 1000)
      case .pageDecoded, .refreshed: .trace
      }
    }

    private func line(_ event: DatabaseEvent) -> (text: String, facts: [String: String]) {
      func time(_ nanoseconds: Int64) -> [String: String] {
        ["milliseconds": "\(Double(nanoseconds / 1000) / 1000)"]
      }
      switch event {
      case .opened(let nanoseconds): return ("opened", time(nanoseconds))
      case .writeBegan(let nanoseconds): return ("waited for the writer lock", time(nanoseconds))
      case .committed(let version, let byteCount, let durability, let nanoseconds):
        let facts = [
          "version": "\(version)", "bytes": "\(byteCount)", "durability": "\(durability)",
        ]
        return ("committed", facts.merging(time(nanoseconds)) { $1 })
      case .synced(let nanoseconds): return ("waited for the medium", time(nanoseconds))
      case .versionReleased(let version, let age):
        return ("released a version", ["version": "\(version)"].merging(time(age)) { $1 })
      case .pageDecoded(let byteCount, let nanoseconds):
        return ("decoded a page", ["bytes": "\(byteCount)"].merging(time(nanoseconds)) { $1 })
      case .refreshed(let old, let new):
        return ("refreshed", ["from": "\(old)", "to": "\(new)"])
      case .observersTold(let count, let version, let nanoseconds):
        let facts = ["observers": "\(count)", "version": "\(version)"]
        return ("told observers", facts.merging(time(nanoseconds)) { $1 })
      case .migrated(let old, let new, let nanoseconds):
        let facts = ["from": "\(old)", "to": "\(new)"]
        return ("migrated", facts.merging(time(nanoseconds)) { $1 })
      }
    }
  }

  /// Tells several listeners.
  public struct ListenerGroup: DatabaseEventListener {
    private let listeners: [any DatabaseEventListener]

    /// Tells `listeners` in their order.
    public init(_ listeners: [any DatabaseEventListener]) { self.listeners = listeners }

    /// Hands an event on.
    public func observe(_ event: DatabaseEvent, of store: String) {
      for listener in listeners { listener.observe(event, of: store) }
    }
  }
#endif
