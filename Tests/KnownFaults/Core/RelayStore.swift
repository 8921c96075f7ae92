import CambiumCore
import Synchronization

/// A store that hands every call on to another one, and lets a test step in where a commit ends.
///
/// Nothing is left to the protocols' defaults but what the other store leaves to them.
final class RelayStore: PageStore {
  let inner: any PageStore
  private let steps = Mutex<[@Sendable () -> Void]>([])

  init(_ inner: any PageStore) { self.inner = inner }

  /// Runs each of `steps` once, in their order: one per commit, right before the commit's caller hears of
  /// its version.
  func beforeCommitsAreTold(_ steps: [@Sendable () -> Void]) {
    self.steps.withLock { $0 = steps }
  }

  fileprivate func takeStep() {
    let step = steps.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    step?()
  }

  var identity: StoreIdentity { inner.identity }
  var boundCodec: (any PageCodec)? { inner.boundCodec }
  func newestHead() throws(StoreError) -> Head { try inner.newestHead() }
  func pin() throws(StoreError) -> Pin { try inner.pin() }
  func isNewest(_ pin: Pin) -> Bool { inner.isNewest(pin) }
  func read(_ reference: PageReference) throws(StoreError) -> Page { try inner.read(reference) }
  func beginWrite() throws(StoreError) -> any PageWriter {
    RelayWriter(try inner.beginWrite(), self)
  }
  func sync() throws(StoreError) { try inner.sync() }
  func makeDurable(_ version: Version) throws(StoreError) { try inner.makeDurable(version) }
  func makeDurable(_ version: Version, then: @escaping @Sendable (StoreError?) -> Void) {
    inner.makeDurable(version, then: then)
  }
  func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version {
    inner.waitForCommit(after: version, timeoutNanoseconds: timeoutNanoseconds)
  }
  func statistics() throws(StoreError) -> StoreStatistics { try inner.statistics() }
  func audit() throws(StoreError) -> StoreAudit { try inner.audit() }
  func close() throws(StoreError) { try inner.close() }
}

private final class RelayWriter: PageWriter {
  private let inner: any PageWriter
  private let store: RelayStore

  init(_ inner: any PageWriter, _ store: RelayStore) {
    self.inner = inner
    self.store = store
  }

  var base: Head { inner.base }
  var version: Version { inner.version }
  var vacating: Vacating? { inner.vacating }
  func expect(_ durability: Durability) { inner.expect(durability) }
  func reserve(byteCount: Int) throws(StoreError) { try inner.reserve(byteCount: byteCount) }
  func allocate(byteCount: Int) throws(StoreError) -> Extent {
    try inner.allocate(byteCount: byteCount)
  }
  func write(_ bytes: UnsafeRawBufferPointer, to extent: Extent) throws(StoreError) {
    try inner.write(bytes, to: extent)
  }
  func write(
    _ bytes: UnsafeRawBufferPointer, to extent: Extent, checksum: UInt64
  ) throws(StoreError) {
    try inner.write(bytes, to: extent, checksum: checksum)
  }
  func free(_ reference: PageReference) { inner.free(reference) }
  func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8]
  ) throws(StoreError) -> Pin {
    try inner.publish(root: root, durability: durability, metadata: metadata)
  }
  func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8], beforeNext: (Head) -> Void
  ) throws(StoreError) -> Pin {
    try inner.publish(root: root, durability: durability, metadata: metadata) { head in
      store.takeStep()
      beforeNext(head)
    }
  }
  func abort() { inner.abort() }
}
