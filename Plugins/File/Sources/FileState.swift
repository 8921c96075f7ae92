import CambiumCore

/// What changes while a file store is open; guarded by the store's lock.
struct FileState: Sendable {
  /// The newest version that this store knows of, as it would be stored.
  var newest: HeadSector
  /// The shared word that said so: while it stays the same, `newest` is the newest version.
  var seenLive: UInt64
  /// What is known to be durable.
  var mark: DurableMark
  /// What the two slots hold, as of `seenSlots`; nil for one that cannot be read.
  var slots: [HeadSector?]
  var seenSlots: UInt64
  /// What was opened after a crash and must be written again before anything else is.
  var recovered: Recovered?
  /// What this store pins.
  var pins: PinBoard

  var space = Space(firstBlock: FileLayout.firstBlock)
  /// The version whose free space is known; nil until the first write, which reads the free map.
  var spaceVersion: Version?
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
  /// The records that are still needed, oldest first.
  var records: [LiveRecord] = []

  var fileByteCount: Int
  /// What pins lend; nil until the first pin, and with buffered access.
  var mapping: Mapping?
  /// When the head of the last small commit is to be settled, if no other one follows.
  var settleDue: Int64 = 0
  var hasWritten = false
  var isPoisoned = false
  var isClosed = false
  /// How many writes have begun since it was last looked who has died.
  var writesSinceLivenessCheck = 0
  /// Whether a write is running in this store.
  var isWriting = false
  /// Whether live pages are being moved from the end of the file to free room before it.
  var isRelocating = false
  /// Before this version it is not tried again to cut off the end of the file.
  var nextCut: Version = 0
  /// Whether closing has done its work.
  var isFinished = false
  /// Whether the file has been let go.
  var hasLeft = false

  /// The state of a store that has just been opened; `words` were read before what they speak of.
  init(
    newest: HeadSector, slots: [HeadSector?], mark: DurableMark, words: SharedMemory.Words,
    pins: PinBoard, fileByteCount: Int
  ) {
    self.newest = newest
    self.slots = slots
    self.mark = mark
    heldMark = mark
    self.fileByteCount = fileByteCount
    seenLive = words.live
    seenDurable = words.durable
    seenSlots = words.durable
    self.pins = pins
  }

  /// What recovery accepted without knowing that the medium has it.
  struct Recovered: Sendable {
    /// The slot from which the newest version was taken, or which its live head follows.
    var slot: Int
    /// All that the commits since the last durable version wrote.
    var extents: [Extent]
  }

  /// A commit's record that the free map still needs.
  struct LiveRecord: Sendable {
    var version: Version
    var parts: [PageReference]
    /// Where the commit's head lies, if that is in a chain; kept as long as the record.
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

  /// Whether both slots hold the newest version, settled.
  var isClean: Bool {
    recovered == nil && !mark.isVolatile
      && slots.allSatisfy { $0?.isCleanCopy(of: newest) ?? false }
  }
}

extension HeadSector {
  /// Whether this slot holds the version of `other`, settled in the epoch that follows.
  func isNextEpoch(of other: HeadSector) -> Bool {
    isSettled && !isVolatile && head.version == other.head.version
      && head.epoch == other.head.epoch &+ 1
  }

  /// Whether this slot holds the version of `other`, settled.
  func isCleanCopy(of other: HeadSector) -> Bool {
    isSettled && !isVolatile && head == other.head
  }
}
