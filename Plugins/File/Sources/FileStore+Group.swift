import CambiumCore
import Synchronization

/// Commits that wait for the medium together: one of them syncs for all.
extension FileStore {
  /// Waits until `version`, which is published, is durable; who waits at the same time shares one
  /// sync.
  ///
  /// One caller writes the head of the newest version into a slot and syncs it together with the
  /// pages of all commits since the last durable one; the others sleep meanwhile. What is published
  /// while it syncs waits for the next one. When the sync fails everybody who waits is told, and the
  /// store is poisoned.
  public func makeDurable(_ version: Version) throws(StoreError) {
    while true {
      try ensureWritable()
      if isDurable(version) { return }
      if group.syncing.exchange(true, ordering: .acquiringAndReleasing) {
        group.signal.wait(timeoutNanoseconds: .max) {
          isDurable(version) || !group.syncing.load(ordering: .acquiring)
        }
        continue
      }
      defer {
        group.syncing.store(false, ordering: .releasing)
        group.signal.raise()
      }
      // Others may have come to the end of it meanwhile.
      if isDurable(version) { return }
      try withSlots { () throws(StoreError) in try syncGroup() }
      scheduleSettling()
    }
  }

  private func isDurable(_ version: Version) -> Bool {
    guard let mark = memory.durableMark else { return false }
    return !mark.isVolatile && mark.version >= version
  }

  /// Makes the newest version durable, with one sync when little was written since the last one.
  ///
  /// Recovery verifies the records of all versions since then before it accepts the head.
  private func syncGroup() throws(StoreError) {
    let mark = state.withLock { $0.mark }
    guard memory.condition == .clean, !mark.isVolatile,
      memory.unsyncedByteCount <= options.largestSingleSyncByteCount
    else { return try syncNewest() }
    guard let work = try holdNewestUnlessDurable() else { return }
    defer { unpin(work.head.head.version) }
    var head = work.head
    let slot = 1 - mark.slot
    head.sequence = mark.sequence + 1
    head.durable = mark.version
    head.isSettled = false
    head.isVolatile = false
    head.chain(link: 0, next: 0)
    let link = try writeSlot(slot, head)
    try syncDevice()
    state.withLock { publish(DurableMark(inSlot: slot, head, link: link), &$0) }
    memory.addUnsynced(-work.byteCount)
  }
}

/// Where the commits of one store meet that wait for the medium.
final class CommitGroup: Sendable {
  /// Whether somebody syncs for all.
  let syncing = Atomic(false)
  /// Raised when a sync has ended.
  let signal = CommitSignal()
}
