/// What the trees of one write transaction share: pages to read, dirty pages, and the way out.
public final class WriteContext {
  /// Reads committed and dirty pages alike.
  public let source: PageSource
  /// The transaction's private pages.
  public let dirty: DirtyPages
  /// The version being made; pages written now are born in it.
  public let version: Version
  private let writer: any PageWriter
  private let codec: (any PageCodec)?
  private let store: StoreIdentity
  /// Where the store is, for errors.
  var path: String { store.path }
  // Exclusivity of what every page touches is not checked: the context has one user, and no access to
  // these calls out.
  @exclusivity(unchecked) private final var padded: PageBuffer?
  /// The first pages that were written, to be trusted when they are stored: the next transaction
  /// will likely read them.
  @exclusivity(unchecked) private final var written: [PageReference] = []
  /// The first pages that were written, as they are read, for the cache.
  @exclusivity(unchecked) private final var kept: [(PageReference, PageBuffer)] = []
  @exclusivity(unchecked) private final var keptByteCount = 0
  /// Stored pages that the new version does not reach, where pages are read through the cache.
  @exclusivity(unchecked) private final var freed: [PageReference] = []
  /// How many bytes of pages were written, or were left in memory at last.
  @exclusivity(unchecked) private(set) final var writtenByteCount = 0
  private static let trustedPageLimit = 1 << 16
  /// Whole trees that the new version no longer reaches; the transaction puts them on the catalog's
  /// list of dead roots, whose pages are freed with bounded work per commit.
  public private(set) var abandonedRoots: [TreeRoot] = []
  /// What the first change that failed has thrown; nothing may be published any more.
  @exclusivity(unchecked) private(set) final var failure: StoreError?
  /// What was thrown when a page could not be written where there was room for it.
  @exclusivity(unchecked) private final var writeFailure: StoreError?

  /// A context for `writer`, which goes on with what `residence` has in memory, if there is any.
  init(
    source: PageSource, writer: any PageWriter, codec: (any PageCodec)?, store: StoreIdentity,
    residence: Residence? = nil
  ) {
    self.source = source
    self.writer = writer
    self.codec = codec
    self.store = store
    self.residence = residence
    residentWriter = writer as? any ResidentWriter
    dirty = DirtyPages()
    if residence != nil || residentWriter?.keepsPagesInMemory == true {
      let live = residence?.live ?? DirtyPages()
      dirty.take(from: live)
      self.live = live
    } else {
      live = nil
      dirty.reserve()
      if codec == nil { unsafe written.reserveCapacity(8) }
    }
    version = writer.version
    storesSameVersion = writer.version == writer.base.version
    source.begin(dirty)
  }

  /// Takes back a page that the new version does not reach: a committed one goes to the store, a
  /// dirty one is forgotten.
  public func free(_ reference: PageReference) {
    if reference.isNone { return }
    if reference.isDirty { return dirty.remove(reference) }
    if unsafe mark == nil { giveBack(reference) } else { unsafe mark?.freed.append(reference) }
  }

  private func giveBack(_ reference: PageReference) {
    if unsafe dirty.isResident, unsafe !storesAll, reference.born < version {
      unsafe replaced.append(reference)
      return
    }
    assert(
      !storesSameVersion || reference.born == version
        || residence?.freedReferences.contains(reference) ?? false,
      "Who reads the version in its other form still reaches the page.")
    writer.free(reference)
    if source.usesCache { unsafe freed.append(reference) }
  }

  // MARK: Pages in memory

  /// What the version at which the transaction began has in memory.
  private let residence: Residence?
  private let residentWriter: (any ResidentWriter)?
  /// Has the pages that go on from one transaction to the next between two of them.
  private let live: DirtyPages?
  /// Stored pages that the new version does not reach, which the store is told when it gets pages.
  @exclusivity(unchecked) private final var replaced: [PageReference] = []
  /// So many bytes at most are in memory, and a commit of more than an eighth of that leaves nothing there.
  static let residentByteLimit = 4 << 20
  /// So many stored pages at most wait to be given back.
  static let replacedLimit = 1 << 10

  /// Whether nothing was written yet, and what was changed is little enough to stay in memory.
  func mayStayInMemory(
    _ durability: Durability, isAwaited: Bool, metadataByteCount: Int
  ) -> Bool {
    guard let residentWriter, residentWriter.keepsPagesInMemory else { return false }
    return unsafe writtenByteCount == 0 && abandonedRoots.isEmpty
      && dirty.byteCount <= Self.residentByteLimit / 8
      && dirty.residentByteCount + dirty.byteCount <= Self.residentByteLimit
      && replaced.count + (residence?.freed?.count ?? 0) <= Self.replacedLimit
      && residentWriter.mayKeep(
        ResidentChange(
          byteCount: dirty.byteCount, residentByteCount: dirty.residentByteCount,
          recordByteCount: ResidenceRecord.headerByteCount + dirty.recordByteCount
            + replaced.count * PageReference.byteCount + metadataByteCount,
          durability: durability, isAwaited: isAwaited))
  }

  /// Makes what was changed a version whose pages lie in memory.
  func publishInMemory(
    root: TreeRoot, durability: Durability, metadata: [UInt8], beforeNext: (Head) -> Void
  ) throws(StoreError) -> Pin {
    guard let residentWriter, let live else {
      preconditionFailure("The store keeps its pages itself.")
    }
    let changes = try dirty.freezeChanges()
    unsafe writtenByteCount = changes.reduce(0) { unsafe $0 + ($1.page?.byteCount ?? 0) }
    let pages = (residence?.pages ?? .none).replacing(changes)
    let freed =
      unsafe replaced.isEmpty
      ? residence?.freed : Residence.Freed(replaced, before: residence?.freed)
    return try residentWriter.publish(
      root: root,
      residence: Residence(pages: pages, live: live, freed: freed), durability: durability,
      metadata: metadata,
      record: {
        unsafe ResidenceRecord(root: root, changes: changes, freed: replaced, source: source)
      }
    ) { head in
      dirty.keepChanges()
      dirty.give(to: live)
      beforeNext(head)
    }
  }

  /// Whether the version at which it began is made once more, with all its pages stored: then nothing is given up that
  /// it reaches.
  let storesSameVersion: Bool
  /// Whether all goes to the store.
  @exclusivity(unchecked) private final var storesAll = false

  /// Gives back the stored pages that were replaced in memory, since now all goes to the store; what is replaced from
  /// now on is given back at once.
  ///
  /// Before anything is written: a store may have room for what frees as much as it takes only.
  func giveBackReplaced() {
    unsafe storesAll = true
    let references = unsafe (residence?.freedReferences ?? []) + replaced
    unsafe replaced = []
    for reference in references { writer.free(reference) }
    if source.usesCache { unsafe freed += references }
  }

  /// Undoes what was changed of pages that go on to the next transaction, and leaves them to it.
  ///
  /// To be called before the writer lock is released; the transaction has no pages then.
  func restoreResidentPages() {
    guard let live, unsafe dirty.isResident else { return }
    dirty.abort()
    dirty.give(to: live)
  }

  // MARK: Savepoints

  /// What is needed to go back to the savepoint.
  private struct Mark {
    /// Stored pages that were given up since.
    var freed: [PageReference] = []
    /// Pages that were written since.
    var written: [PageReference] = []
    var abandonedRoots: [TreeRoot]
  }

  /// The savepoint; nil without one.
  @exclusivity(unchecked) private final var mark: Mark?

  /// Keeps from now on what is needed to go back here; an earlier savepoint is forgotten.
  func setMark() {
    dropMark()
    unsafe mark = Mark(abandonedRoots: abandonedRoots)
    dirty.mark()
  }

  /// Forgets the savepoint: what was changed since stays.
  func dropMark() {
    guard let old = unsafe mark else { return }
    unsafe mark = nil
    dirty.unmark()
    for reference in old.freed { giveBack(reference) }
  }

  /// Goes back to the savepoint, which stays; throws, and changes nothing, when a page could not be written where
  /// there was room for it.
  func rollBackToMark() throws(StoreError) {
    guard let old = unsafe mark else { preconditionFailure("There is no savepoint.") }
    // Nobody knows what the store has of such a page.
    if let failure = unsafe writeFailure { throw failure }
    dirty.rollBack()
    abandonedRoots = old.abandonedRoots
    unsafe failure = nil
    for reference in old.written { giveBack(reference) }
    unsafe mark = Mark(abandonedRoots: abandonedRoots)
    dirty.mark()
  }

  /// Gives up a whole stored tree; its pages are freed by later commits.
  public func abandon(root: TreeRoot) {
    precondition(!root.reference.isDirty, "Only a stored tree can be abandoned; remove its rows.")
    if !root.isEmpty { abandonedRoots.append(root) }
  }

  /// Gives up a whole tree: this transaction's own pages at once, and what is stored by ``abandon(root:)``.
  func discard(_ root: TreeRoot) throws(StoreError) {
    guard root.reference.isDirty else { return abandon(root: root) }
    for subtree in try DeadRoots.free(root, in: self) { try discard(subtree) }
  }

  /// Makes a change of a tree, and notes that it failed: it may be half done then, and a transaction
  /// that has caught the error must not publish it.
  @inline(__always) func change<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    do throws(StoreError) {
      return try body()
    } catch {
      fail(error)
      throw error
    }
  }

  /// Notes that a change has failed; the first error is kept, and thrown by the next call that can.
  @inline(never) func fail(_ error: StoreError) {
    if unsafe failure == nil { unsafe failure = error }
  }

  /// Throws what a change has thrown before.
  func checkChanges() throws(StoreError) {
    if let failure = unsafe failure { throw failure }
  }

  /// Forgets the abandoned roots, which the catalog now lists.
  func takeAbandonedRoots() -> [TreeRoot] {
    defer { abandonedRoots = [] }
    return abandonedRoots
  }

  /// Writes a packed page and returns its reference.
  ///
  /// The bytes go through the codec, are padded to whole units and hashed. References inside of
  /// them must already be stored ones.
  public func write(
    _ bytes: UnsafeRawBufferPointer, kind: PageKind
  ) throws(StoreError) -> PageReference {
    let reference = try unsafe encode(bytes, kind: kind)
    unsafe keep(bytes, reference)
    return reference
  }

  private func encode(
    _ bytes: UnsafeRawBufferPointer, kind: PageKind
  ) throws(StoreError) -> PageReference {
    unsafe precondition(!bytes.isEmpty, "A page has at least one byte.")
    if let codec {
      var body = try unsafe codec.encode(Span(_unsafeBytes: bytes), kind: kind)
      let extent = try writer.allocate(byteCount: body.count)
      let context = PageContext(kind, at: extent.address, born: version, in: store.uuid)
      return try filling { () throws(StoreError) in
        try codec.seal(&body, context: context)
        return try unsafe body.withBytes { bytes throws(StoreError) in
          try unsafe store(bytes, to: extent, kind: kind)
        }
      }
    }
    let extent = try writer.allocate(byteCount: bytes.count)
    return try filling { () throws(StoreError) in
      try unsafe store(bytes, to: extent, kind: kind)
    }
  }

  /// Fills room that the store has given out, and notes that this has failed.
  @inline(__always) private func filling(
    _ body: () throws(StoreError) -> PageReference
  ) throws(StoreError) -> PageReference {
    do throws(StoreError) { return try body() } catch {
      unsafe writeFailure = error
      throw error
    }
  }

  /// Writes a dirty page as it is packed and returns its reference; the dirty page remains.
  ///
  /// Like ``write(_:kind:)``, but pads the page where it lies.
  func write(_ page: DirtyPage) throws(StoreError) -> PageReference {
    let padding = page.pad()
    let count = unsafe codec == nil ? page.byteCount + padding : page.byteCount
    return try unsafe write(
      UnsafeRawBufferPointer(start: page.bytes, count: count), kind: page.kind)
  }

  /// Says that about `byteCount` bytes of pages will be written next.
  func reserve(byteCount: Int) throws(StoreError) {
    try writer.reserve(byteCount: byteCount)
  }

  /// Writes `bytes`, padded to whole units.
  private func store(
    _ bytes: UnsafeRawBufferPointer, to extent: Extent, kind: PageKind
  ) throws(StoreError) -> PageReference {
    var bytes = unsafe bytes
    if bytes.count < extent.byteCount {
      let padded = paddedPage(byteCount: extent.byteCount)
      let target = unsafe UnsafeMutableRawBufferPointer(
        start: padded.bytes, count: extent.byteCount)
      unsafe target.copyMemory(from: bytes)
      unsafe target[bytes.count...].initializeMemory(as: UInt8.self, repeating: 0)
      unsafe bytes = UnsafeRawBufferPointer(target)
    }
    let checksum = unsafe Checksum.hash(bytes)
    try unsafe writer.write(Span(_unsafeBytes: bytes), to: extent, checksum: checksum)
    unsafe writtenByteCount &+= bytes.count
    let reference = PageReference(checksum: checksum, extent: extent, kind: kind, born: version)
    unsafe mark?.written.append(reference)
    if codec == nil, unsafe written.count < Self.trustedPageLimit {
      unsafe written.append(reference)
    }
    return reference
  }

  /// Memory for a page of `byteCount` bytes at least.
  private func paddedPage(byteCount: Int) -> PageBuffer {
    if let padded = unsafe padded, padded.byteCount >= byteCount { return padded }
    let page = PageBuffer(byteCount: byteCount)
    unsafe padded = page
    return page
  }

  /// Keeps a page that was written for the cache, where pages are read through one.
  ///
  /// The next transaction changes what this one has written; it need not fetch and decode it.
  private func keep(_ bytes: UnsafeRawBufferPointer, _ reference: PageReference) {
    guard source.usesCache, unsafe keptByteCount + bytes.count <= source.cache.byteLimit / 4,
      let start = bytes.baseAddress
    else { return }
    let byteCount = codec == nil ? reference.byteCount : bytes.count
    let buffer = PageBuffer(byteCount: byteCount, isSecret: codec?.isSecret ?? false)
    unsafe buffer.bytes.copyMemory(from: start, byteCount: bytes.count)
    unsafe kept.append((reference, buffer))
    unsafe keptByteCount += bytes.count
  }

  /// Spares the next readers to check what this transaction wrote, which is now stored, or to fetch it.
  func trustWritten() {
    for reference in unsafe written { source.trust.insert(reference) }
    unsafe written = []
    for (reference, buffer) in unsafe kept { source.cache.insert(buffer, for: reference) }
    unsafe kept = []
    if unsafe !freed.isEmpty { unsafe source.cache.retire(freed) }
    unsafe freed = []
  }
}
