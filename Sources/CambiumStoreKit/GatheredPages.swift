import CambiumCore
import Synchronization

/// The pages of the running write that are not in the store yet, where its readers find them.
///
/// Thread-safe.
public final class GatheredPages: Sendable {
  private struct State {
    var pages: [UInt64: PageBuffer] = [:]
    var byteCount = 0
  }

  private let state = Mutex(State())
  /// Most reads come while there are none.
  private let isEmpty = Atomic(true)

  /// No pages.
  public init() {}

  /// The page at a location, as a reference names it.
  public func page(_ location: UInt64) -> Page? {
    if isEmpty.load(ordering: .acquiring) { return nil }
    return state.withLock { $0.pages[location] }?.page
  }

  /// Keeps a page; how many bytes there are now.
  public func put(_ buffer: PageBuffer, at location: UInt64) -> Int {
    isEmpty.store(false, ordering: .releasing)
    return state.withLock { state in
      let old = state.pages.updateValue(buffer, forKey: location)
      state.byteCount += buffer.byteCount - (old?.byteCount ?? 0)
      return state.byteCount
    }
  }

  /// Forgets a page; false when it is not here.
  public func remove(_ location: UInt64) -> Bool {
    state.withLock { state in
      guard let old = state.pages.removeValue(forKey: location) else { return false }
      state.byteCount -= old.byteCount
      return true
    }
  }

  /// How many bytes there are.
  public var byteCount: Int { state.withLock { $0.byteCount } }

  /// All pages with their locations, in the order of their addresses; they stay here.
  public var sorted: [(location: UInt64, buffer: PageBuffer)] {
    let pages = state.withLock { $0.pages }
    return pages.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Forgets all pages: they are in the store, or nobody wants them.
  public func removeAll() {
    state.withLock { $0 = State() }
    isEmpty.store(true, ordering: .releasing)
  }
}
