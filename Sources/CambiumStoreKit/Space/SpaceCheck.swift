import CambiumCore

/// Proves that what the newest version reaches, what is pending and what is free partition a store.
public enum SpaceCheck {
  /// At most so many findings are listed one by one.
  private static let findingLimit = 100

  /// Compares `space` with `reachable`, the extents of all pages of the newest version, and
  /// `owned`, those of its metadata pages.
  ///
  /// A finding per extent that is used twice, lies outside of the store or is free as well, and per
  /// block whose counts say otherwise.
  ///
  /// Throws when counts cannot be read.
  public static func findings(
    space: inout Space, reachable: [Extent], owned: [Extent]
  ) throws(StoreError) -> [String] {
    var findings: [String] = []
    let used = (reachable + owned).sorted { $0.address < $1.address }
    let (firstBlock, blockCount) = (space.blocks.firstBlock, space.blocks.blockCount)
    let inside = used.filter { extent in
      let isInside =
        extent.address >= UInt64(firstBlock * BlockMap.unitsPerBlock)
        && extent.end <= UInt64(blockCount * BlockMap.unitsPerBlock)
      if !isInside { findings.append("\(describe(extent)) is reachable and outside of the store") }
      return isInside
    }
    for (left, right) in zip(inside, inside.dropFirst()) where right.address < left.end {
      findings.append("\(describe(right)) is used twice")
    }
    let pending = space.ledger.pending.sorted { $0.address < $1.address }
    findings += overlaps(inside, pending).map { "\(describe($0)) is reachable and pending" }
    findings += try compareCounts(&space, used: inside, pending: pending)
    if findings.count > findingLimit {
      let rest = findings.count - findingLimit
      findings.removeLast(rest)
      findings.append("and \(rest) more findings")
    }
    return findings
  }

  private static func describe(_ extent: Extent) -> String {
    "the page at byte \(extent.byteOffset) (\(extent.byteCount) bytes)"
  }

  /// The extents of `left` that share units with one of `right`; both sorted by address.
  private static func overlaps(_ left: [Extent], _ right: [Extent]) -> [Extent] {
    var result: [Extent] = []
    var position = 0
    for extent in left {
      while position < right.count, right[position].end <= extent.address { position += 1 }
      if position < right.count, right[position].address < extent.end { result.append(extent) }
    }
    return result
  }

  private static func compareCounts(
    _ space: inout Space, used: [Extent], pending: [Extent]
  ) throws(StoreError) -> [String] {
    var findings: [String] = []
    var used = UnitCounts(used)
    var pending = UnitCounts(pending)
    let firstBlock = space.blocks.firstBlock
    let free = space.blocks.unreachedBlockCount
    var unreached = 0
    try space.blocks.forEachLeaf { start, heldUnits, reachable, isBoundTooLow in
      let blocks = start..<start + reachable.count
      let (usedUnits, pendingUnits) = (used.next(blocks), pending.next(blocks))
      for block in blocks where block >= firstBlock {
        let stored = reachable[block - start]
        let held = heldUnits[block - start]
        let offset = block * BlockMap.blockByteCount
        if stored == 0 { unreached += 1 }
        if stored != usedUnits[block - start] {
          let kind = stored > usedUnits[block - start] ? "lost" : "free and reachable"
          findings.append(
            "the block at byte \(offset): \(usedUnits[block - start]) units are reachable, the free "
              + "map says \(stored) (\(kind))")
        }
        // A running write may hold more.
        if held < stored + pendingUnits[block - start] {
          findings.append(
            "the block at byte \(offset): \(held) units are held, \(stored) reachable and "
              + "\(pendingUnits[block - start]) pending")
        }
      }
      if isBoundTooLow {
        findings.append(
          "the free map says that fewer blocks in a row are free behind byte "
            + "\(start * BlockMap.blockByteCount) than there are (lost)")
      }
    }
    if unreached != free {
      findings.append("\(unreached) blocks are not in use, the free map says \(free)")
    }
    return findings
  }

  /// How many units of each block some extents use, told block by block.
  private struct UnitCounts {
    /// Ascending by address.
    private let extents: [Extent]
    private var position = 0

    init(_ extents: [Extent]) { self.extents = extents }

    /// The counts of `blocks`, which lie behind those before.
    mutating func next(_ blocks: Range<Int>) -> [Int] {
      var units = [Int](repeating: 0, count: blocks.count)
      let unitsPerBlock = BlockMap.unitsPerBlock
      while position < extents.count {
        let extent = extents[position]
        var unit = max(Int(extent.address), blocks.lowerBound * unitsPerBlock)
        let end = min(Int(extent.end), blocks.upperBound * unitsPerBlock)
        while unit < end {
          let block = unit / unitsPerBlock
          let next = min(end, (block + 1) * unitsPerBlock)
          units[block - blocks.lowerBound] += next - unit
          unit = next
        }
        // The rest of it lies in blocks that come later.
        if Int(extent.end) > blocks.upperBound * unitsPerBlock { break }
        position += 1
      }
      return units
    }
  }
}
