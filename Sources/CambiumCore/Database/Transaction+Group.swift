/// Commits that wait for the medium together.
///
/// Each of them is a version of its own, published when it releases the writer lock: the next writer begins
/// while the medium still works, and one sync makes all versions durable that were published by then, in
/// their order. Readers see such a version before it is durable, and others may build on it: power
/// loss then takes both.
///
/// A commit by ``commit(durability:metadata:)`` with `.full` is the barrier among them: it keeps its
/// writer lock until its version is durable, and with it everything before.
///
/// When a commit throws before the version is published, the transaction is rolled back. When the
/// sync fails, the version stands for readers, the store is poisoned, and all who wait are told. They are told, too, when
/// the store cannot write what the sync is for, but for that it takes more writes, and the next sync includes it.
extension Transaction {
  /// Commits, lets the next writer in, and waits until the version is durable; commits that wait at
  /// the same time share one sync.
  ///
  /// Returns the version that the changes have become; it is not pinned.
  @discardableResult
  public func commitTogether(metadata: [UInt8] = []) throws(StoreError) -> Version {
    // Not pinned: many wait at a time, and each pin would hold what the next version replaces.
    let version = try publish(.relaxed, isAwaited: true, metadata).head.version
    try database.makeDurable(version)
    return version
  }

  /// Whether others wait to write, or for the medium.
  package var isContended: Bool { writer.isContended }

  /// Commits and lets the next writer in; the caller then waits until the version is durable
  /// (``Database/makeDurable(_:)``).
  ///
  /// Returns the version that the changes have become, pinned before another writer could begin.
  package func commitAwaited(metadata: [UInt8] = []) throws(StoreError) -> Snapshot {
    database.adopt(try publish(.relaxed, isAwaited: true, metadata))
  }

  /// Commits, lets the next writer in, and returns without waiting for the medium.
  ///
  /// `whenDurable` is called once, with the error if the sync failed: in the order of versions, one at
  /// a time, on a thread of the store, or here and now where there is nothing to wait for. It must not
  /// wait for another commit itself. When this throws it is not called.
  ///
  /// Returns the version that the changes have become, pinned before another writer could begin.
  @discardableResult
  public func commitTogether(
    metadata: [UInt8] = [], whenDurable: @escaping @Sendable (StoreError?) -> Void
  ) throws(StoreError) -> Snapshot {
    let commit = try commitUnsynced(metadata: metadata, whenDurable: whenDurable)
    commit.sync()
    return commit.snapshot
  }

  /// A commit that nobody has asked the medium for yet.
  package struct Unsynced {
    /// The version that the changes have become.
    package let snapshot: Snapshot
    /// Asks for it; to be called once.
    ///
    /// Who commits several times in a row calls this after the last one: one sync covers them all then, and
    /// they run undisturbed by it.
    package let sync: @Sendable () -> Void
  }

  /// Does what ``commitTogether(metadata:whenDurable:)`` does, up to the asking.
  package func commitUnsynced(
    metadata: [UInt8], whenDurable: @escaping @Sendable (StoreError?) -> Void
  ) throws(StoreError) -> Unsynced {
    let (version, calls, store) = (version, database.durableCalls, database.store)
    let number = calls.expect(version, whenDurable)
    let pin: Pin
    do throws(StoreError) { pin = try publish(.relaxed, isAwaited: true, metadata) } catch {
      calls.forget(number)
      throw error
    }
    return Unsynced(snapshot: database.adopt(pin)) {
      store.makeDurable(version) { calls.end(version, $0) }
    }
  }
}
