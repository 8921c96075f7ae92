/// Sizes in bytes, and pins.
public struct StoreStatistics: Hashable, Sendable {
  /// All the store occupies.
  public var totalByteCount: Int
  /// Free for the next write.
  public var freeByteCount: Int
  /// Freed, but seen by a held version.
  public var pendingByteCount: Int
  /// The newest version.
  public var newestVersion: Version
  /// The newest version known to be durable.
  public var durableVersion: Version
  /// The versions that something pins, oldest first.
  public var pinnedVersions: [Version]
  /// What each pinned version sees and no other pinned version, nor the durable or the newest one.
  ///
  /// So much becomes free when its last pin ends. For a version that is missing the store does not
  /// know.
  public var exclusiveByteCounts: [Version: Int]

  /// What a store counted at one moment; sizes are in bytes.
  public init(
    totalByteCount: Int, freeByteCount: Int, pendingByteCount: Int, newestVersion: Version,
    durableVersion: Version, pinnedVersions: [Version], exclusiveByteCounts: [Version: Int] = [:]
  ) {
    self.totalByteCount = totalByteCount
    self.freeByteCount = freeByteCount
    self.pendingByteCount = pendingByteCount
    self.newestVersion = newestVersion
    self.durableVersion = durableVersion
    self.pinnedVersions = pinnedVersions
    self.exclusiveByteCounts = exclusiveByteCounts
  }

  /// About how much the newest version reaches: all that is neither free nor waits to be.
  ///
  /// The store's own records are in it, and what only the last durable version sees.
  package var occupiedByteCount: Int {
    max(0, totalByteCount - freeByteCount - pendingByteCount)
  }
}
