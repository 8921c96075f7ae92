import CambiumCore

/// Making small commits durable through the log in the file. All that writes runs under the slots' lock.
extension FileStore {
  /// How far the log in the file has got that follows `newest`.
  private func tail(_ newest: HeadSector, _ mark: DurableMark) -> StoredLog.Tail {
    guard let tail = mark.log, tail.base == newest.head.version else {
      return StoredLog.Tail(following: newest)
    }
    return tail
  }

  /// What is known to be durable, as all know it.
  private func currentMark() -> DurableMark {
    let (mark, seen) = state.withLock { ($0.mark, $0.seenSlots) }
    return memory.durableWord == seen ? mark : memory.durableMark ?? mark
  }

  /// Whether there is a log in the file for small commits that follow its newest version, and room in it for what
  /// they have left in memory and for a record of `byteCount` bytes more, in whichever batches; for the holder of the
  /// writer lock.
  func mayStoreInLog(_ byteCount: Int) -> Bool {
    guard memory.condition == .clean else { return false }
    let (newest, end) = state.withLock { ($0.newest, $0.logged?.end ?? 0) }
    guard let extent = newest.log else { return false }
    let tail = tail(newest, currentMark())
    let pending = max(0, end - tail.byteCount)
    var needed = StoredLog.blockCount(ofBatch: pending + byteCount)
    // Who syncs for others may write what is pending meanwhile, in two batches at most: one that is on its way, and one of
    // the rest. Each has its own header and its own last block.
    if pending > 0 { needed += 3 }
    return tail.blockCount + needed <= StoredLog(extent).blocks.count
  }

  /// Whether the newest version of the file is durable, so that commits may follow it in the log.
  var isFileVersionDurable: Bool {
    currentMark().version == state.withLock { $0.newest.head.version }
  }

  /// Writes and syncs a batch of `records` behind `tail`, shows `version` by `show`, and says that it is durable.
  private func store(
    _ records: [UInt8], making version: Version, _ newest: HeadSector, _ tail: StoredLog.Tail,
    holdsWriterLock: Bool, show: (inout FileState) -> Void
  ) throws(StoreError) {
    guard let extent = newest.log else { preconditionFailure("The newest head names no log.") }
    let (stored, next) = StoredLog.batch(
      records, making: version, epoch: newest.head.epoch, behind: tail, in: sector)
    announceHead(holdsWriterLock: holdsWriterLock)
    let offset = StoredLog(extent).byteOffset(behind: tail)
    do throws(StoreError) {
      try device.perform(path: path) { device throws(DeviceError) in
        try device.write(stored, at: offset)
      }
    } catch {
      // A crash could bring it back.
      try endStoredLog()
      memory.headWriter = nil
      throw error
    }
    try syncDevice()
    books.withLock { books in
      books.heldMark = state.withLock { state in
        show(&state)
        var mark = state.mark
        mark.log = next
        publish(mark, &state)
        return mark
      }
      // Nobody changes the mark before the slots' lock is released.
      books.seenDurable = memory.durableWord
    }
  }

  /// Makes `version` durable, whose `record` follows what is in memory, and then shows it by `show`; for the holder of
  /// the writer lock, who has found room for it.
  func storeInLog(
    _ record: [UInt8], making version: Version, show: (inout FileState) -> Void
  ) throws(StoreError) {
    try withSlots { () throws(StoreError) in
      try ensureWritable()
      let (newest, logged) = state.withLock { ($0.newest, $0.logged) }
      // What others have made durable has to be known, so that nothing is written over it.
      guard let mark = memory.durableMark, mark.version == newest.head.version else {
        throw .damaged(
          Damage(.head, "what is durable cannot be read in \(SharedMemory.path(for: path))"))
      }
      let tail = tail(newest, mark)
      let former = try records(behind: tail, logged, following: newest).bytes
      guard former.count + record.count <= byteLimit(behind: tail, newest) else {
        throw .exhausted(what: "the log of small commits", limit: SharedLayout.logByteCount)
      }
      try store(
        former + record, making: version, newest, tail, holdsWriterLock: true, show: show)
    }
  }

  /// How many bytes of records a batch behind `tail` may have, in the log that `newest` names; 0 where there is none.
  private func byteLimit(behind tail: StoredLog.Tail, _ newest: HeadSector) -> Int {
    guard let extent = newest.log else { return 0 }
    let left = StoredLog(extent).blocks.count - tail.blockCount
    return min(
      StoredLog.recordByteCount(inBlocks: left), SharedLayout.logByteCount - tail.byteCount)
  }

  /// Makes durable what small commits have left in memory, which are published, by one batch; under the slots' lock,
  /// without the writer lock.
  ///
  /// It writes as many of them as the log has room for, none where there is no log. False where the version of the file
  /// that they follow is not durable: it has been published meanwhile.
  func storeLoggedInLog() throws(StoreError) -> Bool {
    while true {
      let (live, logged) = try state.withLock { state throws(StoreError) in
        try followLiveHead(&state)
        return (SharedMemory.Live(word: state.seenLive, head: state.newest), state.logged)
      }
      guard usesStoredLog, memory.condition == .clean, let mark = memory.durableMark else {
        return true
      }
      guard mark.version == live.head.head.version else { return false }
      guard let logged else { return true }
      let tail = tail(live.head, mark)
      let limit = byteLimit(behind: tail, live.head)
      // What cannot be read is stored with the pages, which this store has in memory.
      let records = try? records(
        behind: tail, logged, following: live.head, byteLimit: limit)
      // A version of the file that was published meanwhile has begun the log in memory anew.
      guard memory.isFollowed(live, sector) else { continue }
      guard let records, !records.bytes.isEmpty else { return true }
      try store(
        records.bytes, making: records.version, live.head, tail, holdsWriterLock: false
      ) { _ in }
      return true
    }
  }

  /// The records that are in memory and that the log of the file does not have, `byteLimit` bytes of them at most, and
  /// the version that they make; each is looked at.
  private func records(
    behind tail: StoredLog.Tail, _ logged: FileState.Logged?, following newest: HeadSector,
    byteLimit: Int = .max
  ) throws(StoreError) -> (bytes: [UInt8], version: Version) {
    let log = SharedLog(memory: memory)
    var (version, end) = (tail.version, tail.byteCount)
    let last = logged?.head.version ?? newest.head.version
    var isWhole = true
    while version < last {
      guard let found = log.record(of: version + 1, after: newest.head.version, at: end) else {
        isWhole = false
        break
      }
      if found.end - tail.byteCount > byteLimit { break }
      (version, end) = (version + 1, found.end)
    }
    guard isWhole, version < last || end == logged?.end ?? 0,
      let records = log.bytes(tail.byteCount..<end)
    else {
      throw .damaged(Damage(.head, "the records of small commits in '\(memory.path)'"))
    }
    return (records, version)
  }

  /// Sees to it that nothing follows what is known of the log in the file.
  ///
  /// Somebody may have died over a batch of which nobody knows. Where it `writesAgain`, what is known is written again
  /// for the next sync, since a failed one may have lost what the file shows, and the beginning of a torn batch is taken
  /// away.
  /// When a write or a sync fails, the store is poisoned.
  func endStoredLog(writesAgain: Bool = false) throws(StoreError) {
    let (newest, mark, logged) = try state.withLock { state throws(StoreError) in
      try followLiveHead(&state)
      return (state.newest, state.mark, state.logged)
    }
    var tail = tail(newest, mark)
    // Otherwise the log is still that of the durable version.
    guard let extent = newest.log, mark.version == tail.base || tail.blockCount > 0 else { return }
    let log = StoredLog(extent)
    let found = try StoredLog.tail(following: newest, identity: sector, device: device, path: path)
    if found.blockCount < tail.blockCount
      || found.blockCount == tail.blockCount && found.link != tail.link
    {
      // Something is damaged there. What is missing is in memory, and goes into the next batch or is stored.
      guard logged?.end ?? 0 >= tail.byteCount else {
        throw .damaged(Damage(.head, "the log behind version \(newest.head.version)"))
      }
      tail = found
      state.withLock { $0.mark.log = found }
    }
    let start = log.byteOffset(behind: StoredLog.Tail(following: newest))
    let count = writesAgain ? tail.blockCount * FileLayout.blockByteCount : 0
    let known = count > 0 ? try device.readPage(at: start, byteCount: count, path: path) : nil
    let isFollowed = found.blockCount > tail.blockCount
    var endsBeginning = isFollowed
    if !isFollowed, writesAgain {
      endsBeginning = try log.hasBeginning(behind: tail, device: device, path: path)
    }
    do throws(DeviceError) {
      if let known { try unsafe device.write(known.page.buffer, at: start) }
      if endsBeginning {
        let zeros = [UInt8](repeating: 0, count: FileLayout.blockByteCount)
        try device.write(zeros, at: log.byteOffset(behind: tail))
      }
    } catch {
      poison()
      throw StoreError(error, path: path)
    }
    // Before anything else is: it would be found behind that as well.
    if isFollowed { try syncDevice() }
  }
}

extension FileWriter {
  /// Makes the file longer where it lacks the room that the next small commits need to leave their pages in memory.
  ///
  /// Pages that fill holes do not reach there. On a full medium it stays as it is.
  func makeRoomInMemory() throws(StoreError) {
    guard lacksRoom, mayUseLog, !isBulk else { return }
    let end = store.state.withLock { $0.newest.byteCount }
    do throws(StoreError) {
      try store.growAhead(to: end, left: 0)
    } catch .mediumFull {}
  }

  /// Where the log lies for the commits that follow this one; nil for none.
  ///
  /// It gets a place when a commit would have used it, another one when the file has outgrown it, and one before its own
  /// when the file is to end there. Where there is no room it is left as it is.
  func placeOfLog() throws(StoreError) -> Extent? {
    let (present, used) = store.state.withLock { ($0.newest.log, $0.newest.byteCount) }
    let limit = store.options.storedLogByteCount
    let wanted = min(limit, max(128 << 10, used / 16)) / FileLayout.blockByteCount
    if let present, store.options.maximumByteCount != nil, store.canHardlyGrow(used) {
      // Nothing stays in memory so near the limit: the room is of better use.
      giveUp(present)
      return nil
    }
    let isBehindEnd = present.map { relocation?.contains($0) ?? false } ?? false
    // Whole blocks of it are used.
    let byteCount = (wanted + 1) * FileLayout.blockByteCount - Extent.unitByteCount
    let isTooSmall =
      wantsLog && !store.canHardlyGrow(used + byteCount)
      && (present.map { StoredLog($0).blocks.count * 2 <= wanted } ?? true)
    guard wanted > 0, isTooSmall || isBehindEnd else { return present }
    var extent: Extent?
    do throws(StoreError) {
      let place = try allocate(byteCount: byteCount, isMetadata: true)
      extent = place
      // It moves at no cost: any place before its own lets the file end sooner, though pages leave none before the end.
      if isTooSmall || present.map({ place.end <= $0.address }) ?? true {
        // No hole may be left there: who fills one waits for the medium's own books, too, or finds it full.
        try store.growAhead(
          to: place.byteOffset + place.byteCount, left: leftByteCount)
        if let present { giveUp(present) }
        return place
      }
    } catch {
      switch error {
      case .mediumFull, .sizeLimitReached: break
      default: throw error
      }
    }
    if let extent { takeBack(extent) }
    return present
  }
}
