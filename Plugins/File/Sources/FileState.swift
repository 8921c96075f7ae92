import CambiumCore

/// What changes while a file store is open; guarded by the store's lock.
struct FileState: Sendable {
  /// The newest version of the file that this store knows of, as it would be stored.
  var newest: HeadSector
  /// The newest version, where that is one of small commits that follow the file's in the log.
  var logged: Logged?
  /// The shared word that said so: while it stays the same, these are the newest versions.
  var seenLive: UInt64
  /// What the latest small commits were given, oldest first.
  var smallCommits: [CommitMetadata] = []
  /// What is known to be durable.
  var mark: DurableMark
  /// What the two slots hold, as of `seenSlots`; nil for one that cannot be read.
  var slots: [HeadSector?]
  var seenSlots: UInt64
  /// A version that lies in memory, and its record in the log.
  struct Logged: Sendable {
    var head: Head
    /// Where the next record begins.
    var end: Int
    /// The checksum of the last record, to which the next one is bound where a codec seals it; the first one is bound
    /// to that of the root of the version in the file.
    var link: UInt64
  }

  /// The newest version.
  var newestHead: Head { logged?.head ?? newest.head }

  /// What was opened after a crash and must be written again before anything else is.
  var recovered: Recovered?
  /// What this store pins.
  var pins: PinBoard

  var fileByteCount: Int
  /// What pins lend; nil until the first pin, and with buffered access.
  var mapping: Mapping?
  /// When the head of the last small commit is to be settled, if no other one follows.
  var settleDue: Int64 = 0
  var hasWritten = false
  var isPoisoned = false
  var isClosed = false
  /// Whether somebody writes in this store, or is about to.
  var hasWriter = false
  /// Whether closing has done its work.
  var isFinished = false
  /// Whether another store stores what this one has left.
  var isHandingOver = false
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
    self.fileByteCount = fileByteCount
    seenLive = words.live
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

  /// Whether both slots hold the newest version, settled.
  var isClean: Bool {
    recovered == nil && slots.allSatisfy { $0?.isCleanCopy(of: newest) ?? false }
  }
}

extension HeadSector {
  /// Whether this slot holds the version of `other`, settled in the epoch that follows.
  func isNextEpoch(of other: HeadSector) -> Bool {
    isSettled && head.version == other.head.version && head.epoch == other.head.epoch &+ 1
  }

  /// Whether this slot holds the version of `other`, settled.
  func isCleanCopy(of other: HeadSector) -> Bool {
    isSettled && head == other.head
  }
}
