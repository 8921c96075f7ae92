import CambiumCore
import CambiumStoreKit

/// One write to a store in a cluster.
///
/// Its pages gather in this process. A commit that is small travels with the swap of the root; the pages of
/// a larger one are in their blocks before, those of a very large one while it goes on.
final class ClusterWriter: PageWriter {
  let base: Head
  let version: Version
  private let store: ClusterStore
  private let epoch: UInt64
  private let firstAddress: UInt64
  private var ledger = WriteLedger()
  private var freedAddresses: Set<UInt64> = []
  /// A page that was given back twice, which fails the commit.
  private var twice: PageReference?
  /// One past the pages that were sent ahead.
  private var sentEnd: UInt64 = 0
  private var hasEnded = false

  init(store: ClusterStore, base: Head, state: ClusterState) {
    self.store = store
    self.base = base
    version = base.version + 1
    epoch = state.header.token.epoch
    firstAddress = state.nextAddress
  }

  deinit { abort() }

  var relocation: Relocation? { store.relocation() }

  private func ensureRunning() {
    precondition(!hasEnded, "The write has ended; begin another one.")
  }

  /// Throws in a child that was forked.
  private func ensureUsable() throws(StoreError) {
    ensureRunning()
    if store.isForked { throw .forked(path: store.path) }
  }

  func reserve(byteCount: Int) throws(StoreError) { try ensureUsable() }

  func allocate(byteCount: Int) throws(StoreError) -> Extent {
    try ensureUsable()
    try StoreLimits.checkPage(byteCount: byteCount)
    let unitCount = Extent.unitCount(forByteCount: byteCount)
    let address = store.state.withLock { state in
      defer { state.nextAddress += unitCount }
      return state.nextAddress
    }
    guard address + unitCount < 1 << 48 else {
      throw .exhausted(what: "addresses for pages", limit: 1 << 48)
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
    try store.reserve(through: end)
    var writes = BlockWrites(store.layout)
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
      if store.gathered.byteCount > store.options.inlineByteCount { try sendPages() }
      commit = try makeCommit(root, metadata, isVisible: durability == .relaxed)
      if durability == .full { try store.publishDurably(commit) }
    } catch {
      if case .indeterminate = error { endUnknown() } else { abort() }
      throw error
    }
    let pin = store.show(commit, ledger)
    hasEnded = true
    store.gathered.removeAll()
    beforeNext(pin.head)
    store.leave(base.version)
    if durability == .relaxed { store.replicateSoon(version) }
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
      if sentEnd == 0, state.ownership != nil { state.nextAddress = firstAddress }
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
  /// `isSwapping` says that the caller is the one who swaps the root.
  func reserve(through end: UInt64, isSwapping: Bool = false) throws(StoreError) {
    if state.withLock({ $0.header.reservedEnd >= end }) { return }
    if !isSwapping { beginSwap() }
    defer { if !isSwapping { endSwap() } }
    let (old, isOwner) = state.withLock { ($0.header, $0.ownership != nil) }
    guard isOwner else { throw .ownershipLost(path: path) }
    if old.reservedEnd >= end { return }
    var header = old
    header.token.generation += 1
    header.reservedEnd = reservedEnd(after: end)
    try swap(to: header, .write([(reader.headerOffset, header.bytes)]), nil)
    state.withLock { $0.header = header }
  }

  /// Makes `commit` part of the root before anybody sees it, with all that was published before it.
  func publishDurably(_ commit: PendingCommit) throws(StoreError) {
    state.withLock { $0.pending.append(commit) }
    do throws(StoreError) {
      try replicate(through: commit.record.head.version)
    } catch {
      state.withLock { state in
        state.pending.removeAll { $0.record.head.version == commit.record.head.version }
      }
      throw error
    }
    // The ownership was lost meanwhile, and the commit with it.
    guard state.withLock({ $0.replicated >= commit.record.head.version }) else {
      throw .ownershipLost(path: path)
    }
  }

  /// Lets readers of this process see `commit`; the result pins it.
  func show(_ commit: PendingCommit, _ ledger: WriteLedger) -> Pin {
    if commit.isVisible {
      for (location, buffer) in commit.pages { log.add(location, buffer) }
    }
    let head = commit.record.head
    state.withLock { state in
      if commit.isVisible { state.pending.append(commit) }
      state.ledger.hold(head.version, .pin)
      for dead in ledger.freed { _ = state.ledger.take(dead, freed: head.version) }
      state.supersede(by: head)
      if !state.isClosed { announce(head.version) }
    }
    return makePin(head)
  }

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
