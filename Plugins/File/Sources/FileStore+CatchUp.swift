import CambiumCore
import Synchronization

/// Knowing which space is free, when others write too.
///
/// A store reads the free map once and then follows the records of all commits, its own and others'.
/// What is pending follows from the records and from the versions that are held.
extension FileStore {
  /// Brings what is known of the free space up to the newest version, without the writer's turn.
  func knowSpace(_ state: inout FileState) throws(StoreError) {
    if state.isWriting { return }
    while true {
      try followLiveHead(&state)
      let word = state.seenLive
      do throws(StoreError) {
        try catchUp(&state)
        if memory.liveWord == word { return }
      } catch {
        // A commit may have used the place of a record again while it was being read.
        if memory.liveWord == word { throw error }
      }
    }
  }

  /// Brings what is known of the free space up to the newest version.
  ///
  /// For the holder of the writer's turn; others must look whether the newest version has changed
  /// meanwhile. After an error nothing is known, and the next call begins anew.
  func catchUp(_ state: inout FileState) throws(StoreError) {
    followHeld(&state)
    guard state.spaceVersion != state.newest.head.version else { return }
    if let known = state.spaceVersion {
      state.spaceVersion = nil
      // The records may be gone; what is pending is then found out as it is at the first load.
      if (try? replay(&state, after: known)) == nil { try loadSpaceOfHeld(&state) }
    } else {
      try loadSpaceOfHeld(&state)
    }
    noteSpaceVersion(state.newest.head.version)
    state.spaceVersion = state.newest.head.version
  }

  /// Tells the others which records this store has applied.
  func noteSpaceVersion(_ version: Version) {
    let offset = SharedLayout.Process.offset(slot) + SharedLayout.Process.spaceVersion
    memory.longWord(offset).pointee.store(version, ordering: .relaxed)
  }

  /// The oldest version at which the free space is known to somebody who will want the records since.
  ///
  /// Who lags far behind reads the free map anew.
  func oldestSpaceVersion(newest: Version) -> Version {
    var oldest = newest
    for other in 0..<SharedLayout.Process.count where other != slot {
      let offset = SharedLayout.Process.offset(other)
      guard memory.word(offset + SharedLayout.Process.state).pointee.load(ordering: .relaxed) != 0
      else { continue }
      let version = memory.longWord(offset + SharedLayout.Process.spaceVersion)
        .pointee.load(ordering: .relaxed)
      if version < oldest, newest - version < 256 { oldest = version }
    }
    return oldest
  }

  // MARK: Held versions

  /// Looks which versions are held, and frees what waited for others.
  func followHeld(_ state: inout FileState) {
    let pins = PinTable(memory: memory)
    let changes = pins.changes
    if state.seenPins != changes {
      state.held = pins.held()
      state.seenPins = changes
    }
    // After the pins: who makes a version durable pins it until the mark says so.
    let word = memory.durableWord
    if state.seenDurable != word, let mark = memory.durableMark {
      state.heldMark = mark
      state.seenDurable = word
    }
    guard state.spaceVersion != nil else { return }
    let (held, mark) = (state.held, state.heldMark)
    state.space.keepPins { version in FileState.isHeld(version, held, mark) }
    state.releaseOwn()
    if let deferred = state.deferredFreeEnd,
      !held.contains(where: { $0.lowerBound < deferred }),
      mark.isVolatile || mark.version >= deferred
    {
      state.deferredFreeEnd = nil
      state.space.blocks.allocationFloor = sector.firstBlock
    }
  }

  /// At the first turn, and now and then when an old version is held: whether who holds it is still
  /// alive.
  func checkLiveness(_ state: inout FileState) {
    state.writesSinceLivenessCheck += 1
    if state.spaceVersion != nil {
      guard state.writesSinceLivenessCheck >= 64,
        state.held.contains(where: { $0.lowerBound < state.newest.head.version })
      else { return }
    }
    if ProcessTable(memory: memory).clearDead(besides: slot) { state.writesSinceLivenessCheck = 0 }
  }

  // MARK: Loading

  /// Reads the free map and the records since, again if pins have changed meanwhile: one that came too
  /// late shows for a moment, and nothing is true of its version.
  private func loadSpaceOfHeld(_ state: inout FileState) throws(StoreError) {
    var triesLeft = 8
    while true {
      do throws(StoreError) {
        return try loadSpace(&state)
      } catch {
        triesLeft -= 1
        guard triesLeft > 0, PinTable(memory: memory).changes != state.seenPins else { throw error }
        followHeld(&state)
      }
    }
  }

  /// Reads the free map and the records since.
  ///
  /// Throws `StoreError.damaged(_:)` with rule `freeMap` when they cannot be read or contradict
  /// each other.
  private func loadSpace(_ state: inout FileState) throws(StoreError) {
    do throws(StoreError) {
      try readSpace(&state)
    } catch {
      guard let damage = error.damage(at: state.newest.record) else { throw error }
      throw .damaged(
        Damage(
          .freeMap, at: damage.reference,
          "The free map of '\(path)' is damaged, so that it can be read but not written "
            + "(\(damage)). Run 'cambium verify \(path) --repair' to rebuild it"))
    }
  }

  private func readSpace(_ state: inout FileState) throws(StoreError) {
    let newest = state.newest
    var directory = try FreeMapDirectory.read(
      newest.freeMap, identity: sector, device: device, path: path)
    var blocks = BlockMap(firstBlock: sector.firstBlock)
    guard newest.byteCount <= state.fileByteCount else {
      throw .truncated(path: path, byteCount: state.fileByteCount, expected: newest.byteCount)
    }
    blocks.extend(toBlockCount: newest.blockCount)
    for (index, region) in directory.regions.enumerated() where !region.page.isNone {
      let buffer = try FreeMapDirectory.checkedPage(
        region.page, rawKind: FileLayout.Kind.region, identity: sector, device: device, path: path)
      let bytes = UnsafeRawBufferPointer(start: buffer.bytes, count: buffer.byteCount)
      guard blocks.load(region: index, counts: bytes) else {
        throw .damaged(Damage(.count, at: region.page, "a page of the free map"))
      }
    }
    let records = try recordChain(from: newest, after: directory.retired).reversed()
    for record in records { try apply(record, to: &blocks, &directory) }
    blocks.adoptReachable()
    state.space = Space(firstBlock: sector.firstBlock)
    state.space.blocks = blocks
    state.directory = directory
    state.records = records.map(FileState.LiveRecord.init)
    try fileWhatIsPending(&state, Array(records))
  }

  /// Finds out what held versions older than the newest one still see.
  ///
  /// The records tell, and the lists that were made of them. Where an entry stands for a range it is
  /// not known which versions were held at which time: then no block of the file as it is now is given
  /// out until that range is let go.
  private func fileWhatIsPending(
    _ state: inout FileState, _ records: [CommitRecord]
  ) throws(StoreError) {
    let newest = state.newest.head.version
    let old = state.oldHeldVersions
    state.deferredFreeEnd = nil
    guard state.holdsSingleVersions else {
      // Everything that any version saw while it was held lies below the newest head's mark.
      state.space.blocks.allocationFloor = state.space.blocks.blockCount
      state.deferredFreeEnd = newest
      state.space.ledger.hold(newest, .store)
      return
    }
    for version in old { state.space.ledger.pinOnce(version) }
    state.space.ledger.hold(newest, .store)
    guard let oldest = old.first else { return }
    for page in state.directory.waiting where page.versions.upperBound >= oldest {
      for entry in try page.read(identity: sector, device, path: path)
      where state.space.ledger.take(entry.dead, freed: entry.freed) {
        guard state.space.blocks.canHold(entry.dead.extent) else {
          throw .damaged(Damage(.count, at: page.reference, "a list of waiting extents"))
        }
        state.space.blocks.hold(entry.dead.extent)
      }
    }
    let reusable = state.heldMark.reusableVersion
    for record in records where record.version > oldest {
      for dead in record.freed {
        if dead.born == record.version {
          if record.version <= reusable { continue }
          state.space.ledger.takeOwn(dead.extent, freed: record.version)
        } else if !state.space.ledger.take(dead, freed: record.version) {
          continue
        }
        guard state.space.blocks.canHold(dead.extent) else {
          throw contradiction(record, dead.extent)
        }
        state.space.blocks.hold(dead.extent)
      }
    }
  }

  // MARK: Following

  /// Applies the records of the versions after `known`, as if this store had committed them.
  private func replay(_ state: inout FileState, after known: Version) throws(StoreError) {
    let newest = state.newest
    guard state.holdsSingleVersions, known < newest.head.version else {
      throw .versionGone(known)
    }
    let records = try recordChain(from: newest, after: known).reversed()
    var directory = state.directory
    if newest.freeMap != directory.page {
      directory = try FreeMapDirectory.read(
        newest.freeMap, identity: sector, device: device, path: path)
      directory.adoptTouches(of: state.directory)
    }
    state.space.blocks.extend(toBlockCount: newest.blockCount)
    for record in records {
      let allocated = record.allocated.map(\.extent) + record.parts.map(\.extent)
      for dead in record.freed {
        guard state.space.blocks.removeReachable(dead.extent) else {
          throw contradiction(record, dead.extent)
        }
        directory.touch(dead.extent, version: record.version)
      }
      for extent in allocated {
        guard state.space.blocks.addReachable(extent), state.space.blocks.canHold(extent) else {
          throw contradiction(record, extent)
        }
        state.space.blocks.hold(extent)
        directory.touch(extent, version: record.version)
      }
      state.publishSpace(version: record.version, freed: record.freed)
      state.records.append(FileState.LiveRecord(record))
    }
    state.directory = directory
    state.records.removeAll { $0.version <= directory.retired }
  }

  // MARK: Records

  /// The records of the versions above `version`, newest first.
  private func recordChain(
    from newest: HeadSector, after version: Version
  ) throws(StoreError) -> [CommitRecord] {
    var records: [CommitRecord] = []
    var reference = newest.record
    var expected = newest.head.version
    while expected > version {
      guard !reference.isNone, reference.born == expected else {
        throw .damaged(
          Damage(
            .head, at: reference,
            "the record of version \(expected) is missing; the reference is of version \(reference.born), the head of \(newest.head.version)"
          ))
      }
      let record = try CommitRecord(at: reference, identity: sector, device: device, path: path)
      reference = record.previous
      records.append(record)
      expected -= 1
    }
    return records
  }

  /// What the latest commits were given, from their records.
  public func metadata(
    from first: Version, through pin: Pin
  ) throws(StoreError) -> [CommitMetadata]? {
    let last = pin.head.version
    if first > last { return [] }
    let newest = try withOpenState { state throws(StoreError) in
      try followLiveHead(&state)
      return state.newest
    }
    // Whoever lags far behind has other things to read.
    guard first > 0, newest.head.version - first < 4 * Version(CommitMetadata.keptCount),
      // Those that were given up are gone sooner or later; of what is there nothing is taken unchecked.
      let records = try? recordChain(from: newest, after: first - 1)
    else { return nil }
    return records.reversed().prefix { $0.version <= last }.map { record in
      CommitMetadata(version: record.version, epoch: record.epoch, bytes: record.metadata)
    }
  }

  /// Brings the counts of the regions that do not include it yet up to date with `record`.
  private func apply(
    _ record: CommitRecord, to blocks: inout BlockMap, _ directory: inout FreeMapDirectory
  ) throws(StoreError) {
    let changes =
      record.freed.map { ($0.extent, false) } + record.allocated.map { ($0.extent, true) }
      + record.parts.map { ($0.extent, true) }
    for (extent, isAllocated) in changes {
      guard extent.unitCount > 0,
        extent.address >= UInt64(sector.firstBlock * BlockMap.unitsPerBlock)
      else { throw contradiction(record, extent) }
      directory.touchKnown(extent, version: record.version)
      for part in blocks.partsByRegion(extent) {
        let region =
          part.region < directory.regions.count
          ? directory.regions[part.region] : FreeMapDirectory.Region()
        if record.version <= region.version { continue }
        let fits =
          isAllocated ? blocks.addReachable(part.extent) : blocks.removeReachable(part.extent)
        guard fits else { throw contradiction(record, extent) }
        directory.touch(part.extent, version: record.version)
      }
    }
  }

  private func contradiction(_ record: CommitRecord, _ extent: Extent) -> StoreError {
    .damaged(
      Damage(
        .count, at: record.parts.first,
        "the free map and the record of version \(record.version) disagree about the page at "
          + "byte \(extent.byteOffset)"))
  }
}

extension FileState {
  /// Whether `version` is held by somebody besides being the newest one.
  static func isHeld(
    _ version: Version, _ ranges: [ClosedRange<Version>], _ mark: DurableMark
  ) -> Bool {
    !mark.isVolatile && mark.version == version || ranges.contains { $0.contains(version) }
  }

  /// Whether no entry stands for a range; such a range may have any length.
  fileprivate var holdsSingleVersions: Bool {
    held.allSatisfy { $0.lowerBound == $0.upperBound }
  }

  /// The held versions before the newest one, ascending.
  fileprivate var oldHeldVersions: [Version] {
    var versions = Set(held.map(\.lowerBound))
    if !heldMark.isVolatile { versions.insert(heldMark.version) }
    return versions.filter { $0 < newest.head.version }.sorted()
  }

  /// Makes `version` the newest one in the books, in place of the one before it.
  mutating func publishSpace(version: Version, freed: [VersionLedger.Dead]) {
    if Self.isHeld(version - 1, held, heldMark) { space.ledger.pinOnce(version - 1) }
    space.publish(version: version, previous: version - 1, freed: freed)
    releaseOwn()
  }

  /// Frees pages of the store's own that no durable version needs.
  fileprivate mutating func releaseOwn() {
    space.releaseOwn(upTo: heldMark.reusableVersion)
  }
}
