import CambiumCore

/// Exclusivity is not checked: the Realm's fields have one context, in which this begins; what goes to another
/// thread is a snapshot.
extension Results {
  /// Brings what is about to be read into memory, while the actor does other work.
  ///
  /// That are the objects of the results' class, from the first one on, as many as fit into half of the cache.
  /// Large values come when they are read.
  ///
  /// For databases on other machines: what is read next on the main actor, or on another one, does not wait for
  /// the network then. Returns at once for files that are mapped, in memory, in a write transaction, and for
  /// results that are no objects.
  ///
  /// - Throws: `.fileAccess` when the cluster does not answer in time, and what else reading throws; what
  ///   was not brought is read when it is asked for.
  public func prefetch(_isolation: isolated (any Actor)? = #isolation) async throws {
    core.verify()
    guard let access = core.access, unsafe core.realm.session == nil, !isInvalidated else { return }
    let snapshot = core.realm.currentSnapshot
    let name = access.stored.tableName
    let path = core.realm.configuration.path
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      BlockingCalls.reads.run {
        do throws(StoreError) {
          try snapshot.prefetch(name)
          continuation.resume()
        } catch {
          continuation.resume(throwing: RLMError(error, path: path))
        }
      }
    }
  }
}
