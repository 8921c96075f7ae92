import CambiumCore
import CambiumStoreKit
import Synchronization

/// Knowing which space is free, when others write too.
///
/// A store reads the top of the free map once and then follows the records of all commits, its own and
/// others'. What is pending follows from the records and from the versions that are held.
extension FileStore {
  /// Runs `body` with what is known of the free space in the newest version, without the writer lock.
  ///
  /// It runs again when another process has written meanwhile: that commit may have used the place of a page
  /// again. One that goes on writing is kept from it at last, for as long as `body` takes.
  func withKnownBooks<Value>(
    _ body: (inout FileBooks) throws(StoreError) -> Value
  ) throws(StoreError) -> Value {
    while true {
      if let value = try withNewestBooks(body) { return value }
      // While this store writes, maybe by the caller, no other process does. A reader that may not write takes its
      // chances, as anybody does in a store that was closed or is poisoned.
      guard !options.isReadOnly, !state.withLock({ $0.hasWriter }),
        (try? waitForWriterLock()) != nil
      else { continue }
      defer { releaseWriterLock() }
      if let value = try withNewestBooks(body) { return value }
    }
  }

  /// The same; nil when another process has written meanwhile, again and again.
  ///
  /// This store begins no write until it returns.
  private func withNewestBooks<Value>(
    _ body: (inout FileBooks) throws(StoreError) -> Value
  ) throws(StoreError) -> Value? {
    try books.withLock { books throws(StoreError) in
      for _ in 0..<8 {
        let word = try withOpenState { state throws(StoreError) in
          try followLiveHead(&state)
          return state.seenLive
        }
        do throws(StoreError) {
          try catchUp(&books)
          let value = try body(&books)
          if memory.liveWord == word { return value }
        } catch {
          if memory.liveWord == word { throw error }
        }
      }
      return nil
    }
  }

  /// Brings what is known of the free space up to the newest version.
  ///
  /// For the holder of the writer lock; others go through ``withKnownBooks(_:)``. After an error nothing is
  /// known, and the next call begins anew.
  func catchUp(_ books: inout FileBooks) throws(StoreError) {
    // Before the pins: only of a version that was superseded by then is every pin seen that it will ever have.
    let newest = state.withLock { $0.newest }
    followHeld(&books)
    guard books.version != newest.head.version else { return }
    let known = books.version
    books.version = nil
    // The records or the map may be gone; what is pending is then found out as it is at the first load.
    if known == nil || (try? replay(&books, newest, after: known ?? 0)) == nil {
      try loadSpaceOfHeld(&books, newest)
    }
    noteSpaceVersion(newest.head.version)
    books.version = newest.head.version
  }

  /// Tells the others which records this store has applied.
  func noteSpaceVersion(_ version: Version) {
    let offset = SharedLayout.Process.offset(slot) + SharedLayout.Process.spaceVersion
    unsafe memory.longWord(offset).pointee.store(version, ordering: .relaxed)
  }

  /// The oldest version at which the free space is known to somebody who will want the records since.
  ///
  /// Who lags far behind reads the free map anew.
  func oldestSpaceVersion(newest: Version) -> Version {
    var oldest = newest
    for other in 0..<SharedLayout.Process.count where other != slot {
      let offset = SharedLayout.Process.offset(other)
      guard
        unsafe memory.word(offset + SharedLayout.Process.state).pointee.load(ordering: .relaxed)
          != 0
      else { continue }
      let version = unsafe memory.longWord(offset + SharedLayout.Process.spaceVersion)
        .pointee.load(ordering: .relaxed)
      if version < oldest, newest - version < 256 { oldest = version }
    }
    return oldest
  }

  // MARK: Held versions

  /// Looks which versions are held, and frees what waited for others.
  func followHeld(_ books: inout FileBooks) {
    let pins = PinTable(memory: memory)
    let changes = pins.changes
    if books.seenPins != changes {
      pins.look(for: &books.held)
      books.seenPins = changes
    }
    // After the pins: who makes a version durable pins it until the mark says so.
    let word = memory.durableWord
    if books.seenDurable != word, let mark = memory.durableMark {
      books.heldMark = mark
      books.seenDurable = word
    }
    guard books.version != nil else { return }
    let (held, mark) = (books.held, books.heldMark)
    books.space.keepPins { versions in FileBooks.isHeld(versions, held, mark) }
    books.releaseMetadata()
    if let deferred = books.deferredFreeEnd,
      !held.contains(where: { $0.lowerBound < deferred }),
      mark.version >= deferred
    {
      books.deferredFreeEnd = nil
      books.space.blocks.allocationFloor = sector.firstBlock
    }
  }

  /// At the first write, and now and then when an old version is held: whether who holds it is still
  /// alive.
  func checkLiveness(_ books: inout FileBooks, newest: Version) {
    books.writesSinceLivenessCheck += 1
    if books.version != nil {
      guard books.writesSinceLivenessCheck >= 64,
        books.held.contains(where: { $0.lowerBound < newest })
      else { return }
    }
    if ProcessTable(memory: memory).clearDead(besides: slot) { books.writesSinceLivenessCheck = 0 }
  }

  // MARK: Loading

  /// Runs `body`, for the running write, with what is known of the free space; what it says of pages of the
  /// free map that cannot be read becomes the error that tells what to do.
  func withMap<Value>(
    _ body: (inout FileBooks) throws(StoreError) -> Value
  ) throws(StoreError) -> Value {
    try books.withLock { books throws(StoreError) in
      do throws(StoreError) {
        return try body(&books)
      } catch {
        throw freeMapError(error, books.directory.page)
      }
    }
  }

  /// The pages of the free map.
  var mapPages: FreeMapPages { FreeMapPages(identity: sector, device: device, path: path) }

  /// Reads the free map and the records since, again if pins have changed meanwhile: one that came too
  /// late shows for a moment, and nothing is true of its version.
  private func loadSpaceOfHeld(
    _ books: inout FileBooks, _ newest: HeadSector
  ) throws(StoreError) {
    var triesLeft = 8
    while true {
      do throws(StoreError) {
        return try loadSpace(&books, newest)
      } catch {
        triesLeft -= 1
        guard triesLeft > 0, PinTable(memory: memory).changes != books.seenPins else { throw error }
        followHeld(&books)
      }
    }
  }

  /// Reads the top of the free map and the records since.
  ///
  /// Throws `StoreError.damaged(_:)` with rule `freeMap` when they cannot be read or contradict
  /// each other.
  private func loadSpace(_ books: inout FileBooks, _ newest: HeadSector) throws(StoreError) {
    do throws(StoreError) {
      try readSpace(&books, newest)
    } catch {
      throw freeMapError(error, newest.record)
    }
  }

  /// What is said of damage to the free map.
  func freeMapError(_ error: StoreError, _ reference: PageReference) -> StoreError {
    guard let damage = error.damage(at: reference), damage.rule != .freeMap else { return error }
    return .damaged(
      Damage(
        .freeMap, at: damage.reference,
        "The free map of '\(path)' is damaged, so that it can be read but not written "
          + "(\(damage)). Run 'cambium verify \(path) --repair' to rebuild it"))
  }

  private func readSpace(_ books: inout FileBooks, _ newest: HeadSector) throws(StoreError) {
    books.isOfOlderFormat = newest.freeMap.rawKind == FileLayout.Kind.oldDirectory
    if books.isOfOlderFormat {
      books.space = Space(firstBlock: sector.firstBlock)
      books.space.ledger.hold(newest.head.version, .store)
      return
    }
    let directory = try FreeMapDirectory(newest.freeMap, mapPages)
    let fileByteCount = state.withLock { $0.fileByteCount }
    guard newest.byteCount <= fileByteCount else {
      throw .truncated(path: path, byteCount: fileByteCount, expected: newest.byteCount)
    }
    guard directory.version <= newest.head.version else {
      throw .damaged(Damage(.bounds, at: directory.page, "the free map's directory"))
    }
    let records = try recordChain(from: newest, after: directory.retired).reversed()
    var blocks: BlockMap
    if let stored = directory.map {
      blocks = BlockMap(firstBlock: sector.firstBlock, stored, from: mapPages)
    } else {
      blocks = BlockMap(firstBlock: sector.firstBlock, from: mapPages)
    }
    for record in records where record.version > directory.version {
      try apply(record, to: &blocks, isLoading: true)
    }
    // The file may have become shorter since the map was stored.
    blocks.trimTail()
    guard blocks.blockCount <= newest.blockCount else {
      throw .damaged(
        Damage(.bounds, at: newest.record, "more is in use than the newest head has blocks"))
    }
    blocks.extend(toBlockCount: newest.blockCount)
    guard blocks.hasPlausibleCounts else { throw directory.wrongCount }
    books.space = Space(blocks)
    books.directory = directory
    books.records = records.map(FileBooks.LiveRecord.init)
    try fileWhatIsPending(&books, newest.head.version, Array(records))
  }

  /// Finds out what held versions older than the newest one still see.
  ///
  /// The records tell, and the lists that were made of them. Where an entry stands for a range it is
  /// not known which versions were held at which time: then no block of the file as it is now is given
  /// out until that range is let go.
  private func fileWhatIsPending(
    _ books: inout FileBooks, _ newest: Version, _ records: [CommitRecord]
  ) throws(StoreError) {
    let old = books.heldVersions(before: newest)
    books.deferredFreeEnd = nil
    guard books.holdsSingleVersions else {
      // Everything that any version saw while it was held lies below the newest head's mark.
      books.space.blocks.allocationFloor = books.space.blocks.blockCount
      books.deferredFreeEnd = newest
      books.space.ledger.hold(newest, .store)
      return
    }
    for version in old { books.space.ledger.pinOnce(version) }
    books.space.ledger.hold(newest, .store)
    guard let oldest = old.first else { return }
    for page in books.directory.waiting where page.versions.upperBound >= oldest {
      for entry in try page.read(mapPages)
      where books.space.ledger.take(entry.dead, freed: entry.freed) {
        guard try hold(entry.dead.extent, &books.space.blocks) else {
          throw .damaged(Damage(.count, at: page.reference, "a list of waiting extents"))
        }
      }
    }
    let reusable = books.heldMark.version
    for record in records where record.version > oldest {
      for dead in record.freed {
        if dead.born == record.version {
          if record.version <= reusable { continue }
          books.space.ledger.takeMetadata(dead.extent, freed: record.version)
        } else if !books.space.ledger.take(dead, freed: record.version) {
          continue
        }
        guard try hold(dead.extent, &books.space.blocks) else {
          throw contradiction(record, dead.extent)
        }
      }
    }
  }

  /// Notes that an extent is in use; false when it cannot be.
  private func hold(_ extent: Extent, _ blocks: inout BlockMap) throws(StoreError) -> Bool {
    guard blocks.contains(extent) else { return false }
    try blocks.load(extent)
    guard blocks.canHold(extent) else { return false }
    blocks.hold(extent)
    return true
  }

  // MARK: Following

  /// Applies the records of the versions after `known`, as if this store had committed them.
  private func replay(
    _ books: inout FileBooks, _ newest: HeadSector, after known: Version
  ) throws(StoreError) {
    // Where the map was stored anew meanwhile, the pages that this store knows are no longer there.
    guard books.holdsSingleVersions, known < newest.head.version,
      newest.freeMap == books.directory.page
    else { throw .versionGone(known) }
    let records = try recordChain(from: newest, after: known).reversed()
    books.space.blocks.extend(toBlockCount: newest.blockCount)
    var previous = known
    for record in records {
      guard try record.previousVersion() == previous else { throw .versionGone(known) }
      try apply(record, to: &books.space.blocks, isLoading: false)
      books.publish(version: record.version, after: previous, freed: record.freed)
      previous = record.version
      books.records.append(FileBooks.LiveRecord(record))
    }
  }

  // MARK: Records

  /// The records of the versions of the file above `version`, newest first.
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
      expected = try record.previousVersion()
    }
    return records
  }

  /// What the latest commits were given, from their records.
  public func metadata(
    from first: Version, through pin: Pin
  ) throws(StoreError) -> [CommitMetadata]? {
    let last = pin.head.version
    if first > last { return [] }
    let (newest, small) = try withOpenState { state throws(StoreError) in
      try followLiveHead(&state)
      return (state.newest, state.smallCommits)
    }
    // Whoever lags far behind has other things to read.
    guard first > 0, last - first < 4 * Version(CommitMetadata.keptCount) else { return nil }
    var found = small.filter { (first...last).contains($0.version) }
    if found.count != Int(last - first) + 1 {
      // Those that were given up are gone sooner or later; of what is there nothing is taken unchecked.
      guard
        newest.head.version - min(first, newest.head.version) < 4
          * Version(CommitMetadata.keptCount),
        let records = try? recordChain(from: newest, after: first - 1)
      else { return nil }
      let known = Set(found.map(\.version))
      for commit in records.flatMap(\.commits)
      where (first...last).contains(commit.version) && !known.contains(commit.version) {
        found.append(commit)
      }
      found.sort { $0.version < $1.version }
    }
    return found.count == Int(last - first) + 1 ? found : nil
  }

  /// Brings the counts, which are those of the version before, up to date with `record`.
  ///
  /// While the map `isLoading` nobody is known yet who holds what was freed, and the file may have been longer at that
  /// version than it is now.
  private func apply(
    _ record: CommitRecord, to blocks: inout BlockMap, isLoading: Bool
  ) throws(StoreError) {
    for dead in record.freed {
      guard blocks.contains(dead.extent) else { throw contradiction(record, dead.extent) }
      try blocks.load(dead.extent)
      guard blocks.removeReachable(dead.extent, record.version) else {
        throw contradiction(record, dead.extent)
      }
      if isLoading { blocks.letGo(dead.extent) }
    }
    for extent in record.allocated.map(\.extent) + record.parts.map(\.extent) {
      if isLoading {
        let end = extent.end / UInt64(BlockMap.unitsPerBlock) + 1
        guard end < UInt64(HeadSector.blockLimit) else { throw contradiction(record, extent) }
        blocks.extend(toBlockCount: Int(end))
      }
      guard try hold(extent, &blocks), blocks.addReachable(extent, record.version) else {
        throw contradiction(record, extent)
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
