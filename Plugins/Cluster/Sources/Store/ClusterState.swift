import CambiumCore
import CambiumStoreKit

/// What changes while a store is open; behind its lock.
struct ClusterState: Sendable {
  /// The root as it was acknowledged or read last.
  var header: RootHeader
  /// The newest version that readers of this process get: the root's, or one that is on its way there.
  var newest: Head
  /// The latest commits in the root, at most ``CommitMetadata/keptCount``, without their pages.
  var recent: [CommitRecord] = []
  /// Which versions are held here.
  var ledger = VersionLedger()
  /// Commits of this process on their way to the root, oldest first.
  var pending: [PendingCommit] = []
  /// Whether somebody swaps the root.
  var isSwapping = false
  /// Whether who swaps it lets others join first.
  var isGathering = false
  /// One past what the log was given when this process began it anew.
  var carriedEnd = 0
  /// What the owner of the writer lock knows; nil while others may own it.
  var ownership: Ownership?
  /// How often this store has tried to become the owner.
  var ownershipCount: UInt64 = 0
  /// Where the next page goes, in units.
  var nextAddress: UInt64
  /// Below this address no page of the log is missing in its block.
  var copiedEnd: UInt64 = 0
  var isWriting = false
  /// Whether another machine waits for the writer lock.
  var isWanted = false
  /// Until then this process lets others have the writer lock, by the store's clock.
  var yieldEnd = Int64.min
  /// Why the store was poisoned; nil while it is not.
  var poison: StoreError?
  var isPoisoned: Bool { poison != nil }
  var isClosed = false
  /// Whether closing has done its work, so that the last pin ends the rest.
  var isLeft = false
  /// Whether the background work has ended.
  var isEnded = false

  /// The newest version in the root.
  var replicated: Version { header.newestVersion }

  /// Begins with a root that was read.
  init(_ image: RootReader.Image) {
    header = image.header
    newest = Self.head(image)
    nextAddress = image.header.nextAddress
    recent = image.commits.map(\.record.carried).suffix(CommitMetadata.keptCount)
    ledger.hold(newest.version, .store)
  }

  private static func head(_ image: RootReader.Image) -> Head {
    image.commits.last?.record.head ?? Head(version: 0, epoch: 1, root: .empty(.key))
  }

  /// Takes in what others have committed; whether there is a new version.
  mutating func adopt(_ image: RootReader.Image) -> Bool {
    header = image.header
    nextAddress = header.nextAddress
    // Others have begun it anew.
    if image.isWhole { carriedEnd = 0 }
    let records = image.commits.map(\.record.carried)
    recent = ((image.isWhole ? [] : recent) + records).suffix(CommitMetadata.keptCount)
    guard header.newestVersion > newest.version else { return false }
    supersede(by: Self.head(image))
    return true
  }

  /// Makes `head` the newest version of this process.
  mutating func supersede(by head: Head) {
    let old = newest.version
    newest = head
    ledger.hold(head.version, .store)
    ledger.release(old, .store) { _ in }
  }

  /// The oldest version that this process needs, and the one that versions are built on that it alone knows.
  var oldestNeeded: Version { min(ledger.pinnedVersions.first ?? newest.version, replicated) }

  /// Whether the write that began in that ownership may go on.
  func isOwner(_ number: UInt64) -> Bool { ownership?.number == number && !isPoisoned }
}

/// A commit that is on its way to the root.
struct PendingCommit: Sendable {
  /// The record; which pages its frame carries is decided when it is sent.
  var record: CommitRecord
  /// Its pages that are in no block yet, by location, in the order of their addresses.
  var pages: [(location: UInt64, buffer: PageBuffer)]
  /// The locations of the pages of earlier versions that it has freed, with the versions that wrote them.
  var freed: [(location: UInt64, born: Version)]
  /// Where the pages of the next commit go.
  var nextAddress: UInt64
  /// Whether readers of this process see it already.
  var isVisible: Bool
  /// Tells what has become of it.
  let publication = Publication()

  /// How many bytes it adds to a batch.
  var byteCount: Int {
    pages.reduce(record.metadata.count + 16 * record.changes.count) { $0 + $1.buffer.byteCount }
  }
}

/// What the owner of the writer lock knows.
struct Ownership: Sendable {
  /// Tells it from those of the same store before.
  var number: UInt64
  /// How many records of the space it has written.
  var spaceRecordCount: UInt64 = 0
  /// The blocks of which little is needed, as they were when room was last looked for.
  var sparse: [Range<UInt64>] = []
  /// The blocks, as of the newest version in the root.
  var table: BlockTable
  /// How many bytes were written since pages were last moved out of such blocks; enough at first, as others
  /// have written.
  var writtenByteCount = Int.max / 2
  /// When it became the owner, by the store's clock.
  var begun: Int64
  /// When the lock of the cluster was taken or renewed last; nil when others have it.
  var renewed: Int64?
  /// Whether the outcome of an operation was unknown for a while, so that it may happen again.
  var hasLateOperations = false
  /// Whether objects may be there that the last owner has left.
  var needsSweep: Bool
  /// The first address at which this owner writes.
  var firstAddress: UInt64
}
