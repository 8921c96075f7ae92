/// Moves pages from the end of a store to free room before it, a few with each commit, so that the
/// end can be cut off.
///
/// A page moves by being written again: its parents follow, because they name it, up to the catalog.
/// Nothing else about it changes. Which pages lie at the end is found out by walking through all trees;
/// a commit reads and moves a bounded number of pages, and the next one goes on from there.
///
/// Pointers: a page is kept until it is copied, whole, to a buffer of its own; references are put only
/// where that page was found to have some.
struct PageRelocator {
  /// Where the walk through a database stands, from one commit to the next.
  struct Progress {
    /// Which child to go on with, in each page on the way down from the catalog's root; empty at the
    /// beginning.
    fileprivate var position: [Int] = []
    /// How many pages this walk has moved.
    fileprivate var movedCount = 0
    /// Pages of this size and more found no room during this walk, in units.
    fileprivate var unmovableUnitCount = UInt64.max
    /// The version before which there is no other look: nothing could be moved.
    fileprivate var nextLook: Version = 0
    fileprivate static let skippedVersionCount: Version = 256
  }

  private let context: WriteContext
  private let goal: Relocation
  /// How many more bytes may be written, and pages read.
  private var bytesLeft: Int
  private var pagesLeft: Int
  /// How many pages were moved.
  private var movedCount = 0
  /// Pages of this size and more find no room, in units.
  private var unmovableUnitCount = UInt64.max
  /// Whether a page has found no room in this commit.
  private var hasFailed = false
  /// Where the walk was cut short, innermost page first.
  private var cut: [Int]?

  /// One page is read for so many bytes that may be written.
  private static let byteCountPerPage = 2048
  /// Parents are written, too.
  private static let leastPageCount = 16

  /// Moves pages of the tree at `root`, the flushed catalog of the transaction of `context`, and of
  /// all trees that it names, in pursuit of `goal`; the catalog's new root.
  ///
  /// Writes about `byteLimit` bytes at most. What is damaged stays where it is. After an error the
  /// transaction must be rolled back.
  static func move(
    _ root: TreeRoot, _ context: WriteContext, _ goal: Relocation, byteLimit: Int,
    _ progress: inout Progress
  ) throws(StoreError) -> TreeRoot {
    if root.isEmpty || context.version < progress.nextLook { return root }
    var relocator = PageRelocator(context, goal, byteLimit: byteLimit)
    relocator.unmovableUnitCount = progress.unmovableUnitCount
    var root = root
    root.reference = try relocator.visit(
      root.reference, PageRole(root, isCatalog: true), from: progress.position[...])
    progress.movedCount += relocator.movedCount
    progress.position = relocator.cut?.reversed() ?? []
    progress.unmovableUnitCount = relocator.unmovableUnitCount
    if relocator.cut == nil {
      if progress.movedCount == 0 {
        progress.nextLook = context.version + Progress.skippedVersionCount
      }
      progress.movedCount = 0
      progress.unmovableUnitCount = .max
    }
    return root
  }

  private init(_ context: WriteContext, _ goal: Relocation, byteLimit: Int) {
    self.context = context
    self.goal = goal
    bytesLeft = byteLimit
    pagesLeft = max(Self.leastPageCount, byteLimit / Self.byteCountPerPage)
  }

  private var isExhausted: Bool { bytesLeft <= 0 || pagesLeft <= 0 }

  /// Moves what is below the page at `reference` from child `position.first` on, and then the page;
  /// its new reference, or the old one if it stays.
  private mutating func visit(
    _ reference: PageReference, _ role: PageRole, from position: ArraySlice<Int>
  ) throws(StoreError) -> PageReference {
    // A page is never younger than those that lead to it.
    if reference.isNone || reference.isDirty || reference.born <= goal.seenUpTo { return reference }
    pagesLeft -= 1
    let page: Page
    var links: [PageLink] = []
    do throws(StoreError) {
      page = try context.source.page(reference, role.kind)
      try page.forEachLink(as: role) { links.append($0) }
    } catch {
      if error.damage(at: reference) != nil { return reference }
      throw error
    }
    var changes: [(offset: Int, reference: PageReference)] = []
    var next = position
    let first = position.first ?? 0
    if first < links.count {
      let young = links[first...].map(\.reference).filter { $0.born > goal.seenUpTo }
      context.source.willRead(young.prefix(max(0, pagesLeft)))
    }
    for index in first..<max(first, links.count) {
      if isExhausted {
        cut = [index]
        break
      }
      let link = links[index]
      let moved = try visit(link.reference, link.role, from: next.dropFirst())
      next = []
      if moved != link.reference { changes.append((link.offset, moved)) }
      if cut != nil {
        cut?.append(index)
        break
      }
    }
    let isRelocated =
      goal.contains(reference.extent) && reference.unitCount < unmovableUnitCount && cut == nil
    guard isRelocated || !changes.isEmpty else { return reference }
    return try rewrite(page, reference, role.kind, changes)
  }

  /// Writes `page` with other references in place of some of its own.
  private mutating func rewrite(
    _ page: Page, _ reference: PageReference, _ kind: PageKind,
    _ changes: [(offset: Int, reference: PageReference)]
  ) throws(StoreError) -> PageReference {
    let isSecret = context.source.codec?.isSecret ?? false
    let copy = PageBuffer(byteCount: page.byteCount, isSecret: isSecret)
    unsafe copy.bytes.copyMemory(from: page.bytes, byteCount: page.byteCount)
    withExtendedLifetime(page) {}
    for change in changes { unsafe change.reference.store(to: copy.bytes + change.offset) }
    defer { withExtendedLifetime(copy) {} }
    context.free(reference)
    let moved = try unsafe context.write(
      UnsafeRawBufferPointer(start: copy.bytes, count: page.byteCount), kind: kind)
    bytesLeft -= moved.byteCount
    if goal.contains(moved.extent) {
      // What is written next may only follow it there: the next commit goes on.
      if !hasFailed { unmovableUnitCount = min(unmovableUnitCount, moved.unitCount) }
      hasFailed = true
      bytesLeft = 0
    } else if goal.contains(reference.extent) {
      movedCount += 1
    }
    return moved
  }
}

extension Database {
  /// Makes one durable commit that changes nothing and moves pages to where the store would like them; false when
  /// there are none that the store would like elsewhere, or none that can be moved.
  ///
  /// For the only user of a store.
  package func movePages() throws(StoreError) -> Bool {
    let transaction = try beginWrite()
    guard transaction.writer.relocation != nil else {
      transaction.rollback()
      return false
    }
    transaction.storesPages = true
    let version = try transaction.publish(.full, []).head.version
    return moves.withLock { $0.nextLook <= version }
  }
}
