import CambiumCore
import Synchronization
import TestSupport

/// A store that hands every call on to another one, and lets a test step in where a commit ends.
///
/// Nothing is left to the protocols' defaults but what the other store leaves to them.
final class RelayStore: RelayingStore {
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

  var boundCodec: (any PageCodec)? { inner.boundCodec }
  func isNewest(_ pin: Pin) -> Bool { inner.isNewest(pin) }
  func beginWrite() throws(StoreError) -> any PageWriter {
    RelayWriter(try inner.beginWrite(), self)
  }
  func makeDurable(_ version: Version) throws(StoreError) { try inner.makeDurable(version) }
  func makeDurable(_ version: Version, then: @escaping @Sendable (StoreError?) -> Void) {
    inner.makeDurable(version, then: then)
  }
}

private final class RelayWriter: RelayingWriter {
  let inner: any PageWriter
  private let store: RelayStore

  init(_ inner: any PageWriter, _ store: RelayStore) {
    self.inner = inner
    self.store = store
  }

  var relocation: Relocation? { inner.relocation }
  func expect(_ durability: Durability) { inner.expect(durability) }
  func write(
    _ bytes: UnsafeRawBufferPointer, to extent: Extent, checksum: UInt64
  ) throws(StoreError) {
    try inner.write(bytes, to: extent, checksum: checksum)
  }
  func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8], beforeNext: (Head) -> Void
  ) throws(StoreError) -> Pin {
    try inner.publish(root: root, durability: durability, metadata: metadata) { head in
      store.takeStep()
      beforeNext(head)
    }
  }
}
