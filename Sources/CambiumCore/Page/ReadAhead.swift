/// Tells a store which pages a walk reads next, as many as the store likes to know.
///
/// A walk through the children of a branch says where it stands. Whenever half of the pages ahead, or less,
/// are known to the store, those that are missing are handed in. A walk that may end soon begins with two
/// pages and doubles them; one that goes to the end begins with all. Costs a comparison where the store
/// makes no use of it, as one does not that lends its memory.
struct ReadAhead {
  private let source: PageSource
  private let limit: Int
  private let first: Int
  /// How many pages from the one the walk stands at are to be known.
  private var window: Int
  /// How many of them, in the walk's direction, were handed in.
  private var known = 0

  /// A walk that reads through `source`, to the end or, perhaps, not.
  init(_ source: PageSource, toEnd: Bool) {
    self.source = source
    limit = source.readAheadCount
    first = toEnd ? limit : min(2, limit)
    window = first
  }

  /// Whether the store wants to know at all.
  var isWanted: Bool { limit > 0 }

  /// The walk goes on somewhere else, and may end there.
  mutating func restart() { (known, window) = (0, first) }

  /// The walk goes on in another branch.
  mutating func enter() { known = 0 }

  /// Stands at child `index` of a branch of `count` children, the first that is visited there or one step
  /// from the child before; `direction` is 1 or -1.
  @inline(__always) mutating func step(
    to index: Int, of count: Int, by direction: Int = 1, _ reference: (Int) -> PageReference
  ) {
    guard isWanted else { return }
    known = max(0, known &- 1)
    if known &* 2 <= window { extend(index, of: count, by: direction, reference) }
  }

  private mutating func extend(
    _ index: Int, of count: Int, by direction: Int, _ reference: (Int) -> PageReference
  ) {
    let end = min(window, direction > 0 ? count - index : index + 1)
    guard known < end else { return }
    source.willRead((known..<end).map { reference(index + direction * $0) })
    known = end
    window = min(limit, window * 2)
  }
}

extension PageSource {
  /// How many pages ahead the store likes to know; 0 where it lends its memory.
  var readAheadCount: Int { unsafe base == nil ? max(0, store.readAheadCount) : 0 }

  /// Hands the store the pages that will be read next and are not here yet, if it likes to know.
  ///
  /// What a running write has written is not handed in: the pinned version does not have it.
  func willRead(_ references: some Sequence<PageReference>) {
    let limit = readAheadCount
    guard limit > 0, let pin else { return }
    let missing = Array(
      references.lazy.filter { reference in
        !reference.isDirty && !reference.isNone && reference.born <= pin.head.version
          && !self.isHere(reference)
      }.prefix(limit))
    if !missing.isEmpty { store.prefetch(missing, at: pin) }
  }
}
