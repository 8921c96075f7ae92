import Synchronization

/// The threads on which a store calls back that leaves that to the engine.
final class StoreCalls: Sendable {
  /// Waits for the writer lock.
  let beginnings = OrderedCalls(BackgroundLane())
  /// Waits for the medium.
  let durable = OrderedCalls(BackgroundLane())

  private struct Entry: Sendable {
    weak var store: (any PageStore)?
    let calls: StoreCalls
  }

  private static let known = Mutex<[ObjectIdentifier: Entry]>([:])

  /// Those of `store`; always the same while it lives.
  static func of(_ store: any PageStore) -> StoreCalls {
    // Others are let go of outside of the lock: one that nobody else holds any more closes its file then.
    let (calls, _) = known.withLock { known -> (StoreCalls, [(Entry, (any PageStore)?)]) in
      if let entry = known[ObjectIdentifier(store)], entry.store != nil { return (entry.calls, []) }
      let others = known.values.map { ($0, $0.store) }
      known = known.filter { $0.value.store != nil }
      let entry = Entry(store: store, calls: StoreCalls())
      known[ObjectIdentifier(store)] = entry
      return (entry.calls, others)
    }
    return calls
  }
}
