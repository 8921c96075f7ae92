/// Tells a store which pages a walk reads next, as many as the store likes to know.
///
/// A walk says where it stands. Whenever half of the pages ahead, or less, are known to the store, those that
/// are missing are handed in. A walk that may end soon begins with two pages and doubles them; one that goes
/// to the end begins with all. Where pages are long, as those of a large value are, there are fewer of them
/// ahead. Costs a comparison where the store makes no use of it, as one does not that lends its memory.
struct ReadAhead {
  private let source: PageSource
  private var limit: Int
  private let first: Int
  /// How many pages from the one the walk stands at are to be known.
  private var window: Int
  /// How many of them, in the walk's direction, were handed in.
  private var known = 0
  /// Where those end in a tree; nil when the walk has to say where it stands.
  private var frontier: LeafFrontier?
  /// Pages are handed in together until they have so many bytes.
  static let byteLimit = 16 << 20

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
  mutating func restart() { (known, window, frontier) = (0, min(first, limit), nil) }

  // MARK: Through a list

  /// Stands at page `index` of a list of `count`, the first that is visited there or one step from the page
  /// before; `direction` is 1 or -1.
  @inline(__always) mutating func step(
    to index: Int, of count: Int, by direction: Int = 1, _ reference: (Int) -> PageReference
  ) {
    guard isWanted else { return }
    step { known, wanted in
      let rest = direction > 0 ? count - index : index + 1
      var found = PagesAhead()
      for place in known..<max(known, min(known + wanted, rest)) where !found.isFull {
        found.add(reference(index + direction * place))
      }
      return found
    }
  }

  // MARK: Through the leaves of a tree

  /// Whether the walk has to say where it stands before it goes on in `direction`.
  func needsPlace(_ direction: Int) -> Bool { isWanted && frontier?.direction != direction }

  /// The walk stands at the leaf where `frontier` begins.
  mutating func place(_ frontier: LeafFrontier) {
    // Once more when it has turned: what lies behind it is here.
    if self.frontier != nil { restart() }
    self.frontier = frontier
  }

  /// Stands at the next leaf, or at the one where it was placed.
  @inline(__always) mutating func step() {
    if isWanted { stepThroughTree() }
  }

  private mutating func stepThroughTree() {
    guard var ahead = frontier.take() else { return }
    step { [source] _, wanted in ahead.take(wanted, source) }
    frontier = ahead
  }

  /// One page on: hands in what `more` gives for how many pages are known, and how many more are wanted.
  @inline(__always) private mutating func step(_ more: (Int, Int) -> PagesAhead) {
    known = max(0, known &- 1)
    guard known &* 2 <= window else { return }
    let found = more(known, window &- known)
    if found.pages.isEmpty { return }
    source.willRead(found.pages)
    known &+= found.pages.count
    if found.isFull { limit = min(limit, max(2, known)) }
    window = min(limit, window &* 2)
  }
}

/// Pages that are handed in together.
struct PagesAhead {
  private(set) var pages: [PageReference] = []
  private var byteCount = 0

  /// Whether they take as much memory as they may.
  var isFull: Bool { byteCount >= ReadAhead.byteLimit }

  mutating func add(_ page: PageReference) {
    pages.append(page)
    if !page.isDirty { byteCount += page.byteCount }
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
