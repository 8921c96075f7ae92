import CambiumCore

/// Removing what no version needs any more; done by the owner of the writer lock.
///
/// A block can go when the newest version has no page in it, nor has any version that somebody has pinned.
/// Who opens the store pins the version that it has read, and then looks whether the floor in the root is
/// above it. So the floor is raised first, and then those are asked who have pinned a version: whoever is
/// not among them will see the floor.
extension ClusterStore {
  /// Removes what can go; what fails is tried again the next time.
  func collect() {
    do throws(StoreError) {
      try sweep()
      try settleLog()
      try removeBlocks()
      findSparseBlocks()
    } catch {
      // The next commit of this store meets the same, and throws it.
    }
  }

  /// Whether this store is the owner and something is still there that nobody will need.
  var hasLeftovers: Bool {
    state.withLock { state in
      guard let ownership = state.ownership, !state.isClosed else { return false }
      return ownership.needsSweep
        || ownership.table.lastEmptied(before: collectableEnd(state)) != nil
    }
  }

  /// Blocks from this one on are still to be written: the log carries their pages.
  private func collectableEnd(_ state: ClusterState) -> UInt64 {
    layout.block(of: min(state.header.nextAddress, state.copiedEnd))
  }

  /// Writes the pages that the log carries into their blocks when more lies in blocks that could go then: commits with many
  /// pages give up much before the log has become long.
  private func settleLog() throws(StoreError) {
    let end = state.withLock { state -> UInt64? in
      let next = state.header.nextAddress
      let waiting = collectableEnd(state)..<layout.block(of: next)
      guard let count = state.ownership?.table.emptyBlockCount(in: waiting) else { return nil }
      let blockByteCount = Int(layout.unitCount) * Extent.unitByteCount
      return count * blockByteCount > options.logByteCount ? next : nil
    }
    if let end { try copyLog(through: end) }
  }

  private func removeBlocks() throws(StoreError) {
    let (header, table, number, end) = state.withLock {
      ($0.header, $0.ownership?.table, $0.ownership?.number, collectableEnd($0))
    }
    guard let table, let last = table.lastEmptied(before: end) else { return }
    if header.floor < last, try !raiseFloor(to: last) { return }
    guard let oldest = try oldestPinned() else { return }
    let limit = min(last, oldest)
    let blocks = table.emptyBlocks(before: end, neededFrom: limit)
    if blocks.isEmpty { return }
    // A removal that is late does no harm: no block gets a name again.
    _ = try client.ask(blocks.map { .remove(name: names.block($0)) }, "remove pages of")
    state.withLock { state in
      if state.ownership?.number == number { state.ownership?.table.remove(blocks) }
    }
  }

  /// Lets nobody pin a version before `floor` from now on; false when this is not the owner any more.
  private func raiseFloor(to floor: Version) throws(StoreError) -> Bool {
    beginSwap()
    defer { endSwap() }
    let (old, isOwner) = state.withLock { ($0.header, $0.ownership != nil) }
    guard isOwner else { return false }
    if old.floor >= floor { return true }
    var header = old
    header.floor = floor
    header.token.generation += 1
    try swapHeader(to: header)
    return true
  }

  /// The oldest version that anybody has pinned; nil when one of them cannot be understood.
  ///
  /// What this store has told the others is old; it knows better itself.
  private func oldestPinned() throws(StoreError) -> Version? {
    let holders = try client.names(.holders(name: ObjectNames.pins), "read the pins of")
    var oldest = state.withLock { $0.oldestNeeded }
    for holder in holders where PinLease.name(holder) != lease.name {
      guard let version = PinLease.version(holder) else { return nil }
      oldest = min(oldest, version)
    }
    return oldest
  }

  /// Removes what an owner has left that did not give the writer lock back: objects that nothing leads to.
  private func sweep() throws(StoreError) {
    guard let ownership = state.withLock({ $0.ownership }), ownership.needsSweep else { return }
    let found = try client.names(.list, "list the objects of")
    let header = state.withLock { $0.header }
    let end = layout.block(of: ownership.firstAddress)
    let lost = found.filter { name in
      if let block = names.blockNumber(name) {
        return block < end && ownership.table.entries[block] == nil
      }
      guard let record = names.spaceRecord(name) else { return false }
      return record.epoch < header.token.epoch && !header.spaceRecords.contains(record)
    }
    _ = try client.ask(lost.map { .remove(name: $0) }, "remove objects of")
    state.withLock { $0.ownership?.needsSweep = false }
  }

  // MARK: Blocks of which little is needed

  /// The blocks whose pages should move, so that they can go; nil while most of what there is is needed, or
  /// little was written since the last time: one commit moves pages for many small ones.
  func relocation() -> Relocation? {
    if isForked { return nil }
    return state.withLock { state in
      guard let ownership = state.ownership, isMoveDue(ownership) else { return nil }
      let oldest = state.ledger.pinnedVersions.first ?? 0
      return Relocation(
        ranges: ownership.sparse, seenUpTo: oldest < state.newest.version ? oldest : 0)
    }
  }

  /// Notes that a commit has written so many bytes, or was asked to move pages.
  func noteWritten(_ byteCount: Int, wasMove: Bool, _ state: inout ClusterState) {
    guard let before = state.ownership?.writtenByteCount else { return }
    state.ownership?.writtenByteCount = wasMove ? 0 : before + byteCount
  }

  private func isMoveDue(_ ownership: Ownership) -> Bool {
    !ownership.sparse.isEmpty
      && ownership.writtenByteCount >= min(Self.writtenPerMove, options.blockByteCount / 4)
  }

  private func findSparseBlocks() {
    state.withLock { state in
      guard let table = state.ownership?.table else { return }
      let allUnits = UInt64(table.entries.count) * layout.unitCount
      let isWanted =
        table.entries.count >= Self.leastBlockCount && table.liveUnitCount < allUnits / 2
      let end = layout.block(of: state.header.nextAddress)
      state.ownership?.sparse =
        !isWanted
        ? []
        : table.sparseBlocks(before: end, of: layout).map {
          $0 * layout.unitCount..<($0 + 1) * layout.unitCount
        }
    }
  }

  /// About as much as a commit moves.
  private static let writtenPerMove = 128 << 10
  /// Stores of fewer blocks are not worth the work.
  private static let leastBlockCount = 4
}
