import Cambium
import CambiumCore
import CambiumMemory
import Foundation
import Synchronization
import TestSupport

/// A store in memory whose medium is slow: a version that was published before it was durable becomes so when a
/// test says so.
final class SlowMedium: RelayingStore {
  let inner: any PageStore = MemoryStore(name: UUID().uuidString)
  private let state = Mutex(State())

  private struct State {
    var held: [@Sendable (StoreError?) -> Void] = []
    var fullCommitCount = 0
    var isFast = false
    var isContended = false
  }

  /// Whether each write is told that others write at the same time.
  var isContended: Bool {
    get { state.withLock { $0.isContended } }
    set { state.withLock { $0.isContended = newValue } }
  }

  var configuration: Realm.Configuration {
    var configuration = Realm.Configuration(
      inMemoryIdentifier: UUID().uuidString, objectTypes: specTypes)
    configuration.store = StoreChoice(kind: "slow", isVolatile: true) { [self] _ in self }
    return configuration
  }

  /// How many wait for the medium.
  var heldCount: Int { state.withLock { $0.held.count } }
  /// How many commits were durable when they were published; that of the schema counts.
  var fullCommitCount: Int { state.withLock { $0.fullCommitCount } }

  fileprivate func noteCommit(_ durability: Durability) {
    if durability == .full { state.withLock { $0.fullCommitCount += 1 } }
  }

  /// The medium has done its work, unless it has failed, and is fast from now on.
  func letGo(_ failure: StoreError? = nil) {
    let held = state.withLock { state in
      state.isFast = true
      defer { state.held = [] }
      return state.held
    }
    for call in held { call(failure) }
  }

  func beginWrite() throws(StoreError) -> any PageWriter {
    SlowWriter(inner: try inner.beginWrite(), store: self)
  }

  func makeDurable(_ version: Version) throws(StoreError) {
    let isDone = DispatchSemaphore(value: 0)
    let failure = Mutex<StoreError?>(nil)
    makeDurable(version) { error in
      failure.withLock { $0 = error }
      isDone.signal()
    }
    isDone.wait()
    if let failure = failure.withLock({ $0 }) { throw failure }
  }

  func makeDurable(_ version: Version, then: @escaping @Sendable (StoreError?) -> Void) {
    let isFast = state.withLock { state in
      if !state.isFast { state.held.append(then) }
      return state.isFast
    }
    if isFast { then(nil) }
  }
}

private final class SlowWriter: RelayingWriter {
  let inner: any PageWriter
  private let store: SlowMedium

  init(inner: any PageWriter, store: SlowMedium) {
    self.inner = inner
    self.store = store
  }

  var isContended: Bool { store.isContended }

  func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8], beforeNext: (Head) -> Void
  ) throws(StoreError) -> Pin {
    store.noteCommit(durability)
    return try inner.publish(
      root: root, durability: durability, metadata: metadata, beforeNext: beforeNext)
  }
}
