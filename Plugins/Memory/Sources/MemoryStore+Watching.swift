import CambiumCore

extension MemoryStore: WatchableStore {
  /// Those of all stores with the same content.
  package var watchers: CommitWatchers { content.watchers }

  /// None: other processes do not see the memory.
  package var sharedSignal: CommitSignal? { nil }
}
