import CambiumCore
import Synchronization

/// Pages in one file: the default store.
///
/// Reads are lent from a mapping without copies. A small durable commit is one contiguous write, the
/// head, and one sync. After a crash the store opens at the newest durable version, whole. One
/// process uses a file for writing at a time; another one is refused with
/// `StoreError.inUse(path:holder:)`, and so is a second store of the same path in this process.
///
/// Thread-safe, as `PageStore` says. After a failed sync the store is poisoned: it can be read, but
/// not written until it is opened again. Three locks, always taken in this order: the writer's turn,
/// `io` (syncs and writes of slots), `state`.
public final class FileStore: PageStore {
  /// What this store is.
  public let identity: StoreIdentity
  /// What opening had to mend or pass over, for people; empty after a clean close.
  public let recoveryNotes: [String]
  let path: String
  let options: FileStoreOptions
  let sector: IdentitySector
  let device: any Device
  /// The memory shared between processes; nil with a device of the caller's.
  let lockFile: LockFile?
  let buffer = WriteBuffer()
  let writers = WriterQueue()
  let commits = CommitSignal()
  /// Wakes the thread that syncs relaxed commits before its time.
  let hurry = CommitSignal()
  /// Held while pages are written, so that closing waits for it.
  let writing = Mutex<Void>(())
  /// Held while slots are written and while a sync decides about them.
  let io = Mutex<Void>(())
  let state: Mutex<FileState>

  /// Opens the file at `path`, or makes it unless it is opened for reading only.
  ///
  /// Nothing is changed when this throws: `StoreError.notFound(path:)`,
  /// `StoreError.parentNotFound(path:)`, `StoreError.notAFile(path:found:)`,
  /// `StoreError.permissionDenied(path:operation:)`, `StoreError.notAStore(path:reason:)`,
  /// `StoreError.truncated(path:byteCount:expected:)`,
  /// `StoreError.unsupportedFormat(path:version:supported:)`,
  /// `StoreError.unsupportedFeature(path:bits:)`,
  /// `StoreError.wrongStoreKind(path:found:expected:)`,
  /// `StoreError.codecMismatch(path:found:expected:)`, `StoreError.inUse(path:holder:)`,
  /// `StoreError.volatileContent(path:)`, `StoreError.damaged(_:)`, or what the system says.
  public convenience init(
    path: String, options: FileStoreOptions = FileStoreOptions()
  ) throws(StoreError) {
    self.init(try FileOpening.open(path: path, options: options))
  }

  private init(_ opening: FileOpening) {
    path = opening.path
    options = opening.options
    sector = opening.sector
    device = opening.device
    lockFile = opening.lockFile
    recoveryNotes = opening.notes
    identity = StoreIdentity(
      kind: IdentitySector.kind, path: opening.path,
      uuid: (opening.sector.uuidHigh, opening.sector.uuidLow),
      formatVersion: opening.sector.formatVersion, codec: opening.sector.codec,
      isReadOnly: opening.options.isReadOnly)
    state = Mutex(opening.state)
  }

  deinit { try? close() }

  func ensureOpen(_ state: borrowing FileState) throws(StoreError) {
    if state.isClosed { throw .closed(path: path) }
  }

  // MARK: Reading

  /// The newest head, without pinning it; throws only when the store is closed.
  public func newestHead() throws(StoreError) -> Head {
    try state.withLock { state throws(StoreError) in
      try ensureOpen(state)
      return state.newest.head
    }
  }

  /// Pins the newest version, so that none of its pages is overwritten until the pin is released.
  ///
  /// Throws when the store is closed or the file cannot be mapped, and then holds nothing.
  public func pin() throws(StoreError) -> Pin {
    try state.withLock { state throws(StoreError) in
      try ensureOpen(state)
      try ensureMapping(&state)
      return pinNewest(&state)
    }
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
  func pinNewest(_ state: inout FileState) -> Pin {
    let mapping = state.mapping
    let head = state.newest.head
    state.space.ledger.hold(head.version, .pin)
    let readable = min(mapping?.byteCount ?? 0, state.fileByteCount)
    return Pin(head: head, base: mapping?.base, readableByteCount: readable) {
      withExtendedLifetime(mapping) {}
      self.unpin(head.version)
    }
  }

  /// Ends a pin of `version`.
  func unpin(_ version: Version) {
    let isLast = state.withLock { state in
      state.space.release(version, .pin)
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
  /// Throws ``StoreError/damaged(_:)`` when the reference leads outside of the file or the file has
  /// become shorter. The bytes are not checked here.
  public func read(_ reference: PageReference) throws(StoreError) -> Page {
    if let gathered = buffer.page(reference) { return gathered.page }
    let (mapping, fileByteCount) = state.withLock { ($0.mapping, $0.fileByteCount) }
    guard reference.unitCount > 0, !reference.isDirty, reference.byteOffset <= fileByteCount,
      reference.byteCount <= fileByteCount - reference.byteOffset
    else {
      throw .damaged(Damage(.reference, at: reference, "the page lies outside of the store"))
    }
    if let mapping, reference.byteOffset + reference.byteCount <= mapping.byteCount {
      return Page(
        bytes: mapping.base + reference.byteOffset, byteCount: reference.byteCount, owner: mapping)
    }
    return try device.readPage(
      at: reference.byteOffset, byteCount: reference.byteCount, path: path
    ).page
  }

  /// Waits until the newest version is above `version`, the store is closed or the time is up, and
  /// returns the newest version then.
  public func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version {
    commits.wait(timeoutNanoseconds: timeoutNanoseconds) {
      state.withLock { $0.newest.head.version > version || $0.isClosed }
    }
    return state.withLock { $0.newest.head.version }
  }

  /// Sizes and pins.
  ///
  /// The first call on a file that was not yet written to reads the store's record of free space,
  /// and throws when that is damaged.
  public func statistics() throws(StoreError) -> StoreStatistics {
    try state.withLock { state throws(StoreError) in
      try ensureOpen(state)
      try loadSpace(&state)
      return StoreStatistics(
        totalByteCount: state.fileByteCount,
        freeByteCount: state.space.freeByteCount + state.fileByteCount - state.space.totalByteCount,
        pendingByteCount: state.space.pendingByteCount, newestVersion: state.newest.head.version,
        durableVersion: state.recovered?.durable ?? state.durableVersion,
        pinnedVersions: state.space.ledger.pinnedVersions)
    }
  }

  // MARK: Writing

  /// Waits for its turn among the writers and begins a write at the newest version.
  ///
  /// Throws when the store is read-only, closed, or poisoned by a failed sync.
  public func beginWrite() throws(StoreError) -> any PageWriter {
    if options.isReadOnly { throw .readOnly(path: path) }
    try ensureWritable()
    writers.enter()
    do throws(StoreError) {
      try ensureWritable()
      try ensureCountable()
      // Only the first write has something to mend; others need not wait for a sync.
      if state.withLock({ $0.recovered != nil }) {
        try io.withLock { _ throws(StoreError) in try settleRecovered() }
      }
      let base = try state.withLock { state throws(StoreError) in
        try loadSpace(&state)
        state.space.ledger.hold(state.newest.head.version, .pin)
        return state.newest.head
      }
      return FileWriter(store: self, base: base)
    } catch {
      writers.leave()
      throw error
    }
  }

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

  func ensureWritable() throws(StoreError) {
    try state.withLock { state throws(StoreError) in
      try ensureOpen(state)
      if state.isPoisoned { throw .poisoned(path: path) }
    }
  }
}
