import CambiumCore
import Synchronization
import TestSupport
import Testing

extension KnownFault {
  static let unknownOutcome = KnownFault(
    "a publication whose outcome is unknown is rolled back",
    promise: "whether the commit took place is unknown (`StoreError.indeterminate`)",
    place: "`Transaction.publish`, which aborts the writer after any error"
  ) {
    let store = RemoteStore()
    let database = try Database(store: store)
    let first = try database.beginWrite()
    try first.setValue("name", [1])
    _ = try first.commit()
    let transaction = try database.beginWrite()
    try transaction.setValue("name", [2])
    store.losesAnswers = true
    #expect(throws: StoreError.indeterminate(path: "remote")) { try transaction.commit() }
    // A store that obeys would drop the pages of what may be its newest version.
    #expect(!store.wasAborted)
  }
}

/// A store that may lose the answer to a publication which took place, as over a network.
private final class RemoteStore: PageStore {
  private struct State {
    var losesAnswers = false
    var wasAborted = false
  }

  private let inner = HeapStore()
  private let state = Mutex(State())

  /// Whether publications take place and nobody hears of it.
  var losesAnswers: Bool {
    get { state.withLock { $0.losesAnswers } }
    set { state.withLock { $0.losesAnswers = newValue } }
  }

  /// Whether a write was aborted after it was published without an answer.
  var wasAborted: Bool { state.withLock { $0.wasAborted } }

  fileprivate func noteAbort() { state.withLock { $0.wasAborted = true } }

  var identity: StoreIdentity { inner.identity }
  func newestHead() throws(StoreError) -> Head { try inner.newestHead() }
  func pin() throws(StoreError) -> Pin { try inner.pin() }
  func read(_ reference: PageReference) throws(StoreError) -> Page { try inner.read(reference) }
  func beginWrite() throws(StoreError) -> any PageWriter {
    RemoteWriter(try inner.beginWrite(), self)
  }
  func sync() throws(StoreError) { try inner.sync() }
  func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version {
    inner.waitForCommit(after: version, timeoutNanoseconds: timeoutNanoseconds)
  }
  func statistics() throws(StoreError) -> StoreStatistics { try inner.statistics() }
  func audit() throws(StoreError) -> StoreAudit { try inner.audit() }
  func close() throws(StoreError) { try inner.close() }
}

private final class RemoteWriter: PageWriter {
  private let inner: any PageWriter
  private let store: RemoteStore
  private var isUnknown = false

  init(_ inner: any PageWriter, _ store: RemoteStore) {
    self.inner = inner
    self.store = store
  }

  var base: Head { inner.base }
  var version: Version { inner.version }
  func reserve(byteCount: Int) throws(StoreError) { try inner.reserve(byteCount: byteCount) }
  func allocate(byteCount: Int) throws(StoreError) -> Extent {
    try inner.allocate(byteCount: byteCount)
  }
  func write(_ bytes: UnsafeRawBufferPointer, to extent: Extent) throws(StoreError) {
    try inner.write(bytes, to: extent)
  }
  func free(_ reference: PageReference) { inner.free(reference) }
  func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8]
  ) throws(StoreError) -> Pin {
    let pin = try inner.publish(root: root, durability: durability, metadata: metadata)
    guard store.losesAnswers else { return pin }
    isUnknown = true
    throw .indeterminate(path: "remote")
  }
  func abort() {
    if isUnknown { store.noteAbort() }
    inner.abort()
  }
}
