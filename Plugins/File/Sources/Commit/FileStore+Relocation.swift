import CambiumCore
import CambiumStoreKit

/// Giving space back to the system while the file is in use: its end is emptied by moving live pages
/// down, and cut off.
extension FileStore {
  /// Pins that are so many versions old count as lasting.
  private static let lastingPinAge: Version = 256

  /// Decides whether the write that begins is to move pages, and which; everything it writes goes
  /// before them as long as there is room.
  ///
  /// It begins when more than a quarter of what is used could be given back, or anything where the options say so, and
  /// goes on until little more is free than commits need to find room.
  func relocate(_ books: inout FileBooks, newest: Version) -> Relocation? {
    let total = books.space.blocks.blockCount
    let used = total - books.space.blocks.freeBlockCount
    let least = options.leastRelocatedByteCount / FileLayout.blockByteCount
    let end = used + used / 16 + least / 4
    // What relaxed commits replace is free only when a sync has followed: as much is written beside it.
    let unsynced =
      memory.unsyncedByteCount > 0 ? options.relaxedLimitByteCount / FileLayout.blockByteCount : 0
    books.isRelocating =
      total - end > least + unsynced + (books.isRelocating || options.movesEagerly ? 0 : used / 4)
      && books.space.blocks.allocationFloor == sector.firstBlock
    books.space.blocks.allocationCeiling = books.isRelocating ? end : nil
    guard books.isRelocating else { return nil }
    let lasting = books.held.filter { newest - min(newest, $0.lowerBound) >= Self.lastingPinAge }
    return Relocation(
      address: UInt64(end * BlockMap.unitsPerBlock),
      seenUpTo: lasting.map { min($0.upperBound, newest) }.max() ?? 0)
  }

  /// Whether a small commit, which makes `version`, stores its pages so that some are moved: one in 128, or the first in
  /// a second.
  ///
  /// It takes ten times as long as others: less than one in a hundred do where many follow one another.
  func isTimeToMove(_ version: Version) -> Bool {
    books.withLock { books in
      let now = background.now
      if let last = books.lastMove, now - last < 1_000_000_000, version % 128 > 0 { return false }
      books.lastMove = now
      return true
    }
  }

  // MARK: Cutting

  private static let versionsBetweenCuts: Version = 32

  /// Cuts off what is free at the end of the file, if that is much; for the holder of the writer lock.
  ///
  /// Should the file be opened from either slot, it must be as long as the head there says: nothing is
  /// cut before heads that say less have taken their places. Where a sync is running, a later commit
  /// cuts: none waits for that. An error changes nothing.
  func cutFreeTail() {
    let isDue = books.withLock { books in
      state.withLock { state in
        guard !state.isClosed, !state.isPoisoned, state.newest.head.version >= books.nextCut,
          cutTarget(&books, state) != nil
        else { return false }
        // Who cannot cut now need not try with each commit.
        books.nextCut = state.newest.head.version + Self.versionsBetweenCuts
        return true
      }
    }
    guard isDue else { return }
    _ = try? withSlotsIfFree { () throws(StoreError) in
      // After a failed sync a head may be on the medium whose version was longer.
      guard memory.condition == .clean else { return }
      try writing.withLock { _ throws(StoreError) in
        let target = try books.withLock { books throws(StoreError) in
          try state.withLock { state throws(StoreError) -> Int? in
            try ensureOpen(state)
            return cutTarget(&books, state)
          }
        }
        guard let target else { return }
        try device.perform(path: path) { device throws(DeviceError) in
          try device.truncate(to: target)
        }
        state.withLock { $0.fileByteCount = target }
      }
    }
  }

  /// To which length the file should be cut; nil when it is right as it is.
  private func cutTarget(_ books: inout FileBooks, _ state: borrowing FileState) -> Int? {
    guard let used = neededByteCount(&books, state) else { return nil }
    let slack = options.largestSlackByteCount
    // Small commits that stay in memory have their room there.
    let kept = loggedByteCount(in: used)
    guard state.fileByteCount - used > max(2 * slack, used / 8) + kept else { return nil }
    return used + (max(slack / 2, growth(ahead: used)) + kept) / FileLayout.blockByteCount
      * FileLayout.blockByteCount
  }

  /// Up to where the file is needed by any version that is held, and by any head from which it may be
  /// opened; nil while that is not known.
  private func neededByteCount(
    _ books: inout FileBooks, _ state: borrowing FileState
  ) -> Int? {
    let newest = state.newest
    guard books.version == newest.head.version else { return nil }
    var blockCount = max(newest.blockCount, books.space.blocks.usedBlockCount())
    for slot in state.slots { blockCount = max(blockCount, slot?.blockCount ?? 0) }
    // Readers look at a few bytes behind a page at once.
    return (blockCount + 1) * FileLayout.blockByteCount
  }
}
