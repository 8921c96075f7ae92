import CambiumCore
import Synchronization

/// What is known to be durable, and where its head is.
struct DurableMark: Hashable, Sendable {
  /// The last version known to be durable.
  var version: Version
  /// The slot that holds its head; the other one is written next.
  var slot: Int
  /// The newest sequence number of a slot.
  var sequence: UInt64
  /// What the file's log has; nil where that is nothing.
  var log: StoredLog.Tail?

  /// The last version known to be durable, one of the file or one that follows it in its log.
  var durableVersion: Version { max(version, log?.version ?? 0) }
}

extension DurableMark {
  /// After `head` was synced in `slot`.
  init(inSlot slot: Int, _ head: HeadSector) {
    self.init(version: head.head.version, slot: slot, sequence: head.sequence)
  }
}

/// Both are kept twice with checksums, and a word that is written last says which one is valid: a
/// process may be killed at any moment.
extension SharedMemory {
  /// The newest version and where its head lies; all ones for none.
  ///
  /// When it has not changed, nothing was published.
  var liveWord: UInt64 {
    unsafe longWord(SharedLayout.live).pointee.load(ordering: .sequentiallyConsistent)
  }

  /// The words that change with the live head and with the durable mark.
  struct Words: Hashable, Sendable {
    var live: UInt64
    var durable: UInt64
  }

  /// Both, to be read before what they speak of: if they are the same later, so is that.
  var words: Words { Words(live: liveWord, durable: durableWord) }

  /// The newest version; nil when none was published.
  var liveVersion: Version? {
    let word = liveWord
    return word == .max ? nil : LiveWord(word).version
  }

  /// The newest version, which of the two live heads it has or follows, and a count, so that no word comes again
  /// soon: a version may be published in more than one form.
  struct LiveWord: Hashable, Sendable {
    var version: Version
    var count: UInt64
    var index: UInt64

    init(_ word: UInt64) {
      version = word >> 16
      count = word >> 1 & 0x7fff
      index = word & 1
    }

    /// The word that follows `former` and says `version`, with the other live head if `changesHead`.
    init(_ version: Version, after former: UInt64, changesHead: Bool) {
      let former = former == .max ? nil : LiveWord(former)
      self.version = version
      count = ((former?.count ?? 0) + 1) & 0x7fff
      index = former.map { changesHead ? 1 - $0.index : $0.index } ?? 0
    }

    var word: UInt64 { version << 16 | count << 1 | index }
  }

  /// The newest version, and the head of the file that it has or follows.
  struct Live: Sendable {
    /// What said so.
    var word: UInt64
    var head: HeadSector

    /// The newest version: that of `head`, or one that follows it in the log.
    var version: Version { LiveWord(word).version }
    /// Whether it lies in the log.
    var isLogged: Bool { version != head.head.version }
  }

  /// The newest version with its head, if there is a whole one.
  func live(_ identity: IdentitySector) -> Live? {
    // Torn only when two heads were published while it was read, or when a hostile hand wrote it.
    for _ in 0..<64 {
      let word = liveWord
      if word == .max { return nil }
      let live = LiveWord(word)
      let offset = SharedLayout.liveHeads + Int(live.index) * FileLayout.sectorByteCount
      let stored = bytes(offset, FileLayout.sectorByteCount)
      let place = HeadSector.place(ofLiveHead: live.index)
      if let head = HeadSector(stored: stored, identity: identity, at: place),
        head.head.version <= live.version,
        live.version - head.head.version <= UInt64(SharedLayout.logByteCount)
      {
        return Live(word: word, head: head)
      }
    }
    return nil
  }

  /// Whether the newest version still follows the head of `live` in the log, which was not begun anew then.
  func isFollowed(_ live: Live, _ identity: IdentitySector) -> Bool {
    // What was read of the log was read before this word is.
    atomicMemoryFence(ordering: .acquiring)
    return liveWord == live.word
      || self.live(identity)?.head.head.version == live.head.head.version
  }

  /// The newest head of the file, if there is a whole one.
  func liveHead(_ identity: IdentitySector) -> HeadSector? { live(identity)?.head }

  /// The newest head with what is known to be durable now.
  func knownHead(_ identity: IdentitySector) -> HeadSector? {
    guard var head = liveHead(identity), let mark = durableMark else { return nil }
    head.sequence = mark.sequence
    head.durable = min(mark.version, head.head.version)
    return head
  }

  /// Makes `head` the live one; `version` is the newest version, if that follows it in the log.
  ///
  /// For the holder of the writer lock, or of the file alone; or of the slots' lock while the condition
  /// is not clean, when the holder of the writer lock waits for that.
  func publish(_ head: HeadSector, _ identity: IdentitySector, through version: Version? = nil) {
    let next = LiveWord(version ?? head.head.version, after: liveWord, changesHead: true)
    let stored = head.stored(in: identity, at: HeadSector.place(ofLiveHead: next.index))
    put(stored, at: SharedLayout.liveHeads + Int(next.index) * FileLayout.sectorByteCount)
    say(live: next)
  }

  /// Makes `version`, whose record is in the log, the newest one; for the holder of the writer lock.
  func publish(logged version: Version) {
    let next = LiveWord(version, after: liveWord, changesHead: false)
    say(live: next)
  }

  /// Says which version is the newest one.
  private func say(live word: LiveWord) {
    unsafe longWord(SharedLayout.live).pointee.store(word.word, ordering: .sequentiallyConsistent)
    // What is written later, over what the former word led to, is not seen before this word.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
  }

  /// Rises when the durable mark changes.
  var durableWord: UInt64 {
    unsafe longWord(SharedLayout.durable).pointee.load(ordering: .sequentiallyConsistent)
  }

  /// What is known to be durable; nil when nobody has said so yet.
  var durableMark: DurableMark? {
    for _ in 0..<64 {
      let word = durableWord
      if word == 0 { return nil }
      let offset =
        SharedLayout.durableMarks + Int(word & 1) * SharedLayout.durableMarkByteCount
      let bytes = StoredBytes(bytes(offset, SharedLayout.durableMarkByteCount))
      guard bytes.load(72, as: UInt64.self) == bytes.checksum(before: 72),
        bytes.load(16, as: UInt64.self) == word
      else { continue }
      let slot = bytes.load(24, as: UInt64.self)
      // Earlier versions of this library told of unsynced data in further bits.
      guard slot <= 1 else { return nil }
      var mark = DurableMark(
        version: bytes.load(0, as: UInt64.self), slot: Int(slot),
        sequence: bytes.load(8, as: UInt64.self))
      let tail = StoredLog.Tail(
        base: bytes.load(32, as: UInt64.self), version: bytes.load(40, as: UInt64.self),
        blockCount: Int(truncatingIfNeeded: bytes.load(48, as: UInt64.self)),
        byteCount: Int(truncatingIfNeeded: bytes.load(56, as: UInt64.self)),
        link: bytes.load(64, as: UInt64.self))
      if tail.version > 0 { mark.log = tail }
      // As in a slot: a crafted number leaves no room to count on.
      guard mark.version < HeadSector.versionLimit, mark.sequence < HeadSector.countLimit,
        mark.log?.isPossible ?? true
      else { continue }
      return mark
    }
    return nil
  }

  /// Who writes a head of which the durable mark does not tell yet.
  struct HeadWriter: Hashable, Sendable {
    /// Its process slot.
    var slot: Int
    /// Whether it holds the writer lock: nobody pins what its head leads to.
    var holdsWriterLock: Bool
  }

  /// Who writes a head of which the durable mark does not tell yet; nil for nobody.
  ///
  /// To be changed by the holder of the slots' lock: whoever gets that lock and finds somebody here
  /// knows that this one has died over it.
  var headWriter: HeadWriter? {
    get {
      let raw = unsafe word(SharedLayout.headWriter).pointee.load(ordering: .sequentiallyConsistent)
      return raw == 0 ? nil : HeadWriter(slot: Int(raw >> 1) - 1, holdsWriterLock: raw & 1 != 0)
    }
    set {
      let raw = newValue.map { UInt32($0.slot + 1) << 1 | ($0.holdsWriterLock ? 1 : 0) } ?? 0
      unsafe word(SharedLayout.headWriter).pointee.store(raw, ordering: .sequentiallyConsistent)
    }
  }

  /// What is known of what was written and is not durable yet.
  enum SyncState: UInt32 {
    /// The next sync says whether all of it is on the medium.
    case sure = 0
    /// Who holds the slots' lock syncs.
    case running = 1
    /// Somebody has died over a sync, which may have failed: the system has told of that, and need not tell again. So
    /// some of it may be lost although every later sync succeeds.
    case unsure = 2
  }

  /// What is known of what was written and is not durable yet; to be changed by the holder of the slots' lock.
  var syncState: SyncState {
    get {
      let raw = unsafe word(SharedLayout.syncState).pointee.load(ordering: .sequentiallyConsistent)
      return SyncState(rawValue: raw) ?? .unsure
    }
    set {
      unsafe word(SharedLayout.syncState).pointee.store(
        newValue.rawValue, ordering: .sequentiallyConsistent)
    }
  }

  /// Says what is durable, and that no other head is being written.
  ///
  /// For the holder of the slots' lock, or of the file alone.
  func publish(_ mark: DurableMark) {
    let word = durableWord &+ 1
    let bytes = StoredBytes(byteCount: SharedLayout.durableMarkByteCount) { fields in
      fields.store(mark.version, at: 0)
      fields.store(mark.sequence, at: 8)
      fields.store(word, at: 16)
      fields.store(UInt64(mark.slot), at: 24)
      fields.store(mark.log?.base ?? 0, at: 32)
      fields.store(mark.log?.version ?? 0, at: 40)
      fields.store(UInt64(mark.log?.blockCount ?? 0), at: 48)
      fields.store(UInt64(mark.log?.byteCount ?? 0), at: 56)
      fields.store(mark.log?.link ?? 0, at: 64)
      fields.store(fields.checksum(before: 72), at: 72)
    }
    put(
      bytes.bytes,
      at: SharedLayout.durableMarks + Int(word & 1) * SharedLayout.durableMarkByteCount)
    unsafe longWord(SharedLayout.durable).pointee.store(word, ordering: .sequentiallyConsistent)
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    headWriter = nil
  }
}
