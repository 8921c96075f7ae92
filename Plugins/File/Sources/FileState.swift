import CambiumCore

/// What changes while a file store is open; guarded by the store's lock.
struct FileState: Sendable {
  /// The newest version, as it would be stored.
  var newest: HeadSector
  /// What the two slots hold; nil for one that cannot be read.
  var slots: [HeadSector?]
  /// The slot that holds the last head known to be durable; the other one is written next.
  var durableSlot: Int
  /// The last version known to be durable.
  var durableVersion: Version
  /// Whether the ledger holds `durableVersion`; not while the content is volatile.
  var holdsDurable = true
  /// Whether the file says that what follows is scratch data.
  var isVolatile = false
  /// The newest sequence number of a slot.
  var sequence: UInt64
  /// What was opened after a crash and must be written again before anything else is.
  var recovered: Recovered?

  var space = Space(firstBlock: FileLayout.firstBlock)
  /// Whether the free map has been read; it is at the first write, not at opening.
  var isSpaceLoaded = false
  var directory = FreeMapDirectory()
  /// The records that are still needed, oldest first.
  var records: [LiveRecord] = []

  var fileByteCount: Int
  /// What pins lend; nil until the first pin, and with buffered access.
  var mapping: Mapping?
  /// What relaxed commits have written since the last sync.
  var unsyncedByteCount = 0
  var isSyncThreadRunning = false
  /// When the head of the last small commit is to be settled, if no other one follows.
  var settleDue: Int64 = 0
  var isSettlingScheduled = false
  var hasWritten = false
  var isPoisoned = false
  var isClosed = false
  /// Whether closing has done its work.
  var isFinished = false
  /// Whether the file has been let go.
  var hasLeft = false

  init(newest: HeadSector, slots: [HeadSector?], durableSlot: Int, fileByteCount: Int) {
    self.newest = newest
    self.slots = slots
    self.durableSlot = durableSlot
    self.fileByteCount = fileByteCount
    durableVersion = newest.head.version
    sequence = slots.compactMap { $0?.sequence }.max() ?? 0
    isVolatile = newest.isVolatile
    space.ledger.hold(newest.head.version, .store)
    holdsDurable = !isVolatile
    if holdsDurable { space.ledger.hold(newest.head.version, .store) }
  }

  /// What recovery accepted without knowing that the medium has it.
  struct Recovered: Sendable {
    /// The slot from which the newest version was taken, or which its live head follows.
    var slot: Int
    /// All that the commits since the last durable version wrote.
    var extents: [Extent]
    /// The last version known to be durable.
    var durable: Version
  }

  /// A commit's record that the free map still needs.
  struct LiveRecord: Sendable {
    var version: Version
    var parts: [PageReference]
  }

  /// Whether both slots hold the newest version, settled.
  var isClean: Bool {
    recovered == nil && !isVolatile
      && slots.allSatisfy { slot in
        guard let slot else { return false }
        return slot.isSettled && !slot.isVolatile && slot.head == newest.head
      }
  }
}
