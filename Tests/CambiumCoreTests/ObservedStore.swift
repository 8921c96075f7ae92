import CambiumCore
import Synchronization
import TestSupport

/// A heap store that lets a test see, count and falsify every read.
final class ObservedStore: PageStore {
  private let store = HeapStore()
  private let state = Mutex(State())

  private struct State {
    var readCount = 0
    var falsify: (@Sendable (PageReference, PageBuffer) -> Void)?
  }

  /// How many pages were read since this was set to 0.
  var readCount: Int {
    get { state.withLock { $0.readCount } }
    set { state.withLock { $0.readCount = newValue } }
  }

  /// Changes a copy of each page on its way to the reader.
  func falsify(_ body: (@Sendable (PageReference, PageBuffer) -> Void)?) {
    state.withLock { $0.falsify = body }
  }

  var identity: StoreIdentity { store.identity }
  func newestHead() throws(StoreError) -> Head { try store.newestHead() }
  func pin() throws(StoreError) -> Pin { try store.pin() }
  func beginWrite() throws(StoreError) -> any PageWriter { try store.beginWrite() }
  func sync() throws(StoreError) { try store.sync() }
  func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version {
    store.waitForCommit(after: version, timeoutNanoseconds: timeoutNanoseconds)
  }
  func statistics() throws(StoreError) -> StoreStatistics { try store.statistics() }
  func check(reachable: [Extent]) throws(StoreError) -> [String] {
    try store.check(reachable: reachable)
  }
  func close() throws(StoreError) { try store.close() }

  func read(_ reference: PageReference) throws(StoreError) -> Page {
    let page = try store.read(reference)
    let falsify = state.withLock { state in
      state.readCount += 1
      return state.falsify
    }
    guard let falsify else { return page }
    let copy = PageBuffer(byteCount: page.byteCount)
    copy.bytes.copyMemory(from: page.bytes, byteCount: page.byteCount)
    falsify(reference, copy)
    return copy.page
  }
}
