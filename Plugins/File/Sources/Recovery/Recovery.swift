import CambiumCore

/// Decides at which version a file opens.
///
/// Reads only what it must, and never through a mapping.
///
/// The newest slot wins. If its head is not settled, the commits between the last version that was known to be durable
/// and itself must be whole: every page that they wrote and that is still reachable, and every record; unless small
/// commits follow it in its log, which shows that it was synced. Otherwise the other slot wins. A settled head never falls
/// back: losing an acknowledged commit in silence would be worse than an error. A live head in the lock file, of this
/// boot, goes before both.
struct Recovery {
  /// The version at which the file opens.
  let newest: HeadSector
  /// What is known to be durable, and which slot holds it.
  let mark: DurableMark
  /// What must be written again before anything else is; nil after a clean close.
  let recovered: FileState.Recovered?
  /// What was passed over and why, for people.
  let notes: [String]

  /// `live` is the live head of the shared memory, if that speaks of this file and this boot, with
  /// what the memory knows to be durable.
  init(
    slots: [HeadSector?], live: HeadSector?, wasPoisoned: Bool, identity: IdentitySector,
    device: any Device, path: String, fileByteCount: Int
  ) throws(StoreError) {
    let order = slots.indices.filter { slots[$0] != nil }
      .sorted { slots[$0]?.sequence ?? 0 > slots[$1]?.sequence ?? 0 }
    guard let first = order.first, let newest = slots[first] else {
      throw .damaged(Damage(.head, "neither of the two heads can be read"))
    }
    var notes: [String] = []
    for slot in slots.indices where slots[slot] == nil {
      notes.append("The head in slot \(slot) cannot be read; the other one was used.")
    }
    let check = RecordCheck(
      identity: identity, device: device, path: path, fileByteCount: fileByteCount)
    var accepted: (head: HeadSector, slot: Int, extents: [Extent])?
    // A process may have died after it wrote a slot and before it said so.
    if let live, live.sequence == newest.sequence || live.sequence + 1 == newest.sequence,
      live.head.epoch == newest.head.epoch,
      live.head.version > newest.head.version
    {
      var live = live
      live.sequence = newest.sequence
      switch try check.verify(live) {
      case .success(let extents): accepted = (live, first, extents)
      case .failure(let error):
        notes.append("The live head of version \(live.head.version) was not used: \(error)")
      }
    }
    if accepted == nil {
      let candidates = order.compactMap { slot in slots[slot].map { ($0, slot) } }
      accepted = try Self.choose(candidates, check, &notes)
    }
    guard let (head, slot, extents) = accepted else {
      throw .damaged(Damage(.head, "neither of the two heads leads to a whole version"))
    }
    let isClean = slots.allSatisfy { $0?.isCleanCopy(of: head) ?? false }
    let sequence = slots.compactMap { $0?.sequence }.max() ?? 0
    if isClean, !wasPoisoned {
      // The slot that was written last might not be on the medium; the other one is.
      let slot = order.last ?? slot
      mark = DurableMark(
        version: head.head.version, slot: slot, sequence: sequence)
      recovered = nil
    } else {
      mark = DurableMark(
        version: head.durable, slot: slot, sequence: sequence)
      recovered = FileState.Recovered(slot: slot, extents: extents)
    }
    self.newest = head
    self.notes = notes
  }

  private static func choose(
    _ candidates: [(head: HeadSector, slot: Int)], _ check: RecordCheck,
    _ notes: inout [String]
  ) throws(StoreError) -> (head: HeadSector, slot: Int, extents: [Extent])? {
    for (head, slot) in candidates {
      try head.ensureIsLast(in: check.identity, check.device, path: check.path)
      if head.hasUnsyncedData {
        throw .leftUnfinished(
          path: check.path,
          what:
            "it holds unsynced data (durability none); delete it and start again, or let that version open it if the system was not restarted since"
        )
      }
      if head.isSettled {
        try check.checkLength(head)
        return (head, slot, [])
      }
      if try check.isFollowedInLog(head) {
        try check.checkLength(head)
        var head = head
        head.durable = head.head.version
        return (head, slot, [])
      }
      switch try check.verify(head) {
      case .success(let extents): return (head, slot, extents)
      case .failure(let error):
        notes.append("Version \(head.head.version) was cut off by a crash and dropped: \(error)")
      }
    }
    return nil
  }
}

/// Verifies records against the file.
///
/// Pointers: a checksum is taken over the bytes of a page's buffer, which the checking function holds.
struct RecordCheck {
  let identity: IdentitySector
  let device: any Device
  let path: String
  let fileByteCount: Int

  /// What the commits from `head` down to the first one after its durable version wrote and is still
  /// reachable, records included; or what is wrong with it.
  ///
  /// Throws what says nothing about the stored bytes, a refused read for example: a version that
  /// cannot be looked at now may be whole, and was perhaps acknowledged.
  func verify(_ head: HeadSector) throws(StoreError) -> Result<[Extent], StoreError> {
    do throws(StoreError) {
      return .success(try verifiedExtents(head))
    } catch {
      switch error {
      case .damaged, .truncated, .codecFailure: return .failure(error)
      default: throw error
      }
    }
  }

  /// Whether small commits follow `head` in its log: only a version that was synced is followed there.
  func isFollowedInLog(_ head: HeadSector) throws(StoreError) -> Bool {
    try StoredLog.tail(following: head, identity: identity, device: device, path: path).version
      > head.head.version
  }

  /// Throws unless the file is as long as `head` says.
  func checkLength(_ head: HeadSector) throws(StoreError) {
    guard head.byteCount <= fileByteCount else {
      throw .truncated(path: path, byteCount: fileByteCount, expected: head.byteCount)
    }
  }

  private func verifiedExtents(_ head: HeadSector) throws(StoreError) -> [Extent] {
    try checkLength(head)
    var extents: [Extent] = []
    // What later commits freed may have been used again since.
    var freed: Set<UInt64> = []
    var reference = head.record
    var version = head.head.version
    while version > head.durable {
      guard reference.born == version, !reference.isNone else {
        throw .damaged(Damage(.head, at: reference, "the record of version \(version) is missing"))
      }
      let record = try CommitRecord(at: reference, identity: identity, device: device, path: path)
      for entry in record.allocated where !freed.contains(entry.extent.address) {
        // Each batch of a log has a checksum of its own, and a head that others have replaced is not needed.
        if entry.extent != record.headExtent, entry.extent != head.log { try check(entry) }
        extents.append(entry.extent)
      }
      extents += record.parts.map(\.extent)
      for dead in record.freed { freed.insert(dead.extent.address) }
      reference = record.previous
      version = try record.previousVersion()
    }
    return extents
  }

  private func check(_ entry: CommitRecord.Allocated) throws(StoreError) {
    let page = try device.readPage(
      at: entry.extent.byteOffset, byteCount: entry.extent.byteCount, path: path)
    defer { withExtendedLifetime(page) {} }
    guard unsafe Checksum.hash(page.bytes, page.byteCount) == entry.checksum else {
      throw .damaged(
        Damage(.checksum, "the page at byte \(entry.extent.byteOffset) was not written whole"))
    }
  }
}
