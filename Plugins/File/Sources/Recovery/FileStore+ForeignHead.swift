import CambiumCore

/// What is left of a process that was killed between writing a head and saying that it is durable, or over a sync,
/// while others have the file open.
///
/// That sync may have failed, and the system tells of it once: whoever opened the file afterwards would sync, hear
/// nothing, and promise what is lost. So all that was written since the durable version is written again first.
///
/// Nobody sees that head, and it is of a whole version as long as nobody writes. But recovery would find
/// it, and prefer it to what others commit behind the head that they know. So whoever writes next, be
/// it a page, makes sure first that it is gone.
extension FileStore {
  /// Tells the others that this one is about to write a head; under the slots' lock.
  ///
  /// Who writes one instead of a dead one's leaves that one's name until it is done: it may die as well.
  func announceHead(holdsWriterLock: Bool) {
    guard memory.headWriter == nil else { return }
    memory.headWriter = SharedMemory.HeadWriter(slot: slot, holdsWriterLock: holdsWriterLock)
  }

  /// Sees to it, before pages are written, that no head is left of somebody who has died over it; for
  /// the holder of the writer lock.
  ///
  /// Who announced that head while it held the writer lock is dead, and what its head leads to is free in
  /// the books of all others: that head must be gone. Who wrote a head without the writer lock lives if another one is at the slots, or else
  /// that one puts an end to the head; what it leads to is pinned until then.
  /// After a sync over which somebody has died, it is sure from here on what later syncs are about: all that is older is
  /// published and was written again, but for the end of the file, which is now. Where somebody is at the slots, the
  /// next one who writes sees to that.
  func endForeignHeadBeforeWriting() throws(StoreError) {
    if memory.syncState == .unsure {
      _ = try withSlotsIfFree { () throws(StoreError) in
        try ensureWritable()
        try writeLastBlockAgain()
        memory.syncState = .sure
      }
    }
    guard let writer = memory.headWriter else { return }
    if writer.holdsWriterLock {
      try withSlots { () throws(StoreError) in try ensureWritable() }
    } else {
      _ = try withSlotsIfFree {}
    }
  }

  /// Makes the newest version durable, behind and instead of a head whose writer has died over it; under
  /// the slots' lock.
  ///
  /// After a crash that is up to `settleRecovered()`.
  func endForeignHead() throws(StoreError) {
    // Nobody else is at the slots.
    if memory.syncState == .running { memory.syncState = .unsure }
    guard memory.headWriter != nil || memory.syncState == .unsure, memory.condition == .clean,
      !state.withLock({ $0.isPoisoned || $0.hasLeft })
    else { return }
    guard memory.durableMark != nil else {
      throw .damaged(
        Damage(.head, "what is durable cannot be read in \(SharedMemory.path(for: path))"))
    }
    try endStoredLog()
    while true {
      if let work = try holdNewestUnlessDurable() { return try makeDurable(work) }
      if memory.headWriter == nil { return }
      // A thread of this store may have published another one since.
      let durable = state.withLock { $0.mark.version == $0.newest.head.version ? $0.newest : nil }
      if let durable { return try settle(durable) }
    }
  }
}
