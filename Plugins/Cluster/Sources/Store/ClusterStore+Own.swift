import CambiumCore
import CambiumStoreKit

/// Who may write: one store at a time, of all processes on all machines.
///
/// The lock of the cluster says who may try; it ends by itself when its holder does not renew it. The epoch in
/// the root says who may commit: whoever takes the lock raises it, so that a swap of an earlier owner,
/// however late, finds another token. Pages that an earlier owner still writes lie in addresses that it had
/// reserved, and behind these the next one begins.
extension ClusterStore {
  var leaseNanoseconds: Int64 { Int64(options.writerLeaseSeconds) * 1_000_000_000 }
  private var turnNanoseconds: Int64 { ClusterOptions.nanoseconds(options.turnSeconds) }

  /// Becomes the owner of the writer lock, unless this store is; called by who has the writer lock of this
  /// process.
  ///
  /// Waits for as long as another machine renews its lock.
  func own() throws(StoreError) {
    while true {
      // What was published and is lost: nothing can be owned any more.
      try ensureNotPoisoned()
      if try isOwner() { return }
      let number = state.withLock { state in
        state.ownershipCount += 1
        return state.ownershipCount
      }
      let taken = try takeLock(number)
      beginSwap()
      defer { endSwap() }
      do throws(StoreError) {
        if try takeRoot(number, taken) { return }
      } catch {
        unlock(number)
        throw error
      }
      unlock(number)
    }
  }

  private func ensureNotPoisoned() throws(StoreError) {
    try withOpenState { state throws(StoreError) in
      if state.isPoisoned { throw .poisoned(path: path) }
    }
  }

  /// Whether this store is the owner, and its lock has not ended: then others may have written.
  private func isOwner() throws(StoreError) -> Bool {
    let (ownership, isPending) = state.withLock { ($0.ownership, !$0.pending.isEmpty) }
    guard let ownership else { return false }
    if let renewed = ownership.renewed, now - renewed < leaseNanoseconds { return true }
    if isPending { try replicateAll() }
    giveUpOwnership(ownership.number)
    return false
  }

  /// Stops being the owner, with nothing under way: whether it still was is open.
  func giveUpOwnership(_ number: UInt64) {
    state.withLock { state in
      if state.ownership?.number == number, state.pending.isEmpty { state.ownership = nil }
    }
    unlock(number)
  }

  /// What this store calls itself as the holder of the writer lock: each time something else, so that a late
  /// operation of the last time does no harm.
  func ownerName(_ number: UInt64) -> String {
    let name = String(jobs.ownerNumber, radix: 36) + ".\(number)"
    return options.holder.isEmpty ? name : "\(options.holder).\(name)"
  }

  /// The request that takes the lock of the cluster, or renews it.
  func lockRequest(_ number: UInt64) -> ObjectRequest {
    .lock(
      name: ObjectNames.writer, holder: ownerName(number), isShared: false,
      seconds: options.writerLeaseSeconds)
  }

  /// The request that gives the lock of the cluster back.
  func unlockRequest(_ number: UInt64) -> ObjectRequest {
    .unlock(name: ObjectNames.writer, holder: ownerName(number))
  }

  /// Gives the lock of the cluster back; it ends by itself when that fails.
  func unlock(_ number: UInt64) {
    let request = unlockRequest(number)
    if case .failure(.unknown)? = storage.perform([request]).first {
      _ = storage.perform([request])
    }
  }

  /// Takes the lock of the cluster; when that began.
  private func takeLock(_ number: UInt64) throws(StoreError) -> Int64 {
    let yield = state.withLock { $0.yieldEnd }.subtractingReportingOverflow(now)
    if !yield.overflow, yield.partialValue > 0 {
      storage.sleep(nanoseconds: min(yield.partialValue, 2 * Self.longestPauseNanoseconds))
    }
    var pause: Int64 = 1_000_000
    var unknownSince: Int64?
    var isWaiting = false
    defer {
      if isWaiting {
        storage.start(
          .unlock(name: ObjectNames.waiting, holder: ownerName(number)), ObjectCall())
      }
    }
    while true {
      let begin = now
      do throws(ObjectFailure) {
        _ = try storage.perform(lockRequest(number))
        return begin
      } catch {
        switch error {
        case .busy:
          unknownSince = nil
          // The owner learns it from the hint or, where that is lost, when it renews its lock.
          storage.start(.hint(.wanted), ObjectCall())
          storage.start(
            .lock(
              name: ObjectNames.waiting, holder: ownerName(number), isShared: true,
              seconds: options.writerLeaseSeconds), ObjectCall())
          isWaiting = true
        case .unknown(let reason):
          let begin = unknownSince ?? now
          unknownSince = begin
          guard now - begin < client.timeoutNanoseconds else {
            throw .unreachable(path: path, operation: "lock", reason: reason)
          }
        default: throw client.error(error, "lock")
        }
      }
      try ensureNotPoisoned()
      storage.sleep(nanoseconds: pause)
      pause = min(2 * pause, Self.longestPauseNanoseconds)
    }
  }

  private static let longestPauseNanoseconds: Int64 = 20_000_000

  /// Raises the epoch in the root; false when another machine was quicker.
  private func takeRoot(_ number: UInt64, _ taken: Int64) throws(StoreError) -> Bool {
    try readRoot()
    let old = state.withLock { $0.header }
    var header = old
    header.token.epoch += 1
    header.token.generation += 1
    header.token.owner = jobs.ownerNumber
    // The last owner may still write below the address up to which it had reserved.
    let first = old.isReleased ? old.reservedEnd : layout.roundUp(old.reservedEnd)
    guard first < ClusterWriter.addressLimit else {
      throw .exhausted(what: "addresses for pages", limit: Int(ClusterWriter.addressLimit))
    }
    header.reservedEnd = reservedEnd(after: first)
    header.isReleased = false
    do throws(StoreError) { try swapHeader(to: header) } catch {
      guard case .ownershipLost = error else { throw error }
      return false
    }
    guard let table = try loadTable(header) else { return false }
    state.withLock { state in
      state.nextAddress = first
      state.copiedEnd = log.firstAddress ?? header.nextAddress
      state.isWanted = false
      state.ownership = Ownership(
        number: number, table: table, begun: now, renewed: taken, needsSweep: !old.isReleased,
        firstAddress: first)
    }
    collectSoon()
    return true
  }

  /// The table of the blocks, as of the newest version in the root that `header` is of; nil when the root has
  /// changed.
  private func loadTable(_ header: RootHeader) throws(StoreError) -> BlockTable? {
    guard let image = try reader.read(after: nil), image.header.token == header.token else {
      return nil
    }
    do throws(StoreError) { return try table(of: image) } catch {
      // A record that was replaced meanwhile is gone.
      guard try reader.read(after: image.header) == nil else { return nil }
      throw error
    }
  }

  /// The table that a whole state of the root leads to.
  func table(of image: RootReader.Image) throws(StoreError) -> BlockTable {
    var table = BlockTable()
    for (index, record) in image.header.spaceRecords.enumerated() {
      try table.load(try spaceRecord(record), isFirst: index == 0, path: path)
    }
    for commit in image.commits {
      try table.apply(commit.record.changes, commit.record.head.version)
    }
    return table
  }

  private func spaceRecord(_ record: SpaceRecordID) throws(StoreError) -> [UInt8] {
    let name = names.space(record)
    var bytes: [UInt8] = []
    while true {
      let range = bytes.count..<bytes.count + Self.recordPieceByteCount
      guard let piece = try client.read(name, [range], "read the space of")?.first else {
        throw .damaged(Damage(.freeMap, "A record of the space of '\(path)' is missing"))
      }
      bytes += piece.copy(0..<piece.byteCount)
      if piece.byteCount < Self.recordPieceByteCount { return bytes }
    }
  }

  private static let recordPieceByteCount = 4 << 20

  // MARK: Giving the lock to others

  /// Gives the writer lock away if another machine waits for it and this one has had its turn, or the store
  /// was closed; called by who has the writer lock of this process.
  func handOver() {
    let isTurn = state.withLock { state in
      guard let ownership = state.ownership else { return false }
      if state.isClosed { return true }
      return state.isWanted && now - ownership.begun >= turnNanoseconds
    }
    // What fails here fails again for who writes next, and is thrown there.
    if isTurn { try? releaseOwnership() }
  }

  /// The same when nobody writes; called when another machine says that it waits.
  func handOverIfIdle() -> Int64? {
    if isForked { return nil }
    let begun = state.withLock { state -> Int64? in
      guard let ownership = state.ownership, !state.isClosed else { return nil }
      state.isWanted = true
      return ownership.begun
    }
    guard let begun else { return nil }
    let turn = begun + turnNanoseconds
    if now < turn { return turn }
    guard writers.tryAcquire() else { return nil }
    handOver()
    writers.release()
    return nil
  }

  /// Makes everything published durable and gives the writer lock back; called by who has the writer lock of
  /// this process.
  private func releaseOwnership() throws(StoreError) {
    try replicateAll()
    beginSwap()
    defer { endSwap() }
    let (old, ownership, nextAddress) = state.withLock { ($0.header, $0.ownership, $0.nextAddress) }
    guard let ownership else { return }
    if !ownership.hasLateOperations, !ownership.needsSweep {
      // Nothing is under way or left over, so that the next owner can go on right behind.
      var header = old
      header.token.generation += 1
      header.isReleased = true
      header.reservedEnd = nextAddress
      try swapHeader(to: header)
    }
    state.withLock { state in
      state.ownership = nil
      // Who waits looks for the lock so often that it gets it before this process asks for it again.
      if state.isWanted { state.yieldEnd = now + 2 * Self.longestPauseNanoseconds }
      state.isWanted = false
    }
    unlock(ownership.number)
  }
}
