/// Goes over the leaves of a tree ahead of a walk: reads the branches, which are few, and no leaf.
///
/// Branches that come next are handed in before they are read, so that a walk waits for none of them but the
/// first. One that cannot be read ends it: the walk itself finds out what is wrong there.
struct LeafFrontier {
  /// Pages that lie beside each other on one level, from the next one on.
  struct Level {
    fileprivate enum Pages {
      case list([PageReference])
      case columnBranch(ColumnBranch)
      case keyBranch(Page)
    }

    fileprivate let pages: Pages
    fileprivate let count: Int
    fileprivate var next: Int
    /// How many from `next` on were handed in, if they are branches.
    fileprivate var known = 0

    private init(_ pages: Pages, _ count: Int, _ next: Int) {
      (self.pages, self.count, self.next) = (pages, count, next)
    }

    /// The children of a branch of a tree of rows.
    init(_ branch: ColumnBranch, at next: Int) {
      self.init(.columnBranch(branch), branch.count, next)
    }

    /// The children of a branch of a tree of keys, which has so many.
    init(keyBranch page: Page, count: Int, at next: Int) {
      self.init(.keyBranch(page), count, next)
    }

    /// A list of subtrees.
    init(_ list: [PageReference], at next: Int) { self.init(.list(list), list.count, next) }

    fileprivate subscript(_ index: Int) -> PageReference? {
      guard index >= 0, index < count else { return nil }
      switch pages {
      case .list(let list): return list[index]
      case .columnBranch(let branch): return branch.reference(index)
      case .keyBranch(let page): return KeyNode(page).child(index)
      }
    }
  }

  /// 1 or -1.
  let direction: Int
  private var path: [Level]
  /// How many levels lead to leaves.
  private let depth: Int
  /// So many branches beside each other are on their way.
  private static let branchesAhead = 16

  /// Begins at what the last level of `path` has next; a leaf has `depth` levels above it, those of the path
  /// among them.
  init(_ path: [Level], depth: Int, by direction: Int) {
    (self.path, self.depth, self.direction) = (path, depth, direction)
  }

  /// The next leaves, `count` of them if there are as many and they are not too long.
  mutating func take(_ count: Int, _ source: PageSource) -> PagesAhead {
    var leaves = PagesAhead()
    while leaves.pages.count < count, !leaves.isFull, let level = path.last {
      guard let reference = level[level.next] else {
        path.removeLast()
        continue
      }
      if path.count < depth {
        enter(reference, source)
      } else {
        leaves.add(reference)
        path[path.count - 1].next += direction
      }
    }
    return leaves
  }

  /// Goes down into the branch that comes next on the lowest level.
  private mutating func enter(_ reference: PageReference, _ source: PageSource) {
    handInBranches(source)
    path[path.count - 1].next += direction
    let level: Level
    switch PageKind(rawValue: reference.rawKind) {
    case .columnBranch?:
      guard let page = try? source.page(reference, .columnBranch) else { return path.removeAll() }
      let branch = ColumnBranch(page)
      level = Level(branch, at: direction > 0 ? 0 : branch.count - 1)
    case .keyBranch?:
      guard let page = try? source.page(reference, .keyBranch) else { return path.removeAll() }
      let count = KeyNode(page).count
      level = Level(keyBranch: page, count: count, at: direction > 0 ? 0 : count - 1)
    default: return path.removeAll()
    }
    path.append(level)
  }

  /// Hands in the branches that come next on the lowest level.
  private mutating func handInBranches(_ source: PageSource) {
    var level = path[path.count - 1]
    level.known = max(0, level.known - 1)
    if level.known * 2 <= Self.branchesAhead {
      let found = (level.known..<Self.branchesAhead).compactMap {
        level[level.next + direction * $0]
      }
      source.willRead(found)
      level.known += found.count
    }
    path[path.count - 1] = level
  }
}
