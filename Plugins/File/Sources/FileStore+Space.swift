import CambiumCore

extension FileStore {
  // MARK: Growing

  /// Writes pages of the running write; makes the file longer first if they lie behind its end.
  ///
  /// A small commit grows the file ahead of need by zeros: a block that was never written doubles the
  /// cost of each sync. Bulk work just writes on. `expectsSync` says that the commit is to be durable: then
  /// those zeros are synced first, and what bulk work writes is on its way to the medium before the sync.
  func writeOut(
    _ bytes: UnsafeRawBufferPointer, at offset: Int, isBulk: Bool, expectsSync: Bool = true
  ) throws(StoreError) {
    try writing.withLock { _ throws(StoreError) in
      let end = offset + bytes.count
      let fileByteCount = try state.withLock { state throws(StoreError) in
        // Another process may use the file by now.
        try ensureOpen(state)
        return state.fileByteCount
      }
      if end > fileByteCount, !isBulk {
        try grow(from: fileByteCount, to: end, isSynced: expectsSync)
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
    let needed = (end + block - 1) / block * block
    var target = max(needed, (current + ahead) / block * block)
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
    state.withLock { $0.fileByteCount = target }
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
