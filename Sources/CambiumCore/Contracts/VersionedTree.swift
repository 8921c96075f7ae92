/// A tree of pages of which every commit keeps what has not changed: one version of it, to read.
///
/// There are two: ``KeyTree`` maps byte keys to byte values, ``ColumnTree`` holds rows by column. A value
/// is a root and what its pages are read through. Pages are never changed, and a reference to one holds
/// its checksum, so that equal references mean equal subtrees: what compares two versions skips what
/// they share, and what walks a tree proves it.
///
/// Trees are not `Sendable`. Those of a ``Snapshot`` may be handed to another thread, and each thread may
/// take its own; those of a ``WriteTransaction`` stay with it.
public protocol VersionedTree {
  /// What the tree is made of, as ``diff(old:new:_:)`` shows it: a key, or a row.
  associatedtype Element

  /// Where the tree hangs.
  var root: TreeRoot { get }
  /// What its pages are read through.
  var source: PageSource { get }

  /// The tree that hangs from `root`; reads nothing yet.
  init(root: TreeRoot, source: PageSource)

  /// Calls `visit` with each key or row in which the trees differ, by ascending keys.
  ///
  /// Subtrees that both share are skipped without being read: the cost follows the change, not the
  /// size. A value outside of its leaf counts as different when it was written again. Elements are valid
  /// during the call.
  static func diff(
    old: Self, new: Self, _ visit: (TreeDifference<Element>) throws(StoreError) -> Void
  ) throws(StoreError)
}

extension VersionedTree {
  /// How many keys or rows it holds.
  @inlinable public var count: Int { root.count }

  /// Whether it holds nothing.
  @inlinable public var isEmpty: Bool { root.isEmpty }

  /// Visits every page of the tree and checks what no page can know alone: heights, the ranges that
  /// parents give, the order across pages, row counts, and values outside of their leaf.
  ///
  /// `visit` is called once for each page, parents first, before the page itself is read; overflow
  /// pages of a leaf follow it. It may throw damage for a page that must not be read. `tree` is called
  /// with each tree that a row owns. `damage` is called for each finding; what lies below a damaged
  /// page cannot be walked and is left out. Only errors that say nothing about the tree's bytes are
  /// thrown, and those of `tree`.
  public func walk(
    _ visit: (PageReference, PageKind) throws(StoreError) -> Void,
    tree: (TreeRoot) throws(StoreError) -> Void = { _ in }, damage: (Damage) -> Void
  ) throws(StoreError) {
    try TreeWalk(root, source).verify(visit, tree: tree, damage: damage)
  }
}

/// What happened to one key or row between two versions of a tree.
public enum TreeDifference<Element> {
  /// Only the new tree has it.
  case inserted(Element)
  /// Only the old tree has it.
  case removed(Element)
  /// Both have it, with different values.
  case modified(old: Element, new: Element)

  /// The key or row, as the new tree has it unless it was removed.
  public var element: Element {
    switch self {
    case .inserted(let element), .removed(let element), .modified(_, let element): element
    }
  }
}
