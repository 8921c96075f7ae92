import Cambium
import CambiumCore
import CambiumMemory
import Foundation
import Synchronization
import TestSupport

/// A store in memory that lets a test count what is read and written, and step in where a write ends.
final class SpyStore: RelayingStore {
  let inner: any PageStore
  private let state = Mutex(State())

  private struct State {
    var leafReadCount = 0
    var writeCount = 0
    var expected: [Durability] = []
    var afterAbort: (@Sendable () -> Void)?
    var publishFailure: StoreError?
    var pinFailure: StoreError?
  }

  init(name: String) { inner = MemoryStore(name: name) }

  /// How many leaves of column trees were read.
  var leafReadCount: Int { state.withLock { $0.leafReadCount } }

  /// How many pages were written.
  var writeCount: Int { state.withLock { $0.writeCount } }

  /// What writes were told about their durability when they began.
  var expected: [Durability] { state.withLock { $0.expected } }

  /// What happens once, as soon as the next write that is given up has released the writer's lock.
  func afterNextAbort(_ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.afterAbort = body }
  }

  /// From now on publishing throws `error`; nil to let it be.
  func failPublishing(_ error: StoreError?) { state.withLock { $0.publishFailure = error } }

  /// From now on no version can be pinned; nil to let it be.
  func failPinning(_ error: StoreError?) { state.withLock { $0.pinFailure = error } }

  /// A configuration of a Realm in this store.
  func configuration(_ types: [ObjectBase.Type]) -> Realm.Configuration {
    var configuration = Realm.Configuration(
      inMemoryIdentifier: UUID().uuidString, objectTypes: types)
    configuration.store = StoreChoice(kind: "spy", isVolatile: true) { [self] _ in self }
    // Otherwise only the first read of a page would reach the store.
    configuration.databaseOptions.pageCacheByteCount = 0
    return configuration
  }

  fileprivate func noteExpected(_ durability: Durability) {
    state.withLock { $0.expected.append(durability) }
  }

  fileprivate func noteWrite() { state.withLock { $0.writeCount += 1 } }

  fileprivate func checkPublishing() throws(StoreError) {
    if let error = state.withLock({ $0.publishFailure }) { throw error }
  }

  fileprivate func noteAbort() {
    let body = state.withLock { state in
      defer { state.afterAbort = nil }
      return state.afterAbort
    }
    body?()
  }

  func pin() throws(StoreError) -> Pin {
    if let error = state.withLock({ $0.pinFailure }) { throw error }
    return Self.withoutMemory(try inner.pin())
  }

  // A pin that lends no memory lets every read of a page go through the store.
  fileprivate static func withoutMemory(_ pin: Pin) -> Pin {
    Pin(head: pin.head) { withExtendedLifetime(pin) {} }
  }

  func read(_ reference: PageReference, at pin: Pin) throws(StoreError) -> Page {
    if reference.rawKind == PageKind.columnLeaf.rawValue {
      state.withLock { $0.leafReadCount += 1 }
    }
    return try inner.read(reference, at: pin)
  }

  func beginWrite() throws(StoreError) -> any PageWriter {
    SpyWriter(try inner.beginWrite(), self)
  }

}

private final class SpyWriter: RelayingWriter {
  let inner: any PageWriter
  private let store: SpyStore
  private var hasEnded = false

  init(_ inner: any PageWriter, _ store: SpyStore) {
    self.inner = inner
    self.store = store
  }

  func expect(_ durability: Durability) {
    store.noteExpected(durability)
    inner.expect(durability)
  }
  func write(
    _ bytes: Span<UInt8>, to extent: Extent, checksum: UInt64
  ) throws(StoreError) {
    store.noteWrite()
    try inner.write(bytes, to: extent, checksum: checksum)
  }
  func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8], beforeNext: (Head) -> Void
  ) throws(StoreError) -> Pin {
    try store.checkPublishing()
    hasEnded = true
    return SpyStore.withoutMemory(
      try inner.publish(
        root: root, durability: durability, metadata: metadata, beforeNext: beforeNext))
  }
  func abort() {
    if hasEnded { return }
    hasEnded = true
    inner.abort()
    store.noteAbort()
  }
}
