import CambiumCore

/// The log begins anew when it has become long: its pages go to their blocks first, and what it says of the
/// space into a record.
extension ClusterStore {
  /// What a log that begins anew consists of.
  struct LogRestart {
    /// What the root has before its header.
    var identity: [UInt8]
    /// The log.
    var log: [UInt8]
    /// Where it begins.
    var logStart: Int
    /// Where it ends that has to be known of earlier commits.
    var carriedEnd: Int
    /// Records of the space that the new root does not lead to.
    var superseded: [SpaceRecordID]
    /// One past the pages that are in their blocks now.
    var copiedEnd: UInt64

    /// The root, whole.
    func content(_ header: RootHeader) -> [UInt8] {
      let head = identity + header.bytes
      return head + [UInt8](repeating: 0, count: logStart - head.count) + log
    }
  }

  /// Prepares a root whose log begins with what has to be known of the latest commits, and goes on with
  /// `frames`.
  func beginLogAnew(
    _ header: inout RootHeader, _ frames: [UInt8]
  ) throws(StoreError) -> LogRestart {
    let (recent, end) = state.withLock { ($0.recent, $0.header.nextAddress) }
    try copyLog(through: end)
    // Each attempt has a name of its own: an earlier one may still be written.
    let (table, number) = state.withLock { state in
      state.ownership?.spaceRecordCount += 1
      return (state.ownership?.table, state.ownership?.spaceRecordCount)
    }
    guard let table, let number else { throw .ownershipLost(path: path) }
    let record = SpaceRecordID(epoch: header.token.epoch, number: number)
    let isWhole =
      header.spaceRecords.isEmpty || table.isMostlyChanged
      || header.spaceRecords.count >= RootHeader.spaceRecordLimit / 2
    try write([
      .write(name: names.space(record), offset: 0, bytes: table.record(isWhole: isWhole))
    ])
    let superseded = isWhole ? header.spaceRecords : []
    header.spaceRecords = isWhole ? [record] : header.spaceRecords + [record]
    header.logGeneration = header.token.generation + 1
    let carried = recent.flatMap { $0.frame([], boundCodec) }
    header.logEnd = reader.logStart + carried.count + frames.count
    return LogRestart(
      identity: rootIdentity.bytes, log: carried + frames, logStart: reader.logStart,
      carriedEnd: reader.logStart + carried.count, superseded: superseded, copiedEnd: end)
  }

  /// Forgets what the new log does not carry, when the root has it.
  func endLogAnew(_ restart: LogRestart) {
    state.withLock { state in
      state.copiedEnd = restart.copiedEnd
      state.carriedEnd = restart.carriedEnd
    }
    log.removeAll(below: restart.copiedEnd)
    for record in restart.superseded {
      storage.start(.remove(name: names.space(record)), ObjectCall())
    }
  }

  /// Writes the pages that the log carries into their blocks, those before `end` that are not there yet.
  func copyLog(through end: UInt64) throws(StoreError) {
    let begin = state.withLock { $0.copiedEnd }
    var writes = BlockWrites(layout, names)
    for location in log.locations(from: begin, to: end) {
      if let page = log.page(location) { writes.add(location, page) }
    }
    writes.end()
    try write(writes.requests)
    state.withLock { $0.copiedEnd = max($0.copiedEnd, end) }
  }

  /// Writes into blocks, some at a time.
  func write(_ requests: [ObjectRequest]) throws(StoreError) {
    _ = try client.ask(requests, "write pages of", wasUnknown: noteLateOperations)
  }
}
