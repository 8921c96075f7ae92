import CambiumCore

/// The space of a store: which blocks are free, and what waits for which version.
///
/// A store keeps one behind its lock and drives it through the life of a write:
/// ``reserve(byteCount:grow:)`` and ``allocate(byteCount:grow:)`` while pages are written, then
/// ``publish(version:previous:freed:)`` or ``rollBack(_:)``. Between transactions every unit below the high-water mark is reachable from the newest version, free, or pending: exactly
/// one (S1).
public struct Space: ~Copyable, Sendable {
  /// The counts per block.
  package var blocks: BlockMap
  /// The held versions and the dead lists.
  public var ledger: VersionLedger
  /// Where the running write allocates next, in units; the run's end.
  private var next: UInt64 = 0
  private var runEnd: UInt64 = 0
  /// What the running write still expects to allocate, and how much it has taken so far.
  private var reservedByteCount = 0
  private var takenByteCount = 0

  /// An empty store whose first `firstBlock` blocks are its own.
  public init(firstBlock: Int) { self.init(BlockMap(firstBlock: firstBlock)) }

  /// A store in which `blocks` are in use, and no version is held.
  package init(_ blocks: consuming BlockMap) {
    self.blocks = blocks
    ledger = VersionLedger()
  }

  /// A copy between two writes that shares nothing with this one.
  public borrowing func copy() -> Space {
    var copy = Space(blocks.copy())
    copy.ledger = ledger
    return copy
  }

  /// How many bytes lie below the high-water mark.
  public var totalByteCount: Int { blocks.blockCount * BlockMap.blockByteCount }
  /// How many bytes the next write can use without growing.
  public var freeByteCount: Int { blocks.freeBlockCount * BlockMap.blockByteCount }
  /// How many bytes wait for held versions.
  public var pendingByteCount: Int { Int(ledger.pendingUnitCount) * Extent.unitByteCount }

  // MARK: A running write

  /// How many bytes are left in the current run.
  var remainingByteCount: Int { Int(runEnd - next) * Extent.unitByteCount }

  /// One past the last unit given out in the current run.
  package var allocationEnd: UInt64 { next }

  /// Called before the high-water mark rises to that many blocks; if it throws, nothing has changed.
  public typealias Grow = (_ blockCount: Int) throws(StoreError) -> Void

  /// No run is longer, so that bulk work fits into holes.
  private static let largestRunByteCount = 4 << 20
  /// The shortest run taken without a reservation.
  private static let smallestRunByteCount = 16 << 10
  /// How much larger than a gap the page behind it is.
  private static let pageUnitsPerGapUnit: UInt64 = 8
  /// The shortest run taken for a reservation while much is free in small holes.
  private static let smallestPieceByteCount = 4 << 10

  /// Says that about `byteCount` bytes are allocated next: they come from one run if they fit one.
  public mutating func reserve(byteCount: Int, grow: Grow) throws(StoreError) {
    reservedByteCount = max(0, byteCount)
    if reservedByteCount > remainingByteCount, reservedByteCount > 0 {
      let least = blocks.isSparse ? Self.smallestPieceByteCount : Self.smallestRunByteCount
      try takeRun(minimumByteCount: min(byteCount, least), grow: grow)
    }
  }

  /// The first block of which the current run has used nothing.
  private var nextBlock: Int {
    Int((next + UInt64(BlockMap.unitsPerBlock) - 1) / UInt64(BlockMap.unitsPerBlock))
  }

  /// Gives out room for `byteCount` bytes, in the current run if it suffices.
  public mutating func allocate(byteCount: Int, grow: Grow) throws(StoreError) -> Extent {
    let unitCount = Extent.unitCount(forByteCount: byteCount)
    if runEnd - next < unitCount { try takeRun(minimumByteCount: byteCount, grow: grow) }
    skipGap(before: unitCount)
    let extent = Extent(address: next, unitCount: unitCount)
    next += unitCount
    reservedByteCount -= extent.byteCount
    blocks.hold(extent)
    return extent
  }

  /// Begins a page at the next block when it would otherwise touch one block more than it has to,
  /// and the gap is small beside it: a page frees the blocks that it has for itself.
  private mutating func skipGap(before unitCount: UInt64) {
    let unitsPerBlock = UInt64(BlockMap.unitsPerBlock)
    let used = next % unitsPerBlock
    let gap = unitsPerBlock - used
    let (touched, least) = (used + unitCount - 1, unitCount - 1)
    guard used > 0, gap * Self.pageUnitsPerGapUnit <= unitCount,
      touched / unitsPerBlock > least / unitsPerBlock, runEnd - next >= gap + unitCount
    else { return }
    next += gap
    reservedByteCount -= Int(gap) * Extent.unitByteCount
  }

  private mutating func takeRun(minimumByteCount: Int, grow: Grow) throws(StoreError) {
    // Without a word about what comes, a write that has taken much will take more.
    let expected = reservedByteCount > 0 ? reservedByteCount : takenByteCount
    let least = reservedByteCount > 0 ? 0 : Self.smallestRunByteCount
    let wantedByteCount = min(max(expected, least), Self.largestRunByteCount)
    let minimum = max(1, Self.blockCount(minimumByteCount))
    // Where long runs are to be kept, each page takes one of its own length.
    let wanted = blocks.keepsRuns ? minimum : max(minimum, Self.blockCount(wantedByteCount))
    endRun()
    let run: Range<Int>
    if let found = try blocks.findRun(minimum: minimum, wanted: wanted) {
      run = found
    } else {
      run = try runAtEnd(minimum: minimum, wanted: wanted, grow: grow)
    }
    try blocks.load(blocks: run)
    next = UInt64(run.lowerBound * BlockMap.unitsPerBlock)
    runEnd = UInt64(run.upperBound * BlockMap.unitsPerBlock)
    takenByteCount += run.count * BlockMap.blockByteCount
  }

  /// Takes `wanted` blocks at the end, or `minimum` where the store may not grow by so many.
  private mutating func runAtEnd(
    minimum: Int, wanted: Int, grow: Grow
  ) throws(StoreError) -> Range<Int> {
    var run = try blocks.tailRun(count: wanted)
    if run.upperBound > blocks.blockCount {
      do throws(StoreError) { try grow(run.upperBound) } catch {
        run = try blocks.tailRun(count: minimum)
        guard minimum < wanted else { throw error }
        if run.upperBound > blocks.blockCount { try grow(run.upperBound) }
      }
      blocks.extend(toBlockCount: run.upperBound)
    }
    return run
  }

  private static func blockCount(_ byteCount: Int) -> Int {
    (byteCount + BlockMap.blockByteCount - 1) / BlockMap.blockByteCount
  }

  /// Takes back room that this write allocated.
  public mutating func takeBack(_ extent: Extent) { blocks.letGo(extent) }

  /// Ends the current run.
  ///
  /// Its unused blocks are free again; the next search starts there.
  mutating func endRun() {
    if runEnd > 0 { blocks.moveCursor(to: nextBlock) }
    next = 0
    runEnd = 0
  }

  /// Ends the running write's claims on what comes next.
  private mutating func endWrite() {
    endRun()
    reservedByteCount = 0
    takenByteCount = 0
    blocks.trimTail()
  }

  /// Drops all that a write allocated.
  public mutating func rollBack(_ allocations: AllocationLog) {
    for entry in allocations.live { blocks.letGo(entry.extent) }
    endWrite()
  }

  /// Moves the counts of the newest version on by one write, which makes `version`; the index of the first
  /// extent that cannot be freed (it is not in use, or twice in the list) if there is one, and then nothing
  /// has changed.
  ///
  /// Throws, and changes nothing, when counts cannot be read.
  public mutating func applyReachable(
    _ allocations: AllocationLog, freed: [VersionLedger.Dead], version: Version
  ) throws(StoreError) -> Int? {
    if let twice = Self.firstOverlap(freed) { return twice }
    for (index, dead) in freed.enumerated() {
      guard blocks.contains(dead.extent) else { return index }
      try blocks.load(dead.extent)
    }
    for (index, dead) in freed.enumerated() where !blocks.removeReachable(dead.extent, version) {
      for undone in freed[..<index] { _ = blocks.addReachable(undone.extent, version) }
      return index
    }
    for entry in allocations.live {
      let isAdded = blocks.addReachable(entry.extent, version)
      precondition(isAdded, "S1: an extent was given out twice.")
    }
    return nil
  }

  /// The index of an extent that shares units with another one.
  private static func firstOverlap(_ freed: [VersionLedger.Dead]) -> Int? {
    if freed.count <= 16 {
      for (left, dead) in freed.enumerated() {
        for right in freed.indices.dropFirst(left + 1)
        where dead.extent.address < freed[right].extent.end
          && freed[right].extent.address < dead.extent.end
        {
          return right
        }
      }
      return nil
    }
    let order = freed.indices.sorted { freed[$0].extent.address < freed[$1].extent.address }
    for (left, right) in zip(order, order.dropFirst())
    where freed[right].extent.address < freed[left].extent.end { return right }
    return nil
  }

  /// Takes ``applyReachable(_:freed:version:)`` back, when the commit failed after it.
  public mutating func unapplyReachable(
    _ allocations: AllocationLog, freed: [VersionLedger.Dead], version: Version
  ) {
    for entry in allocations.live { _ = blocks.removeReachable(entry.extent, version) }
    for dead in freed { _ = blocks.addReachable(dead.extent, version) }
  }

  /// Makes `version` the newest, held one in place of `previous`, and files what it freed.
  ///
  /// What is said to be born in `version` itself are metadata pages, the store's own, which no version sees.
  public mutating func publish(
    version: Version, previous: Version, freed: [VersionLedger.Dead]
  ) {
    ledger.hold(version, .store)
    for dead in freed {
      if dead.born == version {
        ledger.takeMetadata(dead.extent, freed: version)
      } else if !ledger.take(dead, freed: version) {
        blocks.letGo(dead.extent)
      }
    }
    release(previous, .store)
    endWrite()
  }

  /// Ends the pins of all versions that `isPinned` denies; see ``VersionLedger/keepPins(where:free:)``.
  public mutating func keepPins(where isPinned: (Range<Version>) -> Bool) {
    ledger.keepPins(where: isPinned) { blocks.letGo($0) }
  }

  /// Frees the metadata pages that were given up by versions up to `durable`.
  public mutating func releaseMetadata(upTo durable: Version) {
    ledger.releaseMetadata(upTo: durable) { blocks.letGo($0) }
  }

  /// Ends one hold of `version` and frees what nobody sees any more.
  public mutating func release(_ version: Version, _ reason: VersionLedger.Reason) {
    ledger.release(version, reason) { blocks.letGo($0) }
  }
}
