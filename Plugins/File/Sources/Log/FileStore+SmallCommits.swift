import CambiumCore

/// What small commits have left of themselves in a file and in memory, for people and tools.
public struct SmallCommitStatistics: Hashable, Sendable {
  /// A place in the file in which small durable commits leave what they change.
  public struct Log: Hashable, Sendable {
    /// Where it begins.
    public var byteOffset: Int
    /// How long it is.
    public var byteCount: Int
    /// How much of it is used.
    public var usedByteCount: Int
    /// The versions that are durable by it; nil for none.
    public var versions: ClosedRange<Version>?
  }

  /// The versions whose newest pages lie in memory; nil for none.
  public var versionsInMemory: ClosedRange<Version>?
  /// How many bytes these pages take once they are stored, at most.
  public var pageByteCount: Int
  /// The log in the file; nil where there is none.
  public var log: Log?
}

extension FileStore {
  /// What small commits have left in memory and in the log of the file.
  ///
  /// May be called from any thread; reads the log. Throws what reading does, and `StoreError.closed(path:)`.
  public func smallCommitStatistics() throws(StoreError) -> SmallCommitStatistics {
    let (newest, head) = try withOpenState { state throws(StoreError) in
      try followLiveHead(&state)
      return (state.newest, state.newestHead)
    }
    let version = newest.head.version
    var statistics = SmallCommitStatistics(
      versionsInMemory: head.version > version ? version + 1...head.version : nil,
      pageByteCount: head.residence?.byteCount ?? 0)
    guard sector.hasLog, let extent = newest.log else { return statistics }
    let blocks = StoredLog(extent).blocks
    let tail = try StoredLog.tail(following: newest, identity: sector, device: device, path: path)
    let block = FileLayout.blockByteCount
    statistics.log = SmallCommitStatistics.Log(
      byteOffset: blocks.lowerBound * block, byteCount: blocks.count * block,
      usedByteCount: tail.blockCount * block,
      versions: tail.version > version ? version + 1...tail.version : nil)
    return statistics
  }
}
