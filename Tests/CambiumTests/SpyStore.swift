import Cambium
import CambiumCore
import CambiumMemory
import Foundation
import Synchronization

/// A store in memory that lets a test count what is read and written, and step in where a write ends.
final class SpyStore: PageStore {
  private let store: any PageStore
  private let state = Mutex(State())

  private struct State {
    var leafReadCount = 0
    var writeCount = 0
    var afterAbort: (@Sendable () -> Void)?
    var publishFailure: StoreError?
    var pinFailure: StoreError?
  }

  init(name: String) { store = MemoryStore(name: name) }

  /// How many leaves of column trees were read.
  var leafReadCount: Int { state.withLock { $0.leafReadCount } }

  /// How many pages were written.
  var writeCount: Int { state.withLock { $0.writeCount } }

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

  var identity: StoreIdentity { store.identity }
  func newestHead() throws(StoreError) -> Head { try store.newestHead() }

  func pin() throws(StoreError) -> Pin {
    if let error = state.withLock({ $0.pinFailure }) { throw error }
    return Self.withoutMemory(try store.pin())
  }

  // A pin that lends no memory lets every read of a page go through the store.
  fileprivate static func withoutMemory(_ pin: Pin) -> Pin {
    Pin(head: pin.head) { withExtendedLifetime(pin) {} }
  }

  func read(_ reference: PageReference) throws(StoreError) -> Page {
    if reference.rawKind == PageKind.columnLeaf.rawValue {
      state.withLock { $0.leafReadCount += 1 }
    }
    return try store.read(reference)
  }

  func beginWrite() throws(StoreError) -> any PageWriter {
    SpyWriter(try store.beginWrite(), self)
  }

  func sync() throws(StoreError) { try store.sync() }
  func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version {
    store.waitForCommit(after: version, timeoutNanoseconds: timeoutNanoseconds)
  }
  func statistics() throws(StoreError) -> StoreStatistics { try store.statistics() }
  func audit() throws(StoreError) -> StoreAudit { try store.audit() }
  func close() throws(StoreError) { try store.close() }
}

private final class SpyWriter: PageWriter {
  private let writer: any PageWriter
  private let store: SpyStore
  private var hasEnded = false

  init(_ writer: any PageWriter, _ store: SpyStore) {
    self.writer = writer
    self.store = store
  }

  var base: Head { writer.base }
  var version: Version { writer.version }
  func reserve(byteCount: Int) throws(StoreError) { try writer.reserve(byteCount: byteCount) }
  func allocate(byteCount: Int) throws(StoreError) -> Extent {
    try writer.allocate(byteCount: byteCount)
  }
  func write(_ bytes: UnsafeRawBufferPointer, to extent: Extent) throws(StoreError) {
    store.noteWrite()
    try writer.write(bytes, to: extent)
  }
  func free(_ reference: PageReference) { writer.free(reference) }
  func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8]
  ) throws(StoreError) -> Pin {
    try store.checkPublishing()
    hasEnded = true
    return SpyStore.withoutMemory(
      try writer.publish(root: root, durability: durability, metadata: metadata))
  }
  func abort() {
    if hasEnded { return }
    hasEnded = true
    writer.abort()
    store.noteAbort()
  }
}
