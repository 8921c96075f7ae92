import CPlatform
import CambiumCore
import CambiumStoreKit
import Synchronization

/// Pages in one file: the default store.
///
/// Reads are lent from a mapping without copies. A small durable commit is one contiguous write of what it has changed,
/// and one sync; its pages are written later, together with those of others. After a crash the store opens at the newest
/// durable version, whole. Several processes, and several stores of one process, may read and write one file at a time;
/// one of them writes, the others wait for the writer lock.
///
/// Thread-safe, as `PageStore` says. After a failed sync the store is poisoned for everybody: it can
/// be read, but not written until all have closed it and it is opened again. A process that was
/// forked must open it anew. Locks, always taken in this order: `storing`, the writer lock in this process and
/// among processes, the slots (`slotsLock` and its byte in the file), `writing`, `books`, `state`.
///
/// Pointers: a pin and a page keep the mapping that they lend. They reach neither behind it nor behind the end of
/// the file as it was then, and no page of a pinned version is overwritten or cut off. Words of the shared memory
/// are used while the store holds it, and bytes are lent to the device for one call.
public final class FileStore: PageStore {
  /// What this store is.
  public let identity: StoreIdentity
  /// The codec that pages go through, bound to this file; nil for none.
  public let boundCodec: (any PageCodec)?
  /// What the file keeps for the codec.
  public var codecParameters: [UInt8] { sector.parameters }
  /// What opening had to mend or pass over, for people; empty after a clean close.
  public let recoveryNotes: [String]
  let path: String
  let options: FileStoreOptions
  let sector: IdentitySector
  let device: any Device
  /// The memory shared with the other users of the file; private with a device of the caller's.
  let memory: SharedMemory
  /// The slot of this store in it.
  let slot: Int
  /// Keeps the writers of several stores apart; nil with a device of the caller's.
  let writerLock: WriterLock?
  let buffer: WriteBuffer
  /// What large commits have gathered goes through it.
  let behind: WriteBehind
  /// Where the file lies; nil with a device of the caller's.
  let place: FilePlace?
  let writers = WriterQueue()
  let commits: CommitSignal
  /// Who is told of commits.
  package let watchers = CommitWatchers()
  /// What stores pages that lie in memory: the database, once there is one.
  let pageStorer = Mutex<
    (@Sendable (any PageStore, any PageWriter) throws(StoreError) -> Void)?
  >(nil)
  /// Held while it is tried without waiting, so that closing comes after that.
  let storing = Mutex<Void>(())
  /// What is done in the background.
  let background: StoreBackground
  /// Raised when closing has done its work.
  let finished = CommitSignal()
  /// Where commits meet that wait for the medium together.
  let group = CommitGroup()
  /// Held while pages are written, so that closing waits for it.
  let writing = Mutex<Void>(())
  /// Held while slots are written and while a sync decides about them.
  let slotsLock = Mutex<Void>(())
  let state: Mutex<FileState>
  /// What is known of the free space.
  let books: Mutex<FileBooks>
  /// The state's `isClosed`, to be asked without its lock.
  let isClosed = Atomic(false)
  /// Whether a write found no room on the medium, and the file has not grown since.
  let isMediumFull = Atomic(false)
  /// Whether what relaxed commits have written is going to be synced.
  let isSyncDue = Atomic(false)
  /// Whether it is going to be looked whether others have made durable what they have committed.
  let isWatchingUnsynced = Atomic(false)
  /// Whether small commits of this store may stay in memory.
  let usesLog = Atomic(false)
  /// How many small durable commits were made.
  let smallCommitCount = Atomic(0)
  /// Whether this opening has made a backup of the file's older form.
  package let hasBackup: Atomic<Bool>
  private let forkCount = cambium_fork_count()

  /// Opens the file at `path`, or makes it unless it is opened for reading only.
  ///
  /// Nothing is changed when this throws: `StoreError.notFound(path:)`,
  /// `StoreError.parentNotFound(path:)`, `StoreError.notAFile(path:found:)`,
  /// `StoreError.permissionDenied(path:operation:)`, `StoreError.notAStore(path:reason:)`,
  /// `StoreError.truncated(path:byteCount:expected:)`,
  /// `StoreError.unsupportedFormat(path:version:supported:)`,
  /// `StoreError.formatUpgradeRequired(path:version:supported:)`,
  /// `StoreError.unsupportedFeature(path:bits:)`,
  /// `StoreError.wrongStoreKind(path:found:expected:)`,
  /// `StoreError.codecMismatch(path:found:expected:)`, `StoreError.inUse(path:holder:)`,
  /// `StoreError.leftUnfinished(path:what:)`, `StoreError.damaged(_:)`, or what the system says.
  public convenience init(
    path: String, options: FileStoreOptions = FileStoreOptions()
  ) throws(StoreError) {
    var opening = try FileOpening.open(path: path, options: options)
    if !options.isReadOnly, opening.sector.formatVersion < FileLayout.formatVersion {
      opening = try Self.upgrade(opening)
    }
    if !options.isReadOnly, opening.sector.isCopy { try opening.mendIdentity() }
    self.init(opening)
  }

  init(_ opening: FileOpening) {
    path = opening.path
    options = opening.options
    hasBackup = Atomic(opening.hasBackup)
    buffer = WriteBuffer(capacity: opening.options.gatheredByteCount)
    background = StoreBackground(opening.options.lane)
    behind = WriteBehind(background.writing)
    sector = opening.sector
    boundCodec = opening.codec
    device = opening.device
    place = (opening.device as? PosixDevice)?.fileNumber().map { number in
      FilePlace(path: opening.path, device: number.device, inode: number.inode)
    }
    memory = opening.memory
    slot = opening.slot
    writerLock = (opening.device as? PosixDevice).map { [writers] device in
      WriterLock(
        memory: opening.memory, file: device, slot: opening.slot, path: opening.path,
        queue: writers)
    }
    commits = unsafe CommitSignal(
      words: opening.memory.word(SharedLayout.commits), of: opening.memory)
    recoveryNotes = opening.notes
    identity = StoreIdentity(
      kind: IdentitySector.kind, path: opening.path,
      uuid: (opening.sector.uuidHigh, opening.sector.uuidLow),
      formatVersion: opening.sector.formatVersion, codec: opening.sector.codec,
      isReadOnly: opening.options.isReadOnly)
    state = Mutex(opening.state)
    books = Mutex(
      FileBooks(
        firstBlock: opening.sector.firstBlock, mark: opening.state.mark,
        seenDurable: opening.state.seenSlots))
  }

  deinit { try? letGo() }

  func ensureOpen(_ state: borrowing FileState) throws(StoreError) {
    if state.isClosed { throw .closed(path: path) }
  }

  /// Whether this process is the child of the one that opened the store.
  ///
  /// Its locks may be held for ever, by threads that are not there.
  var isForked: Bool { forkCount != cambium_fork_count() }

  /// Runs `body` with the state of an open store.
  func withOpenState<Value>(
    _ body: (inout FileState) throws(StoreError) -> Value
  ) throws(StoreError) -> Value {
    if isForked { throw .forked(path: path) }
    return try state.withLock { state throws(StoreError) in
      try ensureOpen(state)
      return try body(&state)
    }
  }

  // MARK: Reading

  /// The newest head, without pinning it; throws when the store is closed.
  public func newestHead() throws(StoreError) -> Head {
    try withOpenState { state throws(StoreError) in
      try followLiveHead(&state)
      return state.newestHead
    }
  }

  /// Pins the newest version, so that none of its pages is overwritten until the pin is released.
  ///
  /// Throws when the store is closed or the file cannot be mapped, and then holds nothing.
  public func pin() throws(StoreError) -> Pin {
    try withOpenState { state throws(StoreError) in
      try followLiveHead(&state)
      try ensureMapping(&state)
      return try pinNewest(&state)
    }
  }

  /// Whether what `pin` holds is still the newest version.
  ///
  /// Asks the shared word alone, without a lock.
  public func isNewest(_ pin: Pin) -> Bool {
    memory.liveWord == pin.mark && !isClosed.load(ordering: .acquiring) && !isForked
  }

  /// Looks whether another process has published a version since.
  @inline(__always)
  func followLiveHead(_ state: inout FileState) throws(StoreError) {
    if memory.liveWord != state.seenLive { try adoptLiveHead(&state) }
  }

  private func adoptLiveHead(_ state: inout FileState) throws(StoreError) {
    try follow(&state)
    watchUnsynced()
    state.fileByteCount = try FileOpening.fileByteCount(device, path: path)
  }

  /// Sees to a mapping that reaches all of the file; pins of older versions keep the smaller one for
  /// as long as they live.
  func ensureMapping(_ state: inout FileState) throws(StoreError) {
    guard options.access == .mapped, state.mapping?.byteCount ?? 0 < state.fileByteCount,
      let mapping = try map(fileByteCount: state.fileByteCount)
    else { return }
    state.mapping = mapping
  }

  /// Pins the newest version over the mapping there is.
  func pinNewest(_ state: inout FileState) throws(StoreError) -> Pin {
    while !state.pins.hold(state.newestHead, whileLive: state.seenLive) {
      // Somebody else has just published a version.
      try adoptLiveHead(&state)
      try ensureMapping(&state)
    }
    return pin(state.newestHead, state)
  }

  /// The pin of a head that is held.
  func pin(_ head: Head, _ state: borrowing FileState) -> Pin {
    let mapping = state.mapping
    let readable = min(mapping?.byteCount ?? 0, state.fileByteCount)
    return unsafe Pin(
      head: head, base: mapping?.base, readableByteCount: readable, mark: state.seenLive
    ) {
      withExtendedLifetime(mapping) {}
      self.unpin(head.version)
    }
  }

  /// Ends a pin of `version`.
  func unpin(_ version: Version) {
    // The pins of a child that was forked are those of its parent.
    if isForked { return }
    let isLast = state.withLock { state in
      state.pins.release(version)
      return state.takeLeave()
    }
    if isLast { leave() }
  }

  private func map(fileByteCount: Int) throws(StoreError) -> Mapping? {
    do throws(DeviceError) {
      return try device.map(byteCount: max(options.smallestMappingByteCount, 4 * fileByteCount))
    } catch {
      // Address space is scarce: no room to grow into.
      do throws(DeviceError) {
        return try device.map(byteCount: fileByteCount)
      } catch {
        throw .addressSpaceExhausted(path: path, byteCount: fileByteCount)
      }
    }
  }

  /// The stored bytes of the page at `reference`, from what a commit has gathered, the mapping or
  /// the file.
  ///
  /// Throws `StoreError.damaged(_:)` when the reference leads outside of the file or the file has
  /// become shorter, and `StoreError.forked(path:)` in a child of the process that opened it. The
  /// bytes are not checked here.
  public func read(_ reference: PageReference, at pin: Pin) throws(StoreError) -> Page {
    if isForked { throw .forked(path: path) }
    if let page = buffer.page(reference) ?? behind.page(reference) { return page.page }
    let (mapping, fileByteCount) = state.withLock { ($0.mapping, $0.fileByteCount) }
    guard reference.unitCount > 0, !reference.isDirty, reference.byteOffset <= fileByteCount,
      reference.byteCount <= fileByteCount - reference.byteOffset
    else {
      throw .damaged(Damage(.reference, at: reference, "the page lies outside of the store"))
    }
    if let mapping, reference.byteOffset + reference.byteCount <= mapping.byteCount {
      return unsafe Page(
        bytes: mapping.base + reference.byteOffset, byteCount: reference.byteCount, owner: mapping)
    }
    return try device.readPage(
      at: reference.byteOffset, byteCount: reference.byteCount, path: path
    ).page
  }

  /// Waits until the newest version is above `version`, the store is closed or the time is up, and
  /// returns the newest version then.
  ///
  /// Commits of other processes count. A forked child does not wait.
  public func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version {
    if isForked { return memory.liveVersion ?? 0 }
    commits.wait(timeoutNanoseconds: timeoutNanoseconds) {
      memory.liveVersion ?? 0 > version || state.withLock { $0.isClosed }
    }
    return memory.liveVersion ?? 0
  }

  /// Sizes and pins.
  ///
  /// The first call on a file that was not yet written to reads the store's record of free space,
  /// and throws when that is damaged.
  public func statistics() throws(StoreError) -> StoreStatistics {
    try withKnownBooks { books throws(StoreError) in
      let (fileByteCount, newest, stored, mark) = try withOpenState { state throws(StoreError) in
        (state.fileByteCount, state.newestHead.version, state.newest.head.version, state.mark)
      }
      let pinned = Self.versions(PinTable(memory: memory).held())
      return StoreStatistics(
        totalByteCount: fileByteCount,
        freeByteCount: books.isOfOlderFormat
          ? 0 : books.space.freeByteCount + fileByteCount - books.space.totalByteCount,
        pendingByteCount: books.space.pendingByteCount, newestVersion: newest,
        durableVersion: durableVersion ?? mark.version,
        pinnedVersions: pinned.sorted(),
        exclusiveByteCounts: books.deferredFreeEnd == nil
          ? Self.exclusive(books.space.ledger.exclusiveByteCounts, pinned, before: stored) : [:])
    }
  }

  /// How many versions are pinned, by all users of the file.
  ///
  /// Where a user pins more than are listed one by one, only the oldest and the newest of them count. What a process
  /// has pinned that died is let go of.
  public func pinnedVersionCount() throws(StoreError) -> Int {
    try withOpenState { _ throws(StoreError) in
      func count() -> Int { Self.versions(PinTable(memory: memory).held()).count }
      let counted = count()
      return counted > 1 && ProcessTable(memory: memory).clearDead(besides: slot)
        ? count() : counted
    }
  }

  /// What each pinned version holds alone, made of what those of the file do: one that lies in memory holds the
  /// version of the file that it follows, which it may share with others.
  private static func exclusive(
    _ counts: [Version: Int], _ pinned: Set<Version>, before newest: Version
  ) -> [Version: Int] {
    var result: [Version: Int] = [:]
    let held = counts.keys.sorted()
    for (index, version) in held.enumerated() {
      let next = index + 1 < held.count ? held[index + 1] : version < newest ? newest : .max
      let users = pinned.filter { version <= $0 && $0 < next }
      if users.count == 1, let user = users.first { result[user] = counts[version] }
    }
    return result
  }

  private static func versions(_ ranges: [ClosedRange<Version>]) -> Set<Version> {
    Set(ranges.flatMap { [$0.lowerBound, $0.upperBound] })
  }

  // MARK: What may be done

  /// Whether the path still leads to this file.
  public var isInPlace: Bool { place?.isInPlace ?? true }

  /// Refuses to write on at numbers that cannot rise for long.
  func ensureCountable() throws(StoreError) {
    try state.withLock { state throws(StoreError) in
      guard !state.newest.canBeFollowed else { return }
      throw .damaged(
        Damage(
          .head,
          "its version, epoch or sequence number leaves no room for further ones; "
            + "'cambium compact \(path)' begins anew"))
    }
  }

  /// Whether small durable commits may use a log in the file.
  var usesStoredLog: Bool { sector.hasLog && options.storedLogByteCount > 0 }

  /// Whether what small commits write down may lie in a log: not in the clear where a codec may be there to keep what
  /// it opens secret.
  var mayLogContent: Bool {
    guard let boundCodec, sector.seal == nil else { return true }
    return !boundCodec.needsPlace && !boundCodec.isSecret
  }

  /// Counts a small durable commit; whether so many were made that it pays to keep room for more in memory.
  func countSmallCommit() -> Bool {
    smallCommitCount.wrappingAdd(1, ordering: .relaxed).oldValue >= options.unloggedCommitCount
  }

  func ensureWritable() throws(StoreError) {
    try withOpenState { state throws(StoreError) in
      if state.isPoisoned || memory.condition == .poisoned { throw .poisoned(path: path) }
    }
  }
}
