import CambiumCore

/// The versions that something still needs, and what was freed while they needed it.
///
/// An extent that was alive for the versions in [born, freed) can be used again as soon as no held
/// version lies in that range. Bookkeeping as in the dead lists of ZFS: a freed extent waits in the
/// bucket of the newest held version that sees it, or is free at once. When a version is let go,
/// only its bucket is looked at: each extent moves on to the next older held version that sees it,
/// or becomes free.
///
/// Only the newest version can begin to be held, so an extent in a bucket is never seen by a version
/// that comes later. Not synchronized: the store guards it with its own lock.
public struct VersionLedger: Sendable {
  /// A freed extent that some held version still sees.
  public struct Dead: Hashable, Sendable, BitwiseCopyable {
    /// Where it lies.
    public var extent: Extent
    /// The version that wrote it.
    public var born: Version

    /// The page at `extent`, which `born` wrote.
    public init(extent: Extent, born: Version) {
      self.extent = extent
      self.born = born
    }
  }

  /// Why a version is held.
  public enum Reason: Sendable {
    /// A reader, or the base of the running write.
    case pin
    /// The newest, the last durable one, or the one being synced.
    case store
  }

  private struct Held: Sendable {
    var version: Version
    var pinCount = 0
    var storeCount = 0
    var bucket: [Dead] = []
  }

  /// Ascending by version; few.
  private var held: [Held] = []
  /// The memory of a bucket that was let go, for the next one.
  private var spareBucket: [Dead] = []
  private static let largestSpareCount = 1024
  /// The metadata pages that wait for a version to become durable, in the order of versions.
  private var metadata: [(extent: Extent, freed: Version)] = []
  /// The units of all extents that wait.
  public private(set) var pendingUnitCount: UInt64 = 0

  /// A ledger in which no version is held.
  public init() {}

  /// The versions that readers and the running write pin, oldest first.
  public var pinnedVersions: [Version] { held.filter { $0.pinCount > 0 }.map(\.version) }

  /// All extents that wait, in no order.
  public var pending: [Extent] { held.flatMap { $0.bucket.map(\.extent) } + metadata.map(\.extent) }

  /// What each pinned version sees and no other held version does, in bytes.
  public var exclusiveByteCounts: [Version: Int] {
    var counts: [Version: Int] = [:]
    for index in held.indices where held[index].pinCount > 0 {
      counts[held[index].version] = held[index].bucket.reduce(0) { sum, dead in
        let isSeenBefore = index > 0 && dead.born <= held[index - 1].version
        return isSeenBefore ? sum : sum + dead.extent.byteCount
      }
    }
    return counts
  }

  /// Whether something holds `version`.
  public func isHeld(_ version: Version) -> Bool { held.contains { $0.version == version } }

  /// Holds `version`, which is held already or newer than every held one.
  public mutating func hold(_ version: Version, _ reason: Reason) {
    let index: Int
    if let last = held.last, last.version >= version {
      guard let found = held.lastIndex(where: { $0.version == version }) else {
        preconditionFailure("S2: version \(version) is gone; only the newest one can be held.")
      }
      index = found
    } else {
      held.append(Held(version: version, bucket: spareBucket))
      spareBucket = []
      index = held.count - 1
    }
    switch reason {
    case .pin: held[index].pinCount += 1
    case .store: held[index].storeCount += 1
    }
  }

  /// Ends one hold.
  ///
  /// Calls `free` with each extent that no held version sees any more.
  public mutating func release(
    _ version: Version, _ reason: Reason, free: (Extent) -> Void
  ) {
    guard let index = held.lastIndex(where: { $0.version == version }) else {
      preconditionFailure("S2: version \(version) was let go twice.")
    }
    switch reason {
    case .pin:
      precondition(held[index].pinCount > 0, "S2: a pin of version \(version) ended twice.")
      held[index].pinCount -= 1
    case .store:
      precondition(held[index].storeCount > 0, "S2: version \(version) was let go twice.")
      held[index].storeCount -= 1
    }
    guard held[index].pinCount == 0, held[index].storeCount == 0 else { return }
    var bucket = held.remove(at: index).bucket
    defer {
      if bucket.capacity > spareBucket.capacity, bucket.capacity <= Self.largestSpareCount {
        bucket.removeAll(keepingCapacity: true)
        spareBucket = bucket
      }
    }
    for dead in bucket {
      if index > 0, held[index - 1].version >= dead.born {
        held[index - 1].bucket.append(dead)
      } else {
        pendingUnitCount -= dead.extent.unitCount
        free(dead.extent)
      }
    }
  }

  /// Pins `version` unless it is pinned already, for a store whose pins are counted elsewhere.
  ///
  /// It is held already, or newer than every held one.
  public mutating func pinOnce(_ version: Version) {
    if held.contains(where: { $0.version == version && $0.pinCount > 0 }) { return }
    hold(version, .pin)
  }

  /// Ends the pins of all versions that `isPinned` denies, for a store whose pins are counted
  /// elsewhere: one pin stands for all of a version.
  ///
  /// Asks with the versions from each held one to the one before the next: those between them change no page
  /// of the store, and who reads one of them reads pages of the held one.
  public mutating func keepPins(
    where isPinned: (Range<Version>) -> Bool, free: (Extent) -> Void
  ) {
    var index = 0
    while index < held.count {
      let (version, count) = (held[index].version, held.count)
      let next = index + 1 < count ? held[index + 1].version : .max
      if held[index].pinCount > 0, !isPinned(version..<next) { release(version, .pin, free: free) }
      if held.count == count { index += 1 }
    }
  }

  /// Takes in a metadata page, one of the store's own, that version `freed` gave up: no version sees it,
  /// but what is durable leads to it until that version is.
  public mutating func takeMetadata(_ extent: Extent, freed: Version) {
    metadata.append((extent, freed))
    pendingUnitCount += extent.unitCount
  }

  /// Calls `free` with the metadata pages that were given up by versions up to `durable`.
  public mutating func releaseMetadata(upTo durable: Version, free: (Extent) -> Void) {
    let count = metadata.firstIndex { $0.freed > durable } ?? metadata.count
    if count == 0 { return }
    for page in metadata[..<count] {
      pendingUnitCount -= page.extent.unitCount
      free(page.extent)
    }
    metadata.removeFirst(count)
  }

  /// Takes in an extent that version `freed` is the first not to see; true when it waits for a held
  /// version, false when it is free at once.
  public mutating func take(_ dead: Dead, freed: Version) -> Bool {
    var index = held.count - 1
    while index >= 0, held[index].version >= freed { index -= 1 }
    guard index >= 0, held[index].version >= dead.born else { return false }
    held[index].bucket.append(dead)
    pendingUnitCount += dead.extent.unitCount
    return true
  }
}
