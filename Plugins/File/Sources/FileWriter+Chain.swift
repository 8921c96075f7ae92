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
    guard unsafe seeksHeadPlace else { return false }
    unsafe seeksHeadPlace = false
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
    unsafe headPlace = place
    unsafe ledger.take(place.extent)
    sparedUnitCount += place.extent.unitCount
    store.buffer.begin(withBlockAt: place.extent.byteOffset)
    return true
  }

  private static let headUnitCount = Extent.unitCount(forByteCount: FileLayout.sectorByteCount)

  /// Room in the block of the head, if there is one.
  func allocateInFront(byteCount: Int) -> Extent? {
    let unitCount = Extent.unitCount(forByteCount: byteCount)
    let extent = store.books.withLock { $0.space.allocateInFront(unitCount: unitCount) }
    if let extent { unsafe ledger.take(extent) }
    return extent
  }

  /// Gives the room of the head back: it goes into a slot, or is not stored.
  func leaveHeadPlace() {
    unsafe seeksHeadPlace = false
    guard let place = unsafe headPlace else { return }
    unsafe headPlace = nil
    if unsafe ledger.giveUp(place.extent) {
      sparedUnitCount -= place.extent.unitCount
      store.books.withLock { books in
        books.space.takeBack(place.extent)
        books.space.leaveFront()
      }
    }
  }

  /// Where the head of a small commit goes; nil when the commit is too large, or no place was named or is
  /// free.
  func chainPlace() -> HeadPlace? {
    if unsafe seeksHeadPlace { _ = beginChainedRun(byteCount: 0) }
    let byteCount = unsafe Int(ledger.allocations.unitCount) * Extent.unitByteCount
    return unsafe byteCount <= store.options.largestSingleSyncByteCount ? headPlace : nil
  }

  /// Links `head` to the durable one and puts it into its block, which is written with the pages; the mark
  /// that holds once they are synced.
  func putHead(
    _ head: inout HeadSector, at place: HeadPlace
  ) throws(StoreError) -> DurableMark {
    head.sequence = place.mark.sequence
    head.durable = place.mark.version
    head.link = place.mark.link
    let offset = place.extent.byteOffset
    let (stored, link) = head.storedWithLink(in: store.sector, at: HeadSector.place(atByte: offset))
    // Before the head is written, so that a full medium is found out in time.
    try store.growAhead(
      to: head.byteCount + FileLayout.blockByteCount, left: leftByteCount, isSynced: true)
    let isGathered = unsafe stored.withUnsafeBytes { unsafe store.buffer.replace($0, at: offset) }
    precondition(isGathered, "The block of a head was written before its head was known.")
    var mark = place.mark
    mark.version = version
    mark.next = head.next
    mark.link = link
    return mark
  }

  /// Writes what was gathered, with the head at `place`; when this throws, that head is not there.
  func writeOut(withHeadAt place: HeadPlace) throws(StoreError) {
    store.announceHead(holdsWriterLock: true)
    do throws(StoreError) {
      try flush()
    } catch {
      try? store.eraseHead(at: place.extent)
      throw error
    }
  }
}

extension FileStore {
  /// Whether `mark` still says what is durable; throws when nothing may be written.
  func isDurable(_ mark: DurableMark) throws(StoreError) -> Bool {
    try ensureWritable()
    return state.withLock { $0.mark } == mark
  }

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
