import CambiumCore
import Synchronization
import TestSupport

/// A store whose pages are far away, on a clock of its own: a page takes so many ticks to come, and one tick
/// to be worked on.
final class DistantStore: RelayingStore {
  let inner: any PageStore
  let readAheadCount: Int
  /// How many ticks a page takes.
  static let latency = 64
  private let state = Mutex(State())

  private struct State {
    var now = 0
    var readCount = 0
    /// When pages that were asked for ahead are here.
    var arrivals: [PageReference: Int] = [:]
    var aheadByteCount = 0
    var largestAheadByteCount = 0
    /// The pages that were read last, which are still at hand.
    var recent: [PageReference] = []
    var misuse: [String] = []
  }

  init(_ store: any PageStore, readAheadCount: Int) {
    inner = store
    self.readAheadCount = readAheadCount
  }

  /// What is asked for ahead although it must not be.
  var misuse: [String] { state.withLock { $0.misuse } }

  /// The most bytes of pages that were asked for and not read at any time since `time` began.
  var largestAheadByteCount: Int { state.withLock { $0.largestAheadByteCount } }

  /// How many ticks went by, how many they would have been if each page had been waited for, and how many
  /// pages were asked for and not read.
  func time(_ body: () throws -> Void) rethrows -> (elapsed: Int, oneByOne: Int, unread: Int) {
    state.withLock { $0 = State(misuse: $0.misuse) }
    try body()
    return state.withLock { ($0.now, $0.readCount * (Self.latency + 1), $0.arrivals.count) }
  }

  func read(_ reference: PageReference, at pin: Pin) throws(StoreError) -> Page {
    state.withLock { state in
      if state.recent.contains(reference) { return }
      state.recent = state.recent.suffix(7) + [reference]
      state.readCount += 1
      state.now = 1 + max(state.now, state.arrivals[reference] ?? state.now + Self.latency)
      if state.arrivals.removeValue(forKey: reference) != nil {
        state.aheadByteCount -= reference.byteCount
      }
    }
    return try inner.read(reference, at: pin)
  }

  func prefetch(_ references: [PageReference], at pin: Pin) {
    state.withLock { state in
      if references.isEmpty || references.count > readAheadCount {
        state.misuse.append("\(references.count) pages at once")
      }
      for reference in references {
        if reference.isDirty || reference.isNone || reference.born > pin.head.version {
          state.misuse.append("a page that the version does not have")
        }
        if state.arrivals[reference] != nil { continue }
        state.arrivals[reference] = state.now + Self.latency
        state.aheadByteCount += reference.byteCount
      }
      state.largestAheadByteCount = max(state.largestAheadByteCount, state.aheadByteCount)
    }
  }
}
