import CambiumCore
import Dispatch
import Synchronization
import TestSupport
import Testing

/// Publications of which nobody knows whether they took place.
@Suite struct UnknownOutcomeTests {
  private func filled() throws -> (RemoteStore, Database) {
    let store = RemoteStore()
    let database = try Database(store: store)
    let first = try database.beginWrite()
    try first.setValue("name", [1])
    _ = try first.commit()
    return (store, database)
  }

  private func loseAnswer(_ database: Database, _ store: RemoteStore, _ loss: Loss) throws {
    let transaction = try database.beginWrite()
    try transaction.setValue("name", [2])
    store.loss = loss
    #expect(throws: StoreError.indeterminate(path: "remote")) { try transaction.commit() }
    store.loss = .none
  }

  @Test(arguments: [Loss.answer, .everything])
  func `what may be the newest version is not rolled back, and what is newest is read anew`(
    loss: Loss
  ) throws {
    let (store, database) = try filled()
    let before = try database.snapshot()
    let told = Mutex<[Version]>([])
    let watch = database.watchCommits { version in told.withLock { $0.append(version) } }
    try loseAnswer(database, store, loss)
    // A store that obeys would drop the pages of what may be its newest version.
    #expect(!store.wasAborted)
    let value: UInt8 = loss == .answer ? 2 : 1
    #expect(try database.snapshot().value("name") == [value])
    #expect(try before.value("name") == [1])
    #expect(told.withLock { $0 } == (loss == .answer ? [before.version + 1] : []))
    watch.end()
    let next = try database.beginWrite()
    #expect(try next.value("name") == [value])
    try next.setValue("name", [3])
    #expect(try next.commit().value("name") == [3])
    try database.close()
  }

  @Test func `who waits for durability is told by the error alone`() throws {
    let (store, database) = try filled()
    let transaction = try database.beginWrite()
    try transaction.setValue("name", [2])
    store.loss = .answer
    let calls = Mutex(0)
    #expect(throws: StoreError.indeterminate(path: "remote")) {
      try transaction.commitTogether { _ in calls.withLock { $0 += 1 } }
    }
    store.loss = .none
    let after = try database.beginWrite()
    try after.setValue("name", [3])
    let ended = DispatchSemaphore(value: 0)
    try after.commitTogether { failure in
      if failure == nil { calls.withLock { $0 += 10 } }
      ended.signal()
    }
    ended.wait()
    #expect(calls.withLock { $0 } == 10)
  }
}

/// What a network loses.
enum Loss: Sendable {
  case none
  /// The publication takes place, and nobody hears of it.
  case answer
  /// It does not take place, and nobody hears of that.
  case everything
}

/// A store behind a network.
private final class RemoteStore: RelayingStore {
  private struct State {
    var loss = Loss.none
    var wasAborted = false
  }

  let inner: any PageStore = HeapStore()
  private let state = Mutex(State())

  var loss: Loss {
    get { state.withLock { $0.loss } }
    set { state.withLock { $0.loss = newValue } }
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
    root: TreeRoot, durability: Durability, metadata: [UInt8], beforeNext: (Head) -> Void
  ) throws(StoreError) -> Pin {
    switch store.loss {
    case .none:
      return try inner.publish(
        root: root, durability: durability, metadata: metadata, beforeNext: beforeNext)
    case .answer: _ = try inner.publish(root: root, durability: durability, metadata: metadata)
    case .everything: inner.abort()
    }
    isUnknown = true
    throw .indeterminate(path: "remote")
  }

  func abort() {
    if isUnknown { store.noteAbort() } else { inner.abort() }
  }
}
