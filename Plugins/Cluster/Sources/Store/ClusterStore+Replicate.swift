import CambiumCore
import CambiumStoreKit

/// From commits that are published here to a root that all machines see.
///
/// One caller at a time swaps the root, for all commits that wait by then; the others wait for theirs. While a
/// swap is under way, others commit: the next swap takes them all.
extension ClusterStore {
  /// Waits until the root has `version`, which readers here see.
  func replicate(through version: Version) throws(StoreError) {
    let publication = try state.withLock { state throws(StoreError) -> Publication? in
      if version <= state.replicated { return nil }
      if let poison = state.poison { throw poison }
      return state.pending.first { $0.record.head.version >= version }?.publication
    }
    if let publication { try replicate(publication) }
  }

  /// Waits until everything that was published here is in the root.
  func replicateAll() throws(StoreError) {
    guard let last = state.withLock({ $0.pending.last }) else { return }
    try replicate(last.publication)
  }

  /// Waits until a commit that is on its way has arrived, and swaps the root if nobody else does; throws what
  /// has become of the commit otherwise.
  func replicate(_ publication: Publication) throws(StoreError) {
    while true {
      if let result = publication.result { return try result.get() }
      let isLeader = state.withLock { state in
        guard maySwap(for: publication, state) else { return false }
        state.isSwapping = true
        return true
      }
      if isLeader {
        // Others go on with the next swap before these are called, one by one.
        for arrived in try lead(publication) { arrived.end(.success(())) }
      } else {
        publication.wait { state.withLock { maySwap(for: publication, $0) } }
      }
    }
  }

  /// Whether who waits for a commit may swap the root: nobody does, and the commit is not in it.
  private func maySwap(for publication: Publication, _ state: ClusterState) -> Bool {
    !state.isSwapping && state.pending.contains { $0.publication === publication }
  }

  /// Swaps the root for the commits that wait, and returns those that have arrived.
  ///
  /// Called by who may swap it.
  private func lead(_ publication: Publication) throws(StoreError) -> [Publication] {
    defer { endSwap() }
    gather()
    let batch = state.withLock { Self.batch($0.pending) }
    do throws(StoreError) { try send(batch) } catch {
      // What nobody has seen is given up before others try again.
      let wasGivenUp = state.withLock { state in
        let count = state.pending.count
        state.pending.removeAll { !$0.isVisible && $0.publication === publication }
        return state.pending.count < count
      }
      // Its writer may be waiting, or others for everything that was published.
      if wasGivenUp { publication.end(.failure(error)) }
      throw error
    }
    return batch.map(\.publication)
  }

  /// Lets as many join as wait for the writer lock here, but not for longer than a swap takes.
  ///
  /// Nobody can while who has the writer lock waits for its own commit.
  private func gather() {
    let mayJoin = state.withLock { $0.pending.last?.isVisible ?? false }
    guard mayJoin, writers.waiterCount > 0 else { return }
    let isFew = { [self] in state.withLock { $0.pending.count } < writers.waiterCount }
    state.withLock { $0.isGathering = true }
    gathering.wait(timeoutNanoseconds: Self.gatherNanoseconds) { !isFew() }
    state.withLock { $0.isGathering = false }
  }

  private static let gatherNanoseconds: Int64 = 1_000_000
  /// One swap sends so many bytes, but for a commit that is longer.
  private static let batchByteCount = 4 << 20

  private static func batch(_ pending: [PendingCommit]) -> [PendingCommit] {
    var byteCount = 0
    let count = pending.firstIndex { commit in
      byteCount += commit.byteCount
      return byteCount > batchByteCount
    }
    return Array(pending.prefix(max(1, count ?? pending.count)))
  }

  /// Waits until nobody swaps the root, and keeps others from it until ``endSwap()``.
  func beginSwap() {
    while true {
      let isMine = state.withLock { state in
        defer { state.isSwapping = true }
        return !state.isSwapping
      }
      if isMine { return }
      swapped.wait(timeoutNanoseconds: .max) { state.withLock { !$0.isSwapping } }
    }
  }

  /// Lets others swap the root: one of those who wait for a commit does it for all of them.
  func endSwap() {
    let next = state.withLock { state in
      state.isSwapping = false
      return state.pending.first { $0.publication.hasWaiters }?.publication
    }
    swapped.raise()
    next?.call()
  }

  /// Makes the commits of `batch`, the oldest that wait, part of the root.
  private func send(_ batch: [PendingCommit]) throws(StoreError) {
    guard let last = batch.last else { return }
    let start = DatabaseEvents.now
    guard state.withLock({ $0.ownership != nil }) else { throw abandon(.ownershipLost(path: path)) }
    let sent = try encode(batch)
    let (known, table) = try state.withLock { state throws(StoreError) in
      (state.header, try state.ownership?.table.effect(of: batch.flatMap(\.record.changes)))
    }
    guard let table else { throw abandon(.ownershipLost(path: path)) }
    var header = known
    header.newestVersion = last.record.head.version
    header.nextAddress = last.nextAddress
    header.reservedEnd = max(header.reservedEnd, reservedEnd(after: last.nextAddress))
    header.isReleased = false
    header.liveUnitCount = table.liveUnitCount
    header.blockCount = UInt64(table.blockCount)
    let logBegin = state.withLock { max($0.carriedEnd, reader.logStart) }
    var restart: LogRestart?
    if header.logEnd > logBegin,
      header.logEnd + sent.frames.count > logBegin + options.logByteCount
    {
      restart = try beginLogAnew(&header, sent.frames)
    } else {
      header.logEnd += sent.frames.count
    }
    let position = header.logEnd - sent.frames.count
    header.token.generation += 1
    let change: ObjectSwap.Change =
      restart.map { .replace($0.content(header)) }
      ?? .write([(reader.headerOffset, header.bytes), (position, sent.frames)])
    try swap(to: header, change, last.record.head)
    for page in sent.carried { log.add(page.location, page.buffer) }
    try state.withLock { state throws(StoreError) in
      state.header = header
      if restart != nil { state.ownership?.table.markRecorded() }
      for record in sent.records {
        try state.ownership?.table.apply(record.changes, record.head.version)
      }
      state.pending.removeFirst(batch.count)
      state.recent = (state.recent + sent.records.map(\.carried)).suffix(CommitMetadata.keptCount)
    }
    if let restart { endLogAnew(restart) }
    let kept = Set(sent.carried.map(\.location))
    log.remove(batch.flatMap { $0.pages.map(\.location) }.filter { !kept.contains($0) })
    storage.start(.hint(.committed), ObjectCall())
    DatabaseEvents.tell(since: start, path) { .synced(nanoseconds: $0) }
    collectSoon()
  }

  /// The frames of `batch`: few pages go with them, many into their blocks first.
  ///
  /// A page that a later commit of the batch has freed does not travel with it, unless somebody here reads a
  /// version that has it: no other machine ever sees one. On the way to blocks it would only be a gap.
  private func encode(_ batch: [PendingCommit]) throws(StoreError) -> Encoded {
    let skipped = state.withLock { state in
      var skipped: Set<UInt64> = []
      let first = batch[0].record.head.version
      for commit in batch {
        for dead in commit.freed where dead.born >= first {
          let versions = dead.born..<commit.record.head.version
          if !versions.contains(where: { state.ledger.isHeld($0) }) {
            skipped.insert(dead.location)
          }
        }
      }
      return skipped
    }
    var contents = batch.map { commit in commit.pages.filter { !skipped.contains($0.location) } }
    let byteCount = contents.joined().reduce(0) { $0 + $1.buffer.byteCount }
    if byteCount > options.inlineByteCount {
      var writes = BlockWrites(layout, names)
      for page in batch.lazy.flatMap(\.pages) { writes.add(page.location, page.buffer.page) }
      writes.end()
      try reserve(through: batch.last?.nextAddress ?? 0)
      try write(writes.requests)
      contents = batch.map { _ in [] }
    }
    var records = batch.map(\.record)
    var frames: [UInt8] = []
    for index in records.indices {
      records[index].pages = contents[index].map(\.location)
      frames += records[index].frame(contents[index].map(\.buffer), boundCodec)
    }
    return Encoded(records: records, frames: frames, carried: Array(contents.joined()))
  }

  /// Commits as they go into the log.
  private struct Encoded {
    var records: [CommitRecord]
    var frames: [UInt8]
    /// The pages that the frames carry.
    var carried: [(location: UInt64, buffer: PageBuffer)]
  }

  /// How far an owner may write that has written up to `address`.
  func reservedEnd(after address: UInt64) -> UInt64 {
    layout.roundUp(address) + layout.unitCount * Self.reservedBlockCount
  }

  private static let reservedBlockCount: UInt64 = 16

  /// Swaps the root from the state that this process knows to `header`, and nothing but its header.
  func swapHeader(to header: RootHeader) throws(StoreError) {
    try swap(to: header, .write([(reader.headerOffset, header.bytes)]), nil)
    state.withLock { $0.header = header }
  }

  /// Swaps the root from the state that this process knows to `header`, however long it takes to find out
  /// whether it was.
  ///
  /// `head` is the newest version that the swap brings; nil for one that brings none. Throws
  /// `StoreError.ownershipLost(path:)` when another machine was quicker. When nobody can tell, a swap that
  /// brings a version throws `StoreError.indeterminate(path:)`; without one no commit has been tried, and this
  /// throws what the cluster did not answer. What was published here is given up in either case, and the
  /// ownership, which is in doubt.
  private func swap(
    to header: RootHeader, _ change: ObjectSwap.Change, _ head: Head?
  ) throws(StoreError) {
    let known = state.withLock { $0.header.token }
    let request = ObjectRequest.swap(
      name: ObjectNames.root,
      ObjectSwap(
        offset: reader.headerOffset + RootHeader.tokenOffset, expected: known.bytes, change: change)
    )
    let begin = now
    let timeout = 2 * client.timeoutNanoseconds
    var wasUnknown = false
    func giveUp(_ failure: ObjectFailure) -> StoreError {
      if head != nil { return abandon(.indeterminate(path: path)) }
      _ = abandon(.ownershipLost(path: path))
      return client.error(failure, "write to")
    }
    while true {
      let failure: ObjectFailure
      do throws(ObjectFailure) {
        _ = try storage.perform(request)
        return
      } catch {
        failure = error
      }
      switch failure {
      case .mismatch where wasUnknown:
        // An earlier attempt may have been what changed it.
        switch try? wasSwapped(to: header.token, head) {
        case true?: return
        case false?: throw abandon(.ownershipLost(path: path))
        case nil: throw giveUp(.unknown("the root cannot be read"))
        }
      case .mismatch: throw abandon(.ownershipLost(path: path))
      case .missing: throw abandon(.notFound(path: path))
      case .unknown: noteLateOperations()
      // An earlier attempt may still take place.
      default: if !wasUnknown { throw client.error(failure, "commit to") }
      }
      wasUnknown = true
      guard now - begin < timeout else { throw giveUp(failure) }
      storage.sleep(nanoseconds: 20_000_000)
    }
  }

  /// The outcome of an operation is unknown: it may happen later.
  func noteLateOperations() { state.withLock { $0.ownership?.hasLateOperations = true } }

  /// Whether the root was, or is, the state `token`, which brought `head`; nil when it says nothing of it.
  private func wasSwapped(to token: RootToken, _ head: Head?) throws(StoreError) -> Bool? {
    guard let image = try reader.read(after: nil) else { return nil }
    if image.header.token == token { return true }
    guard let head else {
      let found = image.header.token
      return found.epoch == token.epoch && found.owner == token.owner
        && found.generation >= token.generation
    }
    guard let same = image.commits.first(where: { $0.record.head.version == head.version }) else {
      return image.header.newestVersion < head.version ? false : nil
    }
    return same.record.head == head
  }

  /// Gives up what was on its way, and the ownership; what readers here have seen of it will never be, or
  /// nobody can tell, and the store is poisoned then.
  private func abandon(_ cause: StoreError) -> StoreError {
    let (pending, number) = state.withLock { state in
      defer { (state.pending, state.ownership) = ([], nil) }
      if state.pending.contains(where: \.isVisible) { state.poison = cause }
      return (state.pending, state.ownership?.number)
    }
    // Nobody is to wait until the lock ends by itself, this process neither.
    if let number { storage.start(unlockRequest(number), ObjectCall()) }
    for commit in pending { commit.publication.end(.failure(cause)) }
    return cause
  }
}
