import CambiumCore
import Synchronization

/// The smallest store that keeps the contract: pages in a dictionary, addresses never used again.
///
/// Serves tests of trees, which want no store in the way of what they prove. Freed pages are dropped
/// at once when nothing is pinned, so that a read of a freed page is noticed.
public final class HeapStore: PageStore {
  private struct State {
    var pages: [UInt64: PageBuffer] = [:]
    var head = Head(version: 0, epoch: 1, root: .empty(.key))
    var nextAddress: UInt64 = 64
    var pins: [Version: Int] = [:]
    var pending: [(reference: PageReference, freed: Version)] = []
    var isWriting = false
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Says `heap`, and what codec it was made for.
  public let identity: StoreIdentity

  /// An empty store whose pages will go through the codec of that name.
  public init(codec: String = "") {
    identity = StoreIdentity(
      kind: "heap", path: "heap", uuid: (1, 2), formatVersion: 1, codec: codec, isReadOnly: false)
  }

  /// The head of the last publish.
  public func newestHead() throws(StoreError) -> Head { state.withLock { $0.head } }

  /// Holds the newest version; its freed pages go with the last pin that sees them.
  public func pin() throws(StoreError) -> Pin {
    let head = state.withLock { state in
      state.pins[state.head.version, default: 0] += 1
      return state.head
    }
    return unsafe Pin(head: head) { [weak self] in self?.unpin(head.version) }
  }

  private func unpin(_ version: Version) {
    state.withLock { state in
      guard let count = state.pins[version] else { return }
      state.pins[version] = count == 1 ? nil : count - 1
      Self.reclaim(&state)
    }
  }

  private static func reclaim(_ state: inout State) {
    let pinned = state.pins.keys
    state.pending.removeAll { entry in
      let isSeen = pinned.contains { $0 >= entry.reference.born && $0 < entry.freed }
      if !isSeen { state.pages[entry.reference.address] = nil }
      return !isSeen
    }
  }

  /// The bytes as they were written; throws when nothing was written there or it was reclaimed.
  public func read(_ reference: PageReference, at pin: Pin) throws(StoreError) -> Page {
    guard let buffer = state.withLock({ $0.pages[reference.address] }) else {
      throw .damaged(Damage(.reference, at: reference, "no page was ever written there"))
    }
    return buffer.page
  }

  /// Begins a write at once; stops when there is another, instead of waiting for it.
  public func beginWrite() throws(StoreError) -> any PageWriter {
    let base = state.withLock { state in
      precondition(!state.isWriting, "HeapStore has one writer; end the other write first.")
      state.isWriting = true
      return state.head
    }
    return HeapWriter(store: self, base: base)
  }

  /// Does nothing: memory is as durable as it gets.
  public func sync() throws(StoreError) {}

  /// The newest version, without waiting.
  public func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version {
    state.withLock { $0.head.version }
  }

  /// The bytes of all pages that were written and not reclaimed, and the pins.
  public func statistics() throws(StoreError) -> StoreStatistics {
    state.withLock { state in
      StoreStatistics(
        totalByteCount: state.pages.values.reduce(0) { $0 + $1.byteCount }, freeByteCount: 0,
        pendingByteCount: state.pending.reduce(0) { $0 + $1.reference.byteCount },
        newestVersion: state.head.version, durableVersion: state.head.version,
        pinnedVersions: state.pins.keys.sorted())
    }
  }

  /// A finding for each page that is kept and unreachable, or reachable and gone or pending.
  public func audit() throws(StoreError) -> StoreAudit {
    let pin = try pin()
    let (kept, pending) = state.withLock { state in
      (Set(state.pages.keys), Set(state.pending.map(\.reference.address)))
    }
    return StoreAudit(of: pin) { reachable in
      let reached = Set(reachable.map(\.address))
      let findings =
        kept.subtracting(pending).subtracting(reached)
        .map { "the page at unit \($0) is neither reachable nor pending" }
        + reached.subtracting(kept).map { "the page at unit \($0) is reachable and gone" }
        + reached.intersection(pending).map { "the page at unit \($0) is reachable and pending" }
      return findings.sorted()
    }
  }

  /// Does nothing: tests look into a store after the database has closed it.
  public func close() throws(StoreError) {}

  fileprivate func allocate(byteCount: Int) -> Extent {
    state.withLock { state in
      let extent = Extent(
        address: state.nextAddress, unitCount: Extent.unitCount(forByteCount: byteCount))
      state.nextAddress += extent.unitCount
      return extent
    }
  }

  fileprivate func put(_ buffer: PageBuffer, at extent: Extent) {
    state.withLock { $0.pages[extent.address] = buffer }
  }

  fileprivate func drop(_ extents: some Sequence<Extent>) {
    state.withLock { state in for extent in extents { state.pages[extent.address] = nil } }
  }

  fileprivate func publish(_ head: Head, freed: [PageReference]) {
    state.withLock { state in
      state.head = head
      state.pending += freed.map { ($0, head.version) }
      Self.reclaim(&state)
    }
  }

  fileprivate func endWrite() { state.withLock { $0.isWriting = false } }
}

private final class HeapWriter: PageWriter {
  let store: HeapStore
  let base: Head
  let version: Version
  private var allocated: [UInt64: Extent] = [:]
  private var freed: [PageReference] = []
  private var freedAddresses: Set<UInt64> = []
  private var hasEnded = false

  init(store: HeapStore, base: Head) {
    self.store = store
    self.base = base
    version = base.version + 1
  }

  deinit { abort() }

  func reserve(byteCount: Int) throws(StoreError) {}

  func allocate(byteCount: Int) throws(StoreError) -> Extent {
    let extent = store.allocate(byteCount: byteCount)
    allocated[extent.address] = extent
    return extent
  }

  func write(
    _ bytes: Span<UInt8>, to extent: Extent, checksum: UInt64
  ) throws(StoreError) {
    precondition(allocated[extent.address] == extent, "Only allocated room may be written.")
    precondition(bytes.count == extent.byteCount, "A write fills its extent.")
    store.put(PageBuffer(copying: bytes), at: extent)
  }

  func free(_ reference: PageReference) {
    precondition(!reference.isNone && !reference.isDirty, "Only stored pages can be freed.")
    if reference.born == version {
      precondition(allocated.removeValue(forKey: reference.address) != nil, "Freed twice.")
      store.drop([reference.extent])
    } else {
      precondition(
        freedAddresses.insert(reference.address).inserted, "The page was freed twice.")
      freed.append(reference)
    }
  }

  func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8], beforeNext: (Head) -> Void
  ) throws(StoreError) -> Pin {
    let head = Head(version: version, epoch: base.epoch, root: root)
    store.publish(head, freed: freed)
    hasEnded = true
    beforeNext(head)
    defer { store.endWrite() }
    return try store.pin()
  }

  func abort() {
    if hasEnded { return }
    hasEnded = true
    store.drop(allocated.values)
    store.endWrite()
  }
}
