import CambiumCore
import Foundation
import Synchronization
import TestSupport
import Testing

/// What the engine does for stores that leave calling back to it.
@Suite struct StoreCallTests {
  @Test func `no thread of the caller's waits while the medium works`() throws {
    let store = SyncedStore()
    let caller = pthread_self()
    let ended = DispatchSemaphore(value: 0)
    store.makeDurable(0) { _ in ended.signal() }
    ended.wait()
    #expect(store.syncThread != caller)
  }

  @Test func `a store that has nothing of its own calls in the order of versions`() throws {
    let database = try Database(store: SyncedStore())
    let versions = Mutex<[Version]>([])
    let ended = DispatchSemaphore(value: 0)
    for _ in 0..<20 {
      let transaction = try database.beginWrite()
      let version = transaction.version
      try transaction.commitTogether { failure in
        #expect(failure == nil)
        versions.withLock { $0.append(version) }
        ended.signal()
      }
    }
    for _ in 0..<20 { ended.wait() }
    #expect(versions.withLock { $0 } == Array(1...20))
  }
}

/// A store that notes which thread syncs it, and has nothing of its own for those who do not wait.
private final class SyncedStore: RelayingStore {
  let inner: any PageStore = HeapStore()
  private let thread = Mutex<pthread_t?>(nil)

  /// The thread of the last sync.
  var syncThread: pthread_t? { thread.withLock { $0 } }

  func sync() throws(StoreError) {
    let current = pthread_self()
    thread.withLock { $0 = current }
  }
}
