import CambiumCore
import CambiumStoreKit

/// Versions that lie in memory, each with a record in the shared log, until a commit stores their pages.
///
/// They survive this process: whoever has the file open, or opens it in this boot, makes them of the records again.
/// They survive power loss once their pages are stored and synced, which is seen to soon after, as for every
/// relaxed commit.
extension FileStore: ResidentStore {
  /// Says what stores the pages of a version that lies in memory.
  package func storePages(
    with body: @escaping @Sendable (any PageStore, any PageWriter) throws(StoreError) -> Void
  ) {
    if isForked { return }
    pageStorer.withLock { $0 = body }
    // Whoever has left them may be gone.
    if !options.isReadOnly, options.storesUnasked, memory.live(sector)?.isLogged ?? false {
      scheduleSync()
    }
  }

  /// Has the pages of the newest version stored, unless somebody writes; false then.
  func storeIfFree() throws(StoreError) -> Bool {
    try storing.withLock { _ throws(StoreError) in try storeLogged(waits: false) }
  }

  /// The same, unless somebody does that already.
  func storeUnlessStoring() throws(StoreError) {
    _ = try storing.withLockIfAvailable { _ throws(StoreError) in try storeLogged(waits: false) }
  }

  // MARK: Following

  /// Looks at the live head, and makes of the log what its version has in memory.
  func follow(_ state: inout FileState) throws(StoreError) {
    while true {
      guard let live = memory.live(sector) else {
        throw .damaged(Damage(.head, "the live head in \(SharedMemory.path(for: path))"))
      }
      var logged: FileState.Logged?
      var commits: [CommitMetadata] = []
      if live.isLogged {
        do throws(StoreError) {
          (logged, commits) = try FileState.Logged.replayed(
            live, onto: state.logged(following: live), in: memory, identity: sector,
            codec: boundCodec, device, path: path)
        } catch {
          if memory.isFollowed(live, sector) { throw error }
          continue
        }
        // A version of the file that was published meanwhile begins the log anew.
        guard memory.isFollowed(live, sector) else { continue }
      }
      state.logged = logged
      for commit in commits { state.note(commit) }
      state.newest = live.head
      // An older word than the head only means that there is another look.
      state.seenLive = live.word
      return
    }
  }

  // MARK: Storing

  /// Whether the newest version lies in memory.
  private var isLogged: Bool {
    get throws(StoreError) {
      try withOpenState { state throws(StoreError) in
        try followLiveHead(&state)
        return state.logged != nil
      }
    }
  }

  /// Has the pages of the newest version stored, if some lie in memory; false where somebody writes and `waits` is
  /// false.
  ///
  /// The version stays the same. Waits for the writer lock, so that nobody who holds it may call this. Those after
  /// `version` alone need not be stored.
  @discardableResult
  func storeLogged(
    waits: Bool, through version: Version = .max
  ) throws(StoreError) -> Bool {
    if options.isReadOnly { return true }
    guard try isLogged else { return true }
    if waits {
      try waitForWriterLock()
    } else if try !lockWriterIfFree() {
      return false
    }
    let writer = try writer(stores: true)
    if writer.base.residence == nil || writer.fileVersion >= version {
      writer.abort()
    } else {
      try storePages(writer)
    }
    return true
  }

  /// Has another store store the pages of the newest version, if some lie in memory: one that goes makes no
  /// transactions any more.
  func storeThroughAnother() {
    guard !options.isReadOnly, options.storesUnasked, memory.condition != .poisoned,
      memory.live(sector)?.isLogged ?? false
    else { return }
    var options = options
    options.storesUnasked = false
    if let device = device as? PosixDevice, options.device == nil {
      // A file that is gone is not made again.
      guard let number = device.fileNumber(), case .file(number, _) = PosixFiles.kind(of: path)
      else { return }
      // Who was alone lets others in again.
      guard device.lock(byte: SharedLayout.DataByte.life, .shared) == 0 else { return }
    } else {
      options.device = { [device] _ in device }
      options.memory = memory
      options.joins = true
    }
    try? FileStore(path: path, options: options).close()
  }

  /// Has `writer`, which makes the newest version once more, store all its pages.
  func storePages(_ writer: FileWriter) throws(StoreError) {
    if let body = pageStorer.withLock({ $0 }) { return try body(self, writer) }
    try Database.storePages(self, writer)
  }

  /// How many bytes of pages may lie in memory: they have their room in the file, behind what is used of it, so
  /// that storing them does not fail where the medium is full.
  func loggedByteLimit(_ newest: HeadSector) -> Int {
    if canHardlyGrow(newest.byteCount) { return 0 }
    // Stored, a leaf takes whole blocks, half as much again at most, and there are branches and pages of the file's own.
    return max(0, loggedRoom / 8 * 5 - (48 << 10))
  }

  /// How much of the file lies behind what is used of it, but for what is kept for deletions; as much as is wanted
  /// where plenty is free before that.
  private var loggedRoom: Int {
    let (used, free) = books.withLock { ($0.space.totalByteCount, $0.space.freeByteCount) }
    let room = state.withLock { $0.fileByteCount } - used - spareByteCount(in: used)
    let wanted = free < Self.ampleByteCount ? room : max(room, loggedByteCount(in: used))
    guard let limit = options.maximumByteCount else { return wanted }
    // What is kept for writes that free as much as they take stays theirs.
    return min(wanted, SizeLimit(limit).usableByteCount - used)
  }

  /// How much room is kept for what lies in memory, behind the `used` bytes of the file: a sixteenth of them, in a small
  /// file as much as is used but a megabyte at most; none on a full medium, where nothing does.
  func loggedByteCount(in used: Int) -> Int {
    guard usesLog.load(ordering: .relaxed), !isMediumFull.load(ordering: .relaxed) else { return 0 }
    return min(options.loggedByteCount, max(256 << 10, min(used, 1 << 20), used / 16))
  }

  /// What the small commit of `version` was given; nothing where that is not known.
  func metadata(of version: Version) -> [UInt8] {
    smallCommits(from: version, below: version + 1).last?.bytes ?? []
  }

  /// What is known of what small commits were given, oldest first.
  func smallCommits(from first: Version, below end: Version) -> [CommitMetadata] {
    if first >= end { return [] }
    return state.withLock { $0.smallCommits.filter { (first..<end).contains($0.version) } }
  }

  /// Publishes a small commit whose pages lie in memory.
  fileprivate func installLogged(
    _ head: Head, _ record: [UInt8], _ metadata: [UInt8]
  ) throws(StoreError) -> Pin {
    let shown = try withOpenState { state throws(StoreError) -> Pin in
      guard record.count <= SharedLayout.logByteCount - (state.logged?.end ?? 0) else {
        throw .exhausted(what: "the log of small commits", limit: SharedLayout.logByteCount)
      }
      return show(head, record, metadata, &state)
    }
    commits.raise()
    return shown
  }

  /// The same for one that is durable before anybody sees it, by the log in the file.
  fileprivate func installStored(
    _ head: Head, _ record: [UInt8], _ metadata: [UInt8]
  ) throws(StoreError) -> Pin {
    var shown: Pin?
    try storeInLog(record, making: head.version) { state in
      shown = show(head, record, metadata, &state)
    }
    guard let shown else { preconditionFailure("What was stored was not shown.") }
    commits.raise()
    return shown
  }

  /// Makes a version in memory the newest one; its record has its room in the log.
  private func show(
    _ head: Head, _ record: [UInt8], _ metadata: [UInt8], _ state: inout FileState
  ) -> Pin {
    guard let end = SharedLog(memory: memory).put(record, at: state.logged?.end ?? 0) else {
      preconditionFailure("A record was published for which the log has no room.")
    }
    state.logged = FileState.Logged(head: head, end: end, link: SharedLog.link(of: record))
    state.note(CommitMetadata(version: head.version, epoch: head.epoch, bytes: metadata))
    // First the version, then the look at the pins; see the other `show`.
    memory.publish(logged: head.version)
    state.seenLive = memory.liveWord
    state.hasWritten = true
    let isPinned = state.pins.hold(head, whileLive: state.seenLive)
    precondition(isPinned, "S2: somebody has published a version without holding the writer lock.")
    return pin(head, state)
  }
}

/// Pointers: a checksum is taken over the bytes of a page's buffer, which is held meanwhile.
extension FileState.Logged {
  /// What the version of `live` has in memory, made of the log, and what its commits since `known` were given.
  ///
  /// `known` is an earlier version that follows the same one of the file. Throws `StoreError.damaged(_:)` when a
  /// record is not there, which may also mean that a later version of the file has begun the log anew.
  static func replayed(
    _ live: SharedMemory.Live, onto known: FileState.Logged?, in memory: SharedMemory,
    identity: IdentitySector, codec: (any PageCodec)?, _ device: any Device, path: String
  ) throws(StoreError) -> (FileState.Logged, [CommitMetadata]) {
    let stored = live.head.head
    var version = known?.head.version ?? stored.version
    var end = known?.end ?? 0
    var link = known?.link ?? stored.root.reference.checksum
    var replay = ResidenceReplay(
      onto: known?.head.residence, root: known?.head.root ?? stored.root
    ) { reference, kind throws(StoreError) in
      let stored = try device.readPage(
        at: reference.byteOffset, byteCount: reference.byteCount, path: path)
      guard unsafe Checksum.hash(stored.bytes, stored.byteCount) == reference.checksum else {
        throw .damaged(Damage(.checksum, at: reference, "a page that a small commit has changed"))
      }
      guard let codec else { return StoredBytes(stored).bytes }
      let context = PageContext(
        kind, at: reference.address, born: reference.born,
        in: (identity.uuidHigh, identity.uuidLow))
      let page = try stored.page.withBytes { bytes throws(StoreError) in
        try codec.open(bytes, context: context)
      }
      return StoredBytes(page).bytes
    }
    var commits: [CommitMetadata] = []
    let log = SharedLog(memory: memory)
    while version < live.version {
      version += 1
      guard let found = log.record(of: version, after: stored.version, at: end),
        let (metadata, record) = SharedLog.parts(
          found.record, of: version, behind: link, sealedBy: identity.seal)
      else {
        throw .damaged(Damage(.head, "the record of version \(version) in '\(memory.path)'"))
      }
      try replay.apply(record)
      commits.append(CommitMetadata(version: version, epoch: stored.epoch, bytes: metadata))
      (link, end) = (found.link, found.end)
    }
    var head = Head(version: version, epoch: stored.epoch, root: replay.root)
    head.residence = try replay.finish()
    return (FileState.Logged(head: head, end: end, link: link), commits)
  }
}

extension FileState {
  /// What is known of the log, if `live` goes on from there.
  fileprivate func logged(following live: SharedMemory.Live) -> Logged? {
    guard newest.head == live.head.head, let logged, logged.head.version <= live.version else {
      return nil
    }
    return logged
  }

  /// Remembers what a small commit was given; the latest ones.
  mutating func note(_ commit: CommitMetadata) {
    // A version that was lost is made again.
    while let last = smallCommits.last, last.version >= commit.version { smallCommits.removeLast() }
    smallCommits.append(commit)
    if smallCommits.count > 2 * CommitMetadata.keptCount {
      smallCommits.removeFirst(CommitMetadata.keptCount)
    }
  }
}

extension FileWriter: ResidentWriter {
  /// Where durability, file and codec allow it (``expect(_:)``); not where the same version is made once more.
  var keepsPagesInMemory: Bool { mayUseLog && version > base.version }

  /// Where there is room for it in the log, and in the file once it is stored.
  ///
  /// Pages are moved by commits that store theirs: there are some meanwhile.
  func mayKeep(_ change: ResidentChange) -> Bool {
    let isDurable = change.durability == .full
    let needsMedium = isDurable || change.isAwaited
    if movesPages { return false }
    if needsMedium {
      guard store.usesStoredLog, store.countSmallCommit() else { return false }
    }
    let room = roomInMemory()
    let recordByteCount = SharedLog.byteCount(
      ofRecord: 4 + change.recordByteCount + (store.sector.seal?.contentByteCount ?? 0))
    lacksRoom = change.byteCount > room.pageByteCount
    guard change.residentByteCount + change.byteCount <= room.pageByteCount,
      recordByteCount <= room.recordByteCount
    else { return false }
    guard needsMedium else { return true }
    // Who syncs for others makes the version of the file durable before.
    if isDurable, !store.isFileVersionDurable { return false }
    wantsLog = !store.mayStoreInLog(recordByteCount)
    return !wantsLog
  }

  func publish(
    root: TreeRoot, residence: Residence, durability: Durability, metadata: [UInt8],
    record: () -> ResidenceRecord, beforeNext: (Head) -> Void
  ) throws(StoreError) -> Pin {
    try store.ensureWritable()
    try StoreLimits.check(metadata: metadata)
    var head = Head(version: version, epoch: base.epoch, root: root)
    head.residence = residence
    let record = record()
    let link =
      store.sector.seal == nil
      ? 0 : store.state.withLock { $0.logged?.link ?? $0.newest.head.root.reference.checksum }
    let bytes = SharedLog.record(
      of: version, after: fileVersion, behind: link, sealedBy: store.sector.seal,
      metadata: metadata, byteLimit: record.byteLimit
    ) { record.write(to: &$0) }
    let isDurable = durability == .full
    let pin =
      isDurable
      ? try store.installStored(head, bytes, metadata)
      : try store.installLogged(head, bytes, metadata)
    end(showing: pin.head, beforeNext)
    if isDurable { store.scheduleSettling() } else { store.scheduleSync() }
    return pin
  }
}
