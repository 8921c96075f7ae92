/// All dirty pages of a write transaction, by number.
public final class DirtyPages {
  // Exclusivity is not checked: they have one user, and no access to these calls out.
  @exclusivity(unchecked) private var pages: [DirtyPage?] = []
  @exclusivity(unchecked) private var vacant: [Int] = []
  /// Room taken by all of them, in bytes, for the transaction's budget.
  @exclusivity(unchecked) public internal(set) final var byteCount = 0

  /// The pages of a transaction that has changed nothing yet.
  public init() {}

  /// Makes room for those of a small transaction.
  func reserve() {
    unsafe pages.reserveCapacity(8)
    unsafe vacant.reserveCapacity(8)
  }

  deinit {
    for case let page? in unsafe pages where unsafe !page.isFrozen { unsafe page.owner = nil }
  }

  /// Takes `page` in and returns the reference by which trees name it.
  public func insert(_ page: DirtyPage) -> PageReference {
    own(page)
    if let index = unsafe vacant.popLast() {
      note(index, nil)
      unsafe pages[index] = page
      return PageReference(dirty: index, kind: page.kind)
    }
    unsafe note(pages.count, nil)
    unsafe pages.append(page)
    return unsafe PageReference(dirty: pages.count - 1, kind: page.kind)
  }

  private func own(_ page: DirtyPage) {
    unsafe page.owner = self
    unsafe byteCount += page.capacity + page.heldByteCount
  }

  /// Stops counting a page of the transaction's own.
  private func disown(_ page: DirtyPage) {
    if unsafe page.isFrozen { return }
    unsafe page.owner = nil
    unsafe byteCount -= page.capacity + page.heldByteCount
  }

  /// Notes what the page with that number was before it is changed, added or removed.
  @inline(__always) private func note(_ index: Int, _ page: DirtyPage?) {
    if unsafe kept != nil { keep(index, page) }
    if unsafe isResident, unsafe page?.isFrozen ?? true {
      unsafe changed.append(Former(index: index, order: changed.count, page: page))
    }
  }

  /// Room of it that is taken besides by pages.
  @exclusivity(unchecked) private var heldByteCount = 0

  /// Counts `difference` more bytes that the transaction takes besides its pages.
  func addHeld(_ difference: Int) {
    unsafe heldByteCount += difference
    unsafe byteCount += difference
  }

  /// The same room as ``byteCount``, measured page by page: for tests.
  var measuredByteCount: Int {
    unsafe pages.reduce(heldByteCount) { sum, page in
      sum + (page.map { unsafe $0.isFrozen ? 0 : $0.capacity + $0.measuredHeldByteCount } ?? 0)
    }
  }

  /// The page with that number, to change it; it must exist.
  ///
  /// A page of a published version gives its number to a copy.
  public subscript(index: Int) -> DirtyPage {
    let page = existing(index)
    note(index, page)
    if unsafe !page.isFrozen { return page }
    let copy = page.copy()
    own(copy)
    unsafe pages[index] = copy
    return copy
  }

  /// Gives the number of a page, which belongs to a published version, to `page`.
  func replace(_ index: Int, by page: DirtyPage) {
    note(index, existing(index))
    own(page)
    unsafe pages[index] = page
  }

  /// The page with that number if it is this transaction's own, to change it; nil if it belongs to a published
  /// version.
  func own(at index: Int) -> DirtyPage? {
    let page = existing(index)
    return unsafe page.isFrozen ? nil : self[index]
  }

  /// The page with that number, to look at it; it must exist.
  func look(at index: Int) -> DirtyPage { existing(index) }

  /// The page with that number, to read it; nil when there is none of that kind.
  func page(at index: Int, _ kind: PageKind) throws(StoreError) -> Page? {
    guard unsafe index < pages.count, let page = unsafe pages[index], page.kind == kind else {
      return nil
    }
    return try page.page()
  }

  private func existing(_ index: Int) -> DirtyPage {
    guard unsafe index < pages.count, let page = unsafe pages[index] else {
      preconditionFailure("A dirty page was used after it was written or dropped.")
    }
    return page
  }

  /// Forgets the page named by `reference`.
  public func remove(_ reference: PageReference) {
    let index = reference.dirtyIndex
    let page = existing(index)
    note(index, page)
    disown(page)
    unsafe pages[index] = nil
    unsafe vacant.append(index)
  }

  // MARK: Published versions

  /// Whether they go on from one transaction to the next: then some belong to a published version.
  @exclusivity(unchecked) private(set) final var isResident = false
  /// What pages that the transaction has changed, added or removed were when it began.
  ///
  /// A number may occur twice, and what it stood for first counts.
  @exclusivity(unchecked) private final var changed: [Former] = []

  /// What a number stood for: a frozen page, or nil for none.
  private struct Former {
    let index: Int
    let order: Int
    let page: DirtyPage?
  }

  /// Room taken by pages of the version that was published last, in bytes.
  @exclusivity(unchecked) private(set) final var residentByteCount = 0
  /// How much ``freezeChanges()`` has added to that.
  @exclusivity(unchecked) private final var frozenByteCount = 0

  /// What goes on from pages that another process has made.
  init(goingOnFrom resident: ResidentPages) {
    unsafe pages = resident.all
    while let last = unsafe pages.last, last == nil { unsafe pages.removeLast() }
    unsafe residentByteCount = pages.reduce(0) { $0 + ($1.map { unsafe $0.capacity } ?? 0) }
    findVacant()
  }

  /// Begins a transaction that may end with ``freezeChanges()``, with the pages of the one before.
  func take(from former: DirtyPages) {
    unsafe isResident = true
    exchange(with: former)
  }

  /// Ends it: the pages go on to the next one, and whoever uses an editor after its transaction finds none.
  func give(to next: DirtyPages) {
    unsafe isResident = false
    exchange(with: next)
  }

  private func exchange(with other: DirtyPages) {
    unsafe swap(&pages, &other.pages)
    unsafe swap(&vacant, &other.vacant)
    // Empty, but with room.
    unsafe swap(&changed, &other.changed)
    unsafe swap(&residentByteCount, &other.residentByteCount)
  }

  /// A page that a transaction has changed, added or removed, and what it was before.
  struct Change {
    var index: Int
    var page: DirtyPage?
    var former: DirtyPage?
  }

  /// How many bytes a record of what was changed takes at most, once all of it is packed.
  var recordByteCount: Int {
    unsafe changed.reduce(0) { sum, former in
      let page = unsafe pages[former.index]
      return unsafe sum + ResidenceRecord.changeByteCount + PageReference.byteCount
        + (page?.byteCount ?? 0)
    }
  }

  /// Packs what was changed, so that its pages are as long as they will be.
  func packChanges() throws(StoreError) {
    for former in unsafe changed {
      if let page = unsafe pages[former.index], unsafe !page.isFrozen { try page.pack() }
    }
  }

  /// Freezes what the transaction has changed; what that is, each page once and by ascending number.
  ///
  /// Until ``keepChanges()`` the transaction can still be undone.
  func freezeChanges() throws(StoreError) -> [Change] {
    unsafe changed.sort { ($0.index, $0.order) < ($1.index, $1.order) }
    var changes: [Change] = []
    unsafe changes.reserveCapacity(changed.count)
    unsafe frozenByteCount = 0
    for former in unsafe changed where former.index != changes.last?.index {
      let page = unsafe pages[former.index]
      if let page, unsafe !page.isFrozen {
        disown(page)
        try page.freeze()
      }
      unsafe frozenByteCount += (page?.capacity ?? 0) - (former.page?.capacity ?? 0)
      changes.append(Change(index: former.index, page: page, former: former.page))
    }
    return changes
  }

  /// Ends the transaction, whose version was published, before another one begins.
  func keepChanges() {
    unsafe changed.removeAll(keepingCapacity: true)
    unsafe residentByteCount += frozenByteCount
    unsafe addHeld(-heldByteCount)
  }

  /// Makes the pages what they were when the transaction began.
  func abort() {
    unsafe kept = nil
    for former in unsafe changed.reversed() {
      if let page = unsafe pages[former.index] { disown(page) }
      unsafe pages[former.index] = former.page
    }
    unsafe changed.removeAll(keepingCapacity: true)
    unsafe addHeld(-heldByteCount)
    while let last = unsafe pages.last, last == nil { unsafe pages.removeLast() }
    findVacant()
  }

  /// Low numbers are given first, so that tables stay short.
  private func findVacant() {
    unsafe vacant = pages.indices.reversed().filter { unsafe pages[$0] == nil }
  }

  // MARK: Savepoints

  /// What pages were at the savepoint; nil without one.
  @exclusivity(unchecked) private var kept: Kept?

  private struct Kept {
    /// Those that were asked for, added or removed since, each once; nil for one that was not there.
    var pages: [(index: Int, page: DirtyPage?)] = []
    /// By number.
    var isKept: [Bool] = []

    mutating func keep(_ index: Int, _ page: DirtyPage?) {
      if index >= isKept.count {
        isKept += repeatElement(false, count: index + 1 - isKept.count)
      }
      if isKept[index] { return }
      isKept[index] = true
      pages.append((index, page.map { unsafe $0.isFrozen ? $0 : $0.copy() }))
    }
  }

  private func keep(_ index: Int, _ page: DirtyPage?) { unsafe kept?.keep(index, page) }

  /// Keeps from now on what is needed to go back to where the pages are; an earlier savepoint is forgotten.
  ///
  /// Nobody may hold a page of them over this call.
  func mark() { unsafe kept = Kept() }

  /// Forgets the savepoint.
  func unmark() { unsafe kept = nil }

  /// Makes the pages what they were at the savepoint, which is forgotten.
  func rollBack() {
    guard let kept = unsafe kept else { return }
    unsafe self.kept = nil
    for (index, old) in kept.pages {
      if let page = unsafe pages[index] { disown(page) }
      unsafe pages[index] = old
      if let old, unsafe !old.isFrozen { own(old) }
    }
    findVacant()
  }
}
