import CambiumCore
import Synchronization
import TestSupport

/// A store that lets a test see, count and falsify every read.
final class ObservedStore: RelayingStore {
  let inner: any PageStore
  private let state = Mutex(State())

  private struct State {
    var readCount = 0
    var readCounts: [PageReference: Int] = [:]
    var falsify: (@Sendable (PageReference, PageBuffer) -> Void)?
    var refused: Set<PageReference> = []
  }

  /// What the read of a refused page throws.
  static let refusal = StoreError.system(operation: "read", path: "observed", code: 5)

  /// Reads and writes `store`.
  init(_ store: any PageStore = HeapStore()) { inner = store }

  /// How many pages were read since this was set to 0.
  var readCount: Int {
    get { state.withLock { $0.readCount } }
    set { state.withLock { $0.readCount = newValue } }
  }

  /// How often that page was read.
  func readCount(of reference: PageReference) -> Int {
    state.withLock { $0.readCounts[reference] ?? 0 }
  }

  /// Changes a copy of each page on its way to the reader.
  func falsify(_ body: (@Sendable (PageReference, PageBuffer) -> Void)?) {
    state.withLock { $0.falsify = body }
  }

  /// From now on the medium cannot read that page.
  func refuse(_ reference: PageReference) {
    state.withLock { _ = $0.refused.insert(reference) }
  }

  /// From now on the medium cannot read the leaves of the tree.
  func refuseLeaves(of tree: some VersionedTree) throws {
    var leaves: [PageReference] = []
    try tree.walk(
      { page, kind in if kind == .columnLeaf || kind == .keyLeaf { leaves.append(page) } },
      damage: { _ in })
    for leaf in leaves { refuse(leaf) }
  }

  /// From now on the medium can read every page.
  func refuseNone() { state.withLock { $0.refused = [] } }

  func read(_ reference: PageReference, at pin: Pin) throws(StoreError) -> Page {
    let page = try inner.read(reference, at: pin)
    let (falsify, isRefused) = state.withLock { state in
      state.readCount += 1
      state.readCounts[reference, default: 0] += 1
      return (state.falsify, state.refused.contains(reference))
    }
    if isRefused { throw Self.refusal }
    guard let falsify else { return page }
    let copy = PageBuffer(byteCount: page.byteCount)
    copy.bytes.copyMemory(from: page.bytes, byteCount: page.byteCount)
    falsify(reference, copy)
    return copy.page
  }
}
