/// What of the newest version lies in memory, while small commits leave their pages there.
///
/// A small transaction changes a page or two of a tree. Where its pages go to the store, all branches above them
/// go as well, for each names the place of the next. A page in memory has a number instead, under which its next
/// form is found, too: so nothing above it changes, and nothing is allocated, hashed and written. When enough has
/// gathered, a commit writes all of it.
///
/// A store that offers this (``ResidentWriter``) keeps it in the head of its newest version.
///
/// Unchecked: `live` belongs to who holds the writer lock; all else never changes.
package final class Residence: @unchecked Sendable {
  /// The version's pages.
  let pages: ResidentPages
  /// Has the pages with which the next writer goes on, while nobody writes.
  let live: DirtyPages
  /// The stored pages that the version does not reach any more, and the stored version before it did.
  let freed: Freed?

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

  init(pages: ResidentPages, live: DirtyPages, freed: Freed?) {
    self.pages = pages
    self.live = live
    self.freed = freed
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

/// A write to a store that keeps versions whose newest pages lie in memory: nobody but this process sees it.
package protocol ResidentWriter: PageWriter {
  /// Whether it may end so.
  var keepsPagesInMemory: Bool { get }

  /// Makes what hangs from `root` the newest version, whose changed pages are in `residence`; no page was
  /// allocated or freed. Otherwise as ``PageWriter/publish(root:durability:metadata:beforeNext:)``.
  func publish(
    root: TreeRoot, residence: Residence, metadata: [UInt8], beforeNext: (Head) -> Void
  ) throws(StoreError) -> Pin
}
