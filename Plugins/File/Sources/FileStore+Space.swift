import CambiumCore

extension FileStore {
  /// Reads the free map and the records since, unless that was done.
  ///
  /// Throws `StoreError.damaged(_:)` with rule `freeMap` when they cannot be read or contradict
  /// each other.
  func loadSpace(_ state: inout FileState) throws(StoreError) {
    if state.isSpaceLoaded { return }
    do throws(StoreError) {
      try readSpace(&state)
    } catch .damaged(let damage) {
      throw .damaged(
        Damage(
          .freeMap, at: damage.reference,
          "The free map of '\(path)' is damaged, so that it can be read but not written "
            + "(\(damage)). Run 'cambium verify \(path) --repair' to rebuild it"))
    }
  }

  private func readSpace(_ state: inout FileState) throws(StoreError) {
    let newest = state.newest
    var directory = try FreeMapDirectory.read(newest.freeMap, device: device, path: path)
    var blocks = BlockMap(firstBlock: FileLayout.firstBlock)
    guard newest.byteCount <= state.fileByteCount else {
      throw .truncated(path: path, byteCount: state.fileByteCount, expected: newest.byteCount)
    }
    blocks.extend(toBlockCount: newest.blockCount)
    for (index, region) in directory.regions.enumerated() where !region.page.isNone {
      let buffer = try FreeMapDirectory.checkedPage(
        region.page, rawKind: FileLayout.Kind.region, device: device, path: path)
      let bytes = UnsafeRawBufferPointer(start: buffer.bytes, count: buffer.byteCount)
      guard blocks.load(region: index, counts: bytes) else {
        throw .damaged(Damage(.count, at: region.page, "a page of the free map"))
      }
    }
    let records = try recordChain(from: newest, after: directory.retired)
    for record in records.reversed() { try apply(record, to: &blocks, &directory) }
    blocks.adoptReachable()
    state.space.blocks = blocks
    state.directory = directory
    state.records = records.reversed().map {
      FileState.LiveRecord(version: $0.version, parts: $0.parts)
    }
    state.isSpaceLoaded = true
  }

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
          Damage(.head, at: reference, "the record of version \(expected) is missing"))
      }
      let record = try CommitRecord(at: reference, identity: sector, device: device, path: path)
      reference = record.previous
      records.append(record)
      expected -= 1
    }
    return records
  }

  /// Brings the counts of the regions that do not include it yet up to date with `record`.
  private func apply(
    _ record: CommitRecord, to blocks: inout BlockMap, _ directory: inout FreeMapDirectory
  ) throws(StoreError) {
    func contradiction(_ extent: Extent) -> StoreError {
      .damaged(
        Damage(
          .count, at: record.parts.first,
          "the free map and the record of version \(record.version) disagree about the page at "
            + "byte \(extent.byteOffset)"))
    }
    let changes =
      record.freed.map { ($0.extent, false) } + record.allocated.map { ($0.extent, true) }
      + record.parts.map { ($0.extent, true) }
    for (extent, isAllocated) in changes {
      guard extent.unitCount > 0,
        extent.address >= UInt64(FileLayout.firstBlock * BlockMap.unitsPerBlock)
      else { throw contradiction(extent) }
      for part in blocks.partsByRegion(extent) {
        let region =
          part.region < directory.regions.count
          ? directory.regions[part.region] : FreeMapDirectory.Region()
        if record.version <= region.version { continue }
        let fits =
          isAllocated ? blocks.addReachable(part.extent) : blocks.removeReachable(part.extent)
        guard fits else { throw contradiction(extent) }
        directory.touch(part.extent, version: record.version)
      }
    }
  }

  // MARK: Growing

  /// Writes pages of the running write; makes the file longer first if they lie behind its end.
  ///
  /// A small commit grows the file ahead of need by zeros that are synced: a block that was never
  /// written doubles the cost of each sync. Bulk work just writes on.
  func writeOut(
    _ bytes: UnsafeRawBufferPointer, at offset: Int, isBulk: Bool
  ) throws(StoreError) {
    try writing.withLock { _ throws(StoreError) in
      let end = offset + bytes.count
      let fileByteCount = try state.withLock { state throws(StoreError) in
        // Another process may use the file by now.
        try ensureOpen(state)
        return state.fileByteCount
      }
      if end > fileByteCount, !isBulk { try grow(from: fileByteCount, to: end) }
      try device.perform(path: path) { device throws(DeviceError) in
        try device.write(bytes, at: offset)
      }
      state.withLock { $0.fileByteCount = max($0.fileByteCount, end) }
    }
    if isBulk { device.startWriting(byteCount: bytes.count, at: offset) }
  }

  private func grow(from current: Int, to end: Int) throws(StoreError) {
    let ahead = min(max(current / 4, 256 << 10), options.growthByteCount)
    let block = FileLayout.blockByteCount
    let needed = (end + block - 1) / block * block
    var target = max(needed, (current + ahead) / block * block)
    do throws(StoreError) {
      try writeZeros(from: current, to: target)
    } catch .mediumFull {
      // There may be room for what is needed now.
      target = needed
      try writeZeros(from: current, to: target)
    }
    do throws(DeviceError) {
      try device.sync()
    } catch {
      poison()
      throw StoreError(error, path: path)
    }
    state.withLock { $0.fileByteCount = target }
  }

  /// Writes zeros from `start` to `end`.
  func writeZeros(from start: Int, to end: Int) throws(StoreError) {
    let zeros = [UInt8](repeating: 0, count: min(1 << 20, end - start))
    var position = start
    while position < end {
      let count = min(zeros.count, end - position)
      try device.perform(path: path) { device throws(DeviceError) in
        try device.write(count == zeros.count ? zeros : Array(zeros[..<count]), at: position)
      }
      position += count
    }
  }

  /// Refuses writes from now on: after a failed sync nobody knows what the medium holds.
  func poison() {
    state.withLock { $0.isPoisoned = true }
    lockFile?.poison()
  }
}
