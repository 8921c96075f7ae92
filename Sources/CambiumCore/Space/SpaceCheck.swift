/// Proves that what the newest version reaches, what is pending and what is free partition a store.
package enum SpaceCheck {
  /// At most so many findings are listed one by one.
  private static let findingLimit = 100

  /// Compares `space` with `reachable`, the extents of all pages of the newest version, and
  /// `owned`, those of the store's own pages.
  ///
  /// A finding per extent that is used twice, lies outside of the store or is free as well, and per
  /// block whose counts say otherwise.
  package static func findings(
    space: Space, reachable: [Extent], owned: [Extent]
  ) -> [String] {
    var findings: [String] = []
    let used = (reachable + owned).sorted { $0.address < $1.address }
    let inside = used.filter { extent in
      let isInside = space.blocks.contains(extent)
      if !isInside { findings.append("\(describe(extent)) is reachable and outside of the store") }
      return isInside
    }
    for (left, right) in zip(inside, inside.dropFirst()) where right.address < left.end {
      findings.append("\(describe(right)) is used twice")
    }
    let pending = space.ledger.pending.sorted { $0.address < $1.address }
    findings += overlaps(inside, pending).map { "\(describe($0)) is reachable and pending" }
    findings += compareCounts(space, used: inside, pending: pending)
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
    _ space: Space, used: [Extent], pending: [Extent]
  ) -> [String] {
    var findings: [String] = []
    let usedUnits = unitsPerBlock(used, space)
    let pendingUnits = unitsPerBlock(pending, space)
    for block in space.blocks.firstBlock..<space.blocks.blockCount {
      let stored = space.blocks.reachableUnits(ofBlock: block)
      let held = space.blocks.heldUnits(ofBlock: block)
      let offset = block * BlockMap.blockByteCount
      if stored != usedUnits[block] {
        let kind = stored > usedUnits[block] ? "lost" : "free and reachable"
        findings.append(
          "the block at byte \(offset): \(usedUnits[block]) units are reachable, the free map says "
            + "\(stored) (\(kind))")
      }
      // A running write may hold more.
      if held < stored + pendingUnits[block] {
        findings.append(
          "the block at byte \(offset): \(held) units are held, \(stored) reachable and "
            + "\(pendingUnits[block]) pending")
      }
    }
    return findings
  }

  private static func unitsPerBlock(_ extents: [Extent], _ space: Space) -> [Int] {
    var units = [Int](repeating: 0, count: space.blocks.blockCount)
    for extent in extents {
      var unit = Int(extent.address)
      while unit < Int(extent.end) {
        let block = unit / BlockMap.unitsPerBlock
        let next = min(Int(extent.end), (block + 1) * BlockMap.unitsPerBlock)
        units[block] += next - unit
        unit = next
      }
    }
    return units
  }
}
