import CambiumCore
import CambiumStoreKit

/// Who may write: one store at a time, of all processes on all machines.
///
/// The lock of the cluster says who may try; it ends by itself when its holder does not renew it. The epoch in
/// the root says who may commit: whoever takes the lock raises it, so that a swap of an earlier owner,
/// however late, finds another token. Pages that an earlier owner still writes lie in addresses that it had
/// reserved, and behind these the next one begins.
extension ClusterStore {
  /// Becomes the owner of the writer lock, unless this store is; called by who has the writer lock of this
  /// process.
  ///
  /// Waits for as long as another machine renews its lock.
  func own() throws(StoreError) {
    while true {
      if try isOwner() { return }
      let taken = try takeLock()
      beginSwap()
      defer { endSwap() }
      if try takeRoot(taken) { return }
    }
  }

  /// Whether this store is the owner, and its lock has not ended: then others may have written.
  private func isOwner() throws(StoreError) -> Bool {
    let lease = Int64(options.writerLeaseSeconds) * 1_000_000_000
    let (isOwner, isLapsed, last) = state.withLock { state in
      let renewed = state.ownership.map { $0.renewed ?? .min }
      return (
        renewed != nil, renewed.map { $0 == .min || now - $0 >= lease } ?? false,
        state.pending.last?.record.head.version
      )
    }
    if isOwner, isLapsed {
      if let last { try replicate(through: last) }
      state.withLock { $0.ownership = nil }
      return false
    }
    return isOwner
  }

  /// The request that takes the lock of the cluster, or renews it.
  var lockRequest: ObjectRequest {
    .lock(
      name: ObjectName.writer, holder: ownerName, isShared: false,
      seconds: options.writerLeaseSeconds)
  }

  /// Takes the lock of the cluster; when that began.
  private func takeLock() throws(StoreError) -> Int64 {
    var pause: Int64 = 1_000_000
    var unknownSince: Int64?
    while true {
      let begin = now
      do throws(ObjectFailure) {
        _ = try storage.perform(lockRequest)
        return begin
      } catch {
        switch error {
        case .busy:
          unknownSince = nil
          storage.start(.hint(.wanted), ObjectCall())
        case .unknown(let reason):
          let begin = unknownSince ?? now
          unknownSince = begin
          guard now - begin < client.timeoutNanoseconds else {
            throw .unreachable(path: path, operation: "lock", reason: reason)
          }
        default: throw client.error(error, "lock")
        }
      }
      _ = try withOpenState { $0.isPoisoned }
      storage.sleep(nanoseconds: pause)
      pause = min(2 * pause, 100_000_000)
    }
  }

  /// Raises the epoch in the root; false when another machine was quicker.
  private func takeRoot(_ taken: Int64) throws(StoreError) -> Bool {
    try readRoot()
    let old = state.withLock { $0.header }
    var header = old
    header.token.epoch += 1
    header.token.generation += 1
    header.token.owner = jobs.ownerNumber
    header.holder = ownerName
    // The last owner may still write below the address up to which it had reserved.
    let first = old.isReleased ? old.reservedEnd : layout.roundUp(old.reservedEnd)
    guard first < 1 << 47 else {
      throw .exhausted(what: "addresses for pages", limit: 1 << 47)
    }
    header.reservedEnd = reservedEnd(after: first)
    header.isReleased = false
    do throws(StoreError) {
      try swap(to: header, .write([(reader.headerOffset, header.bytes)]), nil)
    } catch {
      guard case .ownershipLost = error else { throw error }
      return false
    }
    let table = try loadTable(header)
    state.withLock { state in
      state.header = header
      state.nextAddress = first
      state.copiedEnd = log.firstAddress ?? header.nextAddress
      state.isWanted = false
      state.ownership = Ownership(
        table: table, begun: now, renewed: taken, needsSweep: !old.isReleased, firstAddress: first)
    }
    collectSoon()
    return true
  }

  /// The table of the blocks, as of the newest version in the root that `header` is of; the root does not
  /// change meanwhile.
  func loadTable(_ header: RootHeader) throws(StoreError) -> BlockTable {
    guard let image = try reader.read(after: nil) else {
      throw .damaged(Damage(.head, "the root of '\(path)' cannot be read"))
    }
    guard image.header.token == header.token else { throw .ownershipLost(path: path) }
    return try table(of: image)
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
    let name = ObjectName.space(record)
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

  /// Gives the writer lock away if another machine waits for it and this one has had its turn; called by who
  /// has the writer lock of this process.
  func giveTurn() {
    let isTurn = state.withLock { state in
      guard state.isWanted, let ownership = state.ownership else { return false }
      return now - ownership.begun >= Int64(options.turnSeconds * 1e9)
    }
    // What fails here fails again for who writes next, and is thrown there.
    if isTurn { try? giveBack() }
  }

  /// The same when nobody writes; called when another machine says that it waits.
  func giveTurnIfIdle() -> Int64? {
    let begun = state.withLock { state -> Int64? in
      guard let ownership = state.ownership, !state.isClosed else { return nil }
      state.isWanted = true
      return ownership.begun
    }
    guard let begun else { return nil }
    let turn = begun + Int64(options.turnSeconds * 1e9)
    if now < turn { return turn }
    guard writers.tryAcquire() else { return nil }
    giveTurn()
    writers.release()
    return nil
  }

  /// Makes everything published durable and gives the writer lock back.
  func giveBack() throws(StoreError) {
    try replicate(through: state.withLock { $0.pending.last?.record.head.version ?? 0 })
    beginSwap()
    defer { endSwap() }
    let (old, ownership, nextAddress) = state.withLock { ($0.header, $0.ownership, $0.nextAddress) }
    guard let ownership else { return }
    if !ownership.hasLateOperations {
      // Nothing is under way, so that the next owner can go on right behind.
      var header = old
      header.token.generation += 1
      header.isReleased = true
      header.reservedEnd = nextAddress
      try swap(to: header, .write([(reader.headerOffset, header.bytes)]), nil)
      state.withLock { $0.header = header }
    }
    state.withLock { state in
      state.ownership = nil
      state.isWanted = false
    }
    _ = storage.perform([.unlock(name: ObjectName.writer, holder: ownerName)])
  }
}
