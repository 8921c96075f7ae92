import CambiumCore
import Synchronization

extension FileStore: WatchableStore {
  /// Raised by all users of the file; nil for a device of the caller's, which has one user.
  package var sharedSignal: CommitSignal? { writerLock == nil ? nil : commits }
}

/// Looking after what others have committed, so that it becomes durable also where they have died.
extension FileStore {
  /// Makes the newest version durable when it has not become so after a while in which nobody has committed.
  ///
  /// For who has seen a version of another user.
  func watchUnsynced() {
    guard !options.isReadOnly, options.storesUnasked,
      !isWatchingUnsynced.load(ordering: .relaxed), !isNewestDurable,
      !isWatchingUnsynced.exchange(true, ordering: .relaxed)
    else { return }
    let delay = 8 * options.relaxedDelayNanoseconds
    let seen = Atomic(memory.liveWord)
    let isScheduled = background.watching.schedule(at: background.now + delay) { [weak self] now in
      guard let self else { return nil }
      let word = memory.liveWord
      // Whoever has committed since may see to it.
      if !isNewestDurable, seen.exchange(word, ordering: .relaxed) != word { return now + delay }
      isWatchingUnsynced.store(false, ordering: .relaxed)
      if !isNewestDurable { scheduleSync() }
      return nil
    }
    if !isScheduled { isWatchingUnsynced.store(false, ordering: .relaxed) }
  }

  /// The newest version that is durable for certain; nil where that is not known.
  ///
  /// What recovery has found in the log of the file may not be on the medium before it is written again.
  var durableVersion: Version? {
    let isClean = memory.condition == .clean
    return memory.durableMark.map { isClean ? $0.durableVersion : $0.version }
  }

  /// Whether all that was committed is durable.
  var isNewestDurable: Bool {
    durableVersion.map { $0 == memory.liveVersion } ?? false
  }
}
