import CambiumCore

/// Small commits in a row: pages, record and head are one write, where the head before says.
extension FileWriter {
  /// Where a head may lie, and what was durable when that was found out.
  struct HeadPlace {
    var extent: Extent
    var mark: DurableMark
  }

  /// Takes the block that the durable head names for the next head, and begins the first run behind
  /// it if there is room; false when it names none, or the block is taken.
  ///
  /// The block is kept for head and record, so that pages begin at a block.
  func beginChainedRun(byteCount: Int) -> Bool {
    guard seeksHeadPlace else { return false }
    seeksHeadPlace = false
    if rebuildsFreeMap { return false }
    let limit = store.options.chainLimit
    let usableBlockCount = usableBlockCount
    let place = store.books.withLock { books -> HeadPlace? in
      let mark = books.heldMark
      guard mark.next >= store.sector.firstBlock, mark.version == base.version,
        mark.version - mark.slotVersion < limit,
        books.space.reserve(
          byteCount: byteCount, behindFrontAt: mark.next, endingBefore: usableBlockCount),
        let extent = books.space.allocateInFront(unitCount: Self.headUnitCount)
      else { return nil }
      return HeadPlace(extent: extent, mark: mark)
    }
    guard let place else { return false }
    headPlace = place
    allocations.append(place.extent)
    metadataUnitCount += place.extent.unitCount
    store.buffer.begin(withBlockAt: place.extent.byteOffset)
    return true
  }

  private static let headUnitCount = Extent.unitCount(forByteCount: FileLayout.sectorByteCount)

  /// Room in the block of the head, if there is one.
  func allocateInFront(byteCount: Int) -> Extent? {
    let unitCount = Extent.unitCount(forByteCount: byteCount)
    let extent = store.books.withLock { $0.space.allocateInFront(unitCount: unitCount) }
    if let extent { allocations.append(extent) }
    return extent
  }

  /// Gives the room of the head back: it goes into a slot, or is not stored.
  func leaveHeadPlace() {
    seeksHeadPlace = false
    guard let place = headPlace else { return }
    headPlace = nil
    if allocations.remove(place.extent) {
      metadataUnitCount -= place.extent.unitCount
      store.books.withLock { $0.space.takeBack(place.extent) }
    }
  }

  /// Commits with a chained head; nil, and nothing was done, when the commit is too large or the
  /// chain has ended meanwhile.
  func commitChained(root: TreeRoot, metadata: [UInt8]) throws(StoreError) -> Pin? {
    if seeksHeadPlace { _ = beginChainedRun(byteCount: 0) }
    guard let place = headPlace,
      Int(allocations.unitCount) * Extent.unitByteCount <= store.options.largestSingleSyncByteCount
    else { return nil }
    let pin = try store.withSlots { () throws(StoreError) -> Pin? in
      try store.ensureWritable()
      guard store.state.withLock({ $0.mark }) == place.mark else { return nil }
      return try commit(
        root: root, metadata: metadata, isFollowed: true
      ) { outcome throws(StoreError) in
        try publishChained(outcome, place)
      }
    }
    if pin != nil { store.scheduleSettling() }
    return pin
  }

  /// Writes what was gathered with the head before it, syncs, and installs the commit.
  private func publishChained(
    _ prepared: Outcome, _ place: HeadPlace
  ) throws(StoreError) -> Pin {
    var outcome = prepared
    outcome.head.sequence = place.mark.sequence
    outcome.head.durable = place.mark.version
    outcome.head.link = place.mark.link
    let (stored, link) = outcome.head.storedWithLink(
      in: store.sector, at: HeadSector.place(atByte: place.extent.byteOffset))
    // Before the head is written, so that a full medium is found out in time.
    try store.growAhead(
      to: outcome.head.byteCount + FileLayout.blockByteCount, usesSpare: isShrinking())
    putHead(stored, place.extent)
    store.announceHead(holdsWriterLock: true)
    do throws(StoreError) {
      try flush()
    } catch {
      try? store.eraseHead(at: place.extent)
      throw error
    }
    try store.syncDevice()
    var mark = place.mark
    mark.version = version
    mark.next = outcome.head.next
    mark.link = link
    return store.installDurable(outcome, self, mark)
  }

  /// Puts the head into its block, which is written last.
  private func putHead(_ stored: [UInt8], _ extent: Extent) {
    let isGathered = stored.withUnsafeBytes {
      store.buffer.replace($0, at: extent.byteOffset)
    }
    precondition(isGathered, "The block of a head was written before its head was known.")
  }
}

extension FileStore {
  /// Takes a head back that may have been written although its commit failed.
  ///
  /// A crash could bring that commit back otherwise. The store is poisoned when this fails.
  fileprivate func eraseHead(at extent: Extent) throws(StoreError) {
    let nothing = [UInt8](repeating: 0, count: FileLayout.sectorByteCount)
    do throws(StoreError) {
      try device.perform(path: path) { device throws(DeviceError) in
        try device.write(nothing, at: extent.byteOffset)
      }
    } catch {
      poison()
      throw error
    }
    try syncDevice()
    memory.headWriter = nil
  }
}
