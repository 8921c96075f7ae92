import CambiumCore

extension FileStore {
  // MARK: Growing

  /// Writes pages of the running write; makes the file longer first if they lie behind its end.
  ///
  /// A small commit grows the file ahead of need by zeros: a block that was never written doubles the
  /// cost of each sync. Bulk work just writes on. `expectsSync` says that the commit is to be durable: then
  /// those zeros are synced first, and what bulk work writes is on its way to the medium before the sync.
  /// `spare` bytes behind are to be there, too.
  func writeOut(
    _ bytes: UnsafeRawBufferPointer, at offset: Int, isBulk: Bool, expectsSync: Bool = true,
    spare: Int = 0
  ) throws(StoreError) {
    try writing.withLock { _ throws(StoreError) in
      let end = offset + bytes.count
      let fileByteCount = try state.withLock { state throws(StoreError) in
        // Another process may use the file by now.
        try ensureOpen(state)
        return state.fileByteCount
      }
      if end + spare > fileByteCount, !isBulk {
        try grow(from: fileByteCount, to: end + spare, isSynced: expectsSync)
      }
      try device.perform(path: path) { device throws(DeviceError) in
        try device.write(bytes, at: offset)
      }
      state.withLock { $0.fileByteCount = max($0.fileByteCount, end) }
    }
    if isBulk, expectsSync { device.startWriting(byteCount: bytes.count, at: offset) }
  }

  /// Makes the file at least `byteCount` bytes long, ahead of a small commit.
  func growAhead(to byteCount: Int) throws(StoreError) {
    try writing.withLock { _ throws(StoreError) in
      let fileByteCount = try state.withLock { state throws(StoreError) in
        try ensureOpen(state)
        return state.fileByteCount
      }
      if fileByteCount < byteCount { try grow(from: fileByteCount, to: byteCount, isSynced: true) }
    }
  }

  /// How far a file of `byteCount` bytes grows ahead of need.
  func growth(ahead byteCount: Int) -> Int {
    min(max(byteCount / 32, 256 << 10), options.growthByteCount)
  }

  private func grow(from current: Int, to end: Int, isSynced: Bool) throws(StoreError) {
    let ahead = growth(ahead: current)
    let block = FileLayout.blockByteCount
    let limit = (options.maximumByteCount ?? .max) / block * block
    let needed = min((end + block - 1) / block * block, limit)
    if needed <= current { return }
    var target = min(max(needed, (current + ahead) / block * block), limit)
    do throws(StoreError) {
      try writeZeros(from: current, to: target)
    } catch .mediumFull {
      // There may be room for what is needed now.
      target = needed
      try writeZeros(from: current, to: target)
    }
    if isSynced {
      do throws(DeviceError) {
        try syncs.run(device)
      } catch {
        poison()
        throw StoreError(error, path: path)
      }
    }
    isMediumFull.store(false, ordering: .relaxed)
    state.withLock { $0.fileByteCount = target }
  }

  /// Makes what was committed durable where room is short, so that what it has freed can be used; for who
  /// is about to write.
  func makeRoom() throws(StoreError) {
    guard memory.unsyncedByteCount > 0, isShortOfRoom else { return }
    try withSlots { () throws(StoreError) in
      try ensureWritable()
      try syncNewest()
    }
  }

  /// Whether only writes that free as much as they take have room, or soon will.
  private var isShortOfRoom: Bool {
    if isMediumFull.load(ordering: .relaxed) { return true }
    let (used, fileByteCount) = state.withLock { ($0.newest.byteCount, $0.fileByteCount) }
    if let limit = options.maximumByteCount.map({ SizeLimit($0) }),
      used > limit.usableByteCount - limit.spareByteCount
    {
      return true
    }
    // Who adds leaves so much behind.
    return fileByteCount - used < options.spareByteCount
  }

  /// Writes zeros from `start` to `end`.
  func writeZeros(from start: Int, to end: Int) throws(StoreError) {
    let zeros = [UInt8](repeating: 0, count: min(1 << 20, end - start))
    var position = start
    while position < end {
      let count = min(zeros.count, end - position)
      try device.perform(path: path) { device throws(DeviceError) in
        try device.write(count == zeros.count ? zeros : Array(zeros[..<count]), at: position)
      }
      position += count
    }
  }

  /// Refuses writes from now on: after a failed sync nobody knows what the medium holds.
  func poison() {
    state.withLock { $0.isPoisoned = true }
    memory.condition = .poisoned
  }
}
