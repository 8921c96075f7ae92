import CambiumCore

/// What a running write has taken and given back, of which a store makes the next version, or nothing.
public struct WriteLedger: Sendable {
  /// The pages that it has room for.
  public private(set) var allocations = AllocationLog()
  /// The pages of earlier versions that it has freed.
  public private(set) var freed: [VersionLedger.Dead] = []
  /// How many units the pages of earlier versions have that it has freed.
  public private(set) var freedUnitCount: UInt64 = 0

  /// The ledger of a write that has done nothing yet.
  public init() { freed.reserveCapacity(8) }

  /// Notes a page for which there is room now.
  public mutating func take(_ extent: Extent) { allocations.append(extent) }

  /// Notes what was written; see ``AllocationLog/noteWritten(_:to:checksum:)``.
  public mutating func noteWritten(_ byteCount: Int, to extent: Extent, checksum: UInt64 = 0) {
    allocations.noteWritten(byteCount, to: extent, checksum: checksum)
  }

  /// Gives up room that was taken and is not needed; false when it was not taken.
  public mutating func giveUp(_ extent: Extent) -> Bool { allocations.remove(extent) }

  /// Frees a stored page for a write that makes `version`; true for one that it has written itself, whose
  /// room the store takes back at once.
  public mutating func free(_ reference: PageReference, version: Version) -> Bool {
    precondition(!reference.isNone && !reference.isDirty, "Only stored pages can be freed.")
    if reference.born == version, allocations.remove(reference.extent) { return true }
    if reference.born != version { freedUnitCount += reference.unitCount }
    freed.append(VersionLedger.Dead(extent: reference.extent, born: reference.born))
    return false
  }

  /// Frees a page of the store's own, or one of this write that a version may have seen.
  public mutating func free(_ dead: VersionLedger.Dead) { freed.append(dead) }

  /// Whether the write frees as much of earlier versions as it takes when it takes `unitCount` more, of
  /// which `spared` do not count: it may use what is kept for such, of a limited store and of a full medium.
  public func isShrinking(adding unitCount: UInt64 = 0, spared: UInt64 = 0) -> Bool {
    freedUnitCount + spared >= allocations.unitCount + unitCount
  }
}
