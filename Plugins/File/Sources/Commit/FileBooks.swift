import CambiumCore
import CambiumStoreKit

/// What is known of the free space of a file: which blocks are free, what waits for whom, and which pages on the
/// medium say so.
///
/// Guarded by a lock of its own, so that beginning and ending a read waits neither for a map that is being read
/// nor for what an old version leaves behind.
struct FileBooks: ~Copyable, Sendable {
  var space: Space
  /// The version whose free space is known; nil until the first write, which reads the free map.
  var version: Version?
  /// The versions that somebody holds, as of `seenPins`.
  var held: [ClosedRange<Version>] = []
  var seenPins: UInt32?
  /// What was known to be durable after that.
  var heldMark: DurableMark
  /// The shared word that said so.
  var seenDurable: UInt64
  /// While versions before this one are held, it is not known what they see.
  var deferredFreeEnd: Version?
  var directory = FreeMapDirectory()
  /// Whether the map has the form of an older format: it is not read then, and nothing counts as free.
  var isOfOlderFormat = false
  /// The records that are still needed, oldest first.
  var records: [LiveRecord] = []
  /// How many writes have begun since it was last looked who has died.
  var writesSinceLivenessCheck = 0
  /// Whether live pages are being moved from the end of the file to free room before it.
  var isRelocating = false
  /// When a small commit has last stored its pages so that some are moved.
  var lastMove: Int64?
  /// Where to look for pages of the free map that are to be moved.
  var nextRelocatedLeaf = 0
  /// Before this version it is not tried again to cut off the end of the file.
  var nextCut: Version = 0

  /// The books of a store that has just been opened; `seenDurable` was read before `mark`.
  init(firstBlock: Int, mark: DurableMark, seenDurable: UInt64) {
    space = Space(firstBlock: firstBlock)
    heldMark = mark
    self.seenDurable = seenDurable
  }

  /// How many bytes are in blocks that a held version or the running write uses, as far as that is known.
  var usedByteCount: Int {
    (space.blocks.blockCount - space.blocks.freeBlockCount) * FileLayout.blockByteCount
  }

  /// A commit's record that the free map still needs.
  struct LiveRecord: Sendable {
    var version: Version
    var parts: [PageReference]
    /// Where an earlier version of this library left the commit's head; kept as long as the record.
    var head: Extent?
    /// What it freed.
    var freed: [VersionLedger.Dead]

    init(_ record: CommitRecord) {
      version = record.version
      parts = record.parts
      head = record.headExtent
      freed = record.freed
    }
  }

  /// How long the records are that are newer than the stored free map.
  var recordByteCountSinceCheckpoint: Int {
    records.reversed().prefix { $0.version > directory.version }
      .reduce(0) { $0 + $1.parts.reduce(0) { $0 + $1.byteCount } }
  }

  // MARK: Held versions

  /// Whether the first of `versions` is held by somebody besides being the newest one: only that has pages of its
  /// own in the file, and who reads another one of them reads these.
  static func isHeld(
    _ versions: Range<Version>, _ ranges: [ClosedRange<Version>], _ mark: DurableMark
  ) -> Bool {
    versions.contains(mark.version)
      || ranges.contains {
        $0.upperBound >= versions.lowerBound && $0.lowerBound < versions.upperBound
      }
  }

  /// Whether no entry stands for a range; such a range may have any length.
  var holdsSingleVersions: Bool { held.allSatisfy { $0.lowerBound == $0.upperBound } }

  /// The held versions before `newest`, ascending.
  func heldVersions(before newest: Version) -> [Version] {
    var versions = Set(held.map(\.lowerBound))
    versions.insert(heldMark.version)
    return versions.filter { $0 < newest }.sorted()
  }

  /// Whether somebody pins one of `versions`, as far as that was looked up.
  func isPinned(_ versions: ClosedRange<Version>) -> Bool {
    held.contains { $0.overlaps(versions) }
  }

  /// What `record` freed and a pinned version sees.
  func waiting(_ record: LiveRecord) -> [WaitingPage.Entry] {
    if held.isEmpty { return [] }
    return record.freed.filter {
      $0.born < record.version && isPinned($0.born...record.version - 1)
    }
    .map { WaitingPage.Entry(dead: $0, freed: record.version) }
  }

  // MARK: Commits

  /// Makes `version` the newest one of the file, in place of `previous`.
  mutating func publish(version: Version, after previous: Version, freed: [VersionLedger.Dead]) {
    if Self.isHeld(previous..<version, held, heldMark) { space.ledger.pinOnce(previous) }
    space.publish(version: version, previous: previous, freed: freed)
    releaseMetadata()
  }

  /// Frees pages of the store's own that no durable version needs.
  mutating func releaseMetadata() { space.releaseMetadata(upTo: heldMark.version) }
}
