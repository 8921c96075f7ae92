import CambiumCore
import CambiumStoreKit

/// One write to a store in a cluster.
///
/// Its pages gather in this process. A commit that is small travels with the swap of the root; the pages of
/// a larger one are in their blocks before, those of a very large one while it goes on.
final class ClusterWriter: PageWriter {
  /// Addresses from this one on are not given out.
  static let addressLimit: UInt64 = 1 << 47

  let base: Head
  let version: Version
  private let store: ClusterStore
  private let epoch: UInt64
  /// The ownership of the writer lock in which it writes, and no other.
  private let owner: UInt64
  private let firstAddress: UInt64
  private var ledger = WriteLedger()
  private var freedAddresses: Set<UInt64> = []
  /// A page that was given back twice, which fails the commit.
  private var twice: PageReference?
  /// One past the pages that were sent ahead.
  private var sentEnd: UInt64 = 0
  /// Whether the engine was asked to move pages.
  private var movesPages = false
  /// Whether its pages may have been sent with its commit.
  private var wasPublished = false
  private var hasEnded = false

  init(store: ClusterStore, _ state: ClusterState) {
    self.store = store
    base = state.newest
    version = base.version + 1
    epoch = state.header.token.epoch
    owner = state.ownership?.number ?? 0
    firstAddress = state.nextAddress
  }

  deinit { abort() }

  var relocation: Relocation? {
    let relocation = store.relocation()
    if relocation != nil { movesPages = true }
    return relocation
  }

  private func ensureRunning() {
    precondition(!hasEnded, "The write has ended; begin another one.")
  }

  /// Throws in a child that was forked.
  private func ensureUsable() throws(StoreError) {
    ensureRunning()
    if store.isForked { throw .forked(path: store.path) }
  }

  /// Throws when another machine may have taken over: what this write does would be for nothing.
  private func ensureOwner(_ state: ClusterState) throws(StoreError) {
    if state.isClosed { throw .closed(path: store.path) }
    if state.isPoisoned { throw .poisoned(path: store.path) }
    guard state.isOwner(owner) else { throw .ownershipLost(path: store.path) }
  }

  func reserve(byteCount: Int) throws(StoreError) { try ensureUsable() }

  func allocate(byteCount: Int) throws(StoreError) -> Extent {
    try ensureUsable()
    try StoreLimits.checkPage(byteCount: byteCount)
    let unitCount = Extent.unitCount(forByteCount: byteCount)
    let address = try store.state.withLock { state throws(StoreError) in
      try ensureOwner(state)
      defer { state.nextAddress += unitCount }
      return state.nextAddress
    }
    guard address + unitCount < Self.addressLimit else {
      throw .exhausted(what: "addresses for pages", limit: Int(Self.addressLimit))
    }
    let extent = Extent(address: address, unitCount: unitCount)
    ledger.take(extent)
    return extent
  }

  func write(_ bytes: Span<UInt8>, to extent: Extent, checksum: UInt64) throws(StoreError) {
    try ensureUsable()
    ledger.noteWritten(bytes.count, to: extent)
    let byteCount = store.gathered.put(
      PageBuffer(copying: bytes), at: extent.address << 16 | extent.unitCount)
    if byteCount >= store.options.writeAheadByteCount { try sendPages() }
  }

  /// Writes what has gathered into its blocks, where nothing leads to it yet.
  private func sendPages() throws(StoreError) {
    let pages = store.gathered.sorted
    guard let last = pages.last else { return }
    let end = (last.location >> 16) + (last.location & 0xffff)
    try store.reserve(through: end, owner: owner)
    var writes = BlockWrites(store.layout, store.names)
    for (location, buffer) in pages { writes.add(location, buffer.page) }
    writes.end()
    sentEnd = max(sentEnd, end)
    try store.write(writes.requests)
    store.gathered.removeAll()
  }

  func free(_ reference: PageReference) {
    ensureRunning()
    if store.isForked { return }
    if ledger.free(reference, version: version) {
      _ = store.gathered.remove(reference.location)
    } else if !freedAddresses.insert(reference.address).inserted {
      twice = reference
    }
  }

  func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8], beforeNext: (Head) -> Void
  ) throws(StoreError) -> Pin {
    ensureRunning()
    precondition(!root.reference.isDirty, "The root must be written before it is published.")
    let commit: PendingCommit
    do throws(StoreError) {
      try ensureUsable()
      try StoreLimits.check(metadata: metadata)
      if let twice {
        throw .damaged(Damage(.reference, at: twice, "the page was freed twice"))
      }
      // A full cluster refuses what is large before anybody has seen it.
      if store.gathered.byteCount > store.options.logByteCount { try sendPages() }
      commit = try makeCommit(root, metadata, isVisible: durability == .relaxed)
      if durability == .relaxed { try store.drainIfLong() }
      try store.state.withLock { state throws(StoreError) in
        try ensureOwner(state)
        wasPublished = true
        state.pending.append(commit)
        store.noteWritten(
          Int(ledger.allocations.unitCount) * Extent.unitByteCount, wasMove: movesPages, &state)
        if commit.isVisible { store.show(commit, ledger, &state) }
      }
      if !commit.isVisible {
        try store.replicate(commit.publication)
        store.state.withLock { store.show(commit, ledger, &$0) }
      }
    } catch {
      if case .indeterminate = error { endUnknown() } else { abort() }
      throw error
    }
    let pin = store.makePin(commit.record.head)
    hasEnded = true
    store.gathered.removeAll()
    beforeNext(pin.head)
    if commit.isVisible {
      store.noteJoined()
      store.replicateSoon()
    }
    store.leave(base.version)
    return pin
  }

  private func makeCommit(
    _ root: TreeRoot, _ metadata: [UInt8], isVisible: Bool
  ) throws(StoreError) -> PendingCommit {
    var changes = BlockChanges(store.layout)
    for entry in ledger.allocations.live { changes.add(entry.extent) }
    for dead in ledger.freed { changes.free(dead.extent) }
    // Pages were perhaps sent for writes that were not published.
    let last = store.state.withLock { $0.pending.last?.nextAddress ?? $0.header.nextAddress }
    let end = max(firstAddress, sentEnd)
    if end > last {
      changes.touch(store.layout.block(of: last)..<store.layout.block(of: end - 1) + 1)
    }
    let list = changes.list
    if let limit = store.options.maximumByteCount {
      let added = list.reduce(0) { $0 + Int($1.added) - Int($1.freed) } * Extent.unitByteCount
      if added > 0 {
        try SizeLimit(limit).check(
          store.liveByteCount + added, usesSpare: false, path: store.path)
      }
    }
    let record = CommitRecord(
      head: Head(version: version, epoch: epoch, root: root), metadata: metadata, changes: list)
    return PendingCommit(
      record: record, pages: store.gathered.sorted,
      freed: ledger.freed.map { ($0.extent.address << 16 | $0.extent.unitCount, $0.born) },
      nextAddress: store.state.withLock { $0.nextAddress }, isVisible: isVisible)
  }

  func abort() {
    if hasEnded { return }
    hasEnded = true
    // In a child that was forked the write is its parent's still.
    if store.isForked { return }
    store.gathered.removeAll()
    store.state.withLock { state in
      // What was sent lies there for nothing: no address is used twice.
      if sentEnd == 0, !wasPublished, state.isOwner(owner) { state.nextAddress = firstAddress }
    }
    store.leave(base.version)
  }

  /// Ends a write of which nobody knows whether it was published.
  private func endUnknown() {
    hasEnded = true
    store.gathered.removeAll()
    store.leave(base.version)
  }
}

extension ClusterStore {
  /// Lets this owner write up to `end`, which the root says before it does.
  ///
  /// Without `owner` the caller is the one who swaps the root.
  func reserve(through end: UInt64, owner: UInt64? = nil) throws(StoreError) {
    func isReserved() throws(StoreError) -> Bool {
      try state.withLock { state throws(StoreError) in
        guard let ownership = state.ownership, ownership.number == owner ?? ownership.number else {
          throw .ownershipLost(path: path)
        }
        return state.header.reservedEnd >= end
      }
    }
    if try isReserved() { return }
    if owner != nil { beginSwap() }
    defer { if owner != nil { endSwap() } }
    if try isReserved() { return }
    var header = state.withLock { $0.header }
    header.token.generation += 1
    header.reservedEnd = reservedEnd(after: end)
    try swapHeader(to: header)
  }

  /// Lets readers of this process see `commit`, and holds its version for a pin.
  func show(_ commit: PendingCommit, _ ledger: WriteLedger, _ state: inout ClusterState) {
    if commit.isVisible {
      for (location, buffer) in commit.pages { log.add(location, buffer) }
    }
    let head = commit.record.head
    state.ledger.hold(head.version, .pin)
    for dead in ledger.freed { _ = state.ledger.take(dead, freed: head.version) }
    state.supersede(by: head)
    if !state.isClosed { announce(head.version) }
  }

  /// Says that a commit has joined, if a swap waits for some.
  func noteJoined() {
    if state.withLock({ $0.isGathering }) { gathering.raise() }
  }

  /// Sends what is on its way before more comes, when it has become much.
  func drainIfLong() throws(StoreError) {
    let byteCount = state.withLock { $0.pending.reduce(0) { $0 + $1.byteCount } }
    if byteCount > Self.pendingByteLimit { try replicateAll() }
  }

  private static let pendingByteLimit = 64 << 20

  /// What the pages of the newest version take.
  var liveByteCount: Int {
    state.withLock { state in
      let pending = state.pending.flatMap(\.record.changes).reduce(0) {
        $0 + Int($1.added) - Int($1.freed)
      }
      return (Int(state.header.liveUnitCount) + pending) * Extent.unitByteCount
    }
  }
}
