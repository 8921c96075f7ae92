import CambiumCore

/// The log begins anew when it has become long: its pages go to their blocks first, and what it says of the
/// space into a record.
extension ClusterStore {
  /// What a log that begins anew consists of.
  struct LogRestart {
    /// The root, whole.
    var content: [UInt8]
    /// Records of the space that the new root does not lead to.
    var superseded: [SpaceRecordID]
    /// One past the pages that are in their blocks now.
    var copiedEnd: UInt64
  }

  /// Prepares a root whose log begins with what has to be known of the latest commits, and goes on with
  /// `frames`; `table` is that of the newest version in the root that there is.
  func beginLogAnew(
    _ header: inout RootHeader, _ frames: [UInt8], _ table: BlockTable
  ) throws(StoreError) -> LogRestart {
    let (recent, end) = state.withLock { ($0.recent, $0.header.nextAddress) }
    try copyLog(through: end)
    let record = SpaceRecordID(
      epoch: header.token.epoch, generation: header.token.generation + 1)
    let isWhole =
      header.spaceRecords.isEmpty || table.isMostlyChanged
      || header.spaceRecords.count >= RootHeader.spaceRecordLimit / 2
    try write([
      .write(name: ObjectName.space(record), offset: 0, bytes: table.record(isWhole: isWhole))
    ])
    let superseded = isWhole ? header.spaceRecords : []
    header.spaceRecords = isWhole ? [record] : header.spaceRecords + [record]
    header.logGeneration = record.generation
    let carried = recent.flatMap { $0.frame([], boundCodec) }
    header.logEnd = reader.logStart + carried.count + frames.count
    var final = header
    final.token.generation = record.generation
    var content = rootIdentity.bytes + final.bytes
    content += repeatElement(0, count: reader.logStart - content.count)
    content += carried
    content += frames
    return LogRestart(content: content, superseded: superseded, copiedEnd: end)
  }

  /// Forgets what the new log does not carry, when the root has it.
  func endLogAnew(_ restart: LogRestart, keeping records: [CommitRecord]) {
    let kept = state.withLock { state in
      state.copiedEnd = restart.copiedEnd
      return Set(
        records.flatMap(\.pages) + state.pending.flatMap { $0.pages.map(\.location) })
    }
    log.removeAll(but: kept)
    for record in restart.superseded {
      storage.start(.remove(name: ObjectName.space(record)), ObjectCall())
    }
  }

  /// Writes the pages that the log carries into their blocks, those before `end` that are not there yet.
  func copyLog(through end: UInt64) throws(StoreError) {
    let begin = state.withLock { $0.copiedEnd }
    var writes = BlockWrites(layout)
    for location in log.locations(from: begin, to: end) {
      if let page = log.page(location) { writes.add(location, page) }
    }
    writes.end()
    try write(writes.requests)
    state.withLock { $0.copiedEnd = max($0.copiedEnd, end) }
  }

  /// Writes into blocks, some at a time.
  func write(_ requests: [ObjectRequest]) throws(StoreError) {
    var rest = requests[...]
    while !rest.isEmpty {
      let some = Array(rest.prefix(Self.parallelWriteCount))
      rest = rest.dropFirst(some.count)
      let results = storage.perform(some)
      if results.contains(where: \.isUnknown) {
        state.withLock { $0.ownership?.hasLateOperations = true }
      }
      for (request, result) in zip(some, results) {
        _ = try client.settle(result, of: request, "write pages of")
      }
    }
  }

  private static let parallelWriteCount = 8
}

extension Result<ObjectAnswer, ObjectFailure> {
  fileprivate var isUnknown: Bool {
    if case .failure(.unknown) = self { true } else { false }
  }
}
