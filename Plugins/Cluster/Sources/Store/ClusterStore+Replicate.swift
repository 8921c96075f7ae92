import CambiumCore
import CambiumStoreKit

/// From commits that are published here to a root that all machines see.
///
/// One caller at a time swaps the root, for all commits that wait by then; the others wait for it. While a
/// swap is under way, others commit: the next swap takes them all.
extension ClusterStore {
  /// Waits until the root has `version`.
  func replicate(through version: Version) throws(StoreError) {
    while true {
      let turn = try state.withLock { state throws(StoreError) -> Turn in
        if state.replicated >= version { return .done }
        if let poison = state.poison { throw poison }
        if state.isSwapping { return .wait }
        if state.pending.isEmpty { return .done }
        state.isSwapping = true
        return .swap(Self.batch(state.pending))
      }
      switch turn {
      case .done: return
      case .wait:
        swapped.wait(timeoutNanoseconds: .max) {
          state.withLock { !$0.isSwapping || $0.replicated >= version }
        }
      case .swap(let batch):
        defer { endSwap() }
        try send(batch)
      }
    }
  }

  private enum Turn {
    case done
    case wait
    case swap([PendingCommit])
  }

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

  /// Lets others swap the root.
  func endSwap() {
    state.withLock { $0.isSwapping = false }
    swapped.raise()
  }

  /// Makes the commits of `batch`, the oldest that wait, part of the root.
  private func send(_ batch: [PendingCommit]) throws(StoreError) {
    guard let last = batch.last else { return }
    let start = DatabaseEvents.now
    guard state.withLock({ $0.ownership != nil }) else { throw lost() }
    let sent = try encode(batch)
    let frames = sent.frames
    var (header, ownership) = state.withLock { ($0.header, $0.ownership) }
    guard var table = ownership?.table else { throw lost() }
    header.newestVersion = last.record.head.version
    header.nextAddress = last.nextAddress
    header.reservedEnd = max(header.reservedEnd, reservedEnd(after: last.nextAddress))
    header.isReleased = false
    for commit in batch { try table.apply(commit.record.changes, commit.record.head.version) }
    header.liveUnitCount = table.liveUnitCount
    header.blockCount = UInt64(table.entries.count)
    let isLong = header.logEnd + frames.count > reader.logStart + options.logByteCount
    let isEmpty = header.logEnd == reader.logStart
    var restart: LogRestart?
    if isLong, !isEmpty {
      restart = try beginLogAnew(&header, frames, ownership?.table ?? table)
    } else {
      header.logEnd += frames.count
    }
    let position = header.logEnd - frames.count
    header.token.generation += 1
    let change: ObjectSwap.Change =
      restart.map { .replace($0.content) }
      ?? .write([(reader.headerOffset, header.bytes), (position, frames)])
    try swap(to: header, change, last.record.head)
    let version = last.record.head.version
    for page in sent.carried { log.add(page.location, page.buffer) }
    state.withLock { state in
      state.header = header
      if restart != nil { table.markRecorded(but: sent.records.flatMap { $0.changes.map(\.block) }) }
      state.ownership?.table = table
      state.pending.removeAll { $0.record.head.version <= version }
      state.recent = (state.recent + sent.records.map(\.carried)).suffix(CommitMetadata.keptCount)
    }
    ownership = nil
    if let restart { endLogAnew(restart, keeping: sent.records) }
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
          if !versions.contains(where: { state.ledger.isHeld($0) }) { skipped.insert(dead.location) }
        }
      }
      return skipped
    }
    var contents = batch.map { commit in commit.pages.filter { !skipped.contains($0.location) } }
    let byteCount = contents.joined().reduce(0) { $0 + $1.buffer.byteCount }
    if byteCount > options.inlineByteCount {
      var writes = BlockWrites(layout)
      for page in batch.lazy.flatMap(\.pages) { writes.add(page.location, page.buffer.page) }
      writes.end()
      try reserve(through: batch.last?.nextAddress ?? 0, isSwapping: true)
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

  /// Swaps the root from the state that this process knows to `header`, however long it takes to find out
  /// whether it was.
  ///
  /// `head` is the newest version that the swap brings; nil for one that brings none. Throws
  /// `StoreError.ownershipLost(path:)` when another machine was quicker, and
  /// `StoreError.indeterminate(path:)` when nobody can tell.
  func swap(
    to header: RootHeader, _ change: ObjectSwap.Change, _ head: Head?
  ) throws(StoreError) {
    let known = state.withLock { $0.header.token }
    let request = ObjectRequest.swap(
      name: ObjectName.root,
      ObjectSwap(
        offset: reader.headerOffset + RootHeader.tokenOffset, expected: known.bytes, change: change))
    let begin = now
    let timeout = 2 * client.timeoutNanoseconds
    var wasUnknown = false
    while true {
      do throws(ObjectFailure) {
        _ = try storage.perform(request)
        return
      } catch {
        switch error {
        case .unknown:
          wasUnknown = true
          state.withLock { $0.ownership?.hasLateOperations = true }
          guard now - begin < timeout else { throw giveUp() }
          storage.sleep(nanoseconds: 20_000_000)
        case .mismatch where wasUnknown:
          // An earlier attempt may have been what changed it.
          switch try? wasSwapped(to: header.token, head) {
          case true?: return
          case false?: throw lost()
          case nil: throw giveUp()
          }
        case .mismatch: throw lost()
        case .missing:
          throw abandon(.notFound(path: path))
        default: throw client.error(error, "commit to")
        }
      }
    }
  }

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

  /// This process does not own the writer lock any more; what it has published here will never be.
  private func lost() -> StoreError { abandon(.ownershipLost(path: path)) }

  /// It is unknown whether the swap took place.
  private func giveUp() -> StoreError { abandon(.indeterminate(path: path)) }

  /// Gives up what was on its way, and the ownership.
  private func abandon(_ cause: StoreError) -> StoreError {
    state.withLock { state in
      // What nobody has seen can be forgotten.
      if state.pending.contains(where: \.isVisible) { state.poison = cause }
      state.pending = []
      state.ownership = nil
    }
    return cause
  }
}
