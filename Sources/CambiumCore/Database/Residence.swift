/// What of the newest version lies in memory, while small commits leave their pages there.
///
/// A small transaction changes a page or two of a tree. Where its pages go to the store, all branches above them
/// go as well, for each names the place of the next. A page in memory has a number instead, under which its next
/// form is found, too: so nothing above it changes, and nothing is allocated, hashed and written. When enough has
/// gathered, a commit writes all of it.
///
/// A store that offers this (``ResidentWriter``) keeps it in the head of its newest version.
///
/// Unchecked: `ownedPages` belongs to who holds the writer lock; all else never changes.
package final class Residence: @unchecked Sendable {
  /// The version's pages.
  let pages: ResidentPages
  /// The stored pages that the version does not reach any more, and the stored version before it did.
  let freed: Freed?
  /// Has the pages with which the next writer goes on, while nobody writes; nil until it asks, where another
  /// process has made the version.
  private var ownedPages: DirtyPages?

  /// A list that versions share.
  final class Freed: Sendable {
    let references: [PageReference]
    let before: Freed?
    /// How many there are with those before.
    let count: Int

    init(_ references: [PageReference], before: Freed?) {
      self.references = references
      self.before = before
      count = references.count + (before?.count ?? 0)
    }
  }

  /// What a version of this process has, whose pages go on in `live`.
  init(pages: ResidentPages, live: DirtyPages, freed: Freed?) {
    self.pages = pages
    self.freed = freed
    ownedPages = live
  }

  /// What a version has that another process has made.
  init(pages: ResidentPages, freed: Freed?) {
    self.pages = pages
    self.freed = freed
  }

  /// Has the pages with which the next writer goes on; for who holds the writer lock.
  var live: DirtyPages {
    if let ownedPages { return ownedPages }
    let live = DirtyPages(goingOnFrom: pages)
    ownedPages = live
    return live
  }

  /// How many bytes its pages take once they are stored, each in whole blocks, at most.
  package var byteCount: Int {
    let block = 4 << 10
    return pages.all.reduce(0) { sum, page in
      guard let page else { return sum }
      // A codec may need some bytes more.
      return unsafe sum + (page.byteCount + Extent.unitByteCount + block - 1) / block * block
    }
  }

  /// The stored pages that wait for the next stored version to be given back.
  package var freedReferences: [PageReference] {
    var references: [PageReference] = []
    var next = freed
    while let freed = next {
      references += freed.references
      next = freed.before
    }
    return references
  }
}

/// A small change that may stay in memory.
package struct ResidentChange {
  /// How many bytes its pages take, at most.
  package var byteCount: Int
  /// How many bytes lie in memory without it.
  package var residentByteCount: Int
  /// How many bytes its record and what its commit was given take, at most.
  package var recordByteCount: Int
  /// How durable its commit is to be.
  package var durability: Durability
  /// Whether somebody will wait until it is durable.
  package var isAwaited: Bool
}

/// A write to a store that keeps versions whose newest pages lie in memory.
package protocol ResidentWriter: PageWriter {
  /// Whether it may end so.
  var keepsPagesInMemory: Bool { get }

  /// Whether that change may stay in memory.
  func mayKeep(_ change: ResidentChange) -> Bool

  /// Makes what hangs from `root` the newest version, whose changed pages are in `residence`; no page was
  /// allocated or freed. Otherwise as ``PageWriter/publish(root:durability:metadata:beforeNext:)``.
  ///
  /// `record` tells what has changed, for other processes (``ResidenceReplay``).
  func publish(
    root: TreeRoot, residence: Residence, durability: Durability, metadata: [UInt8],
    record: () -> ResidenceRecord, beforeNext: (Head) -> Void
  ) throws(StoreError) -> Pin
}

/// A store that asks for pages to be stored which lie in memory.
package protocol ResidentStore: PageStore {
  /// Says what stores the pages of the newest version that lie in memory.
  ///
  /// It is called with the store and a writer that makes the same version once more, with all pages stored.
  func storePages(
    with body: @escaping @Sendable (any PageStore, any PageWriter) throws(StoreError) -> Void)
}
