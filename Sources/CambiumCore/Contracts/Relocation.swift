/// The parts of a store that are to be given back to whoever lends it room: live pages there should move.
public struct Relocation: Hashable, Sendable {
  /// Pages that reach into one of these ranges of addresses should move, in units; ascending.
  public var ranges: [Range<UInt64>]
  /// Pages born in this version or before should stay: a version that has been pinned for long sees
  /// them, so that moving them would free nothing.
  public var seenUpTo: Version

  /// Asks for pages in `ranges`, which ascend and do not overlap, that were born after `seenUpTo`.
  public init(ranges: [Range<UInt64>], seenUpTo: Version) {
    self.ranges = ranges
    self.seenUpTo = seenUpTo
  }

  /// Asks for pages behind `address`, the end of a store, that were born after `seenUpTo`.
  public init(address: UInt64, seenUpTo: Version) {
    self.init(ranges: [address..<UInt64.max], seenUpTo: seenUpTo)
  }

  /// Whether a page at `extent` should move.
  public func contains(_ extent: Extent) -> Bool {
    // The first range that does not end before the extent.
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound <= extent.address { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].lowerBound < extent.end
  }
}
