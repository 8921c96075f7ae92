import CambiumCore

/// What is left of a process that was killed between writing a head and saying that it is durable, while
/// others have the file open.
///
/// Nobody sees that head, and it is of a whole version as long as nobody writes. But recovery would find
/// it, and prefer it to what others commit behind the head that they know. So whoever writes next, be
/// it a page, makes sure first that it is gone.
extension FileStore {
  /// Tells the others that this one is about to write a head; under the slots' lock.
  func announceHead() { memory.headWriter = UInt32(slot) + 1 }

  /// Sees to it, before pages are written, that no head is left of somebody who has died over it.
  ///
  /// Where another one is at the slots, it does so, or is the one who writes the head and lives. What
  /// that head leads to is pinned.
  func endForeignHeadIfFree() throws(StoreError) {
    if memory.headWriter == 0 { return }
    _ = try withSlotsIfFree {}
  }

  /// Stores what is known to be durable once more, behind and instead of a head whose writer has died
  /// over it; under the slots' lock.
  ///
  /// After a crash that is up to `settleRecovered()`.
  func endForeignHead() throws(StoreError) {
    guard memory.headWriter != 0, memory.condition == .clean, !state.withLock({ $0.isPoisoned })
    else { return }
    guard let mark = memory.durableMark else {
      throw .damaged(
        Damage(.head, "what is durable cannot be read in \(SharedMemory.path(for: path))"))
    }
    guard var head = state.withLock({ $0.slots[mark.slot] }) else {
      throw .damaged(Damage(.head, "the head of version \(mark.version) cannot be read"))
    }
    if mark.isVolatile {
      var mark = mark
      mark.slot = 1 - mark.slot
      mark.sequence += 1
      mark.isBeingSynced = false
      head.sequence = mark.sequence
      try writeSlot(mark.slot, head, isSynced: true)
      return state.withLock { publish(mark, &$0) }
    }
    let chain = try HeadChain(from: head, identity: sector, device: device, path: path)
    guard let durable = chain.heads.first(where: { $0.head.version == mark.version }) else {
      throw .damaged(Damage(.head, "the head of version \(mark.version) cannot be found"))
    }
    try settle(durable)
  }
}
