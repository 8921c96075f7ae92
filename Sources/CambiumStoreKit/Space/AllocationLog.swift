import CambiumCore

/// What a running write has allocated and not taken back, in the order of allocation.
///
/// The store undoes it at rollback and writes it into the commit's record.
public struct AllocationLog: Sendable {
  /// One allocated extent and the checksum of what was written to it.
  public struct Entry: Sendable, BitwiseCopyable {
    /// Where it lies; no units once it was taken back.
    public var extent: Extent
    /// XXH64 of its bytes, set when it is written.
    public var checksum: UInt64
  }

  private var entries: [Entry] = []
  /// Positions by address, made when a lookup misses the expected place for the first time.
  private var positions: [UInt64: Int] = [:]
  private var hasPositions = false
  /// Writes follow allocations in the same order almost always.
  private var expected = 0
  /// How many extents are allocated and not taken back.
  public private(set) var count = 0
  /// Their units.
  public private(set) var unitCount: UInt64 = 0

  /// The log of a write that has allocated nothing.
  public init() { entries.reserveCapacity(8) }

  /// The allocated extents, in the order of allocation.
  public var live: [Entry] {
    count == entries.count ? entries : entries.filter { $0.extent.unitCount > 0 }
  }

  /// How many blocks the allocated extents touch; one that was left and come back to counts again.
  public var blockCount: Int {
    let unitsPerBlock = UInt64(BlockMap.unitsPerBlock)
    var count: UInt64 = 0
    var last = UInt64.max
    for entry in entries where entry.extent.unitCount > 0 {
      let first = entry.extent.address / unitsPerBlock
      let end = (entry.extent.end - 1) / unitsPerBlock
      count += end - first + (first == last ? 0 : 1)
      last = end
    }
    return Int(count)
  }

  /// Notes a new extent.
  public mutating func append(_ extent: Extent) {
    if hasPositions { positions[extent.address] = entries.count }
    entries.append(Entry(extent: extent, checksum: 0))
    count += 1
    unitCount += extent.unitCount
  }

  private mutating func position(of extent: Extent) -> Int? {
    if expected < entries.count, entries[expected].extent == extent { return expected }
    if let last = entries.last, last.extent == extent { return entries.count - 1 }
    if !hasPositions {
      hasPositions = true
      for (index, entry) in entries.enumerated() where entry.extent.unitCount > 0 {
        positions[entry.extent.address] = index
      }
    }
    guard let position = positions[extent.address], entries[position].extent == extent else {
      return nil
    }
    return position
  }

  /// Notes that `byteCount` bytes were written to `extent`; stops when they do not fill it, or it is
  /// not allocated.
  public mutating func noteWritten(
    _ byteCount: Int, to extent: Extent, checksum: UInt64 = 0
  ) {
    precondition(byteCount == extent.byteCount, "A write fills its extent.")
    guard let position = position(of: extent) else {
      preconditionFailure("Only allocated room may be written.")
    }
    entries[position].checksum = checksum
    expected = position + 1
  }

  /// Takes `extent` back; false when it is not allocated.
  public mutating func remove(_ extent: Extent) -> Bool {
    guard let position = position(of: extent) else { return false }
    if hasPositions { positions[extent.address] = nil }
    entries[position].extent.unitCount = 0
    count -= 1
    unitCount -= extent.unitCount
    return true
  }
}
