import CambiumCore
import Foundation
import Synchronization
import TestSupport
import Testing

extension KnownFault {
  static let blockingSync = KnownFault(
    "a task that commits blocks its thread while the medium works",
    promise: "no thread waits meanwhile (`commitDurably`)",
    place: "the default of `PageStore.makeDurable(_:then:)`, which RocksDB uses"
  ) {
    let store = SyncedStore()
    let caller = pthread_self()
    let ended = DispatchSemaphore(value: 0)
    store.makeDurable(0) { _ in ended.signal() }
    ended.wait()
    #expect(store.syncThread != caller)
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
