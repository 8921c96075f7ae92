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
private final class RemoteStore: RelayingStore {
  private struct State {
    var losesAnswers = false
    var wasAborted = false
  }

  let inner: any PageStore = HeapStore()
  private let state = Mutex(State())

  /// Whether publications take place and nobody hears of it.
  var losesAnswers: Bool {
    get { state.withLock { $0.losesAnswers } }
    set { state.withLock { $0.losesAnswers = newValue } }
  }

  /// Whether a write was aborted after it was published without an answer.
  var wasAborted: Bool { state.withLock { $0.wasAborted } }

  fileprivate func noteAbort() { state.withLock { $0.wasAborted = true } }

  func beginWrite() throws(StoreError) -> any PageWriter {
    RemoteWriter(try inner.beginWrite(), self)
  }
}

private final class RemoteWriter: RelayingWriter {
  let inner: any PageWriter
  private let store: RemoteStore
  private var isUnknown = false

  init(_ inner: any PageWriter, _ store: RemoteStore) {
    self.inner = inner
    self.store = store
  }

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
