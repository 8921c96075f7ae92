import CambiumCore
import CambiumMemory
import Synchronization
import TestSupport

/// A store that breaks one promise, over one that keeps them all.
final class BrokenStore: PageStore {
  /// What it does wrong.
  enum Fault: CaseIterable {
    case pinsHoldNothing, pinsAreNotCounted, headStaysOld, byteIsLost, abortPublishes
    case versionIsSkipped, waitReturnsAtOnce, waitOutlivesClosing, closedStoreAnswers
    case checkFindsNothing, identityIsShared, strayReadsSucceed, writeHangs, metadataHasNoLimit
    case syncDoesNothing, booksFollowCommits, announcedPagesAreStale, tellsTooLate
  }

  private struct State {
    var head: Head?
    var isClosed = false
    var announced: Set<PageReference> = []
  }

  let fault: Fault?
  let store: MemoryStore
  private let state = Mutex(State())

  init(_ fault: Fault?, name: String) {
    self.fault = fault
    store = MemoryStore(name: name)
  }

  var identity: StoreIdentity {
    let identity = store.identity
    guard fault == .identityIsShared else { return identity }
    return StoreIdentity(
      kind: identity.kind, path: "", uuid: (1, 1), formatVersion: 1, codec: identity.codec,
      isReadOnly: false)
  }

  func newestHead() throws(StoreError) -> Head {
    let head = try store.newestHead()
    guard fault == .headStaysOld else { return head }
    return state.withLock { state in
      defer { state.head = head }
      return state.head ?? head
    }
  }

  func pin() throws(StoreError) -> Pin { wrap(try store.pin()) }

  fileprivate func wrap(_ pin: Pin) -> Pin {
    if fault == .pinsHoldNothing { return Pin(head: pin.head) {} }
    return Pin(head: pin.head, base: pin.base, readableByteCount: pin.readableByteCount) {
      withExtendedLifetime(pin) {}
    }
  }

  var readAheadCount: Int { fault == .announcedPagesAreStale ? 8 : 0 }

  func prefetch(_ references: [PageReference], at pin: Pin) {
    state.withLock { $0.announced.formUnion(references) }
  }

  func read(_ reference: PageReference, at pin: Pin) throws(StoreError) -> Page {
    if fault == .announcedPagesAreStale, state.withLock({ $0.announced.contains(reference) }) {
      return PageBuffer(byteCount: reference.byteCount).page
    }
    do throws(StoreError) { return try store.read(reference, at: pin) } catch {
      guard fault == .strayReadsSucceed else { throw error }
      return PageBuffer(byteCount: reference.byteCount).page
    }
  }

  func beginWrite() throws(StoreError) -> any PageWriter {
    if fault == .writeHangs, try store.newestHead().version == 2 {
      // As if the turn never came.
      let never = CommitSignal()
      never.wait(timeoutNanoseconds: 60_000_000_000) { false }
    }
    return BrokenWriter(try store.beginWrite(), self)
  }

  func sync() throws(StoreError) { try store.sync() }

  func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version {
    switch fault {
    case .waitReturnsAtOnce: return store.waitForCommit(after: version, timeoutNanoseconds: 0)
    case .waitOutlivesClosing:
      return store.waitForCommit(
        after: version, timeoutNanoseconds: min(timeoutNanoseconds, 60_000_000_000))
    default:
      return store.waitForCommit(after: version, timeoutNanoseconds: timeoutNanoseconds)
    }
  }

  func statistics() throws(StoreError) -> StoreStatistics {
    var statistics = try store.statistics()
    if fault == .pinsAreNotCounted { statistics.pinnedVersions = [] }
    if fault == .syncDoesNothing { statistics.durableVersion = 0 }
    return statistics
  }

  func audit() throws(StoreError) -> StoreAudit {
    let audit = try store.audit()
    switch fault {
    case .checkFindsNothing: return StoreAudit(of: audit.pin) { _ in [] }
    case .booksFollowCommits:
      return StoreAudit(of: audit.pin) { [store] reachable throws(StoreError) in
        try store.audit().findings(reachable: reachable)
      }
    default: return audit
    }
  }

  func close() throws(StoreError) {
    if fault == .closedStoreAnswers || fault == .waitOutlivesClosing { return }
    try store.close()
  }
}

private final class BrokenWriter: RelayingWriter {
  let inner: any PageWriter
  private let store: BrokenStore

  init(_ inner: any PageWriter, _ store: BrokenStore) {
    self.inner = inner
    self.store = store
  }

  deinit { inner.abort() }

  func write(
    _ bytes: Span<UInt8>, to extent: Extent, checksum: UInt64
  ) throws(StoreError) {
    guard store.fault == .byteIsLost else {
      return try inner.write(bytes, to: extent, checksum: checksum)
    }
    var changed = [UInt8](copying: bytes)
    changed[changed.count - 1] = 0
    try inner.write(changed.span, to: extent)
  }

  func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8], beforeNext: (Head) -> Void
  ) throws(StoreError) -> Pin {
    let kept = store.fault == .metadataHasNoLimit ? [] : metadata
    if store.fault == .tellsTooLate {
      let pin = try inner.publish(root: root, durability: durability, metadata: kept)
      beforeNext(pin.head)
      return store.wrap(pin)
    }
    let pin = try inner.publish(
      root: root, durability: durability, metadata: kept, beforeNext: beforeNext)
    if store.fault == .versionIsSkipped {
      let next = try store.store.beginWrite()
      return store.wrap(try next.publish(root: root, durability: durability, metadata: []))
    }
    return store.wrap(pin)
  }

  func abort() {
    if store.fault == .abortPublishes {
      _ = try? inner.publish(root: inner.base.root, durability: .full, metadata: [])
    }
    inner.abort()
  }
}
