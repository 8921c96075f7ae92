import CambiumCore

/// Making things durable. All of it runs under `io`.
extension FileStore {
  /// Makes everything published so far durable; returns at once when it is, or for a reader.
  ///
  /// A failed sync poisons the store: what was published stays readable, and writes are refused
  /// until the file is opened again.
  public func sync() throws(StoreError) {
    if options.isReadOnly {
      try state.withLock { state throws(StoreError) in try ensureOpen(state) }
      return
    }
    try ensureWritable()
    try io.withLock { _ throws(StoreError) in try syncNewest() }
  }

  /// Writes `head` into the slot that does not hold the last known durable head.
  ///
  /// From here on the slot's content on the medium is unknown until a sync succeeds, so that any
  /// failure poisons the store.
  func writeSlot(_ slot: Int, _ head: HeadSector) throws(StoreError) {
    let block = head.stored(byteCount: FileLayout.blockByteCount)
    do throws(DeviceError) {
      try device.write(block, at: FileLayout.headOffsets[slot])
    } catch {
      poison()
      throw StoreError(error, path: path)
    }
    state.withLock { state in
      state.sequence = head.sequence
      state.slots[slot] = head
      state.hasWritten = true
    }
  }

  /// Syncs the device; a failure poisons the store.
  func syncDevice() throws(StoreError) {
    do throws(DeviceError) {
      try device.sync()
    } catch {
      poison()
      throw StoreError(error, path: path)
    }
  }

  /// Writes `head` to the free slot and syncs it; it must be durable already.
  ///
  /// Afterwards that slot holds the last known durable head.
  func settle(_ head: HeadSector) throws(StoreError) {
    var head = head
    let (slot, sequence) = state.withLock { (1 - $0.durableSlot, $0.sequence + 1) }
    head.sequence = sequence
    head.durable = head.head.version
    head.isSettled = true
    head.isVolatile = false
    try writeSlot(slot, head)
    try syncDevice()
    state.withLock { $0.durableSlot = slot }
  }

  /// Makes the newest version durable, in two steps: its pages, then a settled head.
  func syncNewest() throws(StoreError) {
    try settleRecovered()
    let work = state.withLock { state -> (head: HeadSector, byteCount: Int)? in
      if state.isPoisoned { return nil }
      if state.durableVersion == state.newest.head.version, !state.isVolatile { return nil }
      state.space.ledger.hold(state.newest.head.version, .store)
      return (state.newest, state.unsyncedByteCount)
    }
    guard let work else {
      if state.withLock({ $0.isPoisoned }) { throw .poisoned(path: path) }
      return
    }
    do throws(StoreError) {
      try syncDevice()
      try settle(work.head)
    } catch {
      state.withLock { $0.space.release(work.head.head.version, .store) }
      throw error
    }
    state.withLock { state in
      state.becomeDurable(work.head.head.version)
      state.unsyncedByteCount -= work.byteCount
      state.newest.sequence = state.sequence
      lockFile?.publish(state.newest)
    }
  }

  /// Writes again what recovery accepted, so that the medium has it for certain, and gives it a new
  /// epoch.
  ///
  /// Both slots hold the recovered version when this returns.
  ///
  /// The accepted slot is written first and synced with the pages: after a failed sync the system may
  /// show bytes that the medium never got, and the other slot may be the only one there.
  func settleRecovered() throws(StoreError) {
    let found = state.withLock { state in
      state.recovered.map { ($0, state.newest, state.slots[$0.slot]) }
    }
    guard let (recovered, newest, slotHead) = found else { return }
    try ensureCountable()
    for extent in recovered.extents {
      let page = try device.readPage(at: extent.byteOffset, byteCount: extent.byteCount, path: path)
      try device.perform(path: path) { device throws(DeviceError) in
        try device.write(page.page.buffer, at: extent.byteOffset)
      }
    }
    if let slotHead {
      try writeSlot(recovered.slot, slotHead)
    }
    try syncDevice()
    state.withLock { $0.durableSlot = recovered.slot }
    var head = newest
    head.head.epoch += 1
    try settle(head)
    state.withLock { state in
      state.recovered = nil
      if state.isVolatile {
        state.space.ledger.hold(newest.head.version, .store)
        state.becomeDurable(newest.head.version)
      }
      state.newest.head.epoch = head.head.epoch
      state.newest.isSettled = true
      state.newest.durable = head.head.version
      state.newest.sequence = state.sequence
      lockFile?.publish(state.newest)
    }
    lockFile?.clearPoison()
  }

  // MARK: Relaxed commits

  /// Sees to it that what relaxed commits have written becomes durable soon.
  func scheduleSync() {
    let (unsynced, mustStart) = state.withLock { state in
      let mustStart = !state.isSyncThreadRunning
      state.isSyncThreadRunning = true
      return (state.unsyncedByteCount, mustStart)
    }
    if unsynced >= options.relaxedByteCount { hurry.raise() }
    guard mustStart else { return }
    let delay = options.relaxedDelayNanoseconds
    let limit = options.relaxedByteCount
    let hurry = self.hurry
    let hasStarted = PosixFiles.startThread { [weak self] in
      while true {
        hurry.wait(timeoutNanoseconds: delay) { [weak self] in
          guard let self else { return true }
          return self.state.withLock { $0.isClosed || $0.unsyncedByteCount >= limit }
        }
        guard let self, self.syncInBackground() else { return }
      }
    }
    if !hasStarted {
      state.withLock { $0.isSyncThreadRunning = false }
      io.withLock { _ in try? syncNewest() }
    }
  }

  /// Whether there may be more to sync later.
  ///
  /// An error poisons the store, and the next write says so.
  private func syncInBackground() -> Bool {
    io.withLock { _ in
      if !state.withLock({ $0.isClosed }) { try? syncNewest() }
    }
    return state.withLock { state in
      let isDone =
        state.isClosed || state.isPoisoned || state.durableVersion == state.newest.head.version
      if isDone { state.isSyncThreadRunning = false }
      return !isDone
    }
  }

  // MARK: Closing

  /// Syncs what is published, refuses all further calls and lets go of the file.
  ///
  /// Pages of pins that are still alive stay readable, and the file stays locked until the last of
  /// them and the running write have ended. When syncing fails that is thrown, and the store is
  /// closed all the same. Closing twice is allowed.
  public func close() throws(StoreError) {
    let wasClosed = writing.withLock { _ in
      state.withLock { state in
        let wasClosed = state.isClosed
        state.isClosed = true
        return wasClosed
      }
    }
    if wasClosed { return }
    hurry.raise()
    commits.raise()
    defer {
      if state.withLock({
        $0.isFinished = true; return $0.takeLeave()
      }) {
        leave()
      }
    }
    let mustWrite = state.withLock { !options.isReadOnly && !$0.isPoisoned && $0.hasWritten }
    guard mustWrite else { return }
    try io.withLock { _ throws(StoreError) in
      try syncNewest()
      // Both slots, so that damage to one of them loses nothing.
      while !state.withLock({ $0.isClean }) { try settle(state.withLock { $0.newest }) }
      try cutSlack()
    }
  }

  /// Lets go of the file, so that others can open it.
  func leave() {
    lockFile?.leave()
    if let device = device as? PosixDevice {
      _ = device.lock(byte: LockFile.LockByte.life, .unlocked)
    }
  }

  /// Cuts off most of what the file has grown ahead of need.
  ///
  /// Nothing held lies there: the newest version ends at the high-water mark, and so do pinned
  /// ones.
  private func cutSlack() throws(StoreError) {
    let (used, total) = state.withLock { ($0.heldByteCount, $0.fileByteCount) }
    guard total - used > 512 << 10 else { return }
    let target = used + (128 << 10)
    try device.perform(path: path) { device throws(DeviceError) in
      try device.truncate(to: target)
    }
    state.withLock { $0.fileByteCount = target }
  }
}

extension FileState {
  /// Whether it is time to let go of the file, which is so once: the store is closed, and nobody
  /// reads or writes any more.
  ///
  /// Others would write over what a pin still sees.
  mutating func takeLeave() -> Bool {
    guard isFinished, !hasLeft, space.ledger.pinnedVersions.isEmpty else { return false }
    hasLeft = true
    return true
  }

  /// Moves the hold of the durable version on to `version`, which the caller has held for it.
  mutating func becomeDurable(_ version: Version) {
    if holdsDurable { space.release(durableVersion, .store) }
    durableVersion = version
    holdsDurable = true
    isVolatile = false
    newest.isVolatile = false
  }

  /// How much of the file versions reach that something holds.
  var heldByteCount: Int {
    isSpaceLoaded ? max(newest.byteCount, space.totalByteCount) : newest.byteCount
  }
}
