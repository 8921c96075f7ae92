import CambiumCore
import CambiumStoreKit

extension FileStore {
  // MARK: Growing

  /// Writes pages of the running write; makes the file longer first if they lie behind its end.
  ///
  /// A small commit grows the file ahead of need by zeros: a block that was never written doubles the
  /// cost of each sync. Bulk work just writes on; where the commit `expectsSync`, that is on its way to the medium
  /// before the sync.
  /// On a full medium so many bytes have to be `left` behind them.
  func writeOut(
    _ bytes: UnsafeRawBufferPointer, at offset: Int, isBulk: Bool, expectsSync: Bool = true,
    left: Int = .max
  ) throws(StoreError) {
    try writing.withLock { _ throws(StoreError) in
      let end = offset + bytes.count
      if isBulk {
        // Another process may use the file by now.
        try withOpenState { _ throws(StoreError) in }
      } else {
        try grow(for: end, left: left)
      }
      try device.perform(path: path) { device throws(DeviceError) in
        try unsafe device.write(bytes, at: offset)
      }
      state.withLock { $0.fileByteCount = max($0.fileByteCount, end) }
    }
    if isBulk, expectsSync, isLarge(bytes.count) {
      device.startWriting(byteCount: bytes.count, at: offset)
    }
  }

  /// Whether a piece of bulk work is worth a thread that writes it, and an early start on its way to the medium.
  ///
  /// Shorter ones, as pages are that fill holes, are written sooner than handed over, and the medium takes them sooner
  /// when all come at once, with the sync.
  func isLarge(_ byteCount: Int) -> Bool { byteCount >= options.gatheredByteCount / 16 }

  /// Makes the file at least `byteCount` bytes long, and longer by what is always kept behind that.
  func growAhead(to byteCount: Int, left: Int) throws(StoreError) {
    try writing.withLock { _ throws(StoreError) in try grow(for: byteCount, left: left) }
  }

  /// How many bytes are kept behind the `used` bytes of the file for writes that free as much as they take: a deletion
  /// writes a leaf anew, of 64 KiB at most, with all that leads to it.
  func spareByteCount(in used: Int) -> Int { min(options.spareByteCount, max(64 << 10, used / 8)) }

  /// Makes room for a small commit that ends at `end`, and behind it what is kept for those that free as much as they
  /// take and for what lies in memory: only such go on where the medium refuses that, as long as so much is `left`.
  private func grow(for end: Int, left: Int) throws(StoreError) {
    let fileByteCount = try withOpenState { $0.fileByteCount }
    let wanted = end + spareByteCount(in: end) + loggedByteCount(in: end)
    if wanted <= fileByteCount { return }
    do throws(StoreError) {
      try grow(from: fileByteCount, to: wanted)
    } catch {
      guard case .mediumFull = error else { throw error }
      isMediumFull.store(true, ordering: .relaxed)
      guard left <= fileByteCount, end <= fileByteCount - left else { throw error }
    }
  }

  /// How far a file of `byteCount` bytes grows ahead of need.
  func growth(ahead byteCount: Int) -> Int {
    min(max(byteCount / 32, 256 << 10), options.growthByteCount)
  }

  private func grow(from current: Int, to end: Int) throws(StoreError) {
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
    isMediumFull.store(false, ordering: .relaxed)
    state.withLock { $0.fileByteCount = target }
  }

  /// Makes what was committed durable where room is short, so that what it has freed can be used; for who
  /// is about to write.
  func makeRoom() throws(StoreError) {
    guard wantsRoom else { return }
    try withSlots { () throws(StoreError) in
      try ensureWritable()
      try syncNewest()
    }
  }

  /// Whether room is short, and a sync may make some.
  var wantsRoom: Bool {
    guard memory.unsyncedByteCount > 0 else { return false }
    let end = state.withLock { $0.newest.byteCount }
    let (used, free) = books.withLock { ($0.usedByteCount, $0.space.freeByteCount) }
    if isMediumFull.load(ordering: .relaxed) {
      if free < Self.ampleByteCount { return true }
      // There is room again without growing.
      isMediumFull.store(false, ordering: .relaxed)
    }
    guard let limit = options.maximumByteCount else { return false }
    return canHardlyGrow(end) && used > limit / 2
  }

  /// Whether a file that is used up to `end` is near its limit, or its medium full.
  func canHardlyGrow(_ end: Int) -> Bool {
    if isMediumFull.load(ordering: .relaxed) { return true }
    guard let limit = options.maximumByteCount.map({ SizeLimit($0) }) else { return false }
    return end > limit.usableByteCount - limit.spareByteCount
  }

  /// With so much free, a medium that was full is no concern.
  static let ampleByteCount = 8 << 20

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
