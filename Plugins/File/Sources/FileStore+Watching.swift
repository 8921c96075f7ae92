import CambiumCore

extension FileStore: WatchableStore {
  /// Raised by all users of the file; nil for a device of the caller's, which has one user.
  package var sharedSignal: CommitSignal? { writerLock == nil ? nil : commits }
}
