import CambiumCluster
import CambiumCore
import Synchronization

/// Objects and locks in memory, as a cluster keeps them: each operation happens at one moment.
///
/// What makes a cluster slow and uncertain is not here: ``InstantObjects`` and ``ScheduledObjects`` say when an
/// operation happens, and who learns of it.
///
/// Thread-safe.
public final class SimulatedCluster: Sendable {
  private struct Holder {
    var isShared: Bool
    /// When the lock ends by itself.
    var end: Int64
  }

  private struct State {
    var objects: [String: [UInt8]] = [:]
    var locks: [String: [String: Holder]] = [:]
    var watchers: [Int: @Sendable (ObjectHint?) -> Void] = [:]
    var lastWatcher = 0
    var isFull = false
    /// Who once had a lock that ended by itself.
    var lapsed: Set<String> = []
  }

  private let state = Mutex(State())

  /// An empty cluster.
  public init() {}

  /// Refuses to hold more than it does, while set.
  public func setFull(_ isFull: Bool) { state.withLock { $0.isFull = isFull } }

  /// The names of all objects, sorted.
  public var names: [String] { state.withLock { $0.objects.keys.sorted() } }

  /// An object's bytes; nil when there is none.
  public func object(_ name: String) -> [UInt8]? { state.withLock { $0.objects[name] } }

  /// Sets or removes an object behind everybody's back.
  public func set(_ name: String, _ bytes: [UInt8]?) { state.withLock { $0.objects[name] = bytes } }

  /// Whether a lock has ended by itself, by the time `now`, that somebody had whose name ends so.
  public func hasLapsed(suffix: String, now: Int64) -> Bool {
    state.withLock { state in
      state.lapsed.contains { $0.hasSuffix(suffix) }
        || state.locks.values.contains { holders in
          holders.contains { $0.key.hasSuffix(suffix) && $0.value.end <= now }
        }
    }
  }

  /// A cluster with the same objects, and no locks.
  public func copy() -> SimulatedCluster {
    let copy = SimulatedCluster()
    let objects = state.withLock { $0.objects }
    copy.state.withLock { $0.objects = objects }
    return copy
  }

  /// Calls `body` with each hint, until ``unwatch(_:)``.
  func watch(_ body: @escaping @Sendable (ObjectHint?) -> Void) -> Int {
    state.withLock { state in
      state.lastWatcher += 1
      state.watchers[state.lastWatcher] = body
      return state.lastWatcher
    }
  }

  func unwatch(_ number: Int) {
    let body = state.withLock { $0.watchers.removeValue(forKey: number) }
    withExtendedLifetime(body) {}
  }

  /// Does one operation at the time `now`, in nanoseconds.
  public func apply(
    _ request: ObjectRequest, now: Int64
  ) -> Result<ObjectAnswer, ObjectFailure> {
    if case .hint(let hint) = request {
      let watchers = state.withLock { Array($0.watchers.values) }
      for body in watchers { body(hint) }
      return .success(.done)
    }
    return state.withLock { state in
      do throws(ObjectFailure) {
        return .success(try Self.apply(request, &state, now))
      } catch {
        return .failure(error)
      }
    }
  }

  private static func apply(
    _ request: ObjectRequest, _ state: inout State, _ now: Int64
  ) throws(ObjectFailure) -> ObjectAnswer {
    switch request {
    case .read(let name, let ranges):
      guard let object = state.objects[name] else { throw .missing }
      return .bytes(
        ranges.map { range in
          let found = range.clamped(to: 0..<max(object.count, range.lowerBound))
          let clamped = min(found.lowerBound, object.count)..<min(found.upperBound, object.count)
          return PageBuffer(copying: object.span.extracting(clamped))
        })
    case .write(let name, let offset, let bytes):
      if state.isFull { throw .full }
      write(bytes, at: offset, into: &state.objects[name, default: []])
    case .create(let name, let bytes):
      if state.isFull { throw .full }
      if state.objects[name] != nil { throw .exists }
      state.objects[name] = bytes
    case .swap(let name, let swap):
      if state.isFull { throw .full }
      guard let object = state.objects[name] else { throw .missing }
      let end = swap.offset + swap.expected.count
      guard end <= object.count, object[swap.offset..<end].elementsEqual(swap.expected) else {
        throw .mismatch
      }
      switch swap.change {
      case .replace(let bytes): state.objects[name] = bytes
      case .write(let pieces):
        for piece in pieces {
          write(piece.bytes, at: piece.offset, into: &state.objects[name, default: []])
        }
      }
    case .remove(let name):
      if state.objects.removeValue(forKey: name) == nil { throw .missing }
    case .list: return .names(Array(state.objects.keys))
    case .lock(let name, let holder, let isShared, let seconds):
      var holders = state.locks[name, default: [:]]
      state.lapsed.formUnion(holders.filter { $0.value.end <= now }.keys)
      holders = holders.filter { $0.value.end > now }
      for (other, entry) in holders where other != holder && !(isShared && entry.isShared) {
        throw .busy
      }
      holders[holder] = Holder(isShared: isShared, end: now + Int64(seconds) * 1_000_000_000)
      state.locks[name] = holders
    case .unlock(let name, let holder):
      if state.locks[name]?.removeValue(forKey: holder) == nil { throw .missing }
    case .holders(let name):
      return .names(state.locks[name, default: [:]].filter { $0.value.end > now }.keys.sorted())
    case .hint: break
    }
    return .done
  }

  private static func write(_ bytes: [UInt8], at offset: Int, into object: inout [UInt8]) {
    let end = offset + bytes.count
    if object.count < end { object += repeatElement(0, count: end - object.count) }
    object.replaceSubrange(offset..<end, with: bytes)
  }
}
