import Cambium
import CambiumToolKit
import Foundation
import Synchronization

/// Tells pages what is committed, by whomever: how many objects of each class.
///
/// A page that is slow to take what it is told gets it summed up.
final class ChangeFeed: Sendable {
  private let database: ServedDatabase
  private let state = Mutex(State())

  private struct State {
    var listeners: [ObjectIdentifier: Listener] = [:]
    /// Follows the database while anybody listens.
    var follower: Task<Void, Never>?
    var isEnded = false
  }

  /// So many pages may listen.
  private static let listenerLimit = 32

  init(_ database: ServedDatabase) { self.database = database }

  /// What a page is told, in the form of `text/event-stream`.
  func stream() throws(WebRefusal) -> AsyncStream<[UInt8]> {
    let listener = Listener()
    let isIn = state.withLock { state in
      guard !state.isEnded, state.listeners.count < Self.listenerLimit else { return false }
      state.listeners[ObjectIdentifier(listener)] = listener
      if state.follower == nil { state.follower = Task { await self.follow() } }
      return true
    }
    guard isIn else { throw WebRefusal(503, "Too many pages are open.") }
    return listener.stream { [weak self] in self?.remove(listener) }
  }

  /// Ends all streams.
  func end() {
    let (listeners, follower) = state.withLock { state in
      state.isEnded = true
      return (state.listeners.values.map { $0 }, state.follower.take())
    }
    follower?.cancel()
    for listener in listeners { listener.end() }
  }

  private func remove(_ listener: Listener) {
    state.withLock { state in
      state.listeners[ObjectIdentifier(listener)] = nil
      if state.listeners.isEmpty { state.follower.take()?.cancel() }
    }
  }

  private func follow() async {
    while !Task.isCancelled {
      do {
        for try await change in try await database.changes() { tell(change) }
      } catch {}
      // The database was opened anew, or cannot be followed now.
      tell(.init(isUnknown: true))
      try? await Task.sleep(for: .seconds(1))
    }
  }

  private func tell(_ change: DatabaseChange) {
    switch change {
    case .snapshot(let position): tell(Summary(version: position.version, isUnknown: true))
    case .changes(let position, let classes):
      tell(
        Summary(
          version: position.version,
          classes: classes.mapValues {
            .init(
              inserted: $0.inserted.count, modified: $0.modified.count, deleted: $0.deleted.count)
          }))
    }
  }

  private func tell(_ summary: Summary) {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.add(summary) }
  }
}

/// What was committed since a page was told last.
private struct Summary {
  struct Counts {
    var inserted = 0
    var modified = 0
    var deleted = 0
  }

  var version: UInt64 = 0
  var classes: [String: Counts] = [:]
  /// Whether something else may have happened.
  var isUnknown = false

  mutating func add(_ other: Summary) {
    version = max(version, other.version)
    isUnknown = isUnknown || other.isUnknown
    classes.merge(other.classes) { old, new in
      Counts(
        inserted: old.inserted + new.inserted, modified: old.modified + new.modified,
        deleted: old.deleted + new.deleted)
    }
  }

  var event: [UInt8] {
    var members = [JSONValue.Member("version", .integer(Int64(version)))]
    if isUnknown { members.append(.init("unknown", .bool(true))) }
    members.append(
      .init(
        "classes",
        .object(
          classes.sorted { $0.key < $1.key }.map { name, counts in
            .init(
              name,
              .object([
                .init("inserted", .integer(Int64(counts.inserted))),
                .init("modified", .integer(Int64(counts.modified))),
                .init("deleted", .integer(Int64(counts.deleted))),
              ]))
          })))
    return Array("data: \(JSONValue.object(members).line)\n\n".utf8)
  }
}

/// One page that listens.
private final class Listener: Sendable {
  private let pending = Mutex<Summary?>(nil)
  private let signals: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation

  /// What comes within so long is told together.
  private static let pause = Duration.milliseconds(100)
  /// After so long without an event a comment tells both sides that the connection is there.
  private static let heartbeat = Duration.seconds(15)

  init() {
    (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  func add(_ summary: Summary) {
    pending.withLock { pending in
      if pending == nil { pending = summary } else { pending?.add(summary) }
    }
    signal.yield()
  }

  func end() { signal.finish() }

  /// The events, each made when the one before was taken; `onEnd` is called when nobody takes them any more.
  func stream(onEnd: @escaping @Sendable () -> Void) -> AsyncStream<[UInt8]> {
    let pulse = Task { [signal] in
      while !Task.isCancelled {
        // The first one lets the page know at once that it is connected.
        signal.yield()
        try? await Task.sleep(for: Self.heartbeat)
      }
    }
    let use = Use {
      pulse.cancel()
      onEnd()
    }
    return AsyncStream(unfolding: {
      defer { withExtendedLifetime(use) {} }
      return await self.next()
    })
  }

  private func next() async -> [UInt8]? {
    var iterator = signals.makeAsyncIterator()
    guard await iterator.next() != nil else { return nil }
    try? await Task.sleep(for: Self.pause)
    return pending.withLock { $0.take() }?.event ?? Array(": here\n\n".utf8)
  }

  /// Ends with the stream that holds it.
  private final class Use: Sendable {
    private let onEnd: @Sendable () -> Void

    init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    deinit { onEnd() }
  }
}
