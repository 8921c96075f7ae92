import CambiumCore

/// What the first write after an opening does before all else.
extension FileStore {
  /// Begins an epoch, in which everything is published from now on; what recovery accepted is written
  /// again first.
  ///
  /// The medium knows the epoch before anybody sees a version of it: what is published next may be lost
  /// with the power, and its version is given again by who opens the file then.
  func beginEpoch() throws(StoreError) {
    // Who has just joined may not have looked yet what lies in the log.
    try withOpenState { state throws(StoreError) in try followLiveHead(&state) }
    if memory.condition != .opened { return try settleRecovered() }
    try ensureCountable()
    if let epoch = settledEpoch() { return say(epoch) }
    try settleInNextEpoch()
  }

  /// Writes again what recovery accepted, so that the medium has it for certain, and gives it a new
  /// epoch.
  ///
  /// Both slots hold the recovered version when this returns. The accepted slot is written first and
  /// synced with the pages: after a failed sync the system may show bytes that the medium never got,
  /// and the other slot may be the only one there.
  func settleRecovered() throws(StoreError) {
    let condition = memory.condition
    guard condition == .recovered || condition == .recoveredAfterFailure else {
      state.withLock { $0.recovered = nil }
      return
    }
    try ensureCountable()
    try withOpenState { state throws(StoreError) in try followLiveHead(&state) }
    if let epoch = settledEpoch() { return say(epoch) }
    let recovered = try whatWasRecovered(condition)
    let slotHead = state.withLock { $0.slots[recovered.slot] }
    try writeAgain(recovered.extents)
    try writeLastBlockAgain()
    if let slotHead {
      try writeSlot(recovered.slot, slotHead)
    }
    try syncDevice()
    state.withLock { $0.mark.slot = recovered.slot }
    try settleInNextEpoch()
  }

  /// Writes again what the commits behind the version `durable` wrote and is reachable from `head`, which is held, so
  /// that the next sync is about all of it; under the slots' lock.
  ///
  /// Where some of it is not there any more the store is poisoned.
  func writeAgain(since durable: Version, upTo head: HeadSector) throws(StoreError) {
    var head = head
    head.durable = durable
    let check = RecordCheck(
      identity: sector, device: device, path: path,
      fileByteCount: try FileOpening.fileByteCount(device, path: path))
    switch try check.verify(head) {
    case .success(let extents): try writeAgain(extents)
    case .failure(let error):
      poison()
      throw error
    }
  }

  /// Writes again what lies in `extents`.
  private func writeAgain(_ extents: [Extent]) throws(StoreError) {
    for extent in extents {
      let page = try device.readPage(at: extent.byteOffset, byteCount: extent.byteCount, path: path)
      defer { withExtendedLifetime(page) {} }
      try device.perform(path: path) { device throws(DeviceError) in
        try unsafe device.write(page.page.buffer, at: extent.byteOffset)
      }
    }
  }

  /// Writes and syncs the newest version's head with the next epoch, and says so.
  private func settleInNextEpoch() throws(StoreError) {
    var head = state.withLock { $0.newest }
    try endStoredLog(writesAgain: true)
    head.head.epoch += 1
    try settle(head)
    say(head.head.epoch)
  }

  /// Says to all that the newest version is on the medium, in that epoch.
  private func say(_ epoch: UInt64) {
    state.withLock { state in
      state.recovered = nil
      state.newest.head.epoch = epoch
      state.logged?.head.epoch = epoch
      memory.publish(state.newest, sector, through: state.logged?.head.version)
      state.seenLive = memory.liveWord
    }
    memory.condition = .clean
  }

  /// Sees to it that the file is as long on the medium, after the next sync, as it looks; where nobody else may write
  /// pages or change its length.
  ///
  /// A failed sync may have lost its end like any other bytes, zeros that no page covers among them.
  func writeLastBlockAgain() throws(StoreError) {
    let end = try FileOpening.fileByteCount(device, path: path)
    let count = FileLayout.blockByteCount
    let block = try device.readPage(at: end - count, byteCount: count, path: path)
    defer { withExtendedLifetime(block) {} }
    try device.perform(path: path) { device throws(DeviceError) in
      try unsafe device.write(block.page.buffer, at: end - count)
    }
  }

  /// The next epoch, if the newest version is settled in it already.
  ///
  /// A process may have died after it had done all but say so.
  private func settledEpoch() -> UInt64? {
    state.withLock { state in
      guard state.mark.version == state.newest.head.version,
        let head = state.slots[state.mark.slot], head.isNextEpoch(of: state.newest)
      else { return nil }
      return head.head.epoch
    }
  }

  /// What recovery accepted: found when this store opened, or found now because another process that
  /// did has left without writing.
  ///
  /// A process that died while it settled the version may have written the slot that is written next; it
  /// is written again.
  private func whatWasRecovered(
    _ condition: SharedMemory.Condition
  ) throws(StoreError) -> FileState.Recovered {
    if let known = state.withLock({ $0.recovered }) { return known }
    let slots = state.withLock { state in
      state.slots.map { $0.flatMap { $0.isNextEpoch(of: state.newest) ? nil : $0 } }
    }
    let recovery = try Recovery(
      slots: slots, live: memory.knownHead(sector),
      wasPoisoned: condition == .recoveredAfterFailure, identity: sector, device: device,
      path: path, fileByteCount: try FileOpening.fileByteCount(device, path: path))
    guard let recovered = recovery.recovered,
      recovery.newest.head == state.withLock({ $0.newest.head })
    else {
      throw .damaged(Damage(.head, "the version that was recovered cannot be found again"))
    }
    return recovered
  }
}
